"""What the studies of a curve tell, as arrays, and its best likelihood for a given shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparallel.analysis.likelihood import NO_RERUNS, Array, Maximum, Spread, maximise
from sparallel.analysis.noise import Observation


@dataclass(frozen=True)
class Data:
    """The observations as arrays: log batch size and the ends of log K."""

    log_batch: Array
    lower: Array
    upper: Array
    spread: Spread

    @property
    def reference(self) -> float:
        """The log batch size at which the curve's height is taken: the middle of the measured."""
        return float(0.5 * (self.log_batch.min() + self.log_batch.max()))

    @property
    def informative(self) -> int:
        """Observations with two ends; an open one says next to nothing about the noise."""
        return int((np.isfinite(self.lower) & np.isfinite(self.upper)).sum())

    @property
    def degrees_of_freedom(self) -> int:
        """What is left for the noise after c1 and c2, with the reruns' share."""
        return self.informative - 2 + self.spread.degrees_of_freedom

    def shape(self, theta: Array, at: Array | None = None) -> Array:
        """log K less the height, one row a theta."""
        log_batch = self.log_batch if at is None else at
        # Beyond e^50 the curve is flat to the last bit, and no inf - inf can arise.
        bend = np.minimum(-np.asarray(theta, dtype=np.float64)[:, None], 50.0)
        curve = np.logaddexp(-log_batch[None, :], bend) - np.logaddexp(-self.reference, bend)
        return np.asarray(curve, dtype=np.float64)

    def maximise(
        self,
        theta: Array,
        height: Array | None = None,
        start: tuple[Array, Array] | None = None,
    ) -> Maximum:
        """The best likelihood of each theta, over the noise and, if not given, the height."""
        shape = self.shape(theta)
        return maximise(self.lower - shape, self.upper - shape, self.spread, height, start)


def prepare(observations: Sequence[Observation], spread: Spread = NO_RERUNS) -> Data:
    """Take logs; a crossing before the first check has no lower end, one beyond the budget no
    upper end."""
    low = np.array([o.crossed_after for o in observations], dtype=np.float64)
    high = np.array([np.inf if o.steps is None else o.steps for o in observations])
    return Data(
        np.log([o.batch_size for o in observations]),
        np.where(low > 0, np.log(np.where(low > 0, low, 1.0)), -np.inf),
        np.log(high),
        spread,
    )
