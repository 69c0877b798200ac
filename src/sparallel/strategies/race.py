"""The lossless race: stop every trial that can no longer win.

The result of a study is the minimum K over its trials. Once some trial has reached the goal at
step K, another that has been checked at every step up to and including K without reaching it
cannot have a lower K, and cannot tie: stopping it changes nothing that is reported. So every trial
is run to the best K and no further, and K*, winner and ties are those of the exhaustive search.
"""

from __future__ import annotations

from dataclasses import dataclass

from sparallel.strategies.facts import TrialFacts


@dataclass(frozen=True)
class Race:
    """Runs every trial to the K of the best, or of the `finishers`-th best."""

    finishers: int = 1

    def bound(self, trials: list[TrialFacts], last_check: int) -> int:
        """The K of the `finishers`-th best trial, or the whole budget until there is one."""
        arrived = sorted(
            facts.steps_to_result for facts in trials if facts.steps_to_result is not None
        )
        if len(arrived) < self.finishers:
            return last_check
        return min(arrived[self.finishers - 1], last_check)
