"""A dense convolution, max-pool and ReLU as one function compute what the three layers compute."""

from __future__ import annotations

import hypothesis.strategies as st
import torch
from hypothesis import given, settings
from torch import Tensor, nn
from torch.nn import functional

from sparallel.kernels import fastest
from sparallel.kernels.pooled import conv_pool_relu
from sparallel.models.resnet8 import ResNet8
from sparallel.models.simple_cnn import SimpleCNN
from tests.kernels.test_layers import assert_close


def plainly(images: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return functional.max_pool2d(functional.conv2d(images, weight, bias), 2).relu()


def random_tensors(
    shape: tuple[int, int, int, int], channels: int, kernel: tuple[int, int], bias: bool
) -> list[Tensor | None]:
    return [
        torch.randn(shape).requires_grad_(),
        torch.randn(channels, shape[1], *kernel).requires_grad_(),
        torch.randn(channels).requires_grad_() if bias else None,
    ]


@settings(max_examples=120, deadline=None)
@given(
    examples=st.integers(1, 9),
    in_channels=st.sampled_from([1, 2, 3, 8, 17, 32]),
    channels=st.sampled_from([1, 3, 8, 16, 21, 32]),
    size=st.tuples(st.integers(6, 14), st.integers(6, 14)),
    kernel=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    bias=st.booleans(),
    last=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_outputs_and_gradients_are_those_of_the_three_layers(
    examples: int,
    in_channels: int,
    channels: int,
    size: tuple[int, int],
    kernel: tuple[int, int],
    bias: bool,
    last: bool,
    seed: int,
) -> None:
    torch.manual_seed(seed)
    given = random_tensors((examples, in_channels, *size), channels, kernel, bias)
    if last:
        given = [
            t.detach().contiguous(memory_format=torch.channels_last).requires_grad_()
            if t is not None and t.dim() == 4
            else t
            for t in given
        ]
    images, weight, biases = given
    assert images is not None
    assert weight is not None
    exact = [None if t is None else t.detach().double().requires_grad_() for t in given]
    found, expected = conv_pool_relu(images, weight, biases), plainly(*exact)  # type: ignore[arg-type]
    assert_close(found, expected.float(), terms=weight[0].numel())
    direction = torch.randn_like(found)
    found.backward(direction)
    expected.backward(direction.double())
    for ours, theirs in zip(given, exact, strict=True):
        if ours is not None and theirs is not None and theirs.grad is not None:
            terms = found.numel() // found.shape[1]
            assert_close(ours.grad, theirs.grad.float(), terms=terms)


def test_an_example_has_the_same_bits_whatever_the_batch_around_it() -> None:
    images, weight, bias = random_tensors((7, 1, 28, 28), 32, (5, 5), bias=True)
    assert images is not None
    assert weight is not None
    together = conv_pool_relu(images, weight, bias)
    alone = conv_pool_relu(images[3:4], weight, bias)
    assert torch.equal(together[3:4], alone)


def test_what_is_not_a_number_is_seen_behind_the_pool() -> None:
    images = torch.zeros(1, 1, 8, 8)
    images[0, 0, 3, 3] = torch.nan
    out = conv_pool_relu(images, torch.ones(4, 1, 3, 3), None)
    assert torch.equal(out.isnan(), plainly(images, torch.ones(4, 1, 3, 3), None).isnan())


def test_networks_find_it_by_themselves_and_compute_the_same() -> None:
    torch.manual_seed(0)
    modules = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 49, 4)
    )
    for network, shape, pooled in (
        (SimpleCNN((1, 28, 28), 10), (5, 1, 28, 28), True),
        (modules, (5, 3, 16, 16), True),
        (ResNet8((3, 32, 32), 10), (5, 3, 32, 32), False),
    ):
        fast, images = fastest(network), torch.randn(shape)
        with torch.no_grad():
            assert_close(fast(images), network(images), terms=1)
        loss = fast(images).square().sum()
        assert ("ConvPool" in _functions(loss)) is pooled


def test_a_convolution_whose_output_is_used_twice_keeps_its_layers() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(1, 4, 3)

        def forward(self, images: Tensor) -> Tensor:
            full = self.conv(images)
            pooled: Tensor = functional.max_pool2d(full, 2).relu().sum((2, 3))
            return pooled + full.sum((2, 3))

    network, images = Twice(), torch.randn(2, 1, 8, 8)
    assert torch.allclose(fastest(network)(images), network(images), atol=1e-6)


def _functions(value: Tensor) -> str:
    """The names of every function that gave a value."""
    names, waiting = [], [value.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None:
            names.append(type(node).__name__)
            waiting.extend(before for before, _ in node.next_functions)
    return " ".join(names)
