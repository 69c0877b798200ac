"""Predicted against measured: what L, Delta and beta say of c1, and what the fit says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sparallel.analysis import Analysis, Interval, WorkloadKey
from sparallel.analysis.values import USUAL_PRUNING
from sparallel.smoothness.records import SmoothnessRecord
from sparallel.smoothness.spread import Estimate, log_estimate, log_quotient
from sparallel.smoothness.summary import Quantity, Summary, dense_of, summarise
from sparallel.smoothness.theory import learning_rates


@dataclass(frozen=True)
class Measured:
    """What an experiment measured of a sparsity's cost, against one goal."""

    goal_error: float
    c1: Estimate | None  # the ratio of fitted c1; None where either curve is not fitted
    steps: Estimate | None  # K*, sparse over dense, the geometric mean over batch sizes
    steps_here: Estimate | None  # the same at the batch size of the smoothness runs
    is_poor: bool  # one of the two fits is poor


@dataclass(frozen=True)
class Prediction:
    """One sparsity against dense: the theory's ratio of c1, factor by factor."""

    sparsity: float
    delta: Estimate
    beta: Estimate
    lipschitz: Estimate
    predicted: Estimate
    is_fixed: bool  # the learning rate: otherwise Delta is no factor of c1
    seeds: int  # measured at both sparsities
    basis: str  # what the intervals are made from, in words
    measured: tuple[Measured, ...]  # one a goal; empty where no experiment is given


def workload_of(record: SmoothnessRecord) -> WorkloadKey:
    """The workload whose experiments this record may be compared with."""
    return WorkloadKey(record.data, record.model, record.optimizer, record.schedule)


def pruning_of(record: SmoothnessRecord) -> str:
    """How the record's sparse networks were pruned."""
    experiment = record.spec.get("experiment")
    return str(experiment["pruning"]) if isinstance(experiment, Mapping) else USUAL_PRUNING


def is_fixed(record: SmoothnessRecord) -> bool:
    """Has every step the same learning rate?"""
    rates = learning_rates(record.schedule, record.metaparameters, max(1, record.steps))
    return min(rates) == max(rates)


def predict(record: SmoothnessRecord, analysis: Analysis | None = None) -> tuple[Prediction, ...]:
    """A prediction for each sparsity measured beside the dense network, lowest first."""
    summaries = summarise(record)
    dense = dense_of(summaries)
    if dense is None:
        return ()
    fixed = is_fixed(record)
    found = [
        _prediction(summary, dense, fixed, _measured(record, summary.sparsity, analysis))
        for summary in summaries
        if summary.sparsity != 0
    ]
    return tuple(prediction for prediction in found if prediction is not None)


def _prediction(
    sparse: Summary, dense: Summary, fixed: bool, measured: tuple[Measured, ...]
) -> Prediction | None:
    delta = _ratios(sparse.delta, dense.delta)
    beta = _ratios(sparse.beta, dense.beta)
    lipschitz = _ratios(sparse.lipschitz, dense.lipschitz)
    shared = sorted(delta.keys() & beta.keys() & lipschitz.keys())
    if not shared:
        return None
    # A run that diverged has a Delta and a beta but no mean L: the product needs all three.
    product = [(delta[seed] if fixed else 1.0) * beta[seed] * lipschitz[seed] for seed in shared]
    error = _relative_error(sparse, dense)
    return Prediction(
        sparsity=sparse.sparsity,
        delta=log_estimate([delta[seed] for seed in shared]),
        beta=log_estimate([beta[seed] for seed in shared]),
        lipschitz=log_estimate([lipschitz[seed] for seed in shared], error),
        predicted=log_estimate(product, error),
        is_fixed=fixed,
        seeds=len(shared),
        basis=_basis(len(shared), error),
        measured=measured,
    )


def _ratios(sparse: Quantity | None, dense: Quantity | None) -> Mapping[int, float]:
    """The positive ratios by seed, of which a logarithm can be taken."""
    if sparse is None or dense is None:
        return {}
    shared = sparse.by_seed.keys() & dense.by_seed.keys()
    return {
        seed: sparse.by_seed[seed] / dense.by_seed[seed]
        for seed in shared
        if sparse.by_seed[seed] > 0 and dense.by_seed[seed] > 0
    }


def _relative_error(sparse: Summary, dense: Summary) -> float | None:
    """The standard error of log(L ratio) that measuring on a subset causes.

    Both networks are measured on one subset, so part of it cancels in the ratio: adding the
    two as if they were independent is on the safe side.
    """
    parts = []
    for summary in (sparse, dense):
        if summary.lipschitz is None or summary.lipschitz_error is None:
            return None
        parts.append(summary.lipschitz_error / summary.lipschitz.mean)
    return math.hypot(*parts)


def _basis(seeds: int, error: float | None) -> str:
    if seeds > 1:
        return f"{seeds} seeds" + ("" if error is None else " and the standard error of L")
    if error is None:
        return "one seed and every example: no interval is known"
    return "one seed: the standard error of L alone, without the spread between seeds"


def _measured(
    record: SmoothnessRecord, sparsity: float, analysis: Analysis | None
) -> tuple[Measured, ...]:
    if analysis is None:
        return ()
    workload, pruning = workload_of(record), pruning_of(record)
    found = []
    for ratio in analysis.ratios:
        if (ratio.workload, ratio.sparsity, ratio.pruning) != (workload, sparsity, pruning):
            continue
        fits = [
            curve.fit
            for wanted in (sparsity, 0.0)
            for curve in analysis.curves
            if (curve.workload, curve.goal_error) == (workload, ratio.goal_error)
            and curve.sparsity == wanted
            and (wanted == 0 or curve.pruning == pruning)
        ]
        top, bottom = fits if len(fits) == 2 else (None, None)
        here = next((p for p in ratio.points if p.batch_size == record.batch_size), None)
        fitted = None
        if top is not None and bottom is not None and top.c1 > 0 and bottom.c1 > 0:
            fitted = log_quotient(
                Estimate(top.c1, top.c1_interval), Estimate(bottom.c1, bottom.c1_interval)
            )
        found.append(
            Measured(
                goal_error=ratio.goal_error,
                c1=fitted,
                steps=_estimate(ratio.mean, ratio.mean_interval),
                steps_here=_estimate(here.ratio, here.interval) if here else None,
                is_poor=any(fit is not None and fit.is_poor for fit in fits),
            )
        )
    return tuple(found)


def _estimate(value: float | None, interval: Interval) -> Estimate | None:
    return None if value is None else Estimate(value, interval)
