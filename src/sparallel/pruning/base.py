"""What a pruning method is: a score for every parameter; the highest are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor


class Score(Protocol):
    """Scores the parameters of a freshly initialized network."""

    def __call__(self, parameters: Tensor, gradient: Callable[[], Tensor]) -> NDArray[np.float32]:
        """One score a parameter.

        `gradient()` is the loss's gradient at these parameters, averaged over the whole training
        set: one pass over it, so ask only where it is needed.
        """


def keep_highest(scores: NDArray[np.float32], sparsity: float) -> NDArray[np.bool_]:
    """The mask of the round(P (1 - sparsity)) highest scores; equal scores keep the earliest."""
    kept = round(len(scores) * (1 - sparsity))
    mask = np.zeros(len(scores), dtype=np.bool_)
    mask[np.argsort(-scores, kind="stable")[:kept]] = True
    return mask
