"""What the figures along training share: a line a sparsity, the mean over seeds with a band."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from sparallel.figures.style import Look, log_limits, power_axis
from sparallel.smoothness.records import PathRecord, PointRecord
from sparallel.tabular import Cell

Row = dict[str, Cell]


def by_step(
    paths: Sequence[PathRecord], value: Callable[[PointRecord], float | None]
) -> list[tuple[int, float, float, float]]:
    """(step, mean, lowest, highest) over the seeds, at every step some seed has a value."""
    found: dict[int, list[float]] = {}
    for path in paths:
        for point in path.points:
            given = value(point)
            if given is not None:
                found.setdefault(point.step, []).append(given)
    return [
        (step, statistics.fmean(own), min(own), max(own)) for step, own in sorted(found.items())
    ]


def is_log_spaced(steps: Sequence[float]) -> bool:
    """Do the gaps grow with the steps, so that only a log axis shows the early points?"""
    ordered = sorted(set(steps))
    if len(ordered) < 4:
        return False
    gaps = [after - before for before, after in itertools.pairwise(ordered)]
    return max(gaps) > 4 * min(gaps)


def steps_axis(ax: Axes, steps: Sequence[float], *, log: bool) -> None:
    """Steps from 0 to the last; a log axis keeps step 0, at a little distance from step 1."""
    last = max([*steps, 1.0])
    if not log:
        ax.set_xlim(-0.02 * last, 1.02 * last)
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        ax.set_xlabel("Steps")
        return
    ax.set_xscale("symlog", linthresh=1, linscale=0.35)
    ax.set_xlim(-0.15, last * 1.25)
    powers = [10.0**p for p in range(len(str(int(last))))]
    ticks = [0.0, *powers]
    labels = ["0", *(f"$10^{{{p}}}$" for p in range(len(powers)))]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FixedFormatter(labels))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("Steps (log scale)")


def log_height(ax: Axes, values: Sequence[float]) -> None:
    """A log axis around the positive values, with few and round labels."""
    known = [value for value in values if value > 0]
    if known:
        limits = log_limits(known)
        ax.set_yscale("log")
        ax.set_ylim(*limits)
        power_axis(ax.yaxis, *limits, 10, most=6)


def line_and_band(ax: Axes, rows: Sequence[Row], look: Look, label: str | None) -> None:
    """The mean as a line, the range over seeds as a band; rows have step, mean, low, high."""
    steps = [number(row["step"]) for row in rows]
    ax.fill_between(
        steps,
        [number(row["low"]) for row in rows],
        [number(row["high"]) for row in rows],
        color=look.colour,
        alpha=0.16,
        linewidth=0,
    )
    ax.plot(
        steps,
        [number(row["mean"]) for row in rows],
        **look.line_and_marker,
        markersize=2.2,
        linewidth=1.0,
        label=label,
    )


def number(cell: Cell) -> float:
    """The cell, which must hold a number."""
    if cell is None or isinstance(cell, str):
        raise TypeError(f"{cell!r} is no number")
    return float(cell)
