"""The censored likelihood against what is known in closed form or by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import norm

from sparallel.analysis.likelihood import NO_RERUNS, Spread, log_probability_between, maximise


def test_narrow_intervals_give_the_gaussian_maximum_likelihood_estimate() -> None:
    values = np.array([1.0, 1.4, 0.7, 1.1, 2.0])
    found = maximise(values[None, :] - 5e-6, values[None, :] + 5e-6, NO_RERUNS)
    assert found.location[0] == pytest.approx(values.mean(), abs=1e-4)
    assert found.sigma[0] == pytest.approx(values.std(), rel=1e-3)


def test_reruns_pool_with_the_residuals() -> None:
    values = np.array([1.0, 1.4, 0.7, 1.1, 2.0])
    spread = Spread(squares=0.5, degrees_of_freedom=7)
    found = maximise(values[None, :] - 5e-6, values[None, :] + 5e-6, spread)
    pooled = (values.var() * 5 + 0.5) / (5 + 7)
    assert found.sigma[0] == pytest.approx(np.sqrt(pooled), rel=1e-3)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_no_search_finds_a_higher_likelihood(seed: int) -> None:
    random = np.random.default_rng(seed)
    middle = random.normal(3, 0.4, 6)
    lower, upper = middle - random.uniform(0.01, 0.5, 6), middle + random.uniform(0.01, 0.5, 6)
    lower[0], upper[1] = -np.inf, np.inf

    def negative(parameters: np.ndarray) -> float:
        scale = np.exp(np.clip(parameters[1], np.log(0.001), 5))
        z = (
            norm.logcdf((upper - parameters[0]) / scale),
            norm.logcdf((lower - parameters[0]) / scale),
        )
        with np.errstate(divide="ignore"):
            return -float(np.log(np.maximum(np.exp(z[0]) - np.exp(z[1]), 1e-300)).sum())

    found = maximise(lower[None, :], upper[None, :], NO_RERUNS)
    brute = minimize(negative, [3.0, np.log(0.4)], method="Nelder-Mead")
    assert found.log_likelihood[0] >= -brute.fun - 1e-4
    at_found = negative(np.array([found.location[0], np.log(found.sigma[0])]))
    assert found.log_likelihood[0] == pytest.approx(-at_found, abs=1e-4)


def test_given_location_leaves_only_the_noise_free() -> None:
    values = np.array([[1.0, 1.4, 0.7, 1.1, 2.0]] * 2)
    location = np.array([1.24, 0.9])
    found = maximise(values - 5e-6, values + 5e-6, NO_RERUNS, location)
    expected = np.sqrt(((values - location[:, None]) ** 2).mean(axis=1))
    assert found.sigma == pytest.approx(expected, rel=1e-3)
    assert list(found.location) == [1.24, 0.9]


@pytest.mark.parametrize("side", [-1, 1])
def test_probability_between_stays_accurate_in_the_tails(side: int) -> None:
    ends = sorted([side * 30.0, side * 31.0])
    found = log_probability_between(np.array([ends[0]]), np.array([ends[1]]))[0]
    assert found == pytest.approx(norm.logsf(30.0), rel=1e-9)
