"""L and the gradient noise scale along training as interactive charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sparallel.analysis import FROM_FIT, sparsity_in_words
from sparallel.figures.along_training import by_step
from sparallel.figures.style import Look, sparsity_looks
from sparallel.report.charts import DASHES, SYMBOLS, Chart, Trace
from sparallel.report.words import significant
from sparallel.smoothness.noise_scale import WINDOW, noise_along
from sparallel.smoothness.why import SparsityWhy, Why

# Under the axis, in the place of its title, which the buttons' words are.
_MENU: dict[str, Any] = {
    "type": "buttons",
    "direction": "right",
    "x": 0.5,
    "xanchor": "center",
    "y": -0.07,
    "yanchor": "top",
    "showactive": True,
    "pad": {"t": 4, "b": 4},
}


def why_charts(why: Why, number: int) -> list[Chart]:
    """The charts of one smoothness folder that there are points for."""
    looks = sparsity_looks([own.sparsity for own in why.sparsities])
    lipschitz = [
        trace
        for at, own in enumerate(why.sparsities)
        for trace in _lipschitz(why, own, looks[own.sparsity], DASHES[at % 4])
    ]
    noise = [
        trace
        for at, own in enumerate(why.sparsities)
        for trace in _noise(why, own, looks[own.sparsity], DASHES[at % 4])
    ]
    charts = []
    if lipschitz:
        charts.append(
            Chart(
                f"lipschitz-{number}",
                "The gradient's Lipschitz constant L along training",
                "The line is the mean over seeds and the band their range; dashes are the mean "
                "along training. Hover a point for its standard error.",
                lipschitz,
                _layout("L(w_k)", log=False),
            )
        )
    if noise:
        charts.append(
            Chart(
                f"noise-{number}",
                "The gradient noise scale along training: a proxy of the critical batch size",
                f"tr(Sigma)/|G|², both averaged over {WINDOW} neighbouring points and all seeds "
                "before they are divided. Stars at the right end, where there are any, are the "
                "measured critical batch size c1/c2.",
                noise,
                _layout("Gradient noise scale (proxy)", log=True),
            )
        )
    return charts


def _lipschitz(why: Why, own: SparsityWhy, look: Look, dash: str) -> list[Trace]:
    paths = [path for path in why.record.paths if path.sparsity == own.sparsity]
    rows = by_step(paths, lambda point: point.lipschitz)
    if not rows:
        return []
    name, steps = sparsity_in_words(own.sparsity), [row[0] for row in rows]
    hidden = {"legendgroup": name, "showlegend": False, "hoverinfo": "skip", "mode": "lines"}
    errors = {row[0]: row[1] for row in by_step(paths, lambda point: point.lipschitz_error)}
    traces: list[Trace] = [
        {**hidden, "x": steps, "y": [row[2] for row in rows], "line": {"width": 0}},
        {
            **hidden,
            "x": steps,
            "y": [row[3] for row in rows],
            "line": {"width": 0},
            "fill": "tonexty",
            "fillcolor": f"{look.colour}26",
        },
        {
            "x": steps,
            "y": [row[1] for row in rows],
            "mode": "lines+markers",
            "name": name,
            "legendgroup": name,
            "line": {"color": look.colour, "dash": dash, "width": 2},
            "marker": {"color": look.colour, "size": 6, "symbol": _symbol(look)},
            "text": [
                f"<b>{name}, step {step:,}</b><br>L {significant(mean)}, seeds "
                f"{significant(low)} to {significant(high)}<br>standard error of a seed "
                f"{significant(errors.get(step))}"
                for step, mean, low, high in rows
            ],
            "hoverinfo": "text",
        },
    ]
    level = own.summary.lipschitz
    if level is not None:
        ends, mean = [steps[0], steps[-1]], level.mean
        line = {"color": look.colour, "dash": "dash", "width": 1}
        traces.append({**hidden, "x": ends, "y": [mean, mean], "line": line})
    return traces


def _noise(why: Why, own: SparsityWhy, look: Look, dash: str) -> list[Trace]:
    known = [
        (point.step, point.noise_scale)
        for point in noise_along(why.record, own.sparsity)
        if point.noise_scale is not None
    ]
    if not known:
        return []
    name = sparsity_in_words(own.sparsity)
    traces: list[Trace] = [
        {
            "x": [step for step, _ in known],
            "y": [scale for _, scale in known],
            "mode": "lines+markers",
            "name": name,
            "legendgroup": name,
            "line": {"color": look.colour, "dash": dash, "width": 2},
            "marker": {"color": look.colour, "size": 6, "symbol": _symbol(look)},
            "hovertemplate": f"{name}, step %{{x:,}}<br>noise scale %{{y:.3g}}<extra></extra>",
        }
    ]
    measured = [
        critical.value
        for _, critical in own.noise.critical
        if critical.definition == FROM_FIT and critical.value is not None
    ]
    traces += [_critical_trace(known[-1][0], value, name, look) for value in measured]
    return traces


def _critical_trace(step: int, value: float, name: str, look: Look) -> Trace:
    return {
        "x": [step],
        "y": [value],
        "mode": "markers",
        "legendgroup": name,
        "showlegend": False,
        "marker": {
            "symbol": "star",
            "size": 14,
            "color": look.colour,
            "line": {"color": "white", "width": 1},
        },
        "hovertemplate": f"{name}: measured c1/c2 %{{y:.3g}}<extra></extra>",
    }


def _symbol(look: Look) -> str:
    return SYMBOLS.get(look.marker, "circle")


def _layout(title: str, *, log: bool) -> dict[str, Any]:
    """Steps on a linear axis as in the paper; a button shows the first steps on a log one."""
    height: dict[str, Any] = {"title": {"text": title}}
    height |= {"type": "log", "powers": 10} if log else {"rangemode": "tozero"}
    return {
        "xaxis": {"type": "linear"},
        "yaxis": height,
        "showlegend": True,
        "updatemenus": [{**_MENU, "buttons": _buttons(("linear", "log"))}],
    }


def _buttons(kinds: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "label": f"{kind} steps",
            "method": "relayout",
            "args": [{"xaxis.type": kind, "xaxis.autorange": True}],
        }
        for kind in kinds
    ]
