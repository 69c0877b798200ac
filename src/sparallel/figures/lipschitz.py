"""Figure 4: the gradient's Lipschitz constant along training, a line a sparsity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sparallel.analysis import sparsity_in_words
from sparallel.analysis.interval import rounded
from sparallel.figures.along_training import (
    Row,
    by_step,
    is_log_spaced,
    line_and_band,
    log_height,
    number,
    steps_axis,
)
from sparallel.figures.layout import entitle, grid, legend_below
from sparallel.figures.style import IDEAL, Look, paper_style, sparsity_looks
from sparallel.smoothness.why import Why
from sparallel.tabular import Table

_LEVEL: dict[str, Any] = {"linestyle": (0, (4, 3)), "linewidth": 0.7}
COLUMNS = ("sparsity", "kind", "seed", "step", "mean", "low", "high", "error")


def lipschitz_table(why: Why) -> Table:
    """L(w_k) of every run, its mean and range over seeds, and the mean along training.

    kind is "run" (one seed: `mean` is its L, `error` the standard error), "seeds" (the mean
    over seeds with the lowest and highest), or "along training" (the dashed level).
    """
    rows: list[Row] = []
    for own in why.sparsities:
        paths = [path for path in why.record.paths if path.sparsity == own.sparsity]
        rows += [
            {
                "sparsity": own.sparsity,
                "kind": "run",
                "seed": path.seed,
                "step": point.step,
                "mean": point.lipschitz,
                "error": point.lipschitz_error,
            }
            for path in paths
            for point in path.points
            if point.lipschitz is not None
        ]
        rows += [
            {
                "sparsity": own.sparsity,
                "kind": "seeds",
                "step": step,
                "mean": mean,
                "low": low,
                "high": high,
            }
            for step, mean, low, high in by_step(paths, lambda point: point.lipschitz)
        ]
        if own.summary.lipschitz is not None:
            rows.append(
                {
                    "sparsity": own.sparsity,
                    "kind": "along training",
                    "step": own.summary.until,
                    "mean": own.summary.lipschitz.mean,
                }
            )
    return Table.of(COLUMNS, rows)


def draw_lipschitz(table: Table, title: str) -> Figure:
    """As the paper draws it; where points crowd at the start, beside it on a log axis too."""
    rows = [row for row in table.records() if row["kind"] != "run"]
    looks = sparsity_looks([number(row["sparsity"]) for row in rows])
    steps = [number(row["step"]) for row in rows]
    scales = (False, True) if is_log_spaced(steps) else (False,)
    with paper_style():
        figure, axes = grid(len(scales), columns=2, height=2.4)
        entitle(figure, title)
        for ax, log in zip(axes, scales, strict=True):
            for sparsity, look in looks.items():
                _line(ax, [row for row in rows if row["sparsity"] == sparsity], look, sparsity)
            steps_axis(ax, steps, log=log)
            _levels_axis(ax, [number(row["mean"]) for row in rows if row["kind"] == "seeds"])
            ax.set_ylabel("Lipschitz constant L of the gradient")
            ax.grid(True)
            ax.set_axisbelow(True)
        axes[0].plot([], [], color=IDEAL, **_LEVEL, label="mean along training")
        legend_below(figure, axes)
    return figure


def _line(ax: Axes, rows: Sequence[Row], look: Look, sparsity: float) -> None:
    level = next((number(row["mean"]) for row in rows if row["kind"] == "along training"), None)
    words = sparsity_in_words(sparsity)
    label = words if level is None else f"{words}: mean {_printed(level)}"
    line_and_band(ax, [row for row in rows if row["kind"] == "seeds"], look, label)
    if level is not None:
        ax.axhline(level, color=look.colour, **_LEVEL)


def _printed(level: float) -> str:
    """Two decimals, as the paper prints its means, where those say enough."""
    return f"{level:.2f}" if level >= 0.1 else rounded(level)


def _levels_axis(ax: Axes, values: Sequence[float]) -> None:
    """Linear from zero as in the paper, unless that would press most of the lines flat."""
    known = [value for value in values if value > 0]
    if known and max(known) > 20 * min(known):
        log_height(ax, known)
    else:
        ax.set_ylim(bottom=0)
