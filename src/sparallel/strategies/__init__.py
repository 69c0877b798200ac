"""Which trial goes on next, and how far: pure decisions about facts, without torch."""

from __future__ import annotations

from typing import Protocol

from sparallel.strategies.facts import TrialFacts


class Strategy(Protocol):
    """Decides up to which step a study's trials must be known."""

    def bound(self, trials: list[TrialFacts], last_check: int) -> int:
        """No trial needs to be checked beyond this step, given what is known."""
