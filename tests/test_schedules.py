"""Learning-rate schedules against hand-computed values."""

import pytest

from sparallel.schedules import SCHEDULES


def test_constant_is_the_learning_rate_at_every_step() -> None:
    constant = SCHEDULES.get("constant")
    assert {constant.learning_rate(step, {"learning_rate": 0.3}) for step in (0, 7, 10**6)} == {0.3}


@pytest.mark.parametrize(
    ("step", "rate"),
    [(0, 0.2), (250, 0.2 * 0.775), (500, 0.2 * 0.55), (1000, 0.02), (1001, 0.02), (10**6, 0.02)],
)
def test_linear_decays_to_the_factor_and_stays(step: int, rate: float) -> None:
    metaparameters = {"learning_rate": 0.2, "decay_steps": 1000, "decay_factor": 0.1}
    assert SCHEDULES.get("linear").learning_rate(step, metaparameters) == pytest.approx(rate)
