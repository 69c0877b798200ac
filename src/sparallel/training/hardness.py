"""A first guess at which validation examples are hard, before a trial has looked at any.

A linear least-squares classifier of a few training images already ranks them well: what it gets
wrong, a young network gets wrong too. It only decides which examples a goal check sees first,
never what the check finds.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from sparallel.training.batches import Batches

TRAINING_IMAGES = 2_000
RIDGE = 2.0
"""Regularisation, in units of an image's mean squared norm."""

SPREAD = 4.0
"""Standard deviation given to the guessed margins, about that of a trained network's."""


def margins_of(outputs: Tensor, labels: Tensor) -> Tensor:
    """How far the right class's output is above the best wrong one; negative where it is wrong."""
    found = outputs.gather(1, labels[:, None])[:, 0]
    return found - outputs.scatter(1, labels[:, None], -torch.inf).amax(1)


def guessed_margins(train: Batches, validation: Batches, classes: int) -> Tensor:
    """The margins of a ridge classifier, in its dual form, whose cost hardly grows with images."""
    images, labels = train.gather(
        torch.arange(min(len(train), TRAINING_IMAGES), device=train.device)
    )
    images = images.flatten(1)
    centre, targets = images.mean(0), functional.one_hot(labels, classes).float()
    images = images - centre
    gram = images @ images.T
    gram.diagonal().add_(RIDGE * gram.diagonal().mean())
    weights = images.T @ torch.linalg.solve(gram, targets - targets.mean(0))
    outputs = []
    for chosen in torch.split(torch.arange(len(validation), device=train.device), 1_000):
        seen, _ = validation.gather(chosen)
        outputs.append((seen.flatten(1) - centre) @ weights)
    margins = margins_of(torch.cat(outputs) + targets.mean(0), validation.labels)
    return margins * (SPREAD / margins.std())
