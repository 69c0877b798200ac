"""A second implementation of SNIP and training, in plain PyTorch, to hold the first one against.

    python benchmarks/independent.py [--data-dir DIR] [--seeds 4] [--sparsity 0.9]
                                     [--max-steps 3000]

Shares nothing with sparallel but the normalised images: its own layers, initialization, pruning,
data order and check, written from the protocol. MNIST, batch 128, learning rate 0.05, momentum 0.9,
goal error 0.02: the setting of benchmarks/reference.py. Seeds differ from those there, so compare
how the steps are spread and how many initializations arrive. About three minutes a seed.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from sparallel.data import DATA_SETS
from sparallel.data.dataset import DataSet, Examples
from sparallel.data.source import data_folder

BATCH, RATE, MOMENTUM, GOAL, INTERVAL = 128, 0.05, 0.9, 0.02, 16
TRUNCATED = 0.87962566103423978  # standard deviation of a normal one cut at 2


def tensors(examples: Examples, data: DataSet) -> tuple[Tensor, Tensor]:
    """Normalised images and labels."""
    images = torch.from_numpy(examples.images.astype("float32") / 255)
    images = (images - torch.from_numpy(data.mean).float()) / torch.from_numpy(data.std).float()
    return images.permute(0, 3, 1, 2).contiguous(), torch.from_numpy(examples.labels).long()


def network() -> nn.Sequential:
    """Simple-CNN, freshly initialized."""
    made = nn.Sequential(
        nn.Conv2d(1, 32, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(1024, 10),
    )
    for parameter in made.parameters():
        if parameter.dim() == 1:
            nn.init.zeros_(parameter)
        else:
            deviation = 1 / math.sqrt(parameter[0].numel()) / TRUNCATED
            nn.init.trunc_normal_(parameter, 0, deviation, -2 * deviation, 2 * deviation)
    return made


def snip(model: nn.Module, images: Tensor, labels: Tensor, sparsity: float) -> list[Tensor]:
    """Masks from |gradient x weight| over the whole training set."""
    parameters = list(model.parameters())
    sums = [torch.zeros_like(parameter) for parameter in parameters]
    for some, right in zip(images.split(500), labels.split(500), strict=True):
        loss = functional.cross_entropy(model(some), right, reduction="sum")
        for total, gradient in zip(sums, torch.autograd.grad(loss, parameters), strict=True):
            total.add_(gradient)
    scores = torch.cat(
        [(g * p).detach().abs().flatten() for g, p in zip(sums, parameters, strict=True)]
    )
    kept = torch.zeros_like(scores)
    kept[scores.topk(round(len(scores) * (1 - sparsity))).indices] = 1
    sizes = [parameter.numel() for parameter in parameters]
    parts = zip(kept.split(sizes), parameters, strict=True)
    return [part.view_as(parameter) for part, parameter in parts]


@torch.no_grad()
def error(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    """The share of examples that it gets wrong."""
    pairs = zip(images.split(1000), labels.split(1000), strict=True)
    return sum(int((model(x).argmax(1) != y).sum()) for x, y in pairs) / len(labels)


def steps_to_result(
    seed: int, data: DataSet, sparsity: float, max_steps: int
) -> tuple[int | None, float]:
    """K of one initialization, None where it does not arrive; and its lowest error."""
    torch.manual_seed(seed)
    images, labels = tensors(data.train, data)
    validation = tensors(data.validation, data)
    model = network()
    masks = snip(model, images, labels, sparsity) if sparsity else []
    for parameter, mask in zip(model.parameters(), masks, strict=False):
        parameter.data.mul_(mask)
        parameter.register_hook(mask.mul)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)
    waiting, lowest = torch.empty(0, dtype=torch.int64), 1.0
    for step in range(1, max_steps + 1):
        if len(waiting) < BATCH:
            waiting = torch.cat([waiting, torch.randperm(len(labels))])
        batch, waiting = waiting[:BATCH], waiting[BATCH:]
        optimizer.zero_grad()
        functional.cross_entropy(model(images[batch]), labels[batch]).backward()
        optimizer.step()
        if step % INTERVAL == 0:
            lowest = min(lowest, error(model, *validation))
            if lowest <= GOAL:
                return step, lowest
    return None, lowest


def main() -> None:
    """One initialization after another."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--sparsity", type=float, default=0.9)
    parser.add_argument("--max-steps", type=int, default=3_000)
    words = parser.parse_args()
    torch.set_flush_denormal(True)
    data = DATA_SETS.get("mnist").load(data_folder(words.data_dir))
    for seed in range(words.seeds):
        steps, lowest = steps_to_result(seed, data, words.sparsity, words.max_steps)
        print(f"seed {seed}: K = {steps or 'never'}, lowest error {lowest:.4f}", flush=True)


if __name__ == "__main__":
    main()
