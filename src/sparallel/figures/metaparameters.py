"""Figures 5 and 13-18: steps against one metaparameter, a panel a study.

Complete trials stand at their K. A beaten trial stands at the bound it was stopped at (its K is
larger) and an incomplete one at the step budget. An infeasible trial has no K: its cross stands
above the budget, at the top of the panel, whatever the step it diverged at. Where smoothness was
measured on the workload, the panels of the learning rate show 1/L, the theory's upper limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sparallel.figures.style import log_limits, power_axis
from sparallel.figures.trials import (
    Row,
    axis_label,
    draw_panels,
    is_drawn,
    metaparameter_axis,
    shown,
    trials_table,
)
from sparallel.records import DimensionRecord, Status, StudyRecord
from sparallel.tabular import Table

_ABOVE_BUDGET = 2.2
LIMIT = "one_over_l"


def metaparameter_table(
    studies: Sequence[StudyRecord], limits: Mapping[float, float] | None = None
) -> Table:
    """Every trial, with `drawn_at`: the height of its mark, and 1/L where that is known."""
    table = trials_table(studies)
    rows = [
        {
            **row,
            "drawn_at": _height(row),
            LIMIT: (limits or {}).get(float(row["sparsity"] or 0)),
        }
        for row in table.records()
    ]
    return Table.of((*table.columns, "drawn_at", *((LIMIT,) if limits else ())), rows)


def _height(row: Row) -> float:
    if row["status"] == Status.INFEASIBLE:
        return float(row["max_steps"] or 1) * _ABOVE_BUDGET
    return max(1.0, float(row["steps"] or 0))


def draw_metaparameter(table: Table, dimension: DimensionRecord, title: str) -> Figure:
    """Steps against the metaparameter, the same axes in every panel."""
    heights = [float(r["drawn_at"] or 1) for r in table.records() if is_drawn(r["status"])]

    def place(row: Row) -> tuple[float, float]:
        return shown(dimension, float(row[dimension.name] or 0)), float(row["drawn_at"] or 1)

    limits = {
        float(row["sparsity"] or 0): float(row[LIMIT] or 0)
        for row in table.records()
        if row.get(LIMIT) is not None
    }

    def scale(ax: Axes) -> None:
        metaparameter_axis(ax, dimension, "x", also=limits.values())
        ax.set_yscale("log")
        tall = log_limits(heights, 0.1)
        ax.set_ylim(*tall)
        power_axis(ax.yaxis, *tall, 10, most=5)

    labels = (axis_label(dimension), "Steps")
    return draw_panels(table, title, labels, place, scale, limits)
