"""The report: one HTML file that opens from disk with the network off.

Its content policy forbids every request, so that it cannot come to depend on one.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from plotly.offline import get_plotlyjs

from sparallel.analysis import Analysis
from sparallel.records import ExperimentRecord
from sparallel.report.answer import answer_section
from sparallel.report.charts import Chart, chart_figure, ratio_charts, subsets_charts
from sparallel.report.markup import (
    Html,
    element,
    escaped,
    script_json,
    section,
    together,
)
from sparallel.report.provenance import (
    borders_section,
    figures_section,
    protocol_section,
    provenance_section,
)
from sparallel.report.results import results_section
from sparallel.report.scaling_charts import scaling_charts
from sparallel.report.trial_maps import search_data, search_section
from sparallel.report.why import why_section
from sparallel.report.why_charts import why_charts
from sparallel.smoothness.why import Why

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
)
_SECTIONS = (
    ("answer", "Answer"),
    ("results", "Results"),
    ("curves", "Curves"),
    ("search", "Trials"),
    ("borders", "Search space"),
    ("why", "Why"),
    ("figures", "Figures"),
    ("protocol", "Protocol"),
    ("provenance", "Provenance"),
)


def write_report(
    experiments: Sequence[ExperimentRecord],
    analysis: Analysis,
    folder: Path,
    figures: Sequence[Path] = (),
    why: Sequence[Why] = (),
) -> Path:
    """Write folder/index.html and return it; `figures` are the files it links to.

    A report has the sections it was given something for: experiments, smoothness, or both.
    """
    folder.mkdir(parents=True, exist_ok=True)
    charts = scaling_charts(analysis)
    ratios = ratio_charts(analysis.ratios)
    subsets = subsets_charts(analysis.subsets)
    reasons = [why_charts(own, number) for number, own in enumerate(why)]
    every = [*charts, *ratios, *subsets, *(chart for own in reasons for chart in own)]
    search = search_data(experiments)
    names = [*(e.name for e in experiments), *(own.record.name for own in why)]
    title = ", ".join(dict.fromkeys(names))
    sections = {
        "answer": answer_section(analysis, why),
        "results": results_section(analysis) if experiments else None,
        "curves": _curves_section(charts, ratios, subsets) if experiments else None,
        "search": search_section(search) if experiments else None,
        "borders": borders_section(analysis.borders) if experiments else None,
        "why": why_section(why, reasons) if why else None,
        "figures": figures_section(figures, folder),
        "protocol": protocol_section(analysis),
        "provenance": provenance_section([*experiments, *(own.record for own in why)]),
    }
    present = [name for name, part in sections.items() if part is not None]
    body = together(
        (
            _header(title, _state(experiments, analysis, why), present),
            element("main", *sections.values(), id="main"),
            script_json({c.id: {"data": c.data, "layout": c.layout} for c in every}, "chart-data"),
            script_json(search, "search-data"),
        )
    )
    path = folder / "index.html"
    path.write_text(_page(title, body), encoding="utf-8")
    return path


def _page(title: str, body: Html) -> str:
    own = files("sparallel.report")
    style = own.joinpath("report.css").read_text(encoding="utf-8")
    script = own.joinpath("report.js").read_text(encoding="utf-8")
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escaped(title)} – sparallel</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            body,
            f"<script>{get_plotlyjs()}</script>",
            f"<script>{script}</script>",
            "</body>",
            "</html>",
        )
    )


def _header(title: str, state: Html, sections: Sequence[str]) -> Html:
    links = (element("a", name, href=f"#{id_}") for id_, name in _SECTIONS if id_ in sections)
    return element(
        "header",
        element("a", "Skip to the answer", href="#main", class_="skip"),
        element("p", "sparallel report", class_="brand"),
        element("h1", title),
        state,
        element("nav", *links, aria_label="Sections"),
    )


def _state(experiments: Sequence[ExperimentRecord], analysis: Analysis, why: Sequence[Why]) -> Html:
    """How much of what was planned is there, in the page's first line."""
    studies = [study for experiment in experiments for study in experiment.studies]
    finished = sum(study.finished for study in studies)
    runs = [path for own in why for path in own.record.paths]
    ended = sum(path.finished or path.infeasible_at is not None for path in runs)
    is_partial = finished < len(studies) or ended < len(runs) or bool(analysis.missing)
    state = "partial" if is_partial else "complete"
    said = []
    if experiments:
        trials = sum(len(study.trials) for study in studies)
        said.append(f"{finished:,} of {len(studies):,} studies finished, {trials:,} trials")
    if why:
        said.append(f"{ended:,} of {len(runs):,} smoothness runs finished")
    return element("p", element("span", state, class_=f"state {state}"), f" {'; '.join(said)}")


def _curves_section(
    charts: Sequence[Chart], ratios: Sequence[Chart], subsets: Sequence[Chart]
) -> Html:
    heading = "Steps-to-result against batch size"
    if not charts:
        return section("curves", heading, element("p", "There is no finished study to draw."))
    parts = [chart_figure(chart) for chart in (*charts, *ratios)]
    if subsets:
        parts.append(element("h3", "K* against the number of trials"))
        parts.extend(chart_figure(chart, "h4") for chart in subsets)
    return section("curves", heading, *parts)
