"""Figures 1 and 7-11: steps-to-result against batch size, one workload and goal a figure.

One panel a sparsity with the ideal-scaling line, the fit, its interval band and the critical
batch size; then all sparsities together; then all normalised by the first batch size.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sparallel.analysis import FROM_FIT, Curve, sparsity_in_words
from sparallel.figures.layout import entitle, grid, legend_below
from sparallel.figures.style import (
    IDEAL,
    Look,
    log_axes,
    log_limits,
    paper_style,
    sparsity_looks,
)
from sparallel.tabular import Cell, Table

COLUMNS = (
    "sparsity",
    "kind",
    "batch_size",
    "steps",
    "low",
    "high",
    "normalised",
    "ideal_steps",
    "label",
)
Row = dict[str, Cell]


def scaling_table(curves: Sequence[Curve]) -> Table:
    """Measured points, fitted curve and critical batch sizes of one workload and goal.

    kind is "measured", "beyond budget" (K* lies above `steps`), "fit", or "critical" (at
    batch_size in [low, high]; `label` names the definition).
    """
    rows: list[Row] = []
    for curve in sorted(curves, key=lambda c: c.sparsity):
        rows.extend(_measured(curve))
        if curve.fit is not None:
            first = next((p.steps for p in curve.points if p.steps is not None), None)
            rows.extend(
                {
                    "sparsity": curve.sparsity,
                    "kind": "fit",
                    "batch_size": band.batch_size,
                    "steps": band.steps,
                    "low": band.low,
                    "high": band.high,
                    "normalised": band.steps / first if first else None,
                }
                for band in curve.fit.band
            )
        rows.extend(_critical(curve))
    return Table.of(COLUMNS, rows)


def _measured(curve: Curve) -> list[Row]:
    return [
        {
            "sparsity": curve.sparsity,
            "kind": "beyond budget" if point.is_censored else "measured",
            "batch_size": point.batch_size,
            "steps": point.budget if point.steps is None else point.steps,
            "low": point.interval.low if point.interval else None,
            "high": point.interval.high if point.interval else None,
            "normalised": point.normalised,
            "ideal_steps": point.ideal_steps,
        }
        for point in curve.points
    ]


def _critical(curve: Curve) -> list[Row]:
    return [
        {
            "sparsity": curve.sparsity,
            "kind": "critical",
            "batch_size": critical.value,
            "steps": (
                curve.fit.steps(critical.value)
                if critical.value and curve.fit and critical.definition == FROM_FIT
                else None
            ),
            "low": critical.interval.low,
            "high": critical.interval.high,
            "label": f"{'c1/c2' if critical.definition == FROM_FIT else '20% above ideal'}: "
            f"{critical.in_words()}",
        }
        for critical in curve.critical
    ]


def draw_scaling(table: Table, title: str) -> Figure:
    """One panel a sparsity, then all together (where there are several), then normalised."""
    rows = list(table.records())
    sparsities = sorted({_number(row["sparsity"]) for row in rows})
    looks = sparsity_looks(sparsities)
    panels = len(sparsities) + (2 if len(sparsities) > 1 else 1)
    with paper_style():
        figure, axes = grid(panels, columns=2 if panels in (2, 4) else 3, height=1.95)
        entitle(figure, title)
        measured = [row for row in rows if row["kind"] in ("measured", "beyond budget")]
        x = log_limits([_number(row["batch_size"]) for row in measured])
        y = log_limits([_number(row["steps"]) for row in measured], 0.12)
        for ax, sparsity in zip(axes, sparsities, strict=False):
            own = [row for row in rows if row["sparsity"] == sparsity]
            _band(ax, own, looks[sparsity])
            _ideal(ax, own, "ideal_steps")
            _points(ax, own, looks[sparsity], "steps")
            _mark_critical(ax, own)
            ax.set_title(sparsity_in_words(sparsity), pad=18)
        if len(sparsities) > 1:
            _together(axes[-2], rows, looks, "steps", "all sparsities")
        _together(axes[-1], rows, looks, "normalised", "all, normalised")
        for ax in axes:
            log_axes(ax, x, y)
            ax.set_xlabel("Batch size")
            ax.set_ylabel("Steps-to-result")
        _normalised_axes(axes[-1], rows, x)
        legend_below(figure, axes)
    return figure


def _together(ax: Axes, rows: list[Row], looks: dict[float, Look], key: str, title: str) -> None:
    for sparsity, look in looks.items():
        own = [row for row in rows if row["sparsity"] == sparsity]
        fit = [row for row in own if row["kind"] == "fit" and row[key] is not None]
        ax.plot(
            [_number(row["batch_size"]) for row in fit],
            [_number(row[key]) for row in fit],
            color=look.colour,
            linestyle=look.line,
        )
        _points(ax, own, look, key)
        ax.plot([], [], **look.line_and_marker, label=sparsity_in_words(sparsity))
    ax.set_title(title)


def _normalised_axes(ax: Axes, rows: list[Row], x: tuple[float, float]) -> None:
    measured = [row for row in rows if row["kind"] == "measured" and row["normalised"]]
    ax.set_ylabel("K* / K* at the first batch size")
    if not measured:
        ax.text(0.5, 0.5, "no study reached the goal", transform=ax.transAxes, ha="center")
        return
    # The first batch size that reached the goal may differ between sparsities.
    for first in {_number(row["batch_size"]) for row in measured if row["normalised"] == 1}:
        ax.plot([first, x[1]], [1, first / x[1]], color=IDEAL, linestyle="--", linewidth=0.9)
    log_axes(ax, x, log_limits([_number(row["normalised"]) for row in measured], 0.12))


def _band(ax: Axes, rows: list[Row], look: Look) -> None:
    fit = [row for row in rows if row["kind"] == "fit"]
    batch_sizes = [_number(row["batch_size"]) for row in fit]
    ax.fill_between(
        batch_sizes,
        [_number(row["low"]) for row in fit],
        [_number(row["high"]) for row in fit],
        color=look.colour,
        alpha=0.18,
        linewidth=0,
    )
    ax.plot(batch_sizes, [_number(row["steps"]) for row in fit], color=look.colour)


def _ideal(ax: Axes, rows: list[Row], key: str) -> None:
    ideal = [row for row in rows if row["kind"] != "fit" and row[key] is not None]
    if not ideal:
        return
    ax.plot(
        [_number(row["batch_size"]) for row in ideal],
        [_number(row[key]) for row in ideal],
        color=IDEAL,
        linestyle="--",
        linewidth=0.9,
        label="ideal scaling",
    )


def _points(ax: Axes, rows: list[Row], look: Look, key: str) -> None:
    known = [row for row in rows if row["kind"] == "measured" and row[key] is not None]
    batch_sizes = [_number(row["batch_size"]) for row in known]
    steps = [_number(row[key]) for row in known]
    ax.plot(batch_sizes, steps, look.marker, color=look.colour, zorder=3)
    beyond = [row for row in rows if row["kind"] == "beyond budget"]
    if beyond and key == "steps":
        ax.plot(
            [_number(row["batch_size"]) for row in beyond],
            [_number(row["steps"]) for row in beyond],
            "^",
            color=look.colour,
            markerfacecolor="white",
            label="above the step budget",
            clip_on=False,
        )


def _mark_critical(ax: Axes, rows: list[Row]) -> None:
    """The c1/c2 point on its curve with its interval, and both definitions in words."""
    critical = [row for row in rows if row["kind"] == "critical"]
    for row in critical:
        if row["batch_size"] is None or row["steps"] is None:
            continue
        at = _number(row["batch_size"])
        low = _number(row["low"]) if row["low"] is not None else at * 2**-40
        high = _number(row["high"]) if row["high"] is not None else at * 2**40
        if row["low"] is not None or row["high"] is not None:  # a strip over all says nothing
            ax.axvspan(low, high, color="black", alpha=0.09, linewidth=0)
        steps = _number(row["steps"])
        ax.plot(
            [at],
            [steps],
            "*",
            color="black",
            markersize=8,
            markeredgecolor="white",
            markeredgewidth=0.4,
            zorder=5,
            label="critical batch size c1/c2",
        )
    # Above the panel: inside, some curve or band always runs through the words.
    text = "\n".join(str(row["label"]) for row in critical)
    ax.text(0.5, 1.02, text, transform=ax.transAxes, ha="center", fontsize=5.5, linespacing=1.25)


def _number(cell: Cell) -> float:
    if cell is None or isinstance(cell, str):
        raise TypeError(f"{cell!r} is no number")
    return float(cell)
