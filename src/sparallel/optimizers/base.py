"""What an optimizer is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # so that names and spaces can be listed without loading torch
    from torch import Tensor


class Optimizer(Protocol):
    """One update of the parameters from their gradient; all its memory is in `slots`."""

    @property
    def metaparameters(self) -> tuple[str, ...]:
        """The metaparameters it is searched over, in the order of the Sobol dimensions."""

    @property
    def slots(self) -> int:
        """How many vectors of the parameters' size it remembers from step to step."""

    def update(
        self,
        parameters: Tensor,
        gradient: Tensor,
        slots: Tensor,
        learning_rate: float,
        metaparameters: Mapping[str, float],
    ) -> None:
        """Change parameters and slots in place."""
