"""The top of the report: the answer in words, what is missing, and what to read with care."""

from __future__ import annotations

from sparallel.analysis import Analysis
from sparallel.report.markup import Html, bullets, element, notice, section, together


def answer_section(analysis: Analysis) -> Html:
    """The sentences of the analysis, by workload where there are several."""
    warnings = dict.fromkeys(
        [
            *analysis.warnings,
            *(f"{curve.label}: {text}" for curve in analysis.curves for text in curve.warnings),
        ]
    )
    return section(
        "answer",
        "The answer",
        _sentences(analysis),
        notice("missing", "What is missing", analysis.missing),
        notice("warning", "Read with care", list(warnings)),
    )


def _sentences(analysis: Analysis) -> Html:
    """A sentence that begins with its workload's name stands in that workload's card."""
    names = dict.fromkeys(f"{c.workload}, goal {c.goal_error:g}" for c in analysis.curves)
    cards: dict[str, list[str]] = {name: [] for name in names}
    lead = []
    for sentence in analysis.answer or ("There is no answer yet.",):
        name = next((name for name in names if sentence.startswith(f"{name}: ")), None)
        if name is None:
            lead.append(sentence)
        else:
            text = sentence.removeprefix(f"{name}: ")
            cards[name].append(text[:1].upper() + text[1:])
    return together(
        (
            element("div", *(element("p", sentence) for sentence in lead), class_="lead"),
            element(
                "div",
                *(
                    element("div", element("h3", name), bullets(texts), class_="card")
                    for name, texts in cards.items()
                    if texts
                ),
                class_="cards",
            ),
        )
    )
