"""The paper's networks: size, function and initialization."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from sparallel.models import MODELS
from sparallel.models.initialization import initialize
from sparallel.models.resnet8 import ResNet8
from sparallel.models.simple_cnn import SimpleCNN

SHAPES = {"simple-cnn": ((1, 28, 28), 62_346), "resnet-8": ((3, 32, 32), 75_050)}


def test_every_model_is_specified_here() -> None:
    assert set(SHAPES) == set(MODELS.names())


@pytest.mark.parametrize("name", SHAPES)
def test_parameters_and_outputs(name: str) -> None:
    shape, count = SHAPES[name]
    network = MODELS.get(name)(shape, 10)
    assert sum(parameter.numel() for parameter in network.parameters()) == count
    assert network(torch.zeros(3, *shape)).shape == (3, 10)


def test_simple_cnn_is_relu_then_max_pool() -> None:
    network = SimpleCNN((1, 28, 28), 10)
    images = torch.randn(4, 1, 28, 28)
    hidden = functional.max_pool2d(network.conv1(images).relu(), 2)
    hidden = functional.max_pool2d(network.conv2(hidden).relu(), 2)
    expected = network.dense(hidden.permute(0, 2, 3, 1).reshape(4, 1024))
    torch.testing.assert_close(network(images), expected)


def test_resnet_pads_a_strided_convolution_only_after() -> None:
    network = ResNet8((3, 32, 32), 10)
    block = network.blocks[1]
    with torch.no_grad():
        for parameter in block.parameters():
            parameter.zero_()
        # A kernel that copies its last tap: output (i, j) is the input at (2i + 2, 2j + 2).
        block.conv1.weight[0, 0, 2, 2] = 1
        block.conv2.weight[0, 0, 1, 1] = 1
    images = torch.rand(1, 16, 8, 8)
    shortcut = functional.avg_pool2d(images, 2)
    difference = (block(images) - functional.pad(shortcut, (0, 0, 0, 0, 8, 8)))[0, 0]
    padded = functional.pad(images[0, 0], (0, 1, 0, 1))
    torch.testing.assert_close(difference, padded[2::2, 2::2])


def test_weights_are_truncated_normal_of_variance_1_over_fan_in() -> None:
    network = SimpleCNN((1, 28, 28), 10)
    initialize(network, seed=0, trial=0)
    for layer, fan_in in ((network.conv2, 800), (network.dense, 1024)):
        values = layer.weight.detach().numpy() * np.sqrt(fan_in)
        assert values.std() == pytest.approx(1, abs=0.02)
        assert abs(values.mean()) < 0.02
        assert abs(values).max() <= 2 / 0.8796 + 1e-3
        assert not layer.bias.any()


def test_seed_and_trial_move_the_initialization() -> None:
    def weights(seed: int, trial: int) -> bytes:
        network = SimpleCNN((1, 28, 28), 10)
        initialize(network, seed, trial)
        return bytes(network.conv1.weight.detach().numpy().tobytes())

    assert weights(0, 1) == weights(0, 1)
    assert len({weights(0, 1), weights(1, 0), weights(0, 0), weights(2**31 - 1, 0)}) == 4
