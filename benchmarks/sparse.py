"""How much faster a pruned network trains with sparse kernels: one core, one run, interleaved.

    python benchmarks/sparse.py [--data-dir D] [--repeats N] [--part steps|layers|curve|resnet]

Dense and sparse take turns, so both meet the same neighbours on the machine; figures are medians.
Masks are SNIP's own, from real images, because where the kept weights lie decides the speed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from sparallel.data import DATA_SETS
from sparallel.data.dataset import Examples
from sparallel.data.source import data_folder
from sparallel.kernels import SparseNetwork, instruction_set, sparsify, why_not
from sparallel.models import MODELS
from sparallel.models.initialization import initialize
from sparallel.pruning.base import keep_highest
from sparallel.pruning.snip import connection_sensitivity
from sparallel.training.batches import Batches
from sparallel.training.parameters import FlatParameters

BATCH = 64
MASK_EXAMPLES = 4096
"""Training images that SNIP's gradient is summed over: enough for a realistic pattern."""


def interleaved(first: Callable[[], None], second: Callable[[], None], repeats: int) -> list[float]:
    """Median milliseconds of two things that take turns."""
    times: list[list[float]] = [[], []]
    for turn in range(repeats + 3):
        for action, taken in zip((first, second), times, strict=True):
            began = time.perf_counter()
            action()
            if turn >= 3:  # the first turns warm caches and plans
                taken.append(1000 * (time.perf_counter() - began))
    return [statistics.median(taken) for taken in times]


class Network:
    """A freshly initialized network, its SNIP scores and a batch of real images."""

    def __init__(self, data: str, model: str, data_dir: Path) -> None:
        source = DATA_SETS.get(data)
        loaded = source.load(data_dir)
        chosen = np.random.default_rng(0).permutation(len(loaded.train))[:MASK_EXAMPLES]
        examples = Examples(loaded.train.images[chosen], loaded.train.labels[chosen])
        self.train = Batches(examples, loaded, torch.device("cpu"))
        self.model = MODELS.get(model)(source.shape, source.classes)
        initialize(self.model, 0, 0)
        self.flat = FlatParameters(self.model, torch.device("cpu"))
        self.scores = connection_sensitivity(self.flat, self.train, lambda: None)
        self.images, self.labels = self.train.gather(torch.arange(BATCH))

    def masks(self, sparsity: float) -> dict[str, Tensor]:
        """SNIP's mask of this sparsity, by parameter."""
        kept = torch.from_numpy(keep_highest(self.scores, sparsity)).float()
        own = self.flat.values.clone()
        self.flat.values.copy_(kept)
        masks = {name: p.detach().bool() for name, p in self.model.named_parameters()}
        self.flat.values.copy_(own)
        return masks

    def step(self, network: nn.Module, masks: dict[str, Tensor] | None) -> Callable[[], None]:
        """One whole training step: forward, loss, backward, mask, Momentum's update."""
        flat = FlatParameters(network, torch.device("cpu"))
        velocity = torch.zeros(flat.size)
        mask = None
        if masks is not None:
            kept = FlatParameters(_with(self.model, masks), torch.device("cpu"))
            mask = kept.values
            flat.values.mul_(mask)

        def run() -> None:
            flat.gradient.zero_()
            loss = functional.cross_entropy(network(self.images), self.labels)
            loss.backward()
            if mask is not None:
                flat.gradient.mul_(mask)
            velocity.mul_(0.9).add_(flat.gradient)
            flat.values.add_(velocity, alpha=-1e-4)

        return run


def _with(model: nn.Module, values: dict[str, Tensor]) -> nn.Module:
    """A copy of `model` with these parameters."""
    import copy

    twin = copy.deepcopy(model)
    with torch.no_grad():
        for name, parameter in twin.named_parameters():
            parameter.copy_(values[name])
    return twin


def compare(network: Network, sparsity: float, repeats: int) -> tuple[float, float, SparseNetwork]:
    """Milliseconds of a masked dense and of a sparse training step, and the sparse network."""
    masks = network.masks(sparsity)
    sparse = sparsify(network.model, masks, "on")
    dense = _with(network.model, dict(network.model.named_parameters()))
    times = interleaved(network.step(dense, masks), network.step(sparse, None), repeats)
    return times[0], times[1], sparse
