"""Critical batch sizes by both definitions, the regimes they bound, and their warnings."""

from __future__ import annotations

import numpy as np
import pytest

from sparallel.analysis.critical import critical_from_fit, critical_from_points, last_crossing
from sparallel.analysis.fit import fit_profile
from sparallel.analysis.interval import Interval
from sparallel.analysis.noise import Noise, Observation
from sparallel.analysis.regimes import DIMINISHING, LINEAR, MAXIMAL, regimes
from sparallel.analysis.synthetic import observations_with_truth
from sparallel.analysis.values import FROM_FIT, FROM_POINTS, CriticalBatchSize

SIZES = [2**power for power in range(2, 14)]
C1, C2 = 1e5, 200.0


def from_fit(sizes: list[int], sigma: float = 0.05, c2: float = C2) -> CriticalBatchSize:
    random = np.random.default_rng(2)
    found = fit_profile(observations_with_truth(sizes, random, c1=C1, c2=c2, sigma=sigma))
    assert found is not None
    return critical_from_fit(found)


def test_steps_are_twice_the_minimum_at_the_fitted_critical_batch_size() -> None:
    critical = from_fit(SIZES, sigma=0.0)
    assert critical.definition == FROM_FIT
    assert critical.value == pytest.approx(C1 / C2, rel=0.02)
    assert C1 / critical.value + C2 == pytest.approx(2 * C2, rel=0.02)
    assert critical.is_bracketed
    assert critical.warning is None


@pytest.mark.parametrize(
    ("sizes", "c2", "words"),
    [([4, 8, 16, 32, 64], C2, "above the largest measured (64)"),
     ([2048, 4096, 8192, 16384], C2, "below the smallest measured (2048)"),
     ([2, 4, 8, 16], 1e-6, "above the largest measured (16)")],
)  # fmt: skip
def test_batch_sizes_that_do_not_bracket_the_critical_one_are_named(
    sizes: list[int], c2: float, words: str
) -> None:
    critical = from_fit(sizes, sigma=0.02, c2=c2)
    assert not critical.is_bracketed
    assert words in (critical.warning or "")


def test_points_alone_give_the_20_percent_batch_size() -> None:
    exact = [Observation(b, 999, 1000 * 4 // b) for b in [4, 8]]  # two ideal points
    exact += [Observation(16, 1, 250 * 12 // 10 + 60)]  # then 44% above ideal
    critical = critical_from_points(exact, None)
    assert critical is not None
    assert critical.definition == FROM_POINTS
    assert critical.value == pytest.approx(8 * 2**0.5, rel=0.01)  # half way on log axes


def test_without_known_noise_there_is_no_interval() -> None:
    exact = [Observation(4, 999, 1000), Observation(64, 499, 500)]
    critical = critical_from_points(exact, None)
    assert critical is not None
    assert critical.value is not None
    assert critical.interval.is_unbounded
    assert critical.in_words().endswith("[interval not known]")


def test_the_last_crossing_counts() -> None:
    log_sizes = np.log([1.0, 2, 4, 8])
    excess = np.array([[0.0, 0.3, 0.0, 0.5], [0.0, 0.0, 0.0, 0.0]])
    found = last_crossing(log_sizes, excess - log_sizes)
    assert np.log(4) < found[0] < np.log(8)
    assert np.isinf(found[1])


def test_interval_from_points_covers_the_truth_about_as_it_says() -> None:
    random = np.random.default_rng(6)
    exact = np.log(C1 / np.array(SIZES) + C2)[None, :]
    truth = float(np.exp(last_crossing(np.log(SIZES), exact)[0]))
    covered = 0
    for _ in range(200):
        seen = observations_with_truth(SIZES, random, c1=C1, c2=C2, sigma=0.1)
        critical = critical_from_points(seen, Noise(0.1, 10))
        assert critical is not None
        covered += truth in critical.interval
    print(f"\n20% definition: {covered / 2:.1f}% covered")
    assert covered >= 0.88 * 200


def test_ideal_scaling_throughout_is_not_a_critical_batch_size() -> None:
    ideal = [Observation(b, 32768 // b - 1, 32768 // b) for b in [4, 16, 64]]
    critical = critical_from_points(ideal, Noise(0.01, 5))
    assert critical is not None
    assert critical.value is None
    assert critical.interval.high is None
    assert "Try larger batch sizes" in (critical.warning or "")
    assert "not reached" in critical.in_words()


def test_one_batch_size_has_no_20_percent_point() -> None:
    assert critical_from_points([Observation(8, 304, 320)], None) is None


def test_regimes_follow_the_stated_rule() -> None:
    critical = from_fit(SIZES)
    assert critical.value is not None
    found = regimes(critical, SIZES)
    assert found.linear_up_to == pytest.approx(0.2 * critical.value)
    assert found.maximal_from == pytest.approx(5 * critical.value)
    names = dict(found.measured)
    for size in SIZES:
        steps = C1 / size + C1 / critical.value
        if names[size] == LINEAR:
            assert steps <= 1.2 * C1 / size * 1.0001
        elif names[size] == MAXIMAL:
            assert steps <= 1.2 * C1 / critical.value * 1.0001
        else:
            assert names[size] == DIMINISHING
    assert set(names.values()) == {LINEAR, DIMINISHING, MAXIMAL}


def test_curve_without_a_bend_is_one_regime() -> None:
    unbent = CriticalBatchSize(FROM_FIT, None, Interval(64, None), False, "beyond", "above")
    assert regimes(unbent, [2, 4]).measured == ((2, LINEAR), (4, LINEAR))
    assert regimes(unbent, [2]).linear_interval.low == pytest.approx(12.8)
    flat = CriticalBatchSize(FROM_FIT, None, Interval(None, 64), False, "beyond", "below")
    assert regimes(flat, [128]).measured == ((128, MAXIMAL),)


def test_estimate_far_outside_and_open_is_no_number() -> None:
    critical = from_fit([2, 4, 8, 16], sigma=0.02, c2=1e-6)
    assert critical.value is None
    assert critical.interval.low is not None
    assert critical.in_words().startswith("not reached [")
