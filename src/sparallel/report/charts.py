"""The interactive charts as plain Plotly figures (data and layout), drawn by report.js.

Labels are escaped a second time on their way in, because Plotly reads its texts as HTML.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sparallel.analysis import (
    FROM_FIT,
    Analysis,
    Curve,
    CurvePoint,
    Ratio,
    SubsetCurve,
    WorkloadKey,
    sparsity_in_words,
)
from sparallel.figures.style import Look, series_look, sparsity_looks
from sparallel.report.words import between, metaparameters_in_words, whole

Trace = dict[str, Any]
_SYMBOLS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down"}
_DASHES = ("solid", "dash", "dashdot", "dot")


@dataclass(frozen=True)
class Chart:
    """One chart: where it goes, what it is called, and what Plotly draws."""

    id: str
    title: str
    caption: str
    data: list[Trace]
    layout: dict[str, Any]


def scaling_charts(analysis: Analysis) -> list[Chart]:
    """Steps-to-result against batch size, a chart a workload and goal."""
    groups: dict[tuple[WorkloadKey, float], list[Curve]] = {}
    for curve in analysis.curves:
        if curve.points:
            groups.setdefault((curve.workload, curve.goal_error), []).append(curve)
    charts = []
    for number, ((workload, goal), curves) in enumerate(groups.items()):
        looks = sparsity_looks([curve.sparsity for curve in curves])
        traces = [
            trace
            for at, curve in enumerate(sorted(curves, key=lambda c: c.sparsity))
            for trace in _curve_traces(curve, looks[curve.sparsity], _DASHES[at % 4])
        ]
        charts.append(
            Chart(
                f"scaling-{number}",
                f"{workload}, goal error {goal:g}",
                "Points are K* with their 95% interval, lines the fit K = c1/B + c2 with its band, "
                "grey dashes ideal scaling from the first point; a star marks the critical batch "
                "size c1/c2. Open triangles lie above the step budget.",
                traces,
                _log_layout("Batch size", "Steps-to-result"),
            )
        )
    return charts


def _curve_traces(curve: Curve, look: Look, dash: str) -> list[Trace]:
    name = sparsity_in_words(curve.sparsity)
    traces: list[Trace] = []
    if curve.fit is not None:
        band = curve.fit.band
        x = [p.batch_size for p in band]
        edge = {"width": 0}
        hidden = {"legendgroup": name, "showlegend": False, "hoverinfo": "skip", "mode": "lines"}
        traces += [
            {**hidden, "x": x, "y": [p.low for p in band], "line": edge},
            {
                **hidden,
                "x": x,
                "y": [p.high for p in band],
                "line": edge,
                "fill": "tonexty",
                "fillcolor": f"{look.colour}26",
            },
            {
                **hidden,
                "x": x,
                "y": [p.steps for p in band],
                "line": {"color": look.colour, "dash": dash, "width": 2},
            },
        ]
    ideal = [p for p in curve.points if p.ideal_steps is not None]
    traces.append(
        {
            "x": [p.batch_size for p in ideal],
            "y": [p.ideal_steps for p in ideal],
            "mode": "lines",
            "legendgroup": name,
            "showlegend": False,
            "hoverinfo": "skip",
            "line": {"color": "#999999", "dash": "dash", "width": 1},
        }
    )
    traces.append(_points_trace(curve, look, name))
    traces.extend(_critical_traces(curve, look, name))
    return traces


def _points_trace(curve: Curve, look: Look, name: str) -> Trace:
    points = curve.points
    steps = [p.budget if p.steps is None else p.steps for p in points]
    symbol = _SYMBOLS.get(look.marker, "circle")
    return {
        "x": [p.batch_size for p in points],
        "y": steps,
        "mode": "markers",
        "name": name,
        "legendgroup": name,
        "marker": {
            "color": look.colour,
            "size": 9,
            "symbol": ["triangle-up-open" if p.is_censored else symbol for p in points],
        },
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [_reach(p, k, 1) for p, k in zip(points, steps, strict=True)],
            "arrayminus": [_reach(p, k, -1) for p, k in zip(points, steps, strict=True)],
            "color": look.colour,
            "thickness": 1,
            "width": 3,
        },
        "text": [_point_hover(name, p) for p in points],
        "hoverinfo": "text",
    }


def _reach(point: CurvePoint, steps: float, side: int) -> float:
    if point.interval is None or point.is_censored:
        return 0.0
    end = point.interval.high if side > 0 else point.interval.low
    return 0.0 if end is None else max(0.0, side * (end - steps))


def _point_hover(name: str, point: CurvePoint) -> str:
    steps = f"above {point.budget:,}" if point.steps is None else f"{point.steps:,}"
    lines = [
        f"<b>{name}, batch size {point.batch_size:,}</b>",
        f"K* {steps} {html.escape(between(point.interval))}",
        f"median of reruns {whole(point.rerun_median)}",
        html.escape(metaparameters_in_words(point.study.best_metaparameters)).replace(", ", "<br>"),
    ]
    return "<br>".join(lines)


def _critical_traces(curve: Curve, look: Look, name: str) -> list[Trace]:
    return [
        {
            "x": [critical.value],
            "y": [curve.fit.steps(critical.value)],
            "mode": "markers",
            "legendgroup": name,
            "showlegend": False,
            "marker": {
                "symbol": "star",
                "size": 15,
                "color": look.colour,
                "line": {"color": "white", "width": 1.5},
            },
            "text": [
                f"<b>critical batch size, {name}</b><br>{html.escape(critical.in_words())}<br>"
                f"{html.escape(critical.definition)}"
            ],
            "hoverinfo": "text",
        }
        for critical in curve.critical
        if critical.definition == FROM_FIT and critical.value and curve.fit is not None
    ]


def ratio_chart(ratios: Sequence[Ratio]) -> Chart | None:
    """Sparse over dense steps-to-result, a line a workload, goal and sparsity."""
    traces: list[Trace] = []
    for index, ratio in enumerate(r for r in ratios if any(p.ratio for p in r.points)):
        known = [p for p in ratio.points if p.ratio is not None]
        look = series_look(index)
        name = f"{ratio.workload}, goal {ratio.goal_error:g}, {sparsity_in_words(ratio.sparsity)}"
        values = [p.ratio or 0.0 for p in known]
        highs = [
            v if p.interval.high is None else p.interval.high
            for v, p in zip(values, known, strict=True)
        ]
        lows = [
            v if p.interval.low is None else p.interval.low
            for v, p in zip(values, known, strict=True)
        ]
        traces.append(
            {
                "x": [p.batch_size for p in known],
                "y": values,
                "mode": "lines+markers",
                "name": html.escape(name),
                "line": {"color": look.colour, "dash": _DASHES[index % 4], "width": 1.5},
                "marker": {"symbol": _SYMBOLS.get(look.marker, "circle"), "size": 7},
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [high - v for high, v in zip(highs, values, strict=True)],
                    "arrayminus": [v - low for low, v in zip(lows, values, strict=True)],
                    "thickness": 1,
                    "width": 3,
                },
                "hovertemplate": "batch size %{x}: %{y:.2f} times the steps",
            }
        )
    if not traces:
        return None
    return Chart(
        "ratio",
        "What sparsity costs: sparse over dense steps-to-result",
        "1 means no more steps than the dense network; bars are 95% intervals.",
        traces,
        {
            "xaxis": {"title": {"text": "Batch size"}, "type": "log", "powers": 2},
            "yaxis": {"title": {"text": "Sparse / dense"}, "rangemode": "tozero"},
        },
    )


def subsets_charts(subsets: Sequence[SubsetCurve]) -> list[Chart]:
    """K* against the number of trials, a chart a workload and goal, a line a study."""
    groups: dict[tuple[WorkloadKey, float], list[SubsetCurve]] = {}
    for subset in subsets:
        if any(point.expected is not None for point in subset.points):
            groups.setdefault((subset.workload, subset.goal_error), []).append(subset)
    charts = []
    for number, ((workload, goal), own) in enumerate(groups.items()):
        looks = sparsity_looks([subset.sparsity for subset in own])
        traces = [_subset_trace(subset, looks[subset.sparsity]) for subset in own]
        charts.append(
            Chart(
                f"subsets-{number}",
                f"{workload}, goal error {goal:g}",
                "The minimum K to expect had fewer trials been tried. A line still falling at its "
                "right end says that more trials would lower K* further.",
                traces,
                {
                    "xaxis": {"title": {"text": "Trials"}, "type": "log"},
                    "yaxis": {"title": {"text": "Expected minimum K"}, "type": "log", "powers": 2},
                },
            )
        )
    return charts


def _subset_trace(subset: SubsetCurve, look: Look) -> Trace:
    known = [point for point in subset.points if point.expected is not None]
    name = f"B = {subset.batch_size:,}, {sparsity_in_words(subset.sparsity)}"
    return {
        "x": [point.trials for point in known],
        "y": [point.expected for point in known],
        "mode": "lines+markers" if len(known) < 3 else "lines",
        "name": name,
        "line": {"color": look.colour, "width": 1.2},
        "hovertemplate": f"{name}<br>%{{x}} trials: %{{y:.0f}} steps<extra></extra>",
    }


def _log_layout(x: str, y: str) -> dict[str, Any]:
    """`powers` is read by report.js, which labels the axis with powers of that base."""
    return {
        "xaxis": {"title": {"text": x}, "type": "log", "powers": 2},
        "yaxis": {"title": {"text": y}, "type": "log", "powers": 2},
    }
