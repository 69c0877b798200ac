"""The measured examples: gradients of their mean loss, block by block, and what they vary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sparallel.smoothness.lipschitz import NonFiniteError
from sparallel.training.batches import Batches
from sparallel.training.gradient import MICRO_BATCH, accumulate_gradient
from sparallel.training.sparse import Arrangement

BLOCKS = 20
"""Parts into which the measured examples are cut; a standard error comes from leaving each out."""

GROUP = 16
"""Examples a gradient at w_k that is compared with its like for the variance. Fewer would make
the estimate little surer, since the examples themselves are a sample, and the pass slower."""

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
class _Tally:
    """Sums over the groups seen so far."""

    loss: list[float] = field(default_factory=list)
    wrong: int = 0
    squares: float = 0.0  # of |group mean|^2, each times its number of examples
    groups: int = 0

    def see(self, outputs: Tensor, labels: Tensor, loss: Tensor) -> None:
        self.loss.append(float(loss))
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
        self._blocks = torch.tensor_split(chosen, min(BLOCKS, examples))

    def gradient(self, parameters: Tensor) -> Tensor:
        """The gradient of the mean loss at these parameters, a row a block."""
        rows, _ = self._pass(parameters, MICRO_BATCH)
        return rows

    def start(self, parameters: Tensor) -> Start:
        """The gradient at w_k with loss, error, beta and |grad f|^2.

        beta = E|g_i - grad f|^2 of single examples by the batch-moment identity: means of b
        examples drawn at random vary around the mean of all with beta / b, so the sum over M
        groups of b |group mean - mean|^2, divided by M - 1, estimates beta without bias and
        without a gradient an example.

        |grad f|^2 less what sampling adds to it: E|G_N|^2 = |grad f|^2 + beta / N (1 - N / N_all).
        """
        rows, tally = self._pass(parameters, GROUP)
        squared = float(rows.sum(0).square().sum())
        variance = (tally.squares - self.size * squared) / (tally.groups - 1)
        sampled = variance / self.size * (1 - self.size / self.of)
        loss = sum(tally.loss)
        if not np.isfinite([squared, variance, loss]).all():
            raise NonFiniteError
        return Start(rows, loss, tally.wrong / self.size, variance, squared - sampled)

    def _pass(self, parameters: Tensor, chunk: int) -> tuple[Tensor, _Tally]:
        flat, mask, tally = self._arranged.flat, self._arranged.mask, _Tally()
        flat.values.copy_(parameters)
        rows = torch.zeros(
            len(self._blocks), flat.size, dtype=torch.float64, device=flat.values.device
        )
        at_start = chunk == GROUP
        for number, block in enumerate(self._blocks):
            for chosen in torch.split(block, chunk):
                self._keep_going()
                seen = tally.see if at_start else None
                accumulate_gradient(flat, self._train, chosen, scale=1 / self.size, seen=seen)
                gradient = flat.gradient.double()
                if mask is not None:
                    gradient.mul_(mask)
                rows[number] += gradient
                if at_start:
                    weight = self.size**2 / len(chosen)
                    tally.squares += weight * float(gradient.square().sum())
                    tally.groups += 1
        return rows, tally


@torch.inference_mode()
def evaluate(
    arranged: Arrangement, batches: Batches, keep_going: Callable[[], None] = lambda: None
) -> tuple[float, float]:
    """Mean loss and error of the network as it is on all examples of a part of the data."""
    loss, wrong = 0.0, 0
    for chosen in torch.split(torch.arange(len(batches), device=batches.device), 4 * MICRO_BATCH):
        keep_going()
        images, labels = batches.gather(chosen)
        outputs = arranged.flat.network(images)
        loss += float(functional.cross_entropy(outputs, labels, reduction="sum"))
        wrong += int((outputs.argmax(1) != labels).sum())
    if not np.isfinite(loss):
        raise NonFiniteError
    return loss / len(batches), wrong / len(batches)
