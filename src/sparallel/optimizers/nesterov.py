"""Nesterov: v = m v + g; w -= lr (g + m v)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class _Nesterov:
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
        velocity, momentum = slots[0], metaparameters["momentum"]
        velocity.mul_(momentum).add_(gradient)
        parameters.add_(gradient, alpha=-learning_rate)
        parameters.add_(velocity, alpha=-learning_rate * momentum)


NESTEROV = _Nesterov()
