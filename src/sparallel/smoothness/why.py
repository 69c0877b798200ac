"""Everything a smoothness folder says of why sparse training is slower, as one value."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from sparallel.analysis import Analysis, CriticalBatchSize
from sparallel.smoothness.assumptions import RateCheck, check_rate
from sparallel.smoothness.noise_scale import noise_scale
from sparallel.smoothness.prediction import Prediction, predict, pruning_of, workload_of
from sparallel.smoothness.records import SmoothnessRecord
from sparallel.smoothness.spread import Estimate
from sparallel.smoothness.summary import Summary, summarise
from sparallel.smoothness.theory import (
    Constants,
    Convergence,
    constants,
    converge,
    learning_rates,
    steps_to_goal,
)


@dataclass(frozen=True)
class GoalTheory:
    """The theory's constants for one sparsity and goal, averaged over the runs that arrived."""

    goal_error: float
    arrived: int  # runs that reached the goal at a measured point
    runs: int
    convergence: Convergence | None  # the mean over those runs; None where none arrived
    constants: Constants | None


@dataclass(frozen=True)
class NoiseComparison:
    """The noise scale, a proxy, and the critical batch sizes measured for the same sparsity."""

    whole: Estimate | None  # from step 0 to the last that every run has reached
    critical: tuple[tuple[float, CriticalBatchSize], ...]  # (goal error, one by each definition)


@dataclass(frozen=True)
class SparsityWhy:
    """One sparsity."""

    summary: Summary
    goals: tuple[GoalTheory, ...]
    rate: RateCheck | None
    noise: NoiseComparison

    @property
    def sparsity(self) -> float:
        """Of the network."""
        return self.summary.sparsity


@dataclass(frozen=True)
class Why:
    """One smoothness folder, explained."""

    record: SmoothnessRecord
    sparsities: tuple[SparsityWhy, ...]  # the lowest first
    predictions: tuple[Prediction, ...]
    missing: tuple[str, ...]  # what is not measured, one sentence each


def explain(
    record: SmoothnessRecord, analysis: Analysis | None = None, steps: int | None = None
) -> Why:
    """What the record says, beside what the analysis measured of the same workload.

    `steps` is K where it is known from elsewhere; otherwise each run's own, at the first of its
    measured points that reached the goal.
    """
    summaries = summarise(record)
    return Why(
        record=record,
        sparsities=tuple(
            SparsityWhy(
                summary=summary,
                goals=tuple(_theory(record, summary, goal, steps) for goal in record.goal_errors),
                rate=check_rate(record, summary),
                noise=_noise(record, summary, analysis),
            )
            for summary in summaries
        ),
        predictions=predict(record, analysis),
        missing=tuple(_missing(record, summaries)),
    )


def _theory(
    record: SmoothnessRecord, summary: Summary, goal_error: float, given: int | None
) -> GoalTheory:
    rates = learning_rates(record.schedule, record.metaparameters, record.steps + 1)
    runs = [path for path in record.paths if path.sparsity == summary.sparsity]
    reached = [
        (path, given or steps_to_goal(path.points, goal_error))
        for path in runs
        if path.infeasible_at is None
    ]
    each = [
        found
        for path, steps in reached
        if steps is not None and (found := converge(path.points, rates, steps)) is not None
    ]
    mean = _mean(each)
    known = None
    if mean and summary.delta and summary.beta and summary.lipschitz:
        known = constants(
            mean,
            delta=summary.delta.mean,
            lipschitz=summary.lipschitz.mean,
            beta=summary.beta.mean,
        )
    return GoalTheory(goal_error, len(each), len(runs), mean, known)


def _mean(each: Sequence[Convergence]) -> Convergence | None:
    """eps and eps~ are expectations: means over the runs."""
    if not each:
        return None
    return Convergence(
        steps=round(statistics.fmean(one.steps for one in each)),
        epsilon=statistics.fmean(one.epsilon for one in each),
        weighted=statistics.fmean(one.weighted for one in each),
        h_star=statistics.fmean(one.h_star for one in each),
        learning_rate=each[0].learning_rate,
        is_fixed=all(one.is_fixed for one in each),
    )


def _noise(record: SmoothnessRecord, own: Summary, analysis: Analysis | None) -> NoiseComparison:
    curves = () if analysis is None else analysis.curves
    pruning = pruning_of(record)
    return NoiseComparison(
        whole=noise_scale(record, own.sparsity, own.until),
        critical=tuple(
            (curve.goal_error, critical)
            for curve in curves
            if curve.workload == workload_of(record)
            and curve.sparsity == own.sparsity
            and (own.sparsity == 0 or curve.pruning == pruning)
            for critical in curve.critical
        ),
    )


def _missing(record: SmoothnessRecord, summaries: Sequence[Summary]) -> list[str]:
    name, sentences = record.name, []
    open_ = sum(not path.finished and path.infeasible_at is None for path in record.paths)
    if open_:
        sentences.append(
            f"{name}: {open_} of {len(record.paths)} smoothness runs are not finished; the means "
            "along training go as far as all of them have come."
        )
    for path in record.paths:
        if path.infeasible_at is not None:
            sentences.append(
                f"{name}: the run at sparsity {path.sparsity:g}, seed {path.seed}, diverged "
                f"(infeasible, seen at step {path.infeasible_at:,}) and has no mean L."
            )
    if summaries and summaries[0].sparsity != 0:
        sentences.append(
            f"{name}: the dense network (sparsity 0) was not measured, so there is nothing to "
            "compare the sparse ones with: add 0 to --sparsities."
        )
    return sentences
