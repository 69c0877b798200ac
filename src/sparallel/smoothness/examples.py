"""The measured examples: gradients of their mean loss, block by block, and what they vary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sparallel.smoothness.lipschitz import NonFiniteError
from sparallel.smoothness.variance import GroupMoments
from sparallel.training.batches import Batches
from sparallel.training.gradient import MICRO_BATCH, accumulate_gradient
from sparallel.training.sparse import Arrangement

FEWEST_BLOCKS, MOST_BLOCKS = 10, 20
"""Parts into which the measured examples are cut; a standard error comes from leaving each out."""

BLOCK = 32
"""Examples a block should have at least: a gradient of fewer at a time is slow."""

GROUP = 16
"""Examples a gradient at w_k that is compared with its like for the variance. Fewer would make
the estimate little surer, since the examples themselves are a sample, and this pass, one in eleven,
slower still."""

SUBSET_SEED = 11
"""Fixes which examples are measured: the same for every run, and more of them add to fewer."""


def subset(train_examples: int, examples: int) -> NDArray[np.int64]:
    """The measured examples, in random order, so that any part of them is a random sample."""
    order = np.random.default_rng(SUBSET_SEED).permutation(train_examples)
    return order[:examples]


@dataclass(frozen=True)
class Start:
    """The gradient at a point w_k and what comes with it, in one pass over the examples."""

    rows: Tensor  # a row a block; they sum to the gradient of the mean loss
    loss: float
    error: float
    variance: float  # beta
    gradient_squared: float


@dataclass
class _Seen:
    """What the passing micro-batches showed beside their gradients."""

    loss: float = 0.0
    wrong: int = 0

    def __call__(self, outputs: Tensor, labels: Tensor, loss: Tensor) -> None:
        self.loss += float(loss)
        self.wrong += int((outputs.argmax(1) != labels).sum())


class MeasuredExamples:
    """A fixed part of the training set, or all of it, and a network's gradients over it."""

    def __init__(
        self,
        train: Batches,
        examples: int,
        arranged: Arrangement,
        keep_going: Callable[[], None] = lambda: None,
    ) -> None:
        self._train, self._arranged, self._keep_going = train, arranged, keep_going
        self.size, self.of = examples, len(train)
        chosen = train.place(subset(len(train), examples))
        blocks = min(max(examples // BLOCK, FEWEST_BLOCKS), MOST_BLOCKS, examples)
        self._blocks = torch.tensor_split(chosen, blocks)

    def gradient(self, parameters: Tensor) -> Tensor:
        """The gradient of the mean loss at these parameters, a row a block."""
        return self._pass(parameters, MICRO_BATCH)

    def start(self, parameters: Tensor) -> Start:
        """The gradient at w_k, with loss, error, beta and |grad f|^2 from the same pass."""
        seen, moments = _Seen(), GroupMoments(self.size, self.of)
        rows = self._pass(parameters, GROUP, moments, seen)
        mean = rows.sum(0)
        variance, squared = moments.variance(mean), moments.gradient_squared(mean)
        if not np.isfinite([variance, squared, seen.loss]).all():
            raise NonFiniteError
        return Start(rows, seen.loss, seen.wrong / self.size, variance, squared)

    def _pass(
        self,
        parameters: Tensor,
        chunk: int,
        moments: GroupMoments | None = None,
        seen: _Seen | None = None,
    ) -> Tensor:
        flat, mask = self._arranged.flat, self._arranged.mask
        flat.values.copy_(parameters)
        rows = flat.values.new_zeros(len(self._blocks), flat.size, dtype=torch.float64)
        for row, block in zip(rows, self._blocks, strict=True):
            for chosen in torch.split(block, chunk):
                self._keep_going()
                accumulate_gradient(flat, self._train, chosen, scale=1 / self.size, seen=seen)
                share = flat.gradient.double()
                if mask is not None:
                    share.mul_(mask)
                row.add_(share)
                if moments is not None:
                    moments.add(share, len(chosen))
        return rows


@torch.inference_mode()
def evaluate(
    arranged: Arrangement, batches: Batches, keep_going: Callable[[], None] = lambda: None
) -> tuple[float, float]:
    """Mean loss and error of the network as it is on all examples of a part of the data."""
    loss, wrong = 0.0, 0
    for chosen in torch.split(torch.arange(len(batches), device=batches.device), 4 * MICRO_BATCH):
        keep_going()
        images, labels = batches.gather(chosen)
        outputs = arranged.flat.outputs(images)
        loss += float(functional.cross_entropy(outputs, labels, reduction="sum"))
        wrong += int((outputs.argmax(1) != labels).sum())
    if not np.isfinite(loss):
        raise NonFiniteError
    return loss / len(batches), wrong / len(batches)
