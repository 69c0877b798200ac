"""Every trial, packed small for the page's script, which draws the study the reader picks.

A study's trials are four parallel arrays (index, steps, status letter, metaparameters), which
keeps 16,800 trials near a megabyte where an object each would take five.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from sparallel.analysis import WorkloadKey, sparsity_in_words
from sparallel.figures.files import distinct_names
from sparallel.figures.style import GOLD, STATUS_LOOKS
from sparallel.figures.trials import is_drawn
from sparallel.records import DimensionRecord, ExperimentRecord, Status, StudyRecord
from sparallel.report.markup import Html, element, section, together
from sparallel.report.words import readable

_LETTERS = {
    Status.COMPLETE: "c",
    Status.BEATEN: "b",
    Status.INCOMPLETE: "i",
    Status.INFEASIBLE: "x",
    Status.FAILED: "f",
    Status.PENDING: "p",
}
_SYMBOLS = {"o": "circle", "d": "diamond-open", "^": "triangle-up", "x": "x-thin-open"}


def search_data(experiments: Sequence[ExperimentRecord]) -> dict[str, Any]:
    """What the script needs: the marks, and every workload's studies and trials."""
    groups: dict[tuple[str, WorkloadKey, float], list[StudyRecord]] = {}
    for name, experiment in zip(distinct_names(experiments), experiments, strict=True):
        for study in experiment.studies:
            if any(is_drawn(trial.status) for trial in study.trials):
                workload = WorkloadKey(study.data, study.model, study.optimizer, study.schedule)
                groups.setdefault((name, workload, study.goal_error), []).append(study)
    several = len(experiments) > 1
    return {
        "gold": GOLD,
        "marks": [
            {
                "letter": _LETTERS[status],
                "name": status.value,
                "color": look.colour,
                "symbol": _SYMBOLS[look.marker],
            }
            for status, look in STATUS_LOOKS.items()
        ],
        "workloads": [
            {
                "title": f"{workload}, goal {goal:g}" + (f" ({name})" if several else ""),
                "dimensions": [_dimension(d) for d in studies[0].space],
                "studies": [
                    _packed(s) for s in sorted(studies, key=lambda s: (s.sparsity, s.batch_size))
                ],
            }
            for (name, workload, goal), studies in groups.items()
        ],
    }


def _dimension(dimension: DimensionRecord) -> dict[str, Any]:
    return {
        # Plotly reads its labels as HTML.
        "name": html.escape(readable(dimension.name)),
        "reverse": dimension.scale == "reverse-log",
        "log": dimension.scale != "linear",
        "low": dimension.low,
        "high": dimension.high,
    }


def _packed(study: StudyRecord) -> dict[str, Any]:
    return {
        "b": study.batch_size,
        "s": study.sparsity,
        "name": sparsity_in_words(study.sparsity),
        "seed": study.seed,
        "max": study.max_steps,
        "best": study.best_trial,
        "t": [trial.trial for trial in study.trials],
        "k": [trial.steps for trial in study.trials],
        "st": "".join(_LETTERS[trial.status] for trial in study.trials),
        "m": [
            [float(f"{trial.metaparameters[d.name]:.6g}") for trial in study.trials]
            for d in study.space
        ],
    }


def search_section(data: dict[str, Any]) -> Html:
    """The trial map with its controls, which the script fills and wires."""
    if not data["workloads"]:
        return section("search", "Every trial", element("p", "No trial has run yet."))
    controls = together(
        element(
            "label",
            element("span", label),
            element("select", id=f"search-{name}"),
        )
        for name, label in (
            ("workload", "Workload"),
            ("sparsity", "Sparsity"),
            ("batch", "Batch size"),
            ("view", "Show"),
        )
    )
    caption = (
        "One study's trials: hover one for its metaparameters. The gold star is the winner. "
        "Beaten trials stand at the bound they were stopped at; in the plots of steps, infeasible "
        "ones stand above the step budget, because they have no K."
    )
    chart = element("div", id="search-chart", class_="chart", role="group", aria_label="Trial map")
    return section(
        "search",
        "Every trial",
        element("div", controls, class_="controls"),
        element("figure", chart, element("figcaption", caption)),
        element("p", id="search-summary", aria_live="polite"),
    )
