"""Momentum: v = m v + g; w -= lr v."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class _Momentum:
    metaparameters: tuple[str, ...] = ("learning_rate", "momentum")
    slots: int = 1

    def update(
        self,
        parameters: Tensor,
        gradient: Tensor,
        slots: Tensor,
        learning_rate: float,
        metaparameters: Mapping[str, float],
    ) -> None:
        velocity = slots[0]
        velocity.mul_(metaparameters["momentum"]).add_(gradient)
        parameters.add_(velocity, alpha=-learning_rate)


MOMENTUM = _Momentum()
