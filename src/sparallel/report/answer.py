"""The top of the report: the answer in words, what is missing, and what to read with care."""

from __future__ import annotations

from collections.abc import Sequence

from sparallel.analysis import Analysis
from sparallel.report.markup import Html, bullets, element, notice, section, together
from sparallel.smoothness.prediction import workload_of
from sparallel.smoothness.why import Why
from sparallel.smoothness.words import answer_sentences


def answer_section(analysis: Analysis, why: Sequence[Why] = ()) -> Html:
    """The sentences of the analysis, by workload where there are several, then the reasons."""
    warnings = dict.fromkeys(
        [
            *analysis.warnings,
            *(f"{curve.label}: {text}" for curve in analysis.curves for text in curve.warnings),
        ]
    )
    return section(
        "answer",
        "The answer",
        _sentences(analysis) if analysis.curves or not why else None,
        *(_reasons(own) for own in why),
        notice("missing", "What is missing", analysis.missing),
        notice("warning", "Read with care", list(warnings)),
    )


def _reasons(why: Why) -> Html:
    """What smoothness says, in a card; its section has the numbers."""
    # The highest sparsity, where the effect is clearest, stands for the others here.
    sentences = answer_sentences(why)[-1:] or ["Too little is measured to say why."]
    more = element("p", element("a", "All sparsities, and the numbers", href="#why"), class_="fine")
    heading = element("h3", f"Why ({workload_of(why.record)})")
    return element("div", heading, bullets(sentences), more, class_="card")


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
