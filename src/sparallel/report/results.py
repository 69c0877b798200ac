"""The report's tables: a row a curve with its critical batch sizes, a row a study with its K*."""

from __future__ import annotations

from collections.abc import Sequence

from sparallel.analysis import (
    FROM_FIT,
    FROM_POINTS,
    Analysis,
    Curve,
    CurvePoint,
    WorkloadKey,
    sparsity_in_words,
)
from sparallel.records import Status
from sparallel.report.markup import Html, element, section, table, together
from sparallel.report.words import (
    NOTHING,
    between,
    duration,
    metaparameters_in_words,
    significant,
    whole,
)

_SHORT = {FROM_FIT: "c1/c2", FROM_POINTS: "20% above ideal"}
_STUDY_COLUMNS = (
    "Sparsity",
    "Batch size",
    "K* (minimum)",
    "95% interval of K*",
    "Median of reruns",
    "Reruns that arrived",
    "K* / ideal",
    "Examples to result",
    "Time to result",
    "Time of the search",
    "Test error at K*",
    "Complete / incomplete / infeasible / beaten",
    "Winner's metaparameters",
)


def results_section(analysis: Analysis) -> Html:
    """Both tables, with a sentence on what may not be mixed."""
    if not analysis.curves:
        return section("results", "Results", element("p", "No study has finished yet."))
    note = (
        "K* is the fewest steps of any trial of the study: an extreme value, which grows smaller "
        "with every trial added. The median of reruns repeats the winner with other seeds and is "
        "what one training run should be expected to take. The two are never mixed."
    )
    by_workload: dict[tuple[WorkloadKey, float], list[Curve]] = {}
    for curve in analysis.curves:
        by_workload.setdefault((curve.workload, curve.goal_error), []).append(curve)
    return section(
        "results",
        "Results",
        _curves_table(analysis.curves),
        element("p", note),
        together(
            _studies_table(f"{workload}, goal error {goal:g}", curves)
            for (workload, goal), curves in by_workload.items()
        ),
    )


def _curves_table(curves: Sequence[Curve]) -> Html:
    definitions = list(dict.fromkeys(c.definition for curve in curves for c in curve.critical))
    rows = []
    for curve in curves:
        by_definition = {critical.definition: critical for critical in curve.critical}
        named = [by_definition.get(definition) for definition in definitions]
        regimes, fit = curve.regimes, curve.fit
        rows.append(
            [
                f"{curve.workload}, goal {curve.goal_error:g}",
                sparsity_in_words(curve.sparsity),
                *(critical.in_words() if critical else NOTHING for critical in named),
                whole(regimes.linear_up_to if regimes else None),
                whole(regimes.maximal_from if regimes else None),
                f"{significant(fit.c1)} {between(fit.c1_interval)}" if fit else NOTHING,
                f"{significant(fit.c2)} {between(fit.c2_interval)}" if fit else NOTHING,
                fit.goodness if fit else "not fitted",
            ]
        )
    columns = (
        "Workload",
        "Sparsity",
        *(f"Critical batch size ({_SHORT.get(name, name)})" for name in definitions),
        "Linear scaling up to",
        "Maximal parallelism from",
        "c1",
        "c2",
        "Fit of K = c1/B + c2",
    )
    caption = "Critical batch size, regimes and fit of every curve"
    return table(caption, columns, rows, words=(0, 1), sentences=(len(columns) - 1,))


def _studies_table(title: str, curves: Sequence[Curve]) -> Html:
    rows = [
        _study_row(curve, point)
        for curve in sorted(curves, key=lambda c: c.sparsity)
        for point in curve.points
    ]
    several = len({point.experiment for curve in curves for point in curve.points}) > 1
    columns = (*_STUDY_COLUMNS, *(("Experiment",) if several else ()))
    shown = [row if several else row[:-1] for row in rows]
    return table(f"Every study: {title}", columns, shown, words=(0, 13), sentences=(12,))


def _study_row(curve: Curve, point: CurvePoint) -> list[str]:
    study = point.study
    statuses = (Status.COMPLETE, Status.INCOMPLETE, Status.INFEASIBLE, Status.BEATEN)
    return [
        sparsity_in_words(curve.sparsity),
        whole(point.batch_size),
        f"> {point.budget:,}" if point.steps is None else whole(point.steps),
        between(point.interval),
        whole(point.rerun_median),
        f"{point.reruns_arrived} of {point.reruns}" if point.reruns else "not rerun",
        significant(point.above_ideal),
        whole(point.examples),
        duration(point.seconds_to_result),
        duration(point.study_seconds),
        significant(study.test_error),
        " / ".join(str(study.count(status)) for status in statuses),
        metaparameters_in_words(study.best_metaparameters),
        point.experiment,
    ]
