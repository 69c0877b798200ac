"""The paper's theory in numbers: K = c1/B + c2 from L, Delta, beta and how far a path converged.

It is the convergence rate of SGD on a smooth non-convex f (Bottou, Curtis and Nocedal, 2018)
solved for the steps. |grad f(w_k)|^2 is measured at some points only; between two of them it is
taken to go in a straight line over k, the trapezoid rule. Learning rates are the schedule's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sparallel.schedules import SCHEDULES
from sparallel.smoothness.records import PointRecord

MU = 1.0  # an unbiased stochastic gradient


@dataclass(frozen=True)
class Convergence:
    """How far a path had converged after its first K steps, as the theory counts it."""

    steps: int  # K
    epsilon: float  # eps = (1/K) sum of |grad f(w_k)|^2
    weighted: float  # eps~ = (1/K) sum of eta_k |grad f(w_k)|^2
    h_star: float  # H* = sum of eta_k^2
    learning_rate: float  # eta of the first step
    is_fixed: bool  # every step had that learning rate


@dataclass(frozen=True)
class Constants:
    """c1 and c2 of K = c1/B + c2."""

    c1: float
    c2: float

    def steps(self, batch_size: float) -> float:
        """K at a batch size."""
        return self.c1 / batch_size + self.c2


def fixed_constants(
    *,
    delta: float,
    lipschitz: float,
    beta: float,
    epsilon: float,
    learning_rate: float,
    mu: float = MU,
) -> Constants:
    """c1 = Delta L beta / (mu^2 eps^2) and c2 = Delta / (eta mu eps), for a fixed eta."""
    return Constants(
        c1=delta * lipschitz * beta / (mu**2 * epsilon**2),
        c2=delta / (learning_rate * mu * epsilon),
    )


def decaying_constants(
    *, delta: float, lipschitz: float, beta: float, weighted: float, h_star: float, mu: float = MU
) -> Constants:
    """c1 = L H* beta / (mu eps~) and c2 = Delta / (mu eps~): Delta is in c2 alone."""
    return Constants(c1=lipschitz * h_star * beta / (mu * weighted), c2=delta / (mu * weighted))


def constants(
    convergence: Convergence, *, delta: float, lipschitz: float, beta: float
) -> Constants | None:
    """The constants of the case the learning rates are in.

    None where the measured |grad f|^2 averages to no more than the noise of a subset: it is
    unbiased, so it may fall below zero, and then says nothing.
    """
    if min(convergence.epsilon, convergence.weighted) <= 0:
        return None
    if convergence.is_fixed:
        return fixed_constants(
            delta=delta,
            lipschitz=lipschitz,
            beta=beta,
            epsilon=convergence.epsilon,
            learning_rate=convergence.learning_rate,
        )
    return decaying_constants(
        delta=delta,
        lipschitz=lipschitz,
        beta=beta,
        weighted=convergence.weighted,
        h_star=convergence.h_star,
    )


def scaled_steps(steps: float, c2: float, doublings: float) -> float:
    """K after the batch size is doubled r times: K/2^r + (1 - 1/2^r) c2."""
    return float(steps / 2**doublings + (1 - 2**-doublings) * c2)


def learning_rates(schedule: str, metaparameters: Mapping[str, float], steps: int) -> list[float]:
    """The learning rate of each of the first `steps` steps."""
    chosen = SCHEDULES.get(schedule)
    return [chosen.learning_rate(step, metaparameters) for step in range(steps)]


def steps_to_goal(points: Sequence[PointRecord], goal_error: float) -> int | None:
    """K of a path: the first measured point with a validation error at or below the goal.

    Only measured points are looked at, so the goal was crossed at this point or somewhere
    after the point before it.
    """
    return next((p.step for p in points if p.step > 0 and p.validation_error <= goal_error), None)


def converge(
    points: Sequence[PointRecord], rates: Sequence[float], steps: int
) -> Convergence | None:
    """The first `steps` steps of a path; None where they are not measured to the end."""
    if not points or steps < 1 or points[0].step != 0 or points[-1].step < steps - 1:
        return None
    at = np.arange(steps)
    squared = np.interp(at, [p.step for p in points], [p.gradient_squared for p in points])
    eta = np.asarray(rates[:steps], dtype=np.float64)
    return Convergence(
        steps=steps,
        epsilon=float(squared.mean()),
        weighted=float((eta * squared).mean()),
        h_star=float((eta**2).sum()),
        learning_rate=float(eta[0]),
        is_fixed=bool((eta == eta[0]).all()),
    )
