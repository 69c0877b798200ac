"""Constant: every step has the same learning rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class _Constant:
    metaparameters: tuple[str, ...] = ()

    def learning_rate(
        self,
        step: int,  # noqa: ARG002 - the same at every step
        metaparameters: Mapping[str, float],
    ) -> float:
        return metaparameters["learning_rate"]


CONSTANT = _Constant()
