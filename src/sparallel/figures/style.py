"""How every figure looks: fonts of a paper, colours that survive colour blindness and grey print.

Colours alone never carry a meaning: markers and line styles differ too, and the sparsities'
colours darken towards dense, so that their order survives a grey printer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from sparallel.records import Status

PAGE_WIDTH = 7.0  # inches: two columns of a US letter paper
_FONTS: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.titley": 1.0,  # fixed: matplotlib's search for room takes half the drawing time
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.4,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # text stays text, which journals ask for
    "svg.fonttype": "none",
    "svg.hashsalt": "sparallel",  # the same data gives the same file
}


@dataclass(frozen=True)
class Look:
    """How one series is told from the others: colour, marker and line style together."""

    colour: str
    marker: str
    line: str | tuple[int, tuple[float, ...]] = "-"

    @property
    def line_and_marker(self) -> dict[str, Any]:
        """As the arguments of a plot."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.line}


GOLD = "#ffc20a"
IDEAL = "#777777"
_MARKERS = "os^Dvp*hX"
_LINES: tuple[str | tuple[int, tuple[float, ...]], ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (3, 1.2, 1, 1.2)),
    (0, (1.2, 1.2)),
)
# Okabe and Ito's palette, without its yellow, which white paper swallows.
_SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#000000", "#e69f00")
_DARK_TO_LIGHT = ("#1b1044", "#6b2d7d", "#c2476b", "#f0893e")
STATUS_LOOKS = {
    Status.COMPLETE: Look("#0072b2", "o"),
    Status.BEATEN: Look("#56b4e9", "d"),
    Status.INCOMPLETE: Look("#8a8a8a", "^"),
    Status.INFEASIBLE: Look("#d55e00", "x"),
}


def series_look(index: int) -> Look:
    """The look of one of several things without an order, such as optimizers."""
    return Look(
        _SERIES[index % len(_SERIES)],
        _MARKERS[index % len(_MARKERS)],
        _LINES[index % len(_LINES)],
    )


def sparsity_looks(sparsities: Sequence[float]) -> dict[float, Look]:
    """A look for each sparsity, dark to light from the lowest to the highest."""
    ordered = sorted(set(sparsities))
    positions = np.linspace(0, 1, len(ordered)) if len(ordered) > 1 else [0.0]
    ramp = mpl.colors.LinearSegmentedColormap.from_list("sparsity", list(_DARK_TO_LIGHT))
    return {
        sparsity: Look(
            mpl.colors.to_hex(ramp(position)),
            _MARKERS[index % len(_MARKERS)],
            _LINES[index % len(_LINES)],
        )
        for index, (sparsity, position) in enumerate(zip(ordered, positions, strict=True))
    }


@contextmanager
def paper_style() -> Iterator[None]:
    """Draw with the paper's fonts, leaving the caller's settings alone."""
    with mpl.rc_context(_FONTS):
        yield


def power_axis(axis: Axis, low: float, high: float, base: int, most: int) -> None:
    """Label a log axis with whole powers of `base` within [low, high], at most `most` of them.

    An axis too short for two powers gets round numbers instead.
    """
    first = math.ceil(math.log(low, base) - 1e-9)
    last = math.floor(math.log(high, base) + 1e-9)
    axis.set_minor_locator(NullLocator())
    if last <= first:
        decade = 10.0 ** math.floor(math.log10(low))
        round_ones = [m * decade for m in (1, 2, 3, 5, 7, 10, 20, 30, 50, 70)]
        ticks = [tick for tick in round_ones if low <= tick <= high]
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_major_formatter(FixedFormatter([f"{tick:,.7g}" for tick in ticks]))
        return
    stride = max(1, -(-(last - first + 1) // most))
    powers = range(first, last + 1, stride)
    axis.set_major_locator(FixedLocator([float(base) ** p for p in powers]))
    axis.set_major_formatter(FixedFormatter([f"${base}^{{{p}}}$" for p in powers]))


def log_limits(values: Sequence[float], margin: float = 0.06) -> tuple[float, float]:
    """Limits of a log axis around the values; a lone value gets a factor of two either side."""
    low, high = min(values), max(values)
    if low == high:
        return low / 2, high * 2
    room = (high / low) ** margin
    return low / room, high * room


def log_axes(ax: Axes, x: tuple[float, float], y: tuple[float, float], base: int = 2) -> None:
    """Make both axes logarithmic with power labels, as the paper's steps-to-result plots."""
    ax.set_xscale("log", base=base)
    ax.set_yscale("log", base=base)
    ax.set_xlim(*x)
    ax.set_ylim(*y)
    power_axis(ax.xaxis, *x, base, most=7)
    power_axis(ax.yaxis, *y, base, most=7)
    ax.grid(True)
    ax.set_axisbelow(True)
