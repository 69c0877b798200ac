"""Training only the kept parameters is training the masked network."""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from sparallel.kernels import Mode
from sparallel.models.initialization import initialize
from sparallel.models.resnet8 import ResNet8
from sparallel.models.simple_cnn import SimpleCNN
from sparallel.training.parameters import FlatParameters
from sparallel.training.sparse import Arrangement, arrange
from sparallel.training.trial import Trial, advance, start
from sparallel.training.workbench import workbench

MODELS = {"simple-cnn": (SimpleCNN, (1, 28, 28)), "resnet-8": (ResNet8, (3, 32, 32))}


def dense_network(model: str, density: float) -> tuple[FlatParameters, np.ndarray]:
    make, shape = MODELS[model]
    network = make(shape, 10)
    initialize(network, 0, 0)
    flat = FlatParameters(network, torch.device("cpu"))
    mask = np.random.default_rng(0).random(flat.size) < density
    flat.values.mul_(torch.from_numpy(mask))
    return flat, mask


def train(
    arrangement: Arrangement, parameters: np.ndarray, shape: tuple[int, int, int]
) -> np.ndarray:
    """Ten steps of Momentum on noise; the dense parameters after them."""
    random = torch.Generator().manual_seed(0)
    flat, velocity = arrangement.flat, torch.zeros(arrangement.flat.size)
    flat.load(arrangement.compress(parameters))
    for _ in range(10):
        images = torch.randn(24, *shape, generator=random)
        labels = torch.randint(10, (24,), generator=random)
        flat.gradient.zero_()
        functional.cross_entropy(flat.network(images), labels).backward()
        if arrangement.mask is not None:
            flat.gradient.mul_(arrangement.mask)
        velocity.mul_(0.9).add_(flat.gradient)
        flat.values.add_(velocity, alpha=-0.02)
    return arrangement.expand(flat.numpy())


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("mode", ["auto", "on"])
@pytest.mark.parametrize("density", [0.1, 0.6])
def test_kept_parameters_train_as_the_masked_network_does(
    model: str, mode: Mode, density: float
) -> None:
    shape = MODELS[model][1]
    flat, mask = dense_network(model, density)
    start = flat.numpy()
    masked = train(arrange(flat, mask, "off"), start, shape)
    arrangement = arrange(flat, mask, mode)
    found = train(arrangement, start, shape)
    assert not np.array_equal(found, start)
    assert np.abs(found - masked).max() <= 1e-4 * np.abs(masked).max()
    assert (found[~mask] == 0).all()


@pytest.mark.parametrize("model", MODELS)
def test_a_sparse_trial_repeats_to_the_bit(model: str) -> None:
    shape = MODELS[model][1]
    flat, mask = dense_network(model, 0.1)
    start = flat.numpy()
    first, second = (train(arrange(flat, mask, "on"), start, shape) for _ in range(2))
    assert np.array_equal(first, second)


def test_all_kept_parameters_and_no_others_are_trained() -> None:
    flat, mask = dense_network("simple-cnn", 0.1)
    arrangement = arrange(flat, mask, "on")
    assert arrangement.flat.size == mask.sum()
    assert sorted(arrangement.positions) == list(np.flatnonzero(mask))
    assert arrangement.mask is None


@pytest.mark.parametrize("mode", ["auto", "on", "off"])
def test_compress_and_expand_undo_each_other(mode: Mode) -> None:
    flat, mask = dense_network("resnet-8", 0.3)
    slots = np.random.default_rng(1).normal(size=(2, flat.size)).astype(np.float32) * mask
    arrangement = arrange(flat, mask, mode)
    assert np.array_equal(arrangement.expand(arrangement.compress(slots)), slots)


def test_without_a_mask_the_dense_network_itself_is_trained() -> None:
    flat, _ = dense_network("simple-cnn", 1.0)
    arrangement = arrange(flat, None, "on")
    assert arrangement.flat is flat
    assert arrangement.mask is None


def test_steps_to_result_with_and_without_kernels_agree_as_two_seeds_would(tmp_path: Path) -> None:
    found: dict[str, list[int]] = {}
    modes: tuple[Mode, ...] = ("auto", "off")
    for mode in modes:
        bench = workbench("mnist-5k", "simple-cnn", tmp_path, "cpu", mode)
        found[mode] = []
        for index in range(8):
            trial = Trial(
                data="mnist-5k",
                model="simple-cnn",
                optimizer="momentum",
                schedule="constant",
                pruning="snip",
                goal_errors=(0.12,),
                check_interval=8,
                seed=0,
                batch_size=32,
                sparsity=0.9,
                index=index,
                metaparameters={"learning_rate": 0.01, "momentum": 0.9},
            )
            state, _ = advance(trial, start(trial, bench), 480, bench)
            found[mode].append(state.reached[0] or 488)
    lower, _, upper = statistics.quantiles(found["off"], n=4)
    assert max(found["off"]) <= 480  # all arrive, so that the medians mean something
    difference = statistics.median(found["auto"]) - statistics.median(found["off"])
    assert abs(difference) <= (upper - lower) / 2
