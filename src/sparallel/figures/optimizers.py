"""Figure 2: optimizers against each other on one data set and model, a panel a sparsity."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from sparallel.analysis import Curve, sparsity_in_words
from sparallel.figures.layout import entitle, grid, legend_below
from sparallel.figures.style import log_axes, log_limits, paper_style, series_look
from sparallel.tabular import Cell, Table

COLUMNS = ("sparsity", "optimizer", "kind", "batch_size", "steps")


def optimizers_table(curves: Sequence[Curve]) -> Table:
    """Measured points and fitted curves of every optimizer; kind is "measured" or "fit"."""
    rows: list[dict[str, Cell]] = []
    for curve in sorted(curves, key=lambda c: (c.sparsity, c.workload.optimizer)):
        series: dict[str, Cell] = {
            "sparsity": curve.sparsity,
            "optimizer": curve.workload.optimizer,
        }
        rows.extend(
            {**series, "kind": "measured", "batch_size": p.batch_size, "steps": p.steps}
            for p in curve.points
            if p.steps is not None
        )
        rows.extend(
            {**series, "kind": "fit", "batch_size": b.batch_size, "steps": b.steps}
            for b in (curve.fit.band if curve.fit else ())
        )
    return Table.of(COLUMNS, rows)


def draw_optimizers(table: Table, title: str) -> Figure:
    """A panel a sparsity, a line an optimizer, the same axes throughout."""
    series: dict[tuple[float, str, str], tuple[list[float], list[float]]] = {}
    for sparsity, optimizer, kind, batch_size, steps in table.rows:
        key = (float(sparsity or 0), str(optimizer), str(kind))
        xs, ys = series.setdefault(key, ([], []))
        xs.append(float(batch_size or 0))
        ys.append(float(steps or 0))
    sparsities = sorted({sparsity for sparsity, _, _ in series})
    optimizers = sorted({optimizer for _, optimizer, _ in series})
    measured = [points for (_, _, kind), points in series.items() if kind == "measured"]
    x = log_limits([value for xs, _ in measured for value in xs])
    y = log_limits([value for _, ys in measured for value in ys])
    with paper_style():
        figure, axes = grid(len(sparsities), columns=2, height=2.1)
        entitle(figure, title)
        for ax, sparsity in zip(axes, sparsities, strict=True):
            for index, optimizer in enumerate(optimizers):
                look = series_look(index)
                fit = series.get((sparsity, optimizer, "fit"), ([], []))
                points = series.get((sparsity, optimizer, "measured"), ([], []))
                ax.plot(*fit, color=look.colour, linestyle=look.line)
                ax.plot(*points, look.marker, color=look.colour)
                ax.plot([], [], **look.line_and_marker, label=optimizer)
            ax.set_title(sparsity_in_words(sparsity))
            ax.set_xlabel("Batch size")
            ax.set_ylabel("Steps-to-result")
            log_axes(ax, x, y)
        legend_below(figure, axes)
    return figure
