"""A dense convolution, max-pool and ReLU as one function compute what the three layers compute."""

from __future__ import annotations

import copy

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor, nn
from torch.nn import functional

from sparallel.kernels import fastest
from sparallel.kernels.pooled import conv_pool_relu
from sparallel.models.resnet8 import ResNet8
from sparallel.models.simple_cnn import SimpleCNN
from tests.kernels.test_layers import assert_close


def plainly(conv: nn.Conv2d, images: Tensor) -> Tensor:
    return functional.max_pool2d(conv(images), 2).relu()


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
    conv = nn.Conv2d(in_channels, channels, kernel, bias=bias)
    images = torch.randn(examples, in_channels, *size)
    if last:
        conv = conv.to(memory_format=torch.channels_last)
        images = images.contiguous(memory_format=torch.channels_last)
    images.requires_grad_()
    exact = copy.deepcopy(conv).double()
    exact_images = images.detach().double().requires_grad_()
    found, expected = conv_pool_relu(conv, images), plainly(exact, exact_images)
    assert "ConvPool" in functions(found)
    assert_close(found, expected.float(), terms=conv.weight[0].numel())
    direction = torch.randn_like(found)
    found.backward(direction)
    expected.backward(direction.double())
    terms = found.numel() // channels
    for ours, theirs in zip(
        (images, *conv.parameters()), (exact_images, *exact.parameters()), strict=True
    ):
        assert theirs.grad is not None
        assert_close(ours.grad, theirs.grad.float(), terms=terms)


def test_an_example_has_the_same_bits_whatever_the_batch_around_it() -> None:
    conv, images = nn.Conv2d(1, 32, 5), torch.randn(7, 1, 28, 28)
    assert torch.equal(conv_pool_relu(conv, images)[3:4], conv_pool_relu(conv, images[3:4]))


def test_what_is_not_a_number_is_seen_behind_the_pool() -> None:
    conv, images = nn.Conv2d(1, 4, 3), torch.zeros(1, 1, 8, 8)
    images[0, 0, 3, 3] = torch.nan
    assert torch.equal(conv_pool_relu(conv, images).isnan(), plainly(conv, images).isnan())


def test_no_default_of_the_program_reaches_the_native_code() -> None:
    conv, images = nn.Conv2d(8, 8, 3), torch.randn(5, 8, 16, 16)
    expected = plainly(conv, images)
    torch.set_default_dtype(torch.float64)
    try:
        assert_close(conv_pool_relu(conv, images), expected, terms=1)
    finally:
        torch.set_default_dtype(torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(conv_pool_relu(conv, images), plainly(conv, images))


def test_images_that_are_too_small_are_refused_as_pytorch_does() -> None:
    with pytest.raises(RuntimeError, match="too small"):
        conv_pool_relu(nn.Conv2d(1, 4, 3), torch.randn(2, 1, 3, 3))


class Plain(nn.Module):
    """A network as many are written: a keyword here, a view there."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.relu = nn.ReLU()
        self.dense = nn.Linear(8 * 49, 3)

    def forward(self, images: Tensor) -> Tensor:
        hidden = functional.max_pool2d(self.relu(self.conv(images)), 2)
        outputs: Tensor = self.dense(hidden.view(-1, 8 * 49))
        return outputs


class Named(Plain):
    def forward(self, images: Tensor) -> Tensor:
        return super().forward(images) + functional.max_pool2d(
            self.conv(input=images).relu(), 2
        ).sum((1, 2, 3), keepdim=True).view(-1, 1)


@pytest.mark.parametrize("change", ["none", "named", "hook", "root hook", "later hook", "padding"])
def test_a_network_computes_what_its_own_layers_would_whatever_stands_in_it(change: str) -> None:
    torch.manual_seed(0)
    network = Named() if change == "named" else Plain()
    images = torch.randn(3, 1, 16, 16)
    if change == "hook":
        network.relu.register_forward_hook(lambda _module, _inputs, out: 2 * out)
    if change == "root hook":
        network.register_forward_hook(lambda _module, _inputs, out: 2 * out)
    fast = fastest(network)
    if change == "later hook":
        network.conv.register_forward_hook(lambda _module, _inputs, out: 2 * out)
    if change == "padding":
        network.conv.padding = (1, 1)
        images = images[:, :, 1:-1, 1:-1]
    assert torch.allclose(fast(images), network(images), atol=1e-5)


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
        assert ("ConvPool" in functions(loss)) is pooled


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


def functions(value: Tensor) -> str:
    """The names of every function that gave a value."""
    names, waiting = [], [value.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None:
            names.append(type(node).__name__)
            waiting.extend(before for before, _ in node.next_functions)
    return " ".join(names)
