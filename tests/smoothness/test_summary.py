"""Means along training and ratios between sparsities."""

from __future__ import annotations

import dataclasses

import pytest

from sparallel.smoothness.records import PathRecord, PointRecord, SmoothnessRecord
from sparallel.smoothness.summary import dense_of, mean_along, summarise


def point(step: int, lipschitz: float | None, **changes: float) -> PointRecord:
    known = PointRecord(
        step=step,
        learning_rate=0.1,
        train_loss=2.0,
        train_error=0.5,
        validation_loss=2.0,
        validation_error=0.5,
        lipschitz=lipschitz,
        lipschitz_error=0.1,
        gradient_squared=4.0,
        variance=8.0,
    )
    return dataclasses.replace(known, **changes)  # type: ignore[arg-type]


def path(
    sparsity: float, seed: int, points: list[PointRecord], infeasible_at: int | None = None
) -> PathRecord:
    step = points[-1].step + 1 if points else 0
    return PathRecord(sparsity, seed, tuple(points), step, infeasible_at, True)


def record(*paths: PathRecord) -> SmoothnessRecord:
    return SmoothnessRecord(
        name="made",
        folder="made",
        data="mnist",
        model="simple-cnn",
        optimizer="sgd",
        schedule="constant",
        goal_errors=(0.02,),
        batch_size=128,
        metaparameters={"learning_rate": 0.1},
        steps=101,
        examples=5_000,
        train_examples=54_000,
        paths=paths,
        spec={},
        sessions=(),
    )


def test_a_point_weighs_the_steps_it_stands_for() -> None:
    """Log-spaced points of L = k / 100 give the mean over all steps, 0.5, as even ones do."""
    spaced = [point(step, step / 100) for step in (0, 1, 2, 5, 10, 50, 100)]
    even = [point(step, step / 100) for step in range(0, 101, 10)]
    for points in (spaced, even):
        assert mean_along(points, lambda p: p.lipschitz) == pytest.approx(0.5)
    assert mean_along(spaced[:1], lambda p: p.lipschitz) == 0
    assert mean_along([], lambda p: p.lipschitz) is None


def test_points_without_an_l_are_bridged() -> None:
    points = [point(0, 1.0), point(50, None), point(100, 3.0)]
    assert mean_along(points, lambda p: p.lipschitz) == pytest.approx(2.0)


def test_ratios_are_taken_seed_by_seed() -> None:
    dense = [path(0, seed, [point(0, 1.0 + seed), point(100, 1.0 + seed)]) for seed in (0, 1)]
    sparse = [path(0.9, seed, [point(0, 3.0 + seed), point(100, 3.0 + seed)]) for seed in (0, 1)]
    summaries = summarise(record(*sparse, *dense))
    assert [summary.sparsity for summary in summaries] == [0, 0.9]
    found = dense_of(summaries)
    assert found is summaries[0]
    assert found.lipschitz is not None
    assert summaries[1].lipschitz is not None
    assert summaries[1].lipschitz.mean == pytest.approx(3.5)
    assert summaries[1].lipschitz.deviation == pytest.approx(0.5**0.5)
    ratio = summaries[1].lipschitz.over(found.lipschitz)
    assert ratio is not None
    assert ratio.by_seed == pytest.approx({0: 3.0, 1: 2.0})
    assert found.delta is not None
    assert found.delta.mean == pytest.approx(4.0)  # 2 (f(w_1) - 0)
    assert found.beta is not None
    assert found.beta.mean == pytest.approx(8.0)


def test_the_noise_scale_is_a_ratio_of_means_and_not_a_mean_of_ratios() -> None:
    points = [
        point(0, 1.0, variance=10.0, gradient_squared=1.0),
        point(100, 1.0, variance=2.0, gradient_squared=0.2),
    ]
    (summary,) = summarise(record(path(0, 0, points)))
    assert summary.noise_scale == pytest.approx(6.0 / 0.6)
    lost = [point(0, 1.0, gradient_squared=-1.0), point(100, 1.0, gradient_squared=0.5)]
    (summary,) = summarise(record(path(0, 0, lost)))
    assert summary.noise_scale is None  # a gradient lost in the noise has no scale


def test_a_diverged_run_is_counted_and_left_out_of_the_means() -> None:
    fine = path(0, 0, [point(0, 1.0), point(100, 1.0)])
    diverged = path(0, 1, [point(0, 50.0, train_loss=3.0)], infeasible_at=1)
    (summary,) = summarise(record(fine, diverged))
    assert (summary.infeasible, summary.until) == (1, 100)
    assert summary.lipschitz is not None
    assert summary.lipschitz.by_seed == {0: 1.0}
    assert summary.delta is not None
    assert summary.delta.by_seed == {0: 4.0, 1: 6.0}  # its start was measured all the same


def test_runs_under_way_are_compared_over_the_steps_all_have_behind_them() -> None:
    far = path(0, 0, [point(step, float(step)) for step in (0, 50, 100)])
    near = path(0.9, 0, [point(step, float(step)) for step in (0, 50)])
    planned = path(0.5, 0, [])
    summaries = summarise(record(far, near, planned))
    assert [s.lipschitz and s.lipschitz.mean for s in summaries] == [25.0, None, 25.0]
    assert [s.until for s in summaries] == [50, None, 50]
