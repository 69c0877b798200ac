"""The gradient of a batch, summed over micro-batches: memory does not grow with the batch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from sparallel.training.batches import Batches
from sparallel.training.parameters import FlatParameters

MICRO_BATCH = 64
"""Examples whose activations stay in a core's cache; larger is slower and needs more memory."""


Seen = Callable[[Tensor, Tensor, Tensor], None]
"""Hears of a micro-batch: its outputs, its labels and its scaled loss, before they are gone."""


def accumulate_gradient(
    flat: FlatParameters,
    batches: Batches,
    indices: Tensor,
    *,
    scale: float,
    seen: Seen | None = None,
) -> None:
    """Set `flat.gradient` to `scale` times the summed gradient of these examples' losses."""
    flat.gradient.zero_()
    for chosen in torch.split(indices, MICRO_BATCH):
        images, labels = batches.gather(chosen)
        outputs = flat.outputs(images)
        loss = functional.cross_entropy(outputs, labels, reduction="sum") * scale
        loss.backward()  # type: ignore[no-untyped-call]
        if seen is not None:
            seen(outputs.detach(), labels, loss.detach())
