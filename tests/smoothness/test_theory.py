"""The theory's quantities against examples worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparallel.smoothness.theory import (
    Constants,
    constants,
    converge,
    decaying_constants,
    fixed_constants,
    learning_rates,
    scaled_steps,
    steps_to_goal,
)
from tests.smoothness.known import known_point

# |grad f|^2 is 8, 6, 4, 3, 2 at steps 0 to 4, of which steps 1 and 3 are interpolated.
POINTS = [known_point(step, gradient_squared=g) for step, g in ((0, 8.0), (2, 4.0), (4, 2.0))]
# From 0.4 to half of it over four steps: 0.4, 0.35, 0.3, 0.25, then 0.2.
DECAY = {"learning_rate": 0.4, "decay_steps": 4, "decay_factor": 0.5}
positive = st.floats(0.01, 1e4)


def test_a_fixed_learning_rate_gives_the_constants_worked_by_hand() -> None:
    found = converge(POINTS, learning_rates("constant", {"learning_rate": 0.1}, 4), 4)
    assert found is not None
    assert found.is_fixed
    assert found.epsilon == pytest.approx((8 + 6 + 4 + 3) / 4)
    known = constants(found, delta=4.6, lipschitz=2.0, beta=10.0)
    assert known is not None
    assert known.c1 == pytest.approx(4.6 * 2 * 10 / 5.25**2)  # 3.338
    assert known.c2 == pytest.approx(4.6 / (0.1 * 5.25))  # 8.762


def test_a_decaying_learning_rate_gives_the_constants_worked_by_hand() -> None:
    rates = learning_rates("linear", DECAY, 6)
    assert rates == pytest.approx([0.4, 0.35, 0.3, 0.25, 0.2, 0.2])
    found = converge(POINTS, rates, 4)
    assert found is not None
    assert not found.is_fixed
    assert found.h_star == pytest.approx(0.16 + 0.1225 + 0.09 + 0.0625)  # 0.435
    assert found.weighted == pytest.approx((3.2 + 2.1 + 1.2 + 0.75) / 4)  # 1.8125
    known = constants(found, delta=4.6, lipschitz=2.0, beta=10.0)
    assert known is not None
    assert known.c1 == pytest.approx(2 * 0.435 * 10 / 1.8125)  # 4.8
    assert known.c2 == pytest.approx(4.6 / 1.8125)  # 2.538


def test_eps_weighted_by_a_fixed_rate_is_that_rate_times_eps() -> None:
    found = converge(POINTS, [0.3] * 5, 5)
    assert found is not None
    assert found.weighted == pytest.approx(0.3 * found.epsilon)
    assert found.h_star == pytest.approx(5 * 0.3**2)


@given(c1=positive, c2=positive, batch_size=positive, doublings=st.integers(0, 12))
def test_doubling_the_batch_size_divides_only_what_lies_above_c2(
    c1: float, c2: float, batch_size: float, doublings: int
) -> None:
    law = Constants(c1, c2)
    scaled = scaled_steps(law.steps(batch_size), law.c2, doublings)
    assert scaled == pytest.approx(law.steps(batch_size * 2**doublings))


@given(delta=positive, lipschitz=positive, beta=positive, epsilon=positive, factor=positive)
def test_the_ratio_of_c1_is_the_product_of_its_factors_ratios(
    delta: float, lipschitz: float, beta: float, epsilon: float, factor: float
) -> None:
    def law(f: float, power: int) -> Constants:
        return fixed_constants(
            delta=delta * f,
            lipschitz=lipschitz * f**power,
            beta=beta / f,
            epsilon=epsilon,
            learning_rate=0.1,
        )

    assert law(factor, 2).c1 / law(1.0, 2).c1 == pytest.approx(factor * factor**2 / factor)


def test_mu_enters_c1_squared_with_a_fixed_rate_and_once_otherwise() -> None:
    given_ = {"delta": 4.0, "lipschitz": 2.0, "beta": 10.0}
    fixed = [fixed_constants(**given_, epsilon=1.0, learning_rate=0.1, mu=mu) for mu in (1, 0.5)]
    decaying = [decaying_constants(**given_, weighted=1.0, h_star=1.0, mu=mu) for mu in (1, 0.5)]
    assert fixed[1].c1 / fixed[0].c1 == pytest.approx(4)
    assert decaying[1].c1 / decaying[0].c1 == pytest.approx(2)
    assert fixed[1].c2 / fixed[0].c2 == decaying[1].c2 / decaying[0].c2 == pytest.approx(2)


def test_steps_that_were_not_measured_give_no_eps() -> None:
    assert converge(POINTS, [0.1] * 9, 5) is not None  # steps 0 to 4: all measured or between
    assert converge(POINTS, [0.1] * 9, 6) is None
    assert converge(POINTS[1:], [0.1] * 9, 4) is None  # the first step is not measured
    assert converge([], [0.1], 1) is None


def test_a_gradient_lost_in_the_subsets_noise_gives_no_constants() -> None:
    points = [known_point(0, gradient_squared=0.5), known_point(3, gradient_squared=-0.7)]
    found = converge(points, [0.1] * 4, 4)
    assert found is not None
    assert found.epsilon == pytest.approx((0.5 + 0.1 - 0.3 - 0.7) / 4)
    assert constants(found, delta=4.6, lipschitz=1.0, beta=10.0) is None


def test_steps_to_goal_is_the_first_measured_point_at_or_below_it() -> None:
    errors = ((0, 0.9), (10, 0.05), (20, 0.02), (30, 0.01))
    points = [known_point(step, validation_error=error) for step, error in errors]
    assert steps_to_goal(points, 0.02) == 20
    assert steps_to_goal(points, 0.001) is None
    assert steps_to_goal([known_point(0, validation_error=0.0)], 0.02) is None
