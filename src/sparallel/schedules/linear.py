"""Linear decay: from lr to factor x lr over the decay steps, then constant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class _Linear:
    metaparameters: tuple[str, ...] = ("decay_steps", "decay_factor")

    def learning_rate(self, step: int, metaparameters: Mapping[str, float]) -> float:
        done = min(step / metaparameters["decay_steps"], 1.0)
        factor = metaparameters["decay_factor"]
        return metaparameters["learning_rate"] * (1 - (1 - factor) * done)


LINEAR = _Linear()
