"""Where the panels of a figure go: fixed inches, so that a page of 28 panels lays out at once."""

from __future__ import annotations

import textwrap
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


def entitle(figure: Figure, title: str) -> None:
    """The figure's title, on as many lines as its width asks for."""
    lines = textwrap.wrap(title, int(figure.get_figwidth() / 0.072))  # inches a letter
    figure.suptitle("\n".join(lines), va="top", fontsize=9)
    _grow(figure, above=0.15 * (len(lines) - 1))


def _margins(figure: Figure, wide: float, tall: float) -> None:
    figure.subplots_adjust(
        left=_LEFT / wide, right=1 - _RIGHT / wide, top=1 - _TOP / tall, bottom=_BOTTOM / tall
    )


def _grow(figure: Figure, *, above: float = 0.0, below: float = 0.0) -> None:
    """Make the figure taller around panels that keep their size; the title stays at the top."""
    wide, tall = figure.get_size_inches()
    top = (1 - figure.subplotpars.top) * tall + above
    bottom = figure.subplotpars.bottom * tall + below
    tall += above + below
    figure.set_size_inches(wide, tall)
    figure.subplots_adjust(top=1 - top / tall, bottom=bottom / tall)
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
    longest = max(len(label) for label in entries)
    columns = max(1, min(len(entries), int(figure.get_figwidth() / (0.6 + 0.05 * longest))))
    _grow(figure, below=0.16 * (-(-len(entries) // columns) - 1))
    figure.legend(list(entries.values()), list(entries), loc="lower center", ncol=columns)
