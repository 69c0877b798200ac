"""Exhaustive: every trial to its end, as the study we reproduce did."""

from __future__ import annotations

from dataclasses import dataclass

from sparallel.strategies.facts import TrialFacts


@dataclass(frozen=True)
class Exhaustive:
    """Runs every trial until it reaches the goal, diverges or spends the budget."""

    def bound(self, trials: list[TrialFacts], last_check: int) -> int:  # noqa: ARG002
        """Always the whole budget."""
        return last_check
