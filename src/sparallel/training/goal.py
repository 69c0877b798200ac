"""The exact goal check: is the error on the whole validation set at or below the goal?

A yes/no question about an integer count: the goal allows `limit` errors. Looking at the hardest
examples first and stopping at error number limit + 1 gives a *no* as certain as a full pass; only
a *yes* needs every example. Hardest first means: ordered by the margins that this trial lately
gave each example, so the order is part of the trial's state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import torch
from torch import Tensor

from sparallel.training.batches import Batches
from sparallel.training.hardness import margins_of

SMALLEST_CHUNK = 32
LARGEST_CHUNK = 256

LATEST = 0.7
"""Weight of the latest margin in the running mean that orders the examples."""


def error_limit(goal_error: float, examples: int) -> int:
    """The most errors that still reach the goal; in decimal, so that 0.02 x 6,000 is 120."""
    return int(Decimal(str(goal_error)) * examples)


@dataclass(frozen=True)
class Verdict:
    """What a check found. `errors` counts those seen, all of them where `seen` is everything."""

    errors: int
    seen: int
    finite: bool


class GoalCheck:
    """Checks a network against error limits on the validation set."""

    def __init__(self, batches: Batches) -> None:
        self.batches = batches

    @torch.inference_mode()
    def __call__(self, network: Callable[[Tensor], Tensor], margins: Tensor, limit: int) -> Verdict:
        """Count errors, hardest first, until there are more than `limit` or none are left to see.

        Updates the margins of the examples it looks at.
        """
        order = torch.argsort(margins, stable=True)
        seen = errors = 0
        finite = True
        while seen < len(order) and errors <= limit:
            chosen = order[seen : seen + _chunk(limit + 1 - errors, seen, errors)]
            images, labels = self.batches.gather(chosen)
            outputs = network(images)
            wrong = outputs.argmax(1) != labels
            if not bool(torch.isfinite(outputs).all()):
                finite = False
                wrong |= ~torch.isfinite(outputs).all(1)
            latest = torch.nan_to_num(margins_of(outputs, labels), nan=0.0, posinf=0.0, neginf=0.0)
            margins[chosen] = torch.lerp(margins[chosen], latest, LATEST)
            errors += int(wrong.sum())
            seen += len(chosen)
        return Verdict(errors, seen, finite)


def _chunk(missing: int, seen: int, errors: int) -> int:
    """How many examples to look at next, to find the `missing` errors without overshooting."""
    wanted = missing if seen == 0 else missing * seen // max(errors, 1)
    wanted = min(max(wanted, SMALLEST_CHUNK), LARGEST_CHUNK)
    return -(-wanted // SMALLEST_CHUNK) * SMALLEST_CHUNK


def reached(verdict: Verdict, limits: Sequence[int], examples: int) -> list[bool]:
    """Which limits a verdict shows to be kept: only a check that saw everything can say yes."""
    return [verdict.seen == examples and verdict.errors <= limit for limit in limits]
