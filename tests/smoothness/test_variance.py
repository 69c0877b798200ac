"""beta, |grad f|^2 and their ratio, the noise scale, where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from sparallel.smoothness.variance import GroupMoments


def moments(gradients: Tensor, group: int, of: int | None = None) -> tuple[float, float]:
    """beta and |grad f|^2 from single gradients (a row each), seen in groups only."""
    found = GroupMoments(len(gradients), of)
    for rows in torch.split(gradients, group):
        found.add(rows.sum(0) / len(gradients), len(rows))
    mean = gradients.mean(0)
    return found.variance(mean), found.gradient_squared(mean)


def test_groups_of_one_give_the_sample_variance_of_single_examples() -> None:
    gradients = torch.randn(40, 9, dtype=torch.float64, generator=torch.manual_seed(1)) + 2
    beta, _ = moments(gradients, 1)
    assert beta == pytest.approx(float(gradients.var(0).sum()), rel=1e-12)


@pytest.mark.parametrize("group", [4, 16, 30])
def test_groups_of_any_size_estimate_the_same_variance_without_bias(group: int) -> None:
    """Over random partitions of the same examples, the last group smaller than the others."""
    generator = torch.manual_seed(2)
    gradients = torch.randn(100, 6, dtype=torch.float64, generator=generator).exp()
    direct, _ = moments(gradients, 1)
    found = np.array(
        [
            moments(gradients[torch.randperm(100, generator=generator)], group)[0]
            for _ in range(2_000)
        ]
    )
    assert found.mean() == pytest.approx(direct, abs=4 * found.std() / np.sqrt(len(found)))


def test_the_noise_scale_of_a_gaussian_with_known_covariance_is_found() -> None:
    """tr(Sigma) / |G|^2 from samples so small that |G_N|^2 alone would be twice too large."""
    random = np.random.default_rng(3)
    factor = random.normal(size=(5, 5))
    covariance, mean = factor @ factor.T, 0.2 * random.normal(size=5)
    truth = np.trace(covariance) / (mean @ mean)
    betas, squares, naive = [], [], []
    for _ in range(3_000):
        drawn = torch.from_numpy(random.multivariate_normal(mean, covariance, size=160))
        beta, squared = moments(drawn, 16)
        betas.append(beta)
        squares.append(squared)
        naive.append(float(drawn.mean(0).square().sum()))
    assert np.mean(naive) > 1.5 * (mean @ mean), "too easy: the correction would not be seen"
    assert np.mean(betas) / np.mean(squares) == pytest.approx(truth, rel=0.1)
    assert np.mean(squares) == pytest.approx(
        mean @ mean, abs=4 * np.std(squares) / np.sqrt(len(squares))
    )


def test_a_sample_of_a_finite_set_is_corrected_by_what_it_lacks_only() -> None:
    generator = torch.manual_seed(4)
    everything = torch.randn(60, 3, dtype=torch.float64, generator=generator) + 1
    truth = float(everything.mean(0).square().sum())
    assert moments(everything, 10, of=60)[1] == pytest.approx(truth, rel=1e-12)
    found = np.array(
        [
            moments(everything[torch.randperm(60, generator=generator)[:40]], 8, of=60)[1]
            for _ in range(4_000)
        ]
    )
    assert found.mean() == pytest.approx(truth, abs=4 * found.std() / np.sqrt(len(found)))


def test_equal_gradients_have_no_variance() -> None:
    beta, squared = moments(torch.full((32, 4), 0.3, dtype=torch.float64), 16)
    assert 0 <= beta < 1e-12
    assert squared == pytest.approx(4 * 0.3**2)
