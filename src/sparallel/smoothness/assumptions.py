"""Does what was measured meet what the theory assumes? The learning rate must be at most 1/L."""

from __future__ import annotations

from dataclasses import dataclass

from sparallel.analysis import sparsity_in_words
from sparallel.analysis.interval import rounded
from sparallel.smoothness.records import SmoothnessRecord
from sparallel.smoothness.summary import Summary
from sparallel.smoothness.theory import learning_rates

ASSUMED = (
    "The theory is the convergence rate of SGD with unbiased gradients (mu = 1) on a loss whose "
    "gradient is L-Lipschitz, with gradient noise of at most beta/B, a learning rate of at most "
    "1/L, and bounds that are tight; f at its lowest (f_inf) is taken as 0, and eps as the same "
    "for sparse and dense. Momentum is outside it."
)


@dataclass(frozen=True)
class RateCheck:
    """Is the learning rate within 1/L, on average and at every measured point?"""

    sparsity: float
    learning_rate: float  # the schedule's largest
    effective: float | None  # eta / (1 - momentum), where there is momentum
    limit: float  # 1/L with the mean L along training
    exceeded: int  # measured points where eta_k > 1/L(w_k)
    points: int  # measured points that have an L

    @property
    def holds(self) -> bool:
        """At most 1/L, L the mean along training."""
        return self.learning_rate <= self.limit

    def in_words(self) -> str:
        """One sentence."""
        verdict = "holds" if self.holds else "does not hold"
        sign = "<=" if self.holds else ">"
        text = (
            f"{sparsity_in_words(self.sparsity)}: the assumption eta <= 1/L {verdict} on average "
            f"(eta {rounded(self.learning_rate)} {sign} {rounded(self.limit)})"
        )
        if self.exceeded:
            text += f" and is broken at {self.exceeded} of {self.points} measured points"
        elif self.holds:
            text += f" and at each of {self.points} measured points"
        if self.effective is not None:
            within = "within" if self.effective <= self.limit else "beyond"
            text += (
                f"; with momentum the steps are in effect as long as eta/(1 - momentum) = "
                f"{rounded(self.effective)}, {within} 1/L"
            )
        return f"{text}."


def check_rate(record: SmoothnessRecord, summary: Summary) -> RateCheck | None:
    """None where the sparsity has no mean L."""
    if summary.lipschitz is None or summary.lipschitz.mean <= 0:
        return None
    rate = max(learning_rates(record.schedule, record.metaparameters, max(1, record.steps)))
    momentum = record.metaparameters.get("momentum", 0.0)
    measured = [
        point.learning_rate * point.lipschitz
        for path in record.paths
        if path.sparsity == summary.sparsity
        for point in path.points
        if point.lipschitz is not None
    ]
    return RateCheck(
        sparsity=summary.sparsity,
        learning_rate=rate,
        effective=rate / (1 - momentum) if 0 < momentum < 1 else None,
        limit=1 / summary.lipschitz.mean,
        exceeded=sum(product > 1 for product in measured),
        points=len(measured),
    )
