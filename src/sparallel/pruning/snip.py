"""SNIP: connection sensitivity at initialization (Lee, Ajanthan, Torr, 2019)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor


def connection_sensitivity(
    parameters: Tensor, gradient: Callable[[], Tensor]
) -> NDArray[np.float32]:
    """|sum over the training set of dL/dm at m = 1|, which is |gradient x weight|, summing to 1.

    Multiplying a weight by m makes dL/dm = w dL/dw, so one gradient over the whole training set
    gives every sensitivity. Signed contributions are summed before the absolute value is taken.
    """
    sensitivity = (gradient() * parameters).abs()
    scores: NDArray[np.float32] = (sensitivity / sensitivity.sum()).float().cpu().numpy()
    return scores
