"""Which initialization and which gradient give the paper's Delta, beta and L of Simple-CNN?

    python benchmarks/smoothness_definitions.py [--data-dir DIR] [--seeds 2] [--steps 1000]
                                                [--points 10] [--examples 2000]

The paper's beta falls to 0.54 by 90% sparsity, ours to about 0.2, and is a tenth of ours.
Two things it does not say could make the difference: the scale of the weights (variance 1/fan_in,
as in its released code, or 2/(fan_in + fan_out), Glorot's), and whether the gradient of a sparse
network is that of the weights kept, which alone are trained, or of all weights, pruned ones too.
In plain PyTorch: SGD with learning rate 0.02, batch 128.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from independent import network, snip, tensors
from sparallel.data import DATA_SETS
from sparallel.data.source import data_folder

BATCH, RATE, GROUP = 128, 0.02, 16
GAMMAS = [number / 10 for number in range(1, 11)]
WEIGHTS = ("1/fan_in", "Glorot")


def gradient(model: nn.Module, images: Tensor, labels: Tensor) -> Tensor:
    """Of the mean loss, over all parameters, flat."""
    loss = functional.cross_entropy(model(images), labels)
    parts = torch.autograd.grad(loss, list(model.parameters()))
    return torch.cat([part.flatten() for part in parts])


def whole_gradient(model: nn.Module, images: Tensor, labels: Tensor) -> Tensor:
    """The same, a few hundred examples at a time."""
    pairs = zip(images.split(500), labels.split(500), strict=True)
    weighted = [gradient(model, *pair) * len(pair[1]) for pair in pairs]
    return torch.stack(weighted).sum(0) / len(labels)


def beta(model: nn.Module, images: Tensor, labels: Tensor, kept: Tensor) -> tuple[float, float]:
    """The variance of one example's gradient, over the weights kept and over all."""
    pairs = zip(images.split(GROUP), labels.split(GROUP), strict=True)
    groups = [gradient(model, *pair) for pair in pairs if len(pair[1]) == GROUP]
    mean = torch.stack(groups).mean(0)
    squares = torch.stack([(group - mean) ** 2 for group in groups]).sum(0)
    variance = squares * GROUP / (len(groups) - 1)
    return float((variance * kept).sum()), float(variance.sum())


def smoothness(
    model: nn.Module, step: Tensor, images: Tensor, labels: Tensor, kept: Tensor
) -> tuple[float, float]:
    """L along a step, over the weights kept and over all."""
    here = nn.utils.parameters_to_vector(model.parameters()).detach()
    first = whole_gradient(model, images, labels)
    found = []
    for gamma in GAMMAS:
        nn.utils.vector_to_parameters(here + gamma * step, model.parameters())
        change = whole_gradient(model, images, labels) - first
        length = float((gamma * step).norm())
        found.append((float((change * kept).norm()) / length, float(change.norm()) / length))
    nn.utils.vector_to_parameters(here, model.parameters())
    return max(of_kept for of_kept, _ in found), max(of_all for _, of_all in found)


def run(
    seed: int,
    weights: str,
    sparsity: float,
    train: tuple[Tensor, Tensor],
    words: argparse.Namespace,
) -> dict[str, float]:
    """Everything of one run; L as its mean along training, by the trapezoid rule."""
    torch.manual_seed(seed)
    images, labels = train
    model = network()
    if weights == "Glorot":
        for parameter in model.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_normal_(parameter)
    masks = [torch.ones_like(parameter) for parameter in model.parameters()]
    if sparsity:
        masks = snip(model, images, labels, sparsity)
    kept = torch.cat([mask.flatten() for mask in masks])
    for parameter, mask in zip(model.parameters(), masks, strict=True):
        parameter.data.mul_(mask)
    measured = images[: words.examples], labels[: words.examples]
    of_kept, of_all = beta(model, *measured, kept)
    with torch.no_grad():
        loss = float(functional.cross_entropy(model(measured[0]), measured[1]))
    points = sorted({0, *np.geomspace(1, words.steps, words.points - 1).astype(int).tolist()})
    lipschitz = []
    for step in range(words.steps + 1):
        batch = torch.randint(len(labels), (BATCH,))
        change = -RATE * gradient(model, images[batch], labels[batch]) * kept
        if step in points:
            lipschitz.append(smoothness(model, change, *measured, kept))
        here = nn.utils.parameters_to_vector(model.parameters()).detach()
        nn.utils.vector_to_parameters(here + change, model.parameters())
    means = np.trapezoid(np.array(lipschitz), points, axis=0) / words.steps
    return {
        "Delta": 2 * loss,
        "beta, kept": of_kept,
        "beta, all": of_all,
        "L, kept": float(means[0]),
        "L, all": float(means[1]),
    }


def main() -> None:
    """A table a scale of the weights."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=1_000)
    parser.add_argument("--points", type=int, default=10)
    parser.add_argument("--examples", type=int, default=2_000)
    words = parser.parse_args()
    torch.set_flush_denormal(True)
    data = DATA_SETS.get("mnist").load(data_folder(words.data_dir))
    train = tensors(data.train, data)
    print("| weights | seed | sparsity | Delta | beta, kept | beta, all | L, kept | L, all |")
    print("|---|---|---|---|---|---|---|---|")
    print("| the paper | | 0% | 4.66 | | 197.06 | | 0.57 |")
    print("| the paper | | 90% | 4.68 | | 107.39 | | 1.76 |")
    for weights in WEIGHTS:
        for seed in range(words.seeds):
            for sparsity in (0.0, 0.9):
                found = run(seed, weights, sparsity, train, words)
                cells = " | ".join(f"{value:.4g}" for value in found.values())
                print(f"| {weights} | {seed} | {sparsity:.0%} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
