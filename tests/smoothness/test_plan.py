"""Which steps are measured, and when a folder may go on with a plan."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparallel.errors import DifferentExperimentError
from sparallel.loading import load_spec
from sparallel.smoothness.asking import plan_of
from sparallel.smoothness.plan import Plan, evenly_spaced, extended, log_spaced


@given(steps=st.integers(1, 50_000), points=st.integers(2, 120))
def test_log_spaced_points_are_as_many_as_asked_from_the_first_step_to_the_last(
    steps: int, points: int
) -> None:
    found = log_spaced(steps, points)
    assert len(found) == min(steps, points)
    assert (found[0], found[-1]) == (0, steps - 1)
    assert all(before < after for before, after in pairwise(found))


def test_log_spaced_points_grow_by_about_the_same_factor() -> None:
    late = [after / before for before, after in pairwise(log_spaced(4_000, 40)) if before > 50]
    assert max(late) / min(late) < 1.05


def test_every_hundred_steps_is_what_the_paper_measures() -> None:
    assert evenly_spaced(40_000, 100) == tuple(range(0, 40_000, 100))
    assert evenly_spaced(150, 100) == (0, 100)


def plan(**changes: object) -> Plan:
    return plan_of(load_spec("quickstart")).model_copy(update=changes)


def test_the_defaults_are_the_presets_sparsities_and_a_batch_size_of_128() -> None:
    found = plan_of(load_spec("mnist-momentum"))
    assert (found.batch_size, found.steps, len(found.points), found.examples) == (
        128,
        4_000,
        40,
        5_000,
    )
    assert found.sparsities == (0, 0.5, 0.7, 0.9)
    assert found.metaparameters == pytest.approx({"learning_rate": 0.005, "momentum": 0.9})
    assert plan_of(load_spec("mnist-sgd")).metaparameters == {"learning_rate": 0.05}
    linear = plan_of(load_spec("cifar10-nesterov-linear")).metaparameters
    assert set(linear) == {"learning_rate", "momentum", "decay_steps", "decay_factor"}
    # Without 128 among them, the middle batch size; never more steps or examples than there are.
    small = plan_of(load_spec("quickstart", {"batch_sizes": (2, 8, 32)}))
    assert (small.batch_size, small.steps, small.examples) == (8, 2_000, 3_600)


def test_the_sparsities_of_a_seed_are_measured_side_by_side() -> None:
    assert plan(seeds=2).paths == ((0, 0), (0.9, 0), (0, 1), (0.9, 1))


def test_a_folder_grows_by_sparsities_and_seeds_and_by_nothing_else() -> None:
    grown = extended(plan(), plan(sparsities=(0.5,), seeds=3), Path("folder"))
    assert (grown.sparsities, grown.seeds) == ((0, 0.5, 0.9), 3)
    assert extended(grown, plan(), Path("folder")) == grown
    for changes, named in (
        ({"batch_size": 64}, "batch_size is 128 there and 64 here"),
        ({"examples": 100}, "examples"),
        ({"metaparameters": {"learning_rate": 0.1, "momentum": 0.9}}, "metaparameters"),
        ({"points": (0, 1), "steps": 2}, "steps"),
        ({"experiment": load_spec("quickstart", {"seed": 5})}, "seed is 0 there and 5 here"),
    ):
        with pytest.raises(DifferentExperimentError, match=named):
            extended(plan(), plan(**changes), Path("folder"))
