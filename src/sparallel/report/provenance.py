"""The last parts of the report: border verdicts, figure files, protocol and provenance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from sparallel.analysis import Analysis, BorderVerdict, sparsity_in_words
from sparallel.records import ExperimentRecord
from sparallel.report.markup import Html, element, section, table, together
from sparallel.smoothness.records import SmoothnessRecord

_PROTOCOL = (
    ("Study", "one batch size and sparsity of a workload (data, model, optimizer, schedule)."),
    ("Trial", "one training run of a study with one set of metaparameters."),
    (
        "Steps-to-result K",
        "the first checked step at which the error on the whole validation set is at most the "
        "goal error. The goal was crossed somewhere in the check interval that ends at K.",
    ),
    ("K*", "the lowest K over a study's trials; ties go to the lowest trial index."),
    (
        "Status",
        "complete: reached the goal; incomplete: spent its step budget; infeasible: diverged; "
        "beaten: stopped because it could no longer win.",
    ),
)


def borders_section(borders: Sequence[BorderVerdict]) -> Html:
    """First the studies whose best point touches the edge of the space, then the rest, folded."""
    if not borders:
        return section(
            "borders", "Is the search space wide enough?", element("p", "No study has a winner.")
        )
    inside = [border for border in borders if border.is_inside]
    others = [border for border in borders if not border.is_inside]
    rules = list(dict.fromkeys(border.rule for border in borders))
    parts = [
        element("p", f"{len(inside)} of {len(borders)} studies have their best point inside."),
        *(element("p", f"The rule: {rule}.", class_="fine") for rule in rules),
    ]
    if others:
        parts.append(_borders_table("Studies to look at", others))
    if inside:
        folded = _borders_table("Studies whose best point lies inside", inside)
        summary = element("summary", f"The {len(inside)} studies inside")
        parts.append(element("details", summary, folded))
    return section("borders", "Is the search space wide enough?", *parts)


def _borders_table(caption: str, borders: Sequence[BorderVerdict]) -> Html:
    rows = [
        [
            f"{border.workload}, goal {border.goal_error:g}",
            sparsity_in_words(border.sparsity),
            f"{border.batch_size:,}",
            border.verdict.removesuffix(f" Run: {border.command}"),
            element("code", border.command) if border.command else "–",
        ]
        for border in borders
    ]
    columns = ("Workload", "Sparsity", "Batch size", "Verdict", "Command that searches further")
    return table(caption, columns, rows, words=(0, 1), sentences=(3, 4))


def figures_section(figures: Sequence[Path], folder: Path) -> Html:
    """Links to the figure files, relative to the report, so that the folder can move."""
    by_name: dict[str, list[Path]] = {}
    for path in figures:
        by_name.setdefault(path.stem, []).append(path)
    if not by_name:
        return section("figures", "Figures", element("p", "No figure files were written."))

    def link(path: Path) -> Html:
        relative = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
        kind = path.suffix.lstrip(".")
        return element("a", kind, href=quote(relative), aria_label=f"{path.stem} as {kind}")

    items = (
        element("li", element("span", name), " ", *(link(path) for path in paths))
        for name, paths in by_name.items()
    )
    intro = "For a paper, and the numbers behind each picture. The files lie beside this report."
    return section("figures", "Figures", element("p", intro), element("ul", *items, class_="files"))


def protocol_section(analysis: Analysis) -> Html:
    """The words of the report defined, with the rules the analysis states."""
    definitions = dict.fromkeys(c.definition for curve in analysis.curves for c in curve.critical)
    rules = dict.fromkeys(curve.regimes.rule for curve in analysis.curves if curve.regimes)
    terms = [
        *_PROTOCOL,
        *(("Critical batch size", f"{definition}.") for definition in definitions),
        *(("Regimes", f"{rule}.") for rule in rules),
    ]
    listed = together(together((element("dt", t), element("dd", d))) for t, d in terms)
    return section("protocol", "Protocol", element("dl", listed))


def provenance_section(experiments: Sequence[ExperimentRecord | SmoothnessRecord]) -> Html:
    """Each folder's resolved specification and every run of the command."""
    return section(
        "provenance",
        "Provenance",
        *(
            together(
                (
                    element("h3", experiment.name),
                    element("p", f"Folder: {experiment.folder}", class_="fine"),
                    _folded("The resolved specification", experiment.spec),
                    *(
                        _folded(f"Run {number} of {len(experiment.sessions)}", session)
                        for number, session in enumerate(experiment.sessions, 1)
                    ),
                )
            )
            for experiment in experiments
        ),
    )


def _folded(title: str, value: Mapping[str, object]) -> Html:
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return element("details", element("summary", title), element("pre", text, tabindex="0"))
