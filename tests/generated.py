"""Experiments whose truth is known: K* = c1/B + c2 with noise, and trials in plausible regions.

A trial does well where its effective learning rate (learning rate over 1 - momentum) is near an
optimum that grows with the batch size and shrinks with sparsity, diverges far above it and runs
out of budget far below it: the straight border the search maps of real experiments show.
"""

from __future__ import annotations

import dataclasses
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from sparallel.records import (
    DimensionRecord,
    ExperimentRecord,
    RepeatRecord,
    Status,
    StudyRecord,
    TrialRecord,
)

LEARNING_RATE = DimensionRecord("learning_rate", 1e-4, 1.0, "log")
MOMENTUM = DimensionRecord("momentum", 0.9, 0.9999, "reverse-log")
DECAY_STEPS = DimensionRecord("decay_steps", 30_000, 60_000, "linear")
END_FACTOR = DimensionRecord("end_factor", 1e-4, 0.1, "log")


@dataclass(frozen=True)
class Truth:
    """The law a generated workload obeys: dense c1 and c2, and what 90% sparsity multiplies."""

    c1: float = 120_000.0
    c2: float = 200.0
    sparse_c1: float = 3.0
    sparse_c2: float = 1.8

    def steps(self, batch_size: int, sparsity: float) -> float:
        """K* without noise."""
        share = (sparsity / 0.9) ** 3
        c1 = self.c1 * self.sparse_c1**share
        return c1 / batch_size + self.c2 * self.sparse_c2**share


def space_of(optimizer: str, schedule: str) -> tuple[DimensionRecord, ...]:
    """The paper's search space of an optimizer and schedule."""
    momentum = () if optimizer == "sgd" else (MOMENTUM,)
    decay = (DECAY_STEPS, END_FACTOR) if schedule == "linear" else ()
    return (LEARNING_RATE, *momentum, *decay)


def _value(dimension: DimensionRecord, u: float) -> float:
    if dimension.scale == "log":
        return float(dimension.low * (dimension.high / dimension.low) ** u)
    if dimension.scale == "reverse-log":
        far, near = 1 - dimension.low, 1 - dimension.high
        return float(1 - near * (far / near) ** u)
    return float(dimension.low + u * (dimension.high - dimension.low))


def _trials(
    space: Sequence[DimensionRecord],
    *,
    count: int,
    fewest: float,
    optimum: float,
    interval: int,
    max_steps: int,
    rng: np.random.Generator,
) -> list[TrialRecord]:
    points = qmc.Sobol(len(space), scramble=False).random_base2(int(math.log2(count)) + 1)[1:]
    metaparameters = [
        {d.name: _value(d, float(u)) for d, u in zip(space, point, strict=True)}
        for point in points[:count]
    ]
    distance = np.array(
        [math.log10(m["learning_rate"] / (1 - m.get("momentum", 0.0))) for m in metaparameters]
    ) - math.log10(optimum)
    # Momentum a bit above 0.9 does best, as in the paper.
    inertia = np.array([math.log10((1 - m.get("momentum", 0.95)) / 0.05) for m in metaparameters])
    cost = 0.9 * distance**2 + 0.25 * inertia**2 + rng.normal(0, 0.05, count)
    cost -= cost.min()
    trials = []
    for index, (meta, far, extra) in enumerate(zip(metaparameters, distance, cost, strict=True)):
        steps = interval * math.ceil(fewest * 10 ** float(extra) / interval)
        if far > 0.9 and extra > 0:
            trials.append(TrialRecord(index, meta, Status.INFEASIBLE, interval))
        elif steps > max_steps:
            trials.append(TrialRecord(index, meta, Status.INCOMPLETE, max_steps))
        else:
            trials.append(TrialRecord(index, meta, Status.COMPLETE, steps))
    return trials


def generated_study(
    *,
    batch_size: int = 64,
    sparsity: float = 0.0,
    optimizer: str = "momentum",
    schedule: str = "constant",
    data: str = "mnist",
    model: str = "simple-cnn",
    goal_error: float = 0.02,
    trials: int = 20,
    truth: Truth | None = None,
    noise: float = 0.1,
    check_interval: int = 16,
    max_steps: int = 40_000,
    strategy: str = "exhaustive",
    repeats: int = 0,
    seed: int = 0,
) -> StudyRecord:
    """One study; its K* is the truth times log-normal noise, seen at the next check."""
    truth = truth or Truth()
    key = (seed, batch_size, round(100 * sparsity), zlib.crc32(optimizer.encode()), trials)
    rng = np.random.default_rng(key)
    expected = truth.steps(batch_size, sparsity)
    fewest = expected * math.exp(rng.normal(0, noise))
    optimum = 1.5 * batch_size / (batch_size + truth.c1 / truth.c2) * (1 - 0.5 * sparsity) + 0.05
    space = space_of(optimizer, schedule)
    run = _trials(
        space,
        count=trials,
        fewest=fewest,
        optimum=optimum,
        interval=check_interval,
        max_steps=max_steps,
        rng=rng,
    )
    complete = [t for t in run if t.status is Status.COMPLETE]
    best = min((t.steps for t in complete), default=None)
    if strategy == "race" and best is not None:
        run = [
            t
            if t.steps <= best and t.status is not Status.INCOMPLETE
            else TrialRecord(t.trial, t.metaparameters, Status.BEATEN, best)
            for t in run
        ]
    first, *ties = [t.trial for t in complete if t.steps == best] or [None]
    reruns = 0 if first is None else repeats  # only a winner is run again
    again = expected * np.exp(rng.normal(0, max(noise, 1e-9), reruns))
    return StudyRecord(
        workload=f"{data}/{model}/{optimizer}/{schedule}",
        data=data,
        model=model,
        optimizer=optimizer,
        schedule=schedule,
        batch_size=batch_size,
        sparsity=sparsity,
        goal_error=goal_error,
        check_interval=check_interval,
        max_steps=max_steps,
        seed=seed,
        strategy=strategy,
        finishers=1,
        finished=True,
        space=space,
        trials=tuple(run),
        steps_to_result=best,
        best_trial=first,
        ties=tuple(trial for trial in ties if trial is not None),
        test_error=None if first is None else 0.019,
        examples_trained=sum(t.steps for t in run) * batch_size,
        examples_checked=sum(t.steps // check_interval for t in run) * 300,
        seconds=sum(t.steps for t in run) * batch_size / 20_000,
        repeats=tuple(
            RepeatRecord(
                1000 + i, Status.COMPLETE, check_interval * math.ceil(float(k) / check_interval)
            )
            for i, k in enumerate(again)
        ),
    )


def not_begun(study: StudyRecord) -> StudyRecord:
    """The study as its store shows it before its first trial has run."""
    waiting = tuple(
        TrialRecord(trial.trial, trial.metaparameters, Status.PENDING, 0) for trial in study.trials
    )
    return dataclasses.replace(
        study,
        finished=False,
        trials=waiting,
        steps_to_result=None,
        best_trial=None,
        ties=(),
        test_error=None,
        examples_trained=0,
        examples_checked=0,
        seconds=0.0,
        repeats=(),
    )


def generated_experiment(
    name: str = "generated",
    *,
    batch_sizes: Sequence[int] = (16, 64, 256, 1024, 4096),
    sparsities: Sequence[float] = (0.0, 0.9),
    optimizers: Sequence[str] = ("momentum",),
    truth: Truth | None = None,
    **study: object,
) -> ExperimentRecord:
    """An experiment of every optimizer, batch size and sparsity asked for."""
    slower = {"sgd": Truth(c1=120_000, c2=1500), "nesterov": Truth(c1=100_000, c2=180)}
    studies = tuple(
        generated_study(
            batch_size=batch_size,
            sparsity=sparsity,
            optimizer=optimizer,
            truth=truth or slower.get(optimizer),
            **study,  # type: ignore[arg-type]
        )
        for optimizer in optimizers
        for sparsity in sparsities
        for batch_size in batch_sizes
    )
    spec = {
        "name": name,
        "workloads": [{"data": "mnist", "model": "simple-cnn", "optimizer": o} for o in optimizers],
        "batch_sizes": list(batch_sizes),
        "sparsities": list(sparsities),
    }
    session = {
        "command": f"sparallel run {name} --out {name}",
        "started": "2026-11-15T20:00:00+00:00",
        "version": "0.1.0",
        "cpu": "a generated processor",
    }
    return ExperimentRecord(name, name, studies, spec, (session,))


def full_size_experiment() -> ExperimentRecord:
    """The paper's MNIST plan: 3 optimizers x 14 batch sizes x 4 sparsities, 100 trials each."""
    return generated_experiment(
        "full-size",
        batch_sizes=[2**r for r in range(1, 15)],
        sparsities=(0.0, 0.5, 0.7, 0.9),
        optimizers=("sgd", "momentum", "nesterov"),
        trials=100,
        repeats=3,
    )
