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
from sparallel.report.charts import Chart, ratio_charts, subsets_charts
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

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
)
_SECTIONS = (
    ("answer", "Answer"),
    ("results", "Results"),
    ("curves", "Curves"),
    ("search", "Trials"),
    ("borders", "Search space"),
    ("figures", "Figures"),
    ("protocol", "Protocol"),
    ("provenance", "Provenance"),
)


def write_report(
    experiments: Sequence[ExperimentRecord],
    analysis: Analysis,
    folder: Path,
    figures: Sequence[Path] = (),
) -> Path:
    """Write folder/index.html and return it; `figures` are the files it links to."""
    folder.mkdir(parents=True, exist_ok=True)
    charts = scaling_charts(analysis)
    ratios = ratio_charts(analysis.ratios)
    subsets = subsets_charts(analysis.subsets)
    every = [*charts, *ratios, *subsets]
    search = search_data(experiments)
    body = together(
        (
            _header(experiments, analysis),
            element(
                "main",
                answer_section(analysis),
                results_section(analysis),
                _curves_section(charts, ratios, subsets),
                search_section(search),
                borders_section(analysis.borders),
                figures_section(figures, folder),
                protocol_section(analysis),
                provenance_section(experiments),
                id="main",
            ),
            script_json({c.id: {"data": c.data, "layout": c.layout} for c in every}, "chart-data"),
            script_json(search, "search-data"),
        )
    )
    path = folder / "index.html"
    path.write_text(_page(", ".join(e.name for e in experiments), body), encoding="utf-8")
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


def _header(experiments: Sequence[ExperimentRecord], analysis: Analysis) -> Html:
    studies = [study for experiment in experiments for study in experiment.studies]
    finished = sum(study.finished for study in studies)
    partial = finished < len(studies) or bool(analysis.missing)
    state = "partial" if partial else "complete"
    links = (element("a", name, href=f"#{id_}") for id_, name in _SECTIONS)
    return element(
        "header",
        element("a", "Skip to the answer", href="#main", class_="skip"),
        element("p", "sparallel report", class_="brand"),
        element("h1", ", ".join(experiment.name for experiment in experiments)),
        element(
            "p",
            element("span", state, class_=f"state {state}"),
            f" {finished:,} of {len(studies):,} studies finished, "
            f"{sum(len(study.trials) for study in studies):,} trials",
        ),
        element("nav", *links, aria_label="Sections"),
    )


def _curves_section(
    charts: Sequence[Chart], ratios: Sequence[Chart], subsets: Sequence[Chart]
) -> Html:
    heading = "Steps-to-result against batch size"
    if not charts:
        return section("curves", heading, element("p", "There is no finished study to draw."))
    parts = [_chart(chart) for chart in (*charts, *ratios)]
    if subsets:
        parts.append(element("h3", "K* against the number of trials"))
        parts.extend(_chart(chart, "h4") for chart in subsets)
    return section("curves", heading, *parts)


def _chart(chart: Chart, heading: str = "h3") -> Html:
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
