"""SGD: w -= lr g."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class _SGD:
    metaparameters: tuple[str, ...] = ("learning_rate",)
    slots: int = 0

    def update(
        self,
        parameters: Tensor,
        gradient: Tensor,
        slots: Tensor,  # noqa: ARG002 - it has no memory
        learning_rate: float,
        metaparameters: Mapping[str, float],  # noqa: ARG002 - nor anything else to tune
    ) -> None:
        parameters.add_(gradient, alpha=-learning_rate)


SGD = _SGD()
