"""What a learning-rate schedule is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Schedule(Protocol):
    """The learning rate of every step; step 0 is the first."""

    @property
    def metaparameters(self) -> tuple[str, ...]:
        """The metaparameters it adds to the search, after the optimizer's."""

    def learning_rate(self, step: int, metaparameters: Mapping[str, float]) -> float:
        """The learning rate with which step number `step` is taken."""
