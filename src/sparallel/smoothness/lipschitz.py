"""How much the gradient changes along a step: L(w), and how sure a subset of examples makes it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

GAMMAS = tuple(tenth / 10 for tenth in range(1, 11))
"""The shares of the step at which the gradient is compared with that at its start."""

Gradient = Callable[[Tensor], Tensor]
"""The gradient at given parameters, as rows (float64) that sum to it: one a block of examples."""


class NonFiniteError(Exception):
    """A gradient or a loss on the way was not finite: the run has diverged."""


@dataclass(frozen=True)
class Lipschitz:
    """L at a point, and its standard error; None where it cannot be known."""

    value: float | None  # None where the step is zero
    error: float | None  # None too where there is only one block


def lipschitz(
    gradient: Gradient, parameters: Tensor, step: Tensor, start: Tensor | None = None
) -> Lipschitz:
    """max over gamma of |grad f(w + gamma d) - grad f(w)| / |gamma d| (the paper's equation 11).

    `start` is `gradient(parameters)` where it is known already. Differences are taken in float64,
    and divided by the distance really gone: w + gamma d is rounded like any parameter, which
    matters where d is tiny.

    The standard error is a jackknife over the blocks: L is computed again without each of them.
    That needs no further gradient, since the length of any sum of blocks follows from their
    inner products, and nothing random, so a resumed run gives the same bits. The blocks are of
    equal size up to one example, and count as equal.
    """
    at_start = gradient(parameters) if start is None else start
    values = []  # a row a gamma: L from all the blocks, then L without each
    for gamma in GAMMAS:
        moved = parameters + gamma * step
        distance = float((moved.double() - parameters.double()).norm())
        if not math.isfinite(distance):
            raise NonFiniteError
        if distance == 0:
            continue
        change = gradient(moved) - at_start
        values.append(_lengths(change) / distance)
    if not values:
        return Lipschitz(None, None)
    highest = torch.stack(values).amax(0)
    if not bool(highest.isfinite().all()):
        raise NonFiniteError
    without = highest[1:]
    blocks = len(without)
    if blocks < 2:
        return Lipschitz(float(highest[0]), None)
    spread = float((without - without.mean()).square().sum())
    return Lipschitz(float(highest[0]), math.sqrt((blocks - 1) / blocks * spread))


def _lengths(rows: Tensor) -> Tensor:
    """The length of the rows' sum, and, scaled to as many rows, of the sum without each."""
    products = rows @ rows.T
    blocks, whole = len(rows), products.sum()
    if blocks == 1:
        return whole.clamp(min=0).sqrt()[None].repeat(2)
    scale = blocks / (blocks - 1)
    without = (whole - 2 * products.sum(1) + products.diagonal()).clamp(min=0).sqrt() * scale
    return torch.cat([rows.sum(0).norm()[None], without])
