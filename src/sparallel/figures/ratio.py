"""Figure 12: how many times the steps a sparse network needs, by batch size, all workloads."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from sparallel.analysis import Ratio, sparsity_in_words
from sparallel.figures.layout import entitle, grid, legend_below
from sparallel.figures.style import IDEAL, log_limits, paper_style, power_axis, series_look
from sparallel.tabular import Cell, Table

COLUMNS = ("sparsity", "workload", "goal_error", "batch_size", "ratio", "low", "high")

_TALLEST = 3  # times the highest ratio: where the axis ends
_ABREAST = 5  # workloads side by side at one batch size


def ratio_table(ratios: Sequence[Ratio]) -> Table:
    """Sparse over dense steps-to-result with its interval, a row a workload and batch size."""
    rows: list[dict[str, Cell]] = [
        {
            "sparsity": ratio.sparsity,
            "workload": str(ratio.workload),
            "goal_error": ratio.goal_error,
            "batch_size": point.batch_size,
            "ratio": point.ratio,
            "low": point.interval.low,
            "high": point.interval.high,
        }
        for ratio in sorted(ratios, key=lambda r: (r.sparsity, r.workload, r.goal_error))
        for point in ratio.points
        if point.ratio is not None
    ]
    return Table.of(COLUMNS, rows)


def draw_ratio(table: Table, title: str) -> Figure:
    """A panel a sparsity, a line a workload and goal, with error bars; 1 is "as dense"."""
    rows = list(table.records())
    sparsities = sorted({float(row["sparsity"] or 0) for row in rows})
    series = sorted({(str(row["workload"]), float(row["goal_error"] or 0)) for row in rows})
    x = log_limits([float(row["batch_size"] or 1) for row in rows])
    top = axis_top([float(row["ratio"] or 0) for row in rows], [_end(row, "high") for row in rows])
    middle = (min(len(series), _ABREAST) - 1) / 2
    with paper_style():
        figure, axes = grid(len(sparsities), columns=min(3, len(sparsities)), height=2.4)
        entitle(figure, title)
        for ax, sparsity in zip(axes, sparsities, strict=True):
            ax.axhline(1, color=IDEAL, linestyle="--", linewidth=0.9)
            for index, (workload, goal) in enumerate(series):
                own = [
                    row
                    for row in rows
                    if (row["workload"], row["goal_error"]) == (workload, goal)
                    and row["sparsity"] == sparsity
                ]
                look = series_look(index)
                values = [float(row["ratio"] or 0) for row in own]
                # Nudged apart, so that bars at one batch size do not hide each other.
                aside = 1.07 ** (index % _ABREAST - middle)
                at = [float(row["batch_size"] or 1) * aside for row in own]
                ax.vlines(
                    at,
                    [_end(row, "low") for row in own],
                    [_end(row, "high") for row in own],
                    colors=look.colour,
                    linewidth=0.6,
                )
                cut = [b for b, row in zip(at, own, strict=True) if _end(row, "high") > top]
                ax.plot(cut, [top] * len(cut), "^", color=look.colour, clip_on=False)
                label = f"{workload}, goal {goal:g}"
                ax.plot(at, values, **look.line_and_marker, label=label)
            ax.set_title(sparsity_in_words(sparsity))
            ax.set_xscale("log", base=2)
            ax.set_xlim(*x)
            power_axis(ax.xaxis, *x, 2, most=7)
            ax.set_ylim(0, top)
            ax.grid(True)
            ax.set_xlabel("Batch size")
            ax.set_ylabel("Steps-to-result, sparse / dense")
        legend_below(figure, axes)
    return figure


def axis_top(ratios: Sequence[float], highs: Sequence[float]) -> float:
    """Where the axis ends: an interval of a hundredfold is cut, or it would flatten the rest."""
    return 1.05 * max(1.0, min(max(*ratios, *highs), _TALLEST * max(ratios)))


def _end(row: dict[str, Cell], side: str) -> float:
    """An end of the interval; an open end is drawn no further than the point itself."""
    return float(row["ratio" if row[side] is None else side] or 0)
