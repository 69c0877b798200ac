"""Over many generated experiments the 95% interval of c1/c2 covers the truth as it says."""

from __future__ import annotations

import numpy as np
import pytest

from sparallel.analysis.profile import prepare, profile
from sparallel.analysis.synthetic import naive_critical_batch_size, observations_with_truth

EXPERIMENTS = 200
C1, C2 = 1.3e5, 220.0  # critical batch size 591; K at B = 2 is 65,220, beyond the budget
FAR_C1, FAR_C2 = 3e5, 150.0  # critical batch size 2,000; K at B = 4 is beyond the budget
DESIGNS = {
    4: [4, 64, 512, 4096],
    6: [2, 8, 64, 256, 1024, 8192],
    14: [2**power for power in range(1, 15)],
}


@pytest.mark.parametrize("sigma", [0.05, 0.15, 0.3])
@pytest.mark.parametrize("size", DESIGNS)
def test_interval_covers_the_truth_in_90_to_98_of_100_experiments(size: int, sigma: float) -> None:
    random = np.random.default_rng([size, int(1000 * sigma)])
    covered = naive = censored = 0
    for _ in range(EXPERIMENTS):
        seen = observations_with_truth(DESIGNS[size], random, c1=C1, c2=C2, sigma=sigma)
        covered += C1 / C2 in profile(prepare(seen)).critical
        naive += C1 / C2 in naive_critical_batch_size(seen)[1]
        censored += sum(o.steps is None for o in seen)
    share, naive_share = covered / EXPERIMENTS, naive / EXPERIMENTS
    print(
        f"\n{size} batch sizes, sigma {sigma}: {100 * share:.1f}% covered, "
        f"naive least squares {100 * naive_share:.1f}%, "
        f"{censored / EXPERIMENTS:.2f} of {size} studies censored"
    )
    assert 0.90 <= share <= 0.98
    assert naive_share < share


@pytest.mark.parametrize("sigma", [0.05, 0.1, 0.3])
def test_three_usable_points_cover_no_more_than_they_say(sigma: float) -> None:
    """K at the largest batch size is 14 checks, which hide residuals of 3%."""
    random = np.random.default_rng([5, int(1000 * sigma)])
    covered = 0
    for _ in range(2 * EXPERIMENTS):
        seen = observations_with_truth(DESIGNS[4], random, c1=FAR_C1, c2=FAR_C2, sigma=sigma)
        covered += FAR_C1 / FAR_C2 in profile(prepare(seen)).critical
    share = covered / (2 * EXPERIMENTS)
    print(f"\nthree usable points, sigma {sigma}: {100 * share:.1f}% covered")
    assert 0.90 <= share <= 0.98
