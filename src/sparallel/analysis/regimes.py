"""The three regimes as batch-size ranges, by a numeric rule on the fitted curve.

With b = B / (c1/c2) the fitted steps are (1 + b) times ideal scaling c1/B and (1 + 1/b) times
the minimum c2. Steps within 20% of ideal scaling (b <= 0.2) are linear scaling; steps within
20% of the minimum (b >= 5) are maximal data parallelism; between lie diminishing returns.
"""

from __future__ import annotations

from collections.abc import Sequence

from sparallel.analysis.values import CriticalBatchSize, Regimes

TOLERANCE = 0.2
LINEAR = "linear scaling"
DIMINISHING = "diminishing returns"
MAXIMAL = "maximal data parallelism"
RULE = (
    "linear scaling while the fitted steps are within 20% of ideal scaling (B <= 0.2 c1/c2); "
    "maximal data parallelism once they are within 20% of the minimum (B >= 5 c1/c2); "
    "diminishing returns between"
)


def regimes(critical: CriticalBatchSize, batch_sizes: Sequence[int]) -> Regimes:
    """The regimes that follow from c1/c2; each border is a multiple of it, and so its interval.

    Where c1/c2 lies far outside, the curve is one regime: maximal if below, linear if above.
    """
    value = critical.value
    linear = None if value is None else TOLERANCE * value
    maximal = None if value is None else value / TOLERANCE
    measured = []
    for size in sorted(set(batch_sizes)):
        if linear is None or maximal is None:
            name = MAXIMAL if critical.side == "below" else LINEAR
        else:
            name = LINEAR if size <= linear else MAXIMAL if size >= maximal else DIMINISHING
        measured.append((size, name))
    return Regimes(
        rule=RULE,
        linear_up_to=linear,
        linear_interval=critical.interval.scaled(TOLERANCE),
        maximal_from=maximal,
        maximal_interval=critical.interval.scaled(1 / TOLERANCE),
        measured=tuple(measured),
    )
