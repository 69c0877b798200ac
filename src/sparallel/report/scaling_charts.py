"""Steps-to-result against batch size as interactive charts, a chart a workload and goal."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

from sparallel.analysis import (
    FROM_FIT,
    Analysis,
    Curve,
    CurvePoint,
    WorkloadKey,
    sparsity_in_words,
)
from sparallel.figures.style import Look, log_limits, sparsity_looks
from sparallel.report.charts import DASHES, SYMBOLS, Chart, Trace
from sparallel.report.words import between, metaparameters_in_words, whole


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
            for trace in _curve_traces(curve, looks[curve.sparsity], DASHES[at % 4])
        ]
        charts.append(
            Chart(
                f"scaling-{number}",
                f"{workload}, goal error {goal:g}",
                "Points are K* with their 95% interval, lines the fit K = c1/B + c2 with its band, "
                "grey dashes ideal scaling from the first point; a star marks the critical batch "
                "size c1/c2. Open triangles lie above the step budget.",
                traces,
                _layout(curves),
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
    measured = [point for point in curve.points if point.steps is not None]
    beyond = [point for point in curve.points if point.steps is None]
    symbol = SYMBOLS.get(look.marker, "circle")
    # A curve whose points all lie beyond the budget still has its legend entry.
    traces.append(_points_trace(measured, look, name, symbol, listed=bool(measured)))
    if beyond:
        open_triangle = "triangle-up-open"
        traces.append(_points_trace(beyond, look, name, open_triangle, listed=not measured))
    traces.extend(_critical_traces(curve, look, name))
    return traces


def _points_trace(
    points: Sequence[CurvePoint], look: Look, name: str, symbol: str, *, listed: bool
) -> Trace:
    steps = [p.budget if p.steps is None else p.steps for p in points]
    return {
        "x": [p.batch_size for p in points],
        "y": steps,
        "mode": "markers",
        "name": name,
        "legendgroup": name,
        "showlegend": listed,
        "marker": {"color": look.colour, "size": 9, "symbol": symbol},
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


def _layout(curves: Sequence[Curve]) -> dict[str, Any]:
    """Ranges that hold the points; the ideal line leaves below, as in the paper."""
    points = [point for curve in curves for point in curve.points]
    x = log_limits([point.batch_size for point in points])
    y = log_limits([point.budget if point.steps is None else point.steps for point in points], 0.12)

    def axis(title: str, ends: tuple[float, float]) -> dict[str, Any]:
        span = [math.log10(end) for end in ends]
        return {"title": {"text": title}, "type": "log", "powers": 2, "range": span}

    return {"xaxis": axis("Batch size", x), "yaxis": axis("Steps-to-result", y)}
