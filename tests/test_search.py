"""Sobol points and scales against hand-computed values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparallel.loading import load_spec
from sparallel.search import PAPER_SPACE, Dimension, Space


def test_the_first_sobol_points_are_those_of_the_study() -> None:
    unit = Dimension(low=0, high=1)
    points = Space(dimensions={"a": unit, "b": unit}).points(7)
    assert [(p["a"], p["b"]) for p in points] == [
        (0.5, 0.5),
        (0.75, 0.25),
        (0.25, 0.75),
        (0.375, 0.375),
        (0.875, 0.875),
        (0.625, 0.125),
        (0.125, 0.625),
    ]


def test_more_trials_only_add_points() -> None:
    space = load_spec("cifar10-momentum-linear").search_space
    assert space.points(100)[:7] == space.points(7)


@pytest.mark.parametrize(
    ("name", "unit", "value"),
    [
        ("learning_rate", 0.0, 1e-4),
        ("learning_rate", 0.5, 1e-2),
        ("learning_rate", 1.0, 1.0),
        ("momentum", 0.0, 0.9999),
        ("momentum", 1.0, 0.9),
        ("momentum", 0.5, 1 - 10**-2.5),
        ("decay_steps", 0.5, 45_000),
        ("decay_steps", 0.00001, 30_000),
        ("decay_factor", 2 / 3, 1e-2),
    ],
)
def test_scales_of_the_paper(name: str, unit: float, value: float) -> None:
    assert PAPER_SPACE[name].value(unit) == pytest.approx(value, rel=1e-12)


@given(st.sampled_from(sorted(PAPER_SPACE)), st.floats(0, 1))
def test_every_value_lies_in_its_range(name: str, unit: float) -> None:
    dimension = PAPER_SPACE[name]
    value = dimension.value(unit)
    assert dimension.low * (1 - 1e-9) <= value <= dimension.high * (1 + 1e-9)


def test_dimensions_come_in_the_order_of_the_protocol() -> None:
    spec = load_spec("cifar10-nesterov-linear")
    assert spec.metaparameters == ("learning_rate", "momentum", "decay_steps", "decay_factor")
