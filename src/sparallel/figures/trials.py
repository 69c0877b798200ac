"""What the search figures share: every trial as a row, pages of panels, and the status marks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sparallel.analysis import sparsity_in_words
from sparallel.figures.layout import entitle, shared_grid
from sparallel.figures.style import GOLD, STATUS_LOOKS, paper_style, power_axis
from sparallel.records import DimensionRecord, Status, StudyRecord
from sparallel.tabular import Cell, Table

ROWS_A_PAGE = 7  # batch sizes: a page of a paper holds no more
COLUMNS = ("sparsity", "batch_size", "trial", "status", "steps", "max_steps", "best")
Row = dict[str, Cell]
_STAR: dict[str, Any] = {
    "color": GOLD,
    "markersize": 8,
    "markeredgecolor": "black",
    "markeredgewidth": 0.5,
}
_LIMIT: dict[str, Any] = {"color": "black", "linestyle": "--", "linewidth": 0.8, "zorder": 1.5}
# Drawn in this order: the rare and the decisive come last, on top. Others have no result to draw.
_ORDER = (Status.BEATEN, Status.INCOMPLETE, Status.INFEASIBLE, Status.COMPLETE)


def trials_table(studies: Sequence[StudyRecord]) -> Table:
    """Every trial of these studies with its metaparameters; `best` marks the winner."""
    names = list(dict.fromkeys(d.name for study in studies for d in study.space))
    rows: list[Row] = [
        {
            "sparsity": study.sparsity,
            "batch_size": study.batch_size,
            "trial": trial.trial,
            "status": trial.status.value,
            "steps": trial.steps,
            "max_steps": study.max_steps,
            "best": trial.trial == study.best_trial,
            **trial.metaparameters,
        }
        for study in sorted(studies, key=lambda s: (s.batch_size, s.sparsity))
        for trial in study.trials
    ]
    return Table.of((*COLUMNS, *names), rows)


def pages(studies: Sequence[StudyRecord]) -> list[list[StudyRecord]]:
    """The studies by pages of a few batch sizes each."""
    batch_sizes = sorted({study.batch_size for study in studies})
    count = -(-len(batch_sizes) // ROWS_A_PAGE)
    size = -(-len(batch_sizes) // count) if count else 1
    return [
        [study for study in studies if study.batch_size in batch_sizes[at : at + size]]
        for at in range(0, len(batch_sizes), size)
    ]


def shown(dimension: DimensionRecord, value: float) -> float:
    """Where a value sits on its axis: 1 - value where the search was over that."""
    return 1 - value if dimension.scale == "reverse-log" else value


def axis_label(dimension: DimensionRecord) -> str:
    """The axis label of a metaparameter."""
    name = dimension.name.replace("_", " ")
    return f"1 − {name}" if dimension.scale == "reverse-log" else name.capitalize()


def draw_panels(
    table: Table,
    title: str,
    labels: tuple[str, str],
    place: Callable[[Row], tuple[float, float]],
    axes_of: Callable[[Axes], None],
    limits: Mapping[float, float] | None = None,
) -> Figure:
    """A panel a study, batch sizes down and sparsities across, a mark a trial.

    `limits` are upright lines, one a sparsity: 1/L of its network.
    """
    rows = list(table.records())
    batch_sizes = sorted({int(row["batch_size"] or 0) for row in rows})
    sparsities = sorted({float(row["sparsity"] or 0) for row in rows})
    panels: dict[tuple[int, float], list[Row]] = {}
    for row in rows:
        key = (int(row["batch_size"] or 0), float(row["sparsity"] or 0))
        panels.setdefault(key, []).append(row)
    with paper_style():
        height = 1.05 if len(sparsities) > 1 else 1.6
        figure, axes = shared_grid(len(batch_sizes), len(sparsities), height=height)
        entitle(figure, title)
        axes_of(axes[0][0])  # shared by all
        for batch_size, line in zip(batch_sizes, axes, strict=True):
            for sparsity, ax in zip(sparsities, line, strict=True):
                own = panels.get((batch_size, sparsity))
                heading = f"B = {batch_size}, {sparsity_in_words(sparsity)}"
                ax.set_title(f"{heading}{_remark(own)}", fontsize=6.5, pad=2)
                _marks(ax, own or [], place)
                if limits and sparsity in limits:
                    ax.axvline(limits[sparsity], **_LIMIT)
        figure.supxlabel(labels[0], y=0.34 / figure.get_figheight(), va="bottom", fontsize=8)
        figure.supylabel(labels[1], x=0.08 / figure.get_figwidth(), fontsize=8)
        _status_legend(figure, {str(row["status"]) for row in rows}, limited=bool(limits))
    return figure


def is_drawn(status: Cell) -> bool:
    """Has a trial of this status a result, and so a mark?"""
    return status in _ORDER


def _remark(rows: list[Row] | None) -> str:
    if rows is None:
        return ": not studied"
    if not any(is_drawn(row["status"]) for row in rows):
        return ": not run yet"
    return "" if any(row["best"] for row in rows) else ": none complete"


def _marks(ax: Axes, rows: list[Row], place: Callable[[Row], tuple[float, float]]) -> None:
    for status in _ORDER:
        points = [place(row) for row in rows if row["status"] == status]
        if points:
            look = STATUS_LOOKS[status]
            hollow = status is Status.BEATEN
            ax.plot(
                *zip(*points, strict=True),
                look.marker,
                color=look.colour,
                markersize=2.6,
                markeredgewidth=0.6,
                markerfacecolor="none" if hollow else look.colour,
            )
    best = [place(row) for row in rows if row["best"]]
    if best:
        ax.plot(*zip(*best, strict=True), "*", **_STAR)


def _status_legend(figure: Figure, present: set[str], *, limited: bool) -> None:
    handles = [
        Line2D(
            [],
            [],
            linestyle="",
            marker=STATUS_LOOKS[status].marker,
            color=STATUS_LOOKS[status].colour,
            markerfacecolor="none" if status is Status.BEATEN else STATUS_LOOKS[status].colour,
            label=status.value,
        )
        for status in reversed(_ORDER)
        if status in present
    ]
    if Status.COMPLETE in present:
        handles.append(Line2D([], [], linestyle="", marker="*", label="best", **_STAR))
    if limited:
        handles.append(Line2D([], [], label="1/L, mean along training", **_LIMIT))
    figure.legend(handles=handles, loc="lower center", ncol=len(handles), columnspacing=1.0)


def metaparameter_axis(
    ax: Axes, dimension: DimensionRecord, along: str, also: Iterable[float] = ()
) -> None:
    """Scale, limits and ticks of the axis ("x" or "y") that shows a metaparameter.

    The axis is as long as the searched range, and longer where it should hold `also`.
    """
    ends = sorted((shown(dimension, dimension.low), shown(dimension, dimension.high), *also))
    ends = [ends[0], ends[-1]]
    axis = ax.xaxis if along == "x" else ax.yaxis
    limit = ax.set_xlim if along == "x" else ax.set_ylim
    if dimension.scale == "linear":
        room = 0.04 * (ends[1] - ends[0])
        limit(ends[0] - room, ends[1] + room)
        axis.set_ticks([ends[0], (ends[0] + ends[1]) / 2, ends[1]])
        return
    (ax.set_xscale if along == "x" else ax.set_yscale)("log")
    room = (ends[1] / ends[0]) ** 0.04
    limit(ends[0] / room, ends[1] * room)
    power_axis(axis, ends[0], ends[1], 10, most=5)
