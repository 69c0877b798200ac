"""The expected minimum over subsets, exactly, and only where it is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from math import comb
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparallel.analysis.subsets import best_of_subset, half_search_interval, subset_curve
from sparallel.analysis.synthetic_experiment import experiment_with_truth
from sparallel.analysis.values import SubsetCurve, WorkloadKey
from sparallel.records import Status, StudyRecord, TrialRecord

BASE = experiment_with_truth({0.0: (1e5, 200)}, [64]).studies[0]
WORKLOAD = WorkloadKey("mnist", "simple-cnn", "momentum", "constant")


def study(complete: list[int], beaten: Sequence[int] = (), infeasible: int = 0) -> StudyRecord:
    trials = [(Status.COMPLETE, k) for k in complete] + [(Status.BEATEN, k) for k in beaten]
    trials += [(Status.INFEASIBLE, 16)] * infeasible
    records = tuple(TrialRecord(i, {}, status, k) for i, (status, k) in enumerate(trials))
    return replace(BASE, trials=records, steps_to_result=min(complete, default=None), best_trial=0)


def curve(of: StudyRecord) -> SubsetCurve:
    found = subset_curve(of, WORKLOAD, "experiment")
    assert found is not None
    return found


STEPS = st.lists(st.integers(1, 500).map(lambda n: 16 * n), min_size=1, max_size=7)


@settings(max_examples=50)
@given(STEPS)
def test_expected_minimum_equals_the_mean_over_all_subsets(steps: list[int]) -> None:
    for point in curve(study(steps)).points:
        every = [min(subset) for subset in combinations(steps, point.trials)]
        assert point.expected == pytest.approx(mean(every))
        assert point.median in every
        assert sum(k <= (point.median or 0) for k in every) >= len(every) / 2


@given(STEPS, st.integers(0, 5), st.integers(0, 3))
def test_curve_falls_with_every_trial_added(steps: list[int], stopped: int, diverged: int) -> None:
    points = curve(study(steps, [max(steps)] * stopped, diverged)).points
    for before, after in pairwise(points):
        assert after.at_least <= before.at_least + 1e-9
        assert after.chance >= before.chance - 1e-12
        if before.expected is not None:
            assert after.expected is not None
            assert after.expected <= before.expected + 1e-9
        if before.median is not None:
            assert after.median is not None
            assert after.median <= before.median


@given(st.integers(1, 60), st.data())
def test_chances_are_the_binomial_ratios(total: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, total))
    chances = best_of_subset(total, size)
    exact = [comb(total - rank, size - 1) / comb(total, size) for rank in range(1, total + 1)]
    assert chances == pytest.approx(exact, abs=1e-12)
    assert sum(chances) == pytest.approx(1)


def test_whole_set_gives_the_minimum_itself() -> None:
    assert curve(study([320, 160, 480])).points[-1].expected == 160


def test_beaten_trials_leave_small_subsets_unidentified() -> None:
    found = curve(study([160, 320], beaten=[320, 320, 320]))
    assert found.identified_from == 4
    assert [p.expected is None for p in found.points] == [True, True, True, False, False]
    assert "3 of 5 are not complete" in found.note
    assert found.points[0].chance == pytest.approx(2 / 5)
    assert found.points[0].at_least == pytest.approx((160 + 4 * 320) / 5)
    assert found.points[1].median == 320  # 7 of 10 pairs hold a complete trial


def test_trial_that_diverged_counts_as_never_arriving() -> None:
    found = curve(study([160], infeasible=1))
    assert found.points[0].expected is None
    assert found.points[0].at_least == (160 + BASE.max_steps) / 2


def test_study_without_a_winner_has_no_curve() -> None:
    none = study([], beaten=[320])
    assert subset_curve(none, WORKLOAD, "experiment") is None


def test_halves_of_an_exhaustive_search_give_a_range_from_k_star_up() -> None:
    steps = [160 + 16 * i for i in range(20)]
    interval = half_search_interval(study(steps))
    assert interval is not None
    assert interval.low == 160
    every = sorted(steps)
    # The best of ten of twenty misses the top j with chance C(20-j, 10)/C(20, 10) < 2.5%.
    assert interval.high == every[4]


def test_range_over_halves_is_open_where_too_few_finished() -> None:
    interval = half_search_interval(study([160, 320], beaten=[320] * 10))
    assert interval is not None
    assert interval.high is None


def test_race_with_one_finisher_has_no_second_interval() -> None:
    assert half_search_interval(study([160], beaten=[160] * 15)) is None
