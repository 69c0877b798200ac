"""How much faster a pruned network trains with sparse kernels: one core, one run, interleaved.

    python benchmarks/sparse.py [--data-dir D] [--repeats N] [steps|layers|curve|resnet ...]

Dense and sparse take turns, so both meet the same neighbours on the machine; figures are medians
of the core's time in this one thread, so that waiting for other processes does not count.
Masks are SNIP's own, from real images, because where the kept weights lie decides the speed.
"""

from __future__ import annotations

import argparse
import copy
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from sparallel.data import DATA_SETS
from sparallel.data.dataset import Examples
from sparallel.data.source import data_folder
from sparallel.kernels import (
    SparseConv2d,
    SparseLinear,
    fastest,
    instruction_set,
    sparsify,
    why_not,
)
from sparallel.kernels.functions import enter
from sparallel.kernels.pooled import conv_pool_relu
from sparallel.machine import cpu_model
from sparallel.models import MODELS
from sparallel.models.initialization import initialize
from sparallel.pruning.base import keep_highest
from sparallel.pruning.snip import connection_sensitivity
from sparallel.training.batches import Batches
from sparallel.training.gradient import accumulate_gradient
from sparallel.training.parameters import FlatParameters

BATCH = 64
MASK_EXAMPLES = 4096
"""Training images that SNIP's gradient is summed over: enough for a realistic pattern."""
DENSITIES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1.0)
CPU = torch.device("cpu")

Action = Callable[[], None]


def interleaved(actions: Sequence[Action], repeats: int) -> list[float]:
    """Median milliseconds of things that take turns."""
    times: list[list[float]] = [[] for _ in actions]
    for turn in range(repeats + 3):
        for action, taken in zip(actions, times, strict=True):
            began = time.thread_time()
            action()
            if turn >= 3:  # the first turns warm caches and plans
                taken.append(1000 * (time.thread_time() - began))
    return [statistics.median(taken) for taken in times]


def with_parameters(model: nn.Module, values: Mapping[str, Tensor]) -> nn.Module:
    """A copy of `model` with these parameters."""
    twin = copy.deepcopy(model)
    with torch.no_grad():
        for name, parameter in twin.named_parameters():
            parameter.copy_(values[name])
    return twin


class Pruned:
    """A freshly initialized network, its SNIP scores and a batch of real images."""

    def __init__(self, data: str, model: str, data_dir: Path) -> None:
        source = DATA_SETS.get(data)
        loaded = source.load(data_dir)
        chosen = np.random.default_rng(0).permutation(len(loaded.train))[:MASK_EXAMPLES]
        examples = Examples(loaded.train.images[chosen], loaded.train.labels[chosen])
        train = Batches(examples, loaded, CPU)
        self.model = MODELS.get(model)(source.shape, source.classes)
        initialize(self.model, 0, 0)
        self.flat = FlatParameters(self.model, CPU)
        everything = torch.arange(len(train))
        accumulate_gradient(self.flat, train, everything, scale=1 / len(train))
        self.scores = connection_sensitivity(self.flat.values, lambda: self.flat.gradient)
        self.images, self.labels = train.gather(torch.arange(BATCH))

    def masks(self, sparsity: float) -> dict[str, Tensor]:
        """SNIP's mask of this sparsity, by parameter."""
        own = self.flat.values.clone()
        self.flat.values.copy_(torch.from_numpy(keep_highest(self.scores, sparsity)))
        masks = {name: p.detach().bool() for name, p in self.model.named_parameters()}
        self.flat.values.copy_(own)
        return masks

    def step(self, network: nn.Module, mask: Tensor | None, *, plain: bool = True) -> Action:
        """One whole training step: forward, loss, backward, mask, Momentum's update."""
        flat = FlatParameters(network, CPU, None if plain else fastest(network))
        velocity = torch.zeros(flat.size)

        def run() -> None:
            flat.gradient.zero_()
            functional.cross_entropy(flat.outputs(self.images), self.labels).backward()
            if mask is not None:
                flat.gradient.mul_(mask)
            velocity.mul_(0.9).add_(flat.gradient)
            flat.values.add_(velocity, alpha=-1e-4)

        return run

    def compare(self, sparsity: float, repeats: int) -> list[float]:
        """Milliseconds of a step: masked in PyTorch's own layers, masked as we train, sparse."""
        masks = self.masks(sparsity)
        mask = FlatParameters(with_parameters(self.model, masks), CPU).values
        dense = with_parameters(
            self.model, {n: p * masks[n] for n, p in self.model.named_parameters()}
        )
        sparse = sparsify(self.model, masks, "on")
        return interleaved(
            [
                self.step(copy.deepcopy(dense), mask),
                self.step(dense, mask, plain=False),
                self.step(sparse, None),
            ],
            repeats,
        )


def steps(pruned: Pruned, sparsities: Sequence[float], repeats: int) -> None:
    """The whole training step, sparsity by sparsity."""
    print("masked in PyTorch's own layers, masked as sparallel trains (its zeros behind a pool")
    print("left out), and sparse; ratios are of the first two to the third")
    print(f"{'sparsity':>9} {'PyTorch':>8} {'dense':>7} {'sparse ms':>10} {'ratios':>13}   kept")
    for sparsity in sparsities:
        plain, dense, sparse = pruned.compare(sparsity, repeats)
        kept = " ".join(
            f"{name.removesuffix('.weight')} {float(mask.float().mean()):.1%}"
            for name, mask in pruned.masks(sparsity).items()
            if name.endswith("weight")
        )
        print(
            f"{sparsity:9.2f} {plain:8.2f} {dense:7.2f} {sparse:10.2f} "
            f"{plain / sparse:6.2f} {dense / sparse:6.2f}   {kept}"
        )


def backward_of(module: Callable[[Tensor], Tensor], x: Tensor) -> Action:
    """Forward and backward with a fixed gradient."""
    gradient = torch.randn_like(module(x).detach())

    def run() -> None:
        module(x).backward(gradient)

    return run


def compare_layer(
    layer: nn.Conv2d | nn.Linear, mask: Tensor, x: Tensor, pool: bool, repeats: int
) -> list[float]:
    """Milliseconds of a layer's forward and backward pass, dense and sparse (blocked input)."""
    blocked = enter(x.detach()).requires_grad_(x.requires_grad)
    bias_mask = torch.zeros(layer.weight.shape[0], dtype=torch.bool)
    if isinstance(layer, nn.Linear):
        linear = SparseLinear(layer, mask, bias_mask)
        dense, sparse = (
            backward_of(layer, x),
            backward_of(lambda x: linear(x, blocked=True), blocked),
        )
        return interleaved([dense, sparse], repeats)
    conv = SparseConv2d(layer, mask, bias_mask)
    layer = copy.deepcopy(layer).to(memory_format=torch.channels_last)

    def pooled(x: Tensor) -> Tensor:
        out: Tensor = conv_pool_relu(layer, x) if pool else layer(x)
        return out

    dense = backward_of(pooled, x.contiguous(memory_format=torch.channels_last))
    sparse = backward_of(lambda x: conv(x, blocked=True, pool=pool), blocked)
    return interleaved([dense, sparse], repeats)


def layers(pruned: Pruned, repeats: int) -> None:
    """Each layer of Simple-CNN at 90% sparsity, forward and backward."""
    masks = pruned.masks(0.9)
    children = dict(pruned.model.named_children())
    inputs = {
        "conv1": (pruned.images, True),
        "conv2": (torch.rand(BATCH, 32, 12, 12).requires_grad_(), True),
        "dense": (torch.rand(BATCH, 1024).requires_grad_(), False),
    }
    print(f"{'layer':>9} {'dense ms':>9} {'sparse ms':>10} {'ratio':>6}")
    for name, (x, pool) in inputs.items():
        layer = children[name]
        assert isinstance(layer, (nn.Conv2d, nn.Linear))
        dense, sparse = compare_layer(layer, masks[f"{name}.weight"], x, pool, repeats)
        print(f"{name:>9} {dense:9.2f} {sparse:10.2f} {dense / sparse:6.2f}")


def crossover(ratios: Sequence[float]) -> str:
    """The density up to which sparse is the faster one, between the two measured around it."""
    for i in range(len(ratios) - 1, 0, -1):
        if ratios[i] < 1 <= ratios[i - 1]:
            share = (ratios[i - 1] - 1) / (ratios[i - 1] - ratios[i])
            return f"{DENSITIES[i - 1] + share * (DENSITIES[i] - DENSITIES[i - 1]):.0%}"
    return "none: sparse is faster throughout" if ratios[-1] >= 1 else "none: dense is faster"


def curve(pruned: Pruned, repeats: int) -> None:
    """Dense over sparse time by density: the whole step with SNIP's masks, layers with random."""
    kinds: dict[str, tuple[nn.Conv2d | nn.Linear, Tensor]] = {
        "5x5 pooled": (nn.Conv2d(32, 64, 5), torch.rand(BATCH, 32, 12, 12)),
        "first 5x5 pooled": (nn.Conv2d(1, 32, 5), torch.rand(BATCH, 1, 28, 28)),
        "5x5 conv": (nn.Conv2d(32, 64, 5), torch.rand(BATCH, 32, 12, 12)),
        "first 3x3": (nn.Conv2d(3, 16, 3, padding=1), torch.rand(BATCH, 3, 32, 32)),
        "3x3 conv": (nn.Conv2d(32, 32, 3, padding=1), torch.rand(BATCH, 32, 16, 16)),
        "linear": (nn.Linear(1024, 10), torch.rand(BATCH, 1024)),
        "wide linear": (nn.Linear(784, 300), torch.rand(BATCH, 784)),
    }
    for name, (_, x) in kinds.items():  # a first layer's input needs no gradient
        x.requires_grad_(not name.startswith("first"))
    ratios: dict[str, list[float]] = {name: [] for name in ("step", *kinds)}
    print(f"{'density':>9} " + " ".join(f"{name:>16}" for name in ratios))
    for density in DENSITIES:
        _, dense, sparse = pruned.compare(1 - density, repeats)
        ratios["step"].append(dense / sparse)
        for name, (layer, x) in kinds.items():
            mask = torch.rand_like(layer.weight) < density
            pool = name.endswith("pooled")
            dense, sparse = compare_layer(layer, mask, x, pool, repeats)
            ratios[name].append(dense / sparse)
        print(f"{density:9.0%} " + " ".join(f"{found[-1]:16.2f}" for found in ratios.values()))
    for name, found in ratios.items():
        print(f"crossover of {name}: {crossover(found)}")


def main() -> None:
    """Print the parts asked for; all but ResNet-8, which needs CIFAR-10, without a choice."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=["steps", "layers", "curve", "resnet", []])
    parser.add_argument("--data-dir", type=Path, default=None)
    parser.add_argument("--repeats", type=int, default=40)
    arguments = parser.parse_args()
    parts, repeats = arguments.parts or ["steps", "layers", "curve"], arguments.repeats
    if why_not():
        raise SystemExit(f"Sparse kernels cannot be measured: {why_not()}.")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)  # as trials train
    torch.utils.deterministic.fill_uninitialized_memory = (
        False  # every kernel writes all it returns
    )
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    data_dir = data_folder(arguments.data_dir)
    print(f"{cpu_model()}, {instruction_set()}, batch {BATCH}, one core, medians of {repeats}")
    if set(parts) - {"resnet"}:
        pruned = Pruned("mnist", "simple-cnn", data_dir)
    if "steps" in parts:
        print("\nWhole training step of Simple-CNN on MNIST")
        steps(pruned, (0.5, 0.7, 0.9, 0.95, 0.98), repeats)
    if "layers" in parts:
        print("\nLayers of Simple-CNN at sparsity 0.9, forward and backward")
        layers(pruned, repeats)
    if "curve" in parts:
        print("\nDense over sparse time by density")
        curve(pruned, max(repeats // 4, 5))
    if "resnet" in parts:
        print("\nWhole training step of ResNet-8 on CIFAR-10")
        steps(Pruned("cifar-10", "resnet-8", data_dir), (0.5, 0.7, 0.9, 0.95), repeats)


if __name__ == "__main__":
    main()
