"""SNIP: connection sensitivity at initialization (Lee, Ajanthan, Torr, 2019)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sparallel.training.batches import Batches
    from sparallel.training.parameters import FlatParameters

CHUNK = 1024
"""Examples between two looks at whether to stop."""


def connection_sensitivity(
    flat: FlatParameters, train: Batches, keep_going: Callable[[], None]
) -> NDArray[np.float32]:
    """|sum over the training set of dL/dm at m = 1|, which is |gradient x weight|, summing to 1.

    Multiplying a weight by m makes dL/dm = w dL/dw, so one gradient over the whole training set
    gives every sensitivity. Signed contributions are summed before the absolute value is taken.
    """
    from sparallel.training.gradient import accumulate_gradient

    total = torch.zeros(flat.size, dtype=torch.float64, device=flat.values.device)
    for chunk in torch.split(torch.arange(len(train), device=train.device), CHUNK):
        keep_going()
        accumulate_gradient(flat, train, chunk, scale=1 / len(train))
        total += flat.gradient
    sensitivity = (total * flat.values).abs()
    return (sensitivity / sensitivity.sum()).float().cpu().numpy()
