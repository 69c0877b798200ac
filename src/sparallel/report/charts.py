"""The interactive charts as plain Plotly figures (data and layout), drawn by report.js.

Labels are escaped on their way in, because Plotly reads its texts as HTML.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sparallel.analysis import Ratio, SubsetCurve, WorkloadKey, sparsity_in_words
from sparallel.figures.ratio import axis_top
from sparallel.figures.style import Look, series_look, sparsity_looks
from sparallel.report.markup import Html, element

Trace = dict[str, Any]
SYMBOLS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down"}
DASHES = ("solid", "dash", "dashdot", "dot")


@dataclass(frozen=True)
class Chart:
    """One chart: where it goes, what it is called, and what Plotly draws.

    An axis with `powers` is labelled by report.js with whole powers of that base.
    """

    id: str
    title: str
    caption: str
    data: list[Trace]
    layout: dict[str, Any]


def chart_figure(chart: Chart, heading: str = "h3") -> Html:
    """The chart's place in the page, which report.js fills as it comes near."""
    return element(
        "figure",
        element(heading, chart.title),
        element(
            "div",
            class_="chart",
            id=f"chart-{chart.id}",
            data_chart=chart.id,
            role="group",
            aria_label=f"Chart: {chart.title}",
        ),
        element("figcaption", chart.caption),
    )


def ratio_charts(ratios: Sequence[Ratio]) -> list[Chart]:
    """Sparse over dense steps-to-result, a chart a sparsity, a line a workload and goal."""
    known = [ratio for ratio in ratios if any(point.ratio for point in ratio.points)]
    return [
        Chart(
            f"ratio-{number}",
            f"What sparsity costs: {sparsity_in_words(sparsity)} over dense steps-to-result",
            "1 means no more steps than the dense network; bars are 95% intervals. A bar that "
            "leaves the chart goes on: double-click to see it all.",
            [
                _ratio_trace(ratio, index)
                for index, ratio in enumerate(r for r in known if r.sparsity == sparsity)
            ],
            {
                "xaxis": {"title": {"text": "Batch size"}, "type": "log", "powers": 2},
                "yaxis": {"title": {"text": "Sparse / dense"}, "range": [0, _top(known, sparsity)]},
                "showlegend": True,
            },
        )
        for number, sparsity in enumerate(sorted({ratio.sparsity for ratio in known}))
    ]


def _top(ratios: Sequence[Ratio], sparsity: float) -> float:
    points = [p for ratio in ratios if ratio.sparsity == sparsity for p in ratio.points if p.ratio]
    return axis_top([p.ratio or 0.0 for p in points], [p.interval.high or 0.0 for p in points])


def _ratio_trace(ratio: Ratio, index: int) -> Trace:
    points = [(p.batch_size, p.ratio, p.interval) for p in ratio.points if p.ratio is not None]
    look = series_look(index)
    highs = [0.0 if i.high is None else i.high - value for _, value, i in points]
    lows = [0.0 if i.low is None else value - i.low for _, value, i in points]
    return {
        "x": [batch_size for batch_size, _, _ in points],
        "y": [value for _, value, _ in points],
        "mode": "lines+markers",
        "name": html.escape(f"{ratio.workload}, goal {ratio.goal_error:g}"),
        "line": {"color": look.colour, "dash": DASHES[index % 4], "width": 1.5},
        "marker": {"symbol": SYMBOLS.get(look.marker, "circle"), "size": 8},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": highs,
            "arrayminus": lows,
            "thickness": 1,
            "width": 3,
        },
        "hovertemplate": "batch size %{x}: %{y:.2f} times the steps<extra></extra>",
    }


def subsets_charts(subsets: Sequence[SubsetCurve]) -> list[Chart]:
    """K* against the number of trials, a chart a workload and goal, a line a study."""
    groups: dict[tuple[WorkloadKey, float], list[SubsetCurve]] = {}
    for subset in subsets:
        if any(point.expected is not None for point in subset.points):
            groups.setdefault((subset.workload, subset.goal_error), []).append(subset)
    charts = []
    for number, ((workload, goal), own) in enumerate(groups.items()):
        looks = sparsity_looks([subset.sparsity for subset in own])
        listed: set[float] = set()
        traces = []
        for subset in own:
            first = subset.sparsity not in listed
            traces.append(_subset_trace(subset, looks[subset.sparsity], listed=first))
            listed.add(subset.sparsity)
        charts.append(
            Chart(
                f"subsets-{number}",
                f"{workload}, goal error {goal:g}",
                "The minimum K to expect had fewer trials been tried, over the K* of all of them; "
                "a line a study, coloured by sparsity. A line still falling at its right end says "
                "that more trials would lower K* further.",
                traces,
                {
                    "xaxis": {"title": {"text": "Trials"}},
                    "yaxis": {"title": {"text": "Expected minimum K / K*"}},
                    "showlegend": True,
                },
            )
        )
    return charts


def _subset_trace(subset: SubsetCurve, look: Look, *, listed: bool) -> Trace:
    known = [(p.trials, p.expected) for p in subset.points if p.expected is not None]
    sparsity = sparsity_in_words(subset.sparsity)
    best = known[-1][1]  # of all trials: K* itself
    return {
        "x": [trials for trials, _ in known],
        "y": [expected / best for _, expected in known],
        "customdata": [expected for _, expected in known],
        "mode": "lines+markers" if len(known) < 3 else "lines",
        "name": sparsity,
        "legendgroup": sparsity,
        "showlegend": listed,
        "line": {"color": look.colour, "width": 1.2},
        "hovertemplate": f"batch size {subset.batch_size:,}, {sparsity}<br>"
        "%{x} trials: %{customdata:.0f} steps<extra></extra>",
    }
