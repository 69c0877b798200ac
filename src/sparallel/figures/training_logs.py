"""Figure 6: the training logs of the runs that smoothness was measured on, a line a sparsity."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.figure import Figure

from sparallel.analysis import sparsity_in_words
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
from sparallel.figures.style import IDEAL, paper_style, sparsity_looks
from sparallel.smoothness.records import PointRecord
from sparallel.smoothness.why import Why
from sparallel.tabular import Table

COLUMNS = ("sparsity", "quantity", "step", "mean", "low", "high")
QUANTITIES: dict[str, Callable[[PointRecord], float]] = {
    "training loss": lambda point: point.train_loss,
    "training error": lambda point: point.train_error,
    "validation loss": lambda point: point.validation_loss,
    "validation error": lambda point: point.validation_error,
}
_DRAWN = ("training loss", "validation error")


def training_logs_table(why: Why) -> Table:
    """Loss and error on training and validation data: mean and range over seeds."""
    rows: list[Row] = [
        {
            "sparsity": own.sparsity,
            "quantity": quantity,
            "step": step,
            "mean": mean,
            "low": low,
            "high": high,
        }
        for own in why.sparsities
        for quantity, value in QUANTITIES.items()
        for step, mean, low, high in by_step(
            [path for path in why.record.paths if path.sparsity == own.sparsity], value
        )
    ]
    return Table.of(COLUMNS, rows)


def draw_training_logs(table: Table, title: str, goal_errors: tuple[float, ...]) -> Figure:
    """The training loss, which the paper draws, and the validation error with the goal."""
    rows = list(table.records())
    looks = sparsity_looks([number(row["sparsity"]) for row in rows])
    steps = [number(row["step"]) for row in rows]
    with paper_style():
        figure, axes = grid(len(_DRAWN), columns=2, height=2.4)
        entitle(figure, title)
        for ax, quantity in zip(axes, _DRAWN, strict=True):
            shown = [row for row in rows if row["quantity"] == quantity]
            for sparsity, look in looks.items():
                own = [row for row in shown if row["sparsity"] == sparsity]
                line_and_band(ax, own, look, sparsity_in_words(sparsity))
            goals = goal_errors if quantity == "validation error" else ()
            log_height(ax, [*(number(row["mean"]) for row in shown), *goals])
            for goal in goals:
                ax.axhline(goal, color=IDEAL, linestyle="--", linewidth=0.9, label="goal error")
            steps_axis(ax, steps, log=is_log_spaced(steps))
            ax.set_ylabel(quantity.capitalize())
            ax.grid(True)
            ax.set_axisbelow(True)
        legend_below(figure, axes)
    return figure
