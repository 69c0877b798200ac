"""The order in which a trial sees the training examples: a pure function of seed and position."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class DataOrder:
    """An endless walk through the examples, reshuffled every epoch, each once an epoch.

    Nothing of it needs saving: the permutation of an epoch follows from the seed and the epoch's
    number alone, so a trial resumed at any step goes on with the batches it would have had.
    Every trial of an experiment gets the same order, as in the study this reproduces.
    """

    def __init__(self, examples: int, seed: int) -> None:
        self._examples = examples
        self._seed = seed
        self._epoch = -1
        self._permutation = np.empty(0, dtype=np.int64)

    def _of_epoch(self, epoch: int) -> NDArray[np.int64]:
        if epoch != self._epoch:
            random = np.random.default_rng([self._seed, epoch])
            self._permutation = random.permutation(self._examples)
            self._epoch = epoch
        return self._permutation

    def indices(self, start: int, count: int) -> NDArray[np.int64]:
        """Examples number `start` to `start + count` of the walk; may cross epochs."""
        pieces = []
        while count > 0:
            epoch, offset = divmod(start, self._examples)
            piece = self._of_epoch(epoch)[offset : offset + count]
            pieces.append(piece)
            start, count = start + len(piece), count - len(piece)
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
