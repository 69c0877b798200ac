"""A small log-log plot in plain characters, for terminals and logs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 60, 16
MARKS = "ox+*#@%&"
FITTED, IDEAL = "·", "-"


@dataclass(frozen=True)
class Series:
    """Points to mark, and lines to trace beneath them."""

    label: str
    points: Sequence[tuple[float, float]]
    fitted: Sequence[tuple[float, float]] = ()
    ideal: Sequence[tuple[float, float]] = ()


def text_plot(series: Sequence[Series], width: int = WIDTH, height: int = HEIGHT) -> list[str]:
    """Lines of text: K* against B on log axes; marks over fitted curves over ideal scaling."""
    points = [p for s in series for p in s.points]
    if not points:
        return []
    x_low, x_high = _range([math.log2(x) for x, _ in points])
    y_low, y_high = _range([math.log10(y) for _, y in points])
    canvas = [[" "] * width for _ in range(height)]

    def put(x: float, y: float, mark: str) -> None:
        column = round((math.log2(x) - x_low) / (x_high - x_low) * (width - 1))
        row = round((y_high - math.log10(y)) / (y_high - y_low) * (height - 1))
        if 0 <= column < width and 0 <= row < height:
            canvas[row][column] = mark

    for mark, lines in ((IDEAL, [s.ideal for s in series]), (FITTED, [s.fitted for s in series])):
        for line in lines:
            for x, y in line:
                put(x, y, mark)
    for mark, one in zip(_marks(len(series)), series, strict=True):
        for x, y in one.points:
            put(x, y, mark)
    legend = [f"{m} {s.label}" for m, s in zip(_marks(len(series)), series, strict=True)]
    return [
        "steps-to-result K* (log)",
        *_with_axis(canvas, y_low, y_high),
        " " * 9 + "└" + "─" * width,
        " " * 10 + _batch_labels(x_low, x_high, width),
        " " * 10 + "batch size B (log)",
        *(" " * 10 + line for line in legend),
        " " * 10 + f"{FITTED} fitted   {IDEAL} ideal scaling",
    ]


def _marks(count: int) -> str:
    return (MARKS * (count // len(MARKS) + 1))[:count]


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    pad = 0.05 * (high - low) if high > low else 0.5
    return low - pad, high + pad


def _with_axis(canvas: list[list[str]], low: float, high: float) -> list[str]:
    """The rows with a K* value at the top, the middle and the bottom."""
    last = len(canvas) - 1
    lines = []
    for row, cells in enumerate(canvas):
        value = 10 ** (high - (high - low) * row / last)
        label = f"{value:.0f}" if row in (0, last // 2, last) else ""
        lines.append(f"{label:>8} {'┤' if label else '│'}" + "".join(cells).rstrip())
    return lines


def _batch_labels(low: float, high: float, width: int) -> str:
    """Powers of two under their columns, as many as fit without touching."""
    line = [" "] * (width + 6)
    free = 0
    for power in range(math.ceil(low), math.floor(high) + 1):
        label = str(2**power) if power >= 0 else ""
        start = round((power - low) / (high - low) * (width - 1))
        if label and start >= free and start + len(label) <= len(line):
            line[start : start + len(label)] = label
            free = start + len(label) + 2
    return "".join(line).rstrip()
