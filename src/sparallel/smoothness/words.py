"""Predicted against measured, in sentences a terminal can print."""

from __future__ import annotations

from sparallel.analysis import FROM_FIT, Interval, analyse, sparsity_in_words
from sparallel.analysis.interval import rounded
from sparallel.records import ExperimentRecord
from sparallel.smoothness.assumptions import ASSUMED
from sparallel.smoothness.noise_scale import PROXY
from sparallel.smoothness.prediction import Measured, Prediction, workload_of
from sparallel.smoothness.records import SmoothnessRecord
from sparallel.smoothness.spread import Estimate
from sparallel.smoothness.why import GoalTheory, SparsityWhy, Why, explain


def theory_lines(record: SmoothnessRecord, experiment: ExperimentRecord | None = None) -> list[str]:
    """What the theory predicts from the record, and what the experiment measured, in words."""
    analysis = None if experiment is None else analyse([experiment])
    why = explain(record, analysis)
    lines = [line for p in why.predictions for line in prediction_lines(p)]
    if experiment is not None and not any(p.measured for p in why.predictions):
        lines.append(
            f"{experiment.name} has no sparse and dense curve of {workload_of(record)} to compare "
            "with."
        )
    lines += [line for own in why.sparsities for line in sparsity_lines(own)]
    return [*lines, *why.missing, ASSUMED] if lines or why.missing else []


def answer_sentences(why: Why) -> list[str]:
    """The reason in a sentence a sparsity: what rose, what it predicts, what was measured."""
    sentences = []
    for prediction in why.predictions:
        lipschitz, beta = prediction.lipschitz, prediction.beta
        text = (
            f"{sparsity_in_words(prediction.sparsity)}: L is {lipschitz.in_words()} times the "
            f"dense network's and beta {beta.in_words()} times, so the theory predicts c1 to be "
            f"{prediction.predicted.in_words()} times as large"
        )
        fitted = [
            f"{own.c1.in_words()} times (goal {own.goal_error:g})"
            for own in prediction.measured
            if own.c1 is not None
        ]
        if prediction.predicted.value < 1:
            text += " (fewer steps, not more)"
        sentences.append(
            f"{text}; the measured curves say {', '.join(fitted)}." if fitted else f"{text}."
        )
    return sentences


def prediction_lines(prediction: Prediction) -> list[str]:
    """The predicted ratio of c1 with its factors, then a line a goal that was measured."""
    factors = [("Delta", prediction.delta)] if prediction.is_fixed else []
    factors += [("beta", prediction.beta), ("L", prediction.lipschitz)]
    product = " x ".join(f"{name} {rounded(factor.value)}" for name, factor in factors)
    lines = [
        f"{sparsity_in_words(prediction.sparsity)} over dense: predicted c1 ratio "
        f"{prediction.predicted.in_words()} = {product} (interval from {prediction.basis})."
    ]
    if not prediction.is_fixed:
        lines[0] += " With a decaying learning rate Delta is no factor of c1, and H*/eps~ is held."
    return lines + [measured_line(prediction.predicted, own) for own in prediction.measured]


def measured_line(predicted: Estimate, measured: Measured) -> str:
    """What the experiment says beside one prediction."""
    parts = []
    if measured.c1 is not None:
        poor = " (a poor fit)" if measured.is_poor else ""
        parts.append(f"fitted c1 ratio {measured.c1.in_words()}{poor}")
    else:
        parts.append("no fitted c1 ratio, since one of the curves is not fitted")
    if measured.steps is not None:
        parts.append(f"K* ratio {measured.steps.in_words()} on average over batch sizes")
    if measured.steps_here is not None:
        parts.append(f"{measured.steps_here.in_words()} at the batch size measured here")
    text = f"Measured, goal {measured.goal_error:g}: {'; '.join(parts)}."
    if measured.c1 is not None:
        text += f" {_verdict(predicted, measured.c1)}"
    return text


def _verdict(predicted: Estimate, fitted: Estimate) -> str:
    side = "below" if predicted.value < fitted.value else "above"
    by = max(predicted.value / fitted.value, fitted.value / predicted.value)
    if predicted.interval.is_unbounded or fitted.interval.is_unbounded:
        return f"The prediction is {side} by a factor of {rounded(by)}; an interval is not known."
    if _overlap(predicted.interval, fitted.interval):
        return f"The intervals overlap: they agree within a factor of {rounded(by)}."
    return f"The intervals do not overlap: the prediction is {side} by a factor of {rounded(by)}."


def _overlap(one: Interval, other: Interval) -> bool:
    low = max((i.low for i in (one, other) if i.low is not None), default=None)
    high = min((i.high for i in (one, other) if i.high is not None), default=None)
    return low is None or high is None or low <= high


def sparsity_lines(own: SparsityWhy) -> list[str]:
    """The learning-rate assumption, the noise scale and the constants of one sparsity."""
    lines = [own.rate.in_words()] if own.rate is not None else []
    if own.noise.whole is not None:
        beside = [
            f"c1/c2 at goal {goal:g} is {critical.in_words()}"
            for goal, critical in own.noise.critical
            if critical.definition == FROM_FIT
        ]
        measured = f"; measured: {', '.join(beside)}" if beside else ""
        lines.append(
            f"{sparsity_in_words(own.sparsity)}: {PROXY} {own.noise.whole.in_words()}{measured}."
        )
    return lines + [constants_line(own.sparsity, goal) for goal in own.goals]


def constants_line(sparsity: float, goal: GoalTheory) -> str:
    """eps, H* and the constants that follow, or why there are none."""
    start = f"{sparsity_in_words(sparsity)}, goal {goal.goal_error:g}"
    reached = goal.convergence
    if reached is None:
        return f"{start}: no run reached the goal at a measured point, so eps is not defined."
    degree = (
        f"eps {rounded(reached.epsilon)}"
        if reached.is_fixed
        else f"eps~ {rounded(reached.weighted)}, H* {rounded(reached.h_star)}"
    )
    text = f"{start}: after K = {reached.steps:,} steps {degree}"
    if goal.arrived < goal.runs:
        text += f" ({goal.arrived} of {goal.runs} runs arrived)"
    if goal.constants is None:
        return (
            f"{text}; |grad f|^2 is not told from the subset's noise, so there is no c1: measure "
            "with more --examples."
        )
    known = goal.constants
    return f"{text}; the bound's constants are c1 {rounded(known.c1)}, c2 {rounded(known.c2)}."


def state_in_words(why: Why) -> str:
    """How far the measurement is: 12 of 12 runs finished, 40 points each, ..."""
    paths, record = why.record.paths, why.record
    done = sum(path.finished or path.infeasible_at is not None for path in paths)
    points = sum(len(path.points) for path in paths)
    whole = "all" if record.examples == record.train_examples else f"{record.examples:,} of the"
    return (
        f"{done} of {len(paths)} runs finished, {record.steps:,} steps each at batch size "
        f"{record.batch_size:,}; {points:,} points, measured on {whole} "
        f"{record.train_examples:,} training examples"
    )
