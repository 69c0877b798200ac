"""A whole experiment's records with a known truth, as the store would hand them over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sparallel.analysis.noise import Observation
from sparallel.analysis.synthetic import observations_with_truth
from sparallel.records import (
    DimensionRecord,
    ExperimentRecord,
    RepeatRecord,
    Status,
    StudyRecord,
    TrialRecord,
)

SPACE = (
    DimensionRecord("learning_rate", 1e-4, 1.0, "log"),
    DimensionRecord("momentum", 0.9, 0.9999, "reverse-log"),
)
CHECK_INTERVAL = 16
MAX_STEPS = 40_000


def experiment_with_truth(
    truth: dict[float, tuple[float, float]],
    batch_sizes: Sequence[int],
    *,
    sigma: float = 0.1,
    trials: int = 16,
    repeats: int = 0,
    exhaustive: bool = False,
    seed: int = 0,
) -> ExperimentRecord:
    """Studies whose K* follow c1/B + c2, with (c1, c2) given for each sparsity."""
    random = np.random.default_rng(seed)
    studies = []
    for sparsity, (c1, c2) in truth.items():
        seen = observations_with_truth(batch_sizes, random, c1=c1, c2=c2, sigma=sigma)
        for observation in seen:
            again = observations_with_truth(
                [observation.batch_size] * repeats, random, c1=c1, c2=c2, sigma=sigma
            )
            ks = _trial_steps(observation, trials, random)
            study = _study(observation, sparsity, ks, exhaustive, random)
            reruns = _repeats(again) if observation.steps is not None else ()
            studies.append(replace(study, repeats=reruns))
    name = "synthetic"
    return ExperimentRecord(name, f"results/{name}", tuple(studies), {"name": name}, ())


def _trial_steps(seen: Observation, trials: int, random: np.random.Generator) -> list[int]:
    """K of every trial: the best is the study's K*, the others take up to some 30 times that."""
    best = seen.steps if seen.steps is not None else MAX_STEPS + CHECK_INTERVAL
    others = best * np.exp(random.exponential(1.2, trials - 1) + 0.02)
    checked = (np.ceil(others / CHECK_INTERVAL) * CHECK_INTERVAL).astype(int)
    ks = [best, *map(int, checked)]
    return [ks[i] for i in random.permutation(trials)]


def _repeats(again: Sequence[Observation]) -> tuple[RepeatRecord, ...]:
    return tuple(
        RepeatRecord(i + 1, Status.INCOMPLETE if o.steps is None else Status.COMPLETE, o.steps)
        for i, o in enumerate(again)
    )


def _study(
    seen: Observation,
    sparsity: float,
    ks: list[int],
    exhaustive: bool,
    random: np.random.Generator,
) -> StudyRecord:
    reached = seen.steps is not None
    bound = MAX_STEPS if exhaustive or not reached else min(ks)
    best = int(np.argmin(ks)) if reached else None
    records = []
    for index, steps in enumerate(ks):
        place = random.random(2) if index != best else 0.1 + 0.8 * random.random(2)
        point = {
            "learning_rate": float(10 ** (-4 + 4 * place[0])),
            "momentum": float(1 - 10 ** (-1 - 3 * place[1])),
        }
        over = Status.INCOMPLETE if bound == MAX_STEPS else Status.BEATEN
        status = Status.COMPLETE if steps <= bound else over
        if status is not Status.COMPLETE and place[0] > 0.9:
            status = Status.INFEASIBLE
        last = CHECK_INTERVAL if status is Status.INFEASIBLE else min(steps, bound)
        records.append(TrialRecord(index, point, status, last))
    examples = seen.batch_size * sum(record.steps for record in records)
    return StudyRecord(
        workload="mnist-momentum",
        data="mnist",
        model="simple-cnn",
        optimizer="momentum",
        schedule="constant",
        batch_size=seen.batch_size,
        sparsity=sparsity,
        goal_error=0.02,
        check_interval=CHECK_INTERVAL,
        max_steps=MAX_STEPS,
        seed=0,
        strategy="exhaustive" if exhaustive else "race",
        finishers=1,
        finished=True,
        space=SPACE,
        trials=tuple(records),
        steps_to_result=seen.steps,
        best_trial=best,
        ties=(),
        test_error=0.019 if reached else None,
        examples_trained=examples,
        examples_checked=examples // 20,
        seconds=examples / 2000,
    )
