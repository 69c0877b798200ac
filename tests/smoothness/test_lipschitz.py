"""L along a step: where it is known in closed form, and how sure a sample of examples makes it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from sparallel.smoothness.lipschitz import GAMMAS, NonFiniteError, lipschitz


def symmetric(size: int, seed: int) -> Tensor:
    drawn = torch.randn(size, size, dtype=torch.float64, generator=torch.manual_seed(seed))
    return drawn + drawn.T


@given(size=st.integers(1, 12), seed=st.integers(0, 10_000), scale=st.floats(1e-3, 1e3))
@settings(max_examples=60, deadline=None)
def test_on_a_quadratic_l_is_the_length_of_a_d_over_that_of_d(
    size: int, seed: int, scale: float
) -> None:
    matrix = symmetric(size, seed)
    at, step = torch.randn(2, size, dtype=torch.float64, generator=torch.manual_seed(seed + 1))
    step = step * scale
    found = lipschitz(lambda w: (matrix @ w)[None], at, step)
    assert found.value == pytest.approx(float((matrix @ step).norm() / step.norm()), rel=1e-8)
    assert found.error is None  # one block says nothing of the spread


def test_over_many_steps_on_a_quadratic_l_comes_near_the_top_eigenvalue_and_never_above() -> None:
    matrix = symmetric(6, 3)
    top = float(torch.linalg.eigvalsh(matrix).abs().max())
    at, found = torch.ones(6, dtype=torch.float64), []
    for _ in range(200):
        step = -0.05 * matrix @ at
        found.append(lipschitz(lambda w: (matrix @ w)[None], at, step).value)
        at = at + step / step.norm()
    values = [value for value in found if value is not None]
    assert max(values) <= top * (1 + 1e-9)
    assert max(values) >= 0.99 * top


def test_l_is_the_highest_over_the_ten_gammas() -> None:
    """f' = w^2 in one dimension changes by gamma d (2 w + gamma d): most, relatively, at 1."""
    asked = []

    def gradient(w: Tensor) -> Tensor:
        asked.append(float(w))
        return (w * w)[None]

    found = lipschitz(gradient, torch.tensor([3.0]).double(), torch.tensor([2.0]).double())
    assert found.value == pytest.approx(2 * 3 + 2)
    assert asked == pytest.approx([3.0, *(3 + gamma * 2 for gamma in GAMMAS)])
    assert list(GAMMAS) == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    # Against the step the same curve bends less the further one goes, so 0.1 is the highest.
    back = lipschitz(gradient, torch.tensor([3.0]).double(), torch.tensor([-2.0]).double())
    assert back.value == pytest.approx(2 * 3 - 0.1 * 2)


def test_a_gradient_known_already_is_not_computed_again() -> None:
    matrix, asked = symmetric(4, 0), []

    def gradient(w: Tensor) -> Tensor:
        asked.append(w)
        return (matrix @ w)[None]

    at, step = torch.ones(4).double(), torch.arange(4).double()
    known = lipschitz(gradient, at, step, (matrix @ at)[None])
    assert len(asked) == 10
    assert known == lipschitz(gradient, at, step)


def test_a_step_so_small_that_parameters_round_it_gives_the_right_l_all_the_same() -> None:
    """In float32, w + gamma d is w plus something else: L divides by the way really gone."""
    eigenvalue = 7.0
    at = torch.full((1000,), 1.0)
    step = torch.full((1000,), 3e-7)  # between two and three of the smallest changes of 1
    found = lipschitz(lambda w: (eigenvalue * w.double())[None], at, step)
    assert found.value == pytest.approx(eigenvalue, rel=1e-6)


def test_without_a_step_l_is_undefined() -> None:
    found = lipschitz(lambda w: w[None], torch.ones(3), torch.zeros(3))
    assert (found.value, found.error) == (None, None)
    # A step that rounding swallows is no step either.
    tiny = lipschitz(lambda w: w.double()[None], torch.ones(3), torch.full((3,), 1e-12))
    assert tiny.value is None


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_is_never_an_l(bad: float) -> None:
    with pytest.raises(NonFiniteError):
        lipschitz(lambda w: torch.full_like(w, bad)[None], torch.ones(3), torch.ones(3))
    with pytest.raises(NonFiniteError):
        lipschitz(lambda w: w[None], torch.ones(3), torch.full((3,), bad))


def test_the_jackknife_error_is_the_spread_of_l_over_fresh_samples_of_examples() -> None:
    """Examples f_i = w' A_i w / 2 with random A_i: L of a sample is |mean A d| / |d|."""
    random, size, blocks, each = np.random.default_rng(5), 8, 20, 10
    centre = random.normal(size=(size, size))
    step = torch.from_numpy(random.normal(size=size))
    at = torch.zeros(size, dtype=torch.float64)
    values, errors = [], []
    for _ in range(300):
        drawn = centre + 2 * random.normal(size=(blocks, each, size, size))
        matrices = torch.from_numpy(drawn.sum(1) / (blocks * each))
        found = lipschitz(lambda w, rows=matrices: rows @ w, at, step)  # type: ignore[misc]
        assert found.value is not None
        assert found.error is not None
        values.append(found.value)
        errors.append(found.error)
    assert np.mean(errors) == pytest.approx(np.std(values, ddof=1), rel=0.12)
