"""What is known after measuring smoothness: plain values, free of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PointRecord:
    """One measured point w_k of a training run.

    Gradients are of the mean loss f over the measured examples (the whole training set, or a
    fixed subset of it). `lipschitz` is None where the step d was zero, so that L is undefined.
    """

    step: int  # k: the steps taken before this point
    learning_rate: float
    train_loss: float
    train_error: float
    validation_loss: float
    validation_error: float
    lipschitz: float | None  # L(w_k), the maximum over gamma
    lipschitz_error: float | None  # its standard error, from resampled subsets; None if all used
    gradient_squared: float  # |grad f(w_k)|^2, less what sampling the subset adds to it
    variance: float  # beta at w_k: E|g_i - grad f|^2 over single examples


@dataclass(frozen=True)
class PathRecord:
    """One training run: a sparsity and a seed, with the points measured along it."""

    sparsity: float
    seed: int
    points: tuple[PointRecord, ...]
    step: int  # trained so far
    infeasible_at: int | None  # the point that saw it diverge; earlier points stand
    finished: bool


@dataclass(frozen=True)
class SmoothnessRecord:
    """Everything one smoothness folder knows."""

    name: str  # of the experiment
    folder: str
    data: str
    model: str
    optimizer: str
    schedule: str
    goal_errors: tuple[float, ...]
    batch_size: int
    metaparameters: Mapping[str, float]
    steps: int  # asked of every path
    examples: int  # measured on
    train_examples: int  # there are
    paths: tuple[PathRecord, ...]  # planned ones too
    spec: Mapping[str, object]
    sessions: tuple[Mapping[str, object], ...]
