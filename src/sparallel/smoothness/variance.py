"""The gradient's variance between single examples, from gradients of groups of them."""

from __future__ import annotations

from torch import Tensor


class GroupMoments:
    """Takes in the gradients of groups of examples drawn at random; gives beta and |grad f|^2.

    beta = E|g_i - grad f|^2 by the batch-moment identity: the mean of b examples lies around the
    mean of all with variance beta / b, so b x |group mean - mean of all|^2, summed over M groups
    and divided by M - 1, estimates beta without bias and without a gradient an example.
    """

    def __init__(self, examples: int, of: int | None = None) -> None:
        """`examples` in all groups together, drawn without replacement from `of` (None: many)."""
        self._examples, self._of = examples, of
        self._squares = 0.0  # of |group mean|^2, each times its number of examples
        self._groups = 0

    def add(self, share: Tensor, examples: int) -> None:
        """Take in a group: the sum of its gradients, divided by the number of all examples."""
        weight = self._examples**2 / examples
        self._squares += weight * float(share.square().sum())
        self._groups += 1

    def variance(self, mean: Tensor) -> float:
        """beta, given the mean gradient of all groups; at least 0, whatever is rounded."""
        squared = float(mean.square().sum())
        between = self._squares - self._examples * squared
        return between / (self._groups - 1) if not between < 0 else 0.0

    def gradient_squared(self, mean: Tensor) -> float:
        """|grad f|^2 without what sampling adds: E|G_N|^2 = |grad f|^2 + beta/N (1 - N/N_all).

        Nothing is taken off where every example there is was used. Can be negative, as an unbiased
        estimate of something near 0 must: average before dividing by it.
        """
        missing = 1.0 if self._of is None else 1 - self._examples / self._of
        sampled = self.variance(mean) / self._examples * missing
        return float(mean.square().sum()) - sampled
