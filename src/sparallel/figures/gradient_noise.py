"""Gradient variance beta, |grad f|^2 and their ratio, the noise scale, along training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sparallel.analysis import FROM_FIT, sparsity_in_words
from sparallel.figures.along_training import (
    Row,
    is_log_spaced,
    log_height,
    number,
    steps_axis,
)
from sparallel.figures.layout import entitle, grid, legend_below
from sparallel.figures.style import IDEAL, Look, paper_style, sparsity_looks
from sparallel.smoothness.noise_scale import WINDOW, noise_along
from sparallel.smoothness.why import Why
from sparallel.tabular import Table

COLUMNS = (
    "sparsity",
    "kind",
    "step",
    "beta",
    "gradient_squared",
    "noise_scale",
    "low",
    "high",
    "goal_error",
)
_PANELS = {
    "beta": "Gradient variance beta at B = 1",
    "gradient_squared": "Squared gradient norm",
    "noise_scale": "Gradient noise scale (a proxy)",
}


def gradient_noise_table(why: Why) -> Table:
    """Means over seeds along training, then the level of each sparsity.

    kind is "along training" (the noise scale is of a window of neighbouring points), "whole
    path" (the noise scale of all of it, with the interval of the seeds), or "critical batch
    size" (measured: c1/c2 of the fit, in the noise scale's column for comparison).
    """
    rows: list[Row] = []
    for own in why.sparsities:
        rows += [
            {
                "sparsity": own.sparsity,
                "kind": "along training",
                "step": point.step,
                "beta": point.beta,
                "gradient_squared": point.gradient_squared,
                "noise_scale": point.noise_scale,
            }
            for point in noise_along(why.record, own.sparsity)
        ]
        if own.noise.whole is not None:
            rows.append(
                {
                    "sparsity": own.sparsity,
                    "kind": "whole path",
                    "noise_scale": own.noise.whole.value,
                    "low": own.noise.whole.interval.low,
                    "high": own.noise.whole.interval.high,
                }
            )
        rows += [
            {
                "sparsity": own.sparsity,
                "kind": "critical batch size",
                "noise_scale": critical.value,
                "low": critical.interval.low,
                "high": critical.interval.high,
                "goal_error": goal,
            }
            for goal, critical in own.noise.critical
            if critical.definition == FROM_FIT
        ]
    return Table.of(COLUMNS, rows)


def draw_gradient_noise(table: Table, title: str) -> Figure:
    """Three panels over the same steps; the measured critical batch sizes are dotted levels."""
    rows = list(table.records())
    along = [row for row in rows if row["kind"] == "along training"]
    looks = sparsity_looks([number(row["sparsity"]) for row in rows])
    steps = [number(row["step"]) for row in along]
    with paper_style():
        figure, axes = grid(len(_PANELS), columns=3, height=2.1)
        entitle(figure, title)
        for ax, (quantity, label) in zip(axes, _PANELS.items(), strict=True):
            for sparsity, look in looks.items():
                _line(ax, [row for row in along if row["sparsity"] == sparsity], look, quantity)
            log_height(ax, [number(row[quantity]) for row in rows if row[quantity] is not None])
            steps_axis(ax, steps, log=is_log_spaced(steps))
            ax.set_title(label)
            ax.grid(True)
            ax.set_axisbelow(True)
        axes[-1].set_title(f"{_PANELS['noise_scale']},\nmean of {WINDOW} points")
        _critical_levels(axes[-1], rows, looks)
        legend_below(figure, axes)
    return figure


def _line(ax: Axes, rows: Sequence[Row], look: Look, quantity: str) -> None:
    known = [row for row in rows if row[quantity] is not None and number(row[quantity]) > 0]
    ax.plot(
        [number(row["step"]) for row in known],
        [number(row[quantity]) for row in known],
        **look.line_and_marker,
        markersize=2.2,
        linewidth=1.0,
        label=sparsity_in_words(number(rows[0]["sparsity"])) if rows else None,
    )


def _critical_levels(ax: Axes, rows: Sequence[Row], looks: dict[float, Look]) -> None:
    dotted: dict[str, Any] = {"linestyle": ":", "linewidth": 1.1}
    known = [
        row
        for row in rows
        if row["kind"] == "critical batch size" and row["noise_scale"] is not None
    ]
    for row in known:
        colour = looks[number(row["sparsity"])].colour
        ax.axhline(number(row["noise_scale"]), color=colour, **dotted)
    if known:
        ax.plot([], [], color=IDEAL, **dotted, label="measured critical batch size c1/c2")
