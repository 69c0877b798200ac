"""Where the panels of a figure go: fixed inches, so that a page of 28 panels lays out at once."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sparallel.figures.style import PAGE_WIDTH

_TOP, _BOTTOM, _LEFT, _RIGHT = 0.65, 0.75, 0.6, 0.1  # inches around the panels
_GAP = 0.85  # inches between rows of separate panels: a label and a title


def grid(panels: int, *, columns: int, height: float) -> tuple[Figure, list[Axes]]:
    """A page-wide figure of separate panels, `height` inches each with room for their labels."""
    columns = min(columns, panels)
    rows = -(-panels // columns)
    tall = _TOP + _BOTTOM + rows * height + (rows - 1) * _GAP
    figure = Figure(figsize=(PAGE_WIDTH, tall))
    _margins(figure, PAGE_WIDTH, tall)
    wide = (PAGE_WIDTH - _LEFT - _RIGHT - (columns - 1) * 0.6) / columns
    figure.subplots_adjust(hspace=_GAP / height, wspace=0.6 / wide)
    axes = [figure.add_subplot(rows, columns, at + 1) for at in range(panels)]
    return figure, axes


def shared_grid(rows: int, columns: int, *, height: float) -> tuple[Figure, list[list[Axes]]]:
    """Panels that share both axes: ticks only at the left and at the bottom.

    Axes without ticks are also what makes a page of 28 panels quick to draw.
    """
    wide = max(PAGE_WIDTH, _LEFT + _RIGHT + 1.2 * columns)
    if columns == 1:
        wide = 3.4  # one column of a paper
    tall = _TOP + _BOTTOM + rows * height + (rows - 1) * 0.22
    figure = Figure(figsize=(wide, tall))
    _margins(figure, wide, tall)
    figure.subplots_adjust(hspace=0.22 / height, wspace=0.08)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for ax in axes[:-1, :].flat:
        ax.xaxis.set_visible(False)
    for ax in axes[:, 1:].flat:
        ax.yaxis.set_visible(False)
    return figure, [list(row) for row in axes]


def _margins(figure: Figure, wide: float, tall: float, below: float = _BOTTOM) -> None:
    figure.subplots_adjust(
        left=_LEFT / wide, right=1 - _RIGHT / wide, top=1 - _TOP / tall, bottom=below / tall
    )
    if figure.get_suptitle():
        figure.suptitle(figure.get_suptitle(), y=1 - 0.12 / tall, va="top", fontsize=9)


def legend_below(figure: Figure, axes: Sequence[Axes]) -> None:
    """One legend for all panels, under them, each entry once."""
    entries: dict[str, Line2D] = {}
    for ax in axes:
        for line, label in zip(*ax.get_legend_handles_labels(), strict=True):
            if isinstance(line, Line2D):
                entries.setdefault(label, line)
    if not entries:
        return
    wide, tall = figure.get_size_inches()
    longest = max(len(label) for label in entries)
    columns = max(1, min(len(entries), int(wide / (0.6 + 0.05 * longest))))
    more = 0.16 * (-(-len(entries) // columns) - 1)  # a taller figure for every further line
    figure.set_size_inches(wide, tall + more)
    _margins(figure, wide, tall + more, _BOTTOM + more)
    figure.legend(list(entries.values()), list(entries), loc="lower center", ncol=columns)
