"""Smoothness records whose truth is known: every quantity is a given function of the step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from sparallel.smoothness.records import PathRecord, PointRecord, SmoothnessRecord

STEPS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
LIPSCHITZ = {0.0: 0.5, 0.5: 0.75, 0.7: 1.0, 0.9: 1.5}


def known_point(step: int, **given: float | None) -> PointRecord:
    """A point of a run that learns: losses fall with the step unless given."""
    fall = 1 / (1 + step / 50)
    values: dict[str, float | None] = {
        "learning_rate": 0.1,
        "train_loss": 2.3 * fall,
        "train_error": 0.9 * fall,
        "validation_loss": 2.35 * fall,
        "validation_error": 0.91 * fall,
        "lipschitz": 1.0,
        "lipschitz_error": 0.01,
        "gradient_squared": 4.0 * fall,
        "variance": 100.0,
    }
    return PointRecord(step=step, **{**values, **given})  # type: ignore[arg-type]


def known_path(
    sparsity: float = 0.0,
    seed: int = 0,
    points: Sequence[PointRecord] = (),
    *,
    infeasible_at: int | None = None,
    finished: bool = True,
) -> PathRecord:
    """A run with these points."""
    last = points[-1].step if points else 0
    return PathRecord(sparsity, seed, tuple(points), last, infeasible_at, finished)


def known_record(
    paths: Sequence[PathRecord] | None = None,
    *,
    sparsities: Sequence[float] = (0.0, 0.5, 0.7, 0.9),
    seeds: int = 3,
    name: str = "known",
    schedule: str = "constant",
    optimizer: str = "momentum",
    metaparameters: Mapping[str, float] | None = None,
    lipschitz: Callable[[float, int, int], float] | None = None,
    error: float | None = 0.01,
    steps: Sequence[int] = STEPS,
    data: str = "mnist",
) -> SmoothnessRecord:
    """A record of these paths, or of runs of which L is given by sparsity, seed and step.

    Sparse networks learn more slowly, and their variance is half at 90%.
    """
    wave = lipschitz or _wave
    made = paths
    if made is None:
        made = [
            known_path(
                sparsity,
                seed,
                [
                    known_point(
                        step,
                        train_loss=2.3 / (1 + step * (1 - sparsity / 2) / 50) + 0.02 * seed,
                        validation_error=0.9 / (1 + step * (1 - sparsity / 2) / 20),
                        lipschitz=wave(sparsity, seed, step),
                        lipschitz_error=error,
                        variance=200 * (1 - 0.5 * sparsity / 0.9) * (1 + step / 1000),
                    )
                    for step in steps
                ],
            )
            for sparsity in sparsities
            for seed in range(seeds)
        ]
    return SmoothnessRecord(
        name=name,
        folder=name,
        data=data,
        model="simple-cnn",
        optimizer=optimizer,
        schedule=schedule,
        goal_errors=(0.02,),
        batch_size=64,
        metaparameters=metaparameters or {"learning_rate": 0.1, "momentum": 0.9},
        steps=max(steps),
        examples=5_000,
        train_examples=54_000,
        paths=tuple(made),
        spec={"experiment": {"name": name, "pruning": "snip"}},
        sessions=({"command": f"sparallel smoothness {name} --out {name}"},),
    )


def _wave(sparsity: float, seed: int, step: int) -> float:
    """About LIPSCHITZ, with a rise early in training and a spread between seeds."""
    level = LIPSCHITZ.get(sparsity, 1.0)
    return level * (1 + 0.6 * math.exp(-step / 100)) * (1 + 0.05 * (seed - 1))
