"""The gradient of a batch, summed over micro-batches: memory does not grow with the batch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from sparallel.training.batches import Batches
from sparallel.training.parameters import FlatParameters

MICRO_BATCH = 64
"""Examples whose activations stay in a core's cache; larger is slower and needs more memory."""


def accumulate_gradient(
    flat: FlatParameters, batches: Batches, indices: Tensor, *, scale: float
) -> None:
    """Set `flat.gradient` to `scale` times the summed gradient of these examples' losses."""
    flat.gradient.zero_()
    for chosen in torch.split(indices, MICRO_BATCH):
        images, labels = batches.gather(chosen)
        loss = functional.cross_entropy(flat.outputs(images), labels, reduction="sum") * scale
        loss.backward()  # type: ignore[no-untyped-call]
