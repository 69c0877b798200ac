"""Sparse layers compute what masked dense layers compute, whatever the shape and the pattern."""

from __future__ import annotations

import copy
import pickle

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor, nn
from torch.nn import functional

from sparallel.kernels import KernelsError, SparseConv2d, SparseLinear
from sparallel.kernels.functions import average, enter, leave

TOLERANCE = 1e-5
DENSITIES = st.sampled_from([0.0, 0.01, 0.07, 0.3, 0.9, 1.0])
BATCHES = st.sampled_from([1, 2, 7, 8, 16, 17, 33])


def assert_close(found: Tensor | None, expected: Tensor | None, terms: int = 0) -> None:
    """Equal within 1e-5 of the largest entry.

    A sum of random terms of size 1 is of size sqrt(terms); where it happens to cancel, the terms'
    own rounding is left, which no order of summation avoids.
    """
    assert found is not None
    assert expected is not None
    assert found.shape == expected.shape
    difference, expected = (found - expected).detach().abs(), expected.detach().abs()
    scale = max(float(expected.max()), terms**0.5, 1e-3) if expected.numel() else 1.0
    assert (difference <= TOLERANCE * scale).all()


def random_mask(shape: torch.Size, density: float) -> Tensor:
    """A mask with, now and then, an output or an input channel that lost everything."""
    mask = torch.rand(shape) < density
    if torch.rand(()) < 0.5:
        mask[torch.randint(shape[0], ())] = False
    if torch.rand(()) < 0.5:
        mask[:, torch.randint(shape[1], ())] = False
    return mask


def masked(layer: nn.Conv2d | nn.Linear, density: float) -> tuple[Tensor, Tensor]:
    """Prune a layer; its masks."""
    mask = random_mask(layer.weight.shape, density)
    bias_mask = torch.rand(layer.weight.shape[0]) < density
    with torch.no_grad():
        layer.weight.mul_(mask)
        if layer.bias is not None:
            layer.bias.mul_(bias_mask)
    return mask, bias_mask


def double(layer: nn.Module) -> nn.Module:
    """The layer in double precision: the reference's own rounding must not count."""
    return copy.deepcopy(layer).double()


@st.composite
def convolutions(draw: st.DrawFn) -> dict[str, object]:
    kernel = (draw(st.integers(1, 5)), draw(st.integers(1, 5)))
    return {
        "in_channels": draw(st.integers(1, 20)),
        "out_channels": draw(st.integers(1, 12)),
        "kernel_size": kernel,
        "stride": (draw(st.integers(1, 3)), draw(st.integers(1, 3))),
        "padding": (draw(st.integers(0, 3)), draw(st.integers(0, 3))),
        "bias": draw(st.booleans()),
    }


@settings(max_examples=150, deadline=None)
@given(
    settings_=convolutions(),
    size=st.tuples(st.integers(5, 26), st.integers(5, 26)),
    extra=st.tuples(*[st.integers(0, 2)] * 4),
    examples=BATCHES,
    density=DENSITIES,
    relu=st.booleans(),
    pool=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_a_sparse_convolution_equals_the_masked_dense_one(
    settings_: dict[str, object],
    size: tuple[int, int],
    extra: tuple[int, int, int, int],
    examples: int,
    density: float,
    relu: bool,
    pool: bool,
    seed: int,
) -> None:
    torch.manual_seed(seed)
    conv = nn.Conv2d(**settings_)  # type: ignore[arg-type]
    mask, bias_mask = masked(conv, density)
    sparse = SparseConv2d(conv, mask, bias_mask)
    reference = double(conv)
    images = torch.randn(examples, conv.in_channels, *size, requires_grad=True)
    exact = images.detach().double().requires_grad_()

    expected = reference(functional.pad(exact.relu() if relu else exact, extra))
    pool = pool and min(expected.shape[2:]) >= 2
    if pool:
        expected = functional.max_pool2d(expected, 2).relu()
    found = leave(sparse(enter(images), blocked=True, pool=pool, relu=relu, extra=extra), examples)
    assert_close(found, expected.float())

    gradient = torch.randn_like(found)
    found.backward(gradient)
    expected.backward(gradient.double())
    assert exact.grad is not None
    assert_close(images.grad, exact.grad.float())
    terms = gradient.numel() // conv.out_channels
    assert_close(sparse.values.grad, reference.weight.grad.float()[mask], terms)
    if sparse.bias_values is not None:
        assert_close(sparse.bias_values.grad, reference.bias.grad.float()[bias_mask], terms)


@settings(max_examples=100, deadline=None)
@given(
    features=st.integers(1, 70),
    outputs=st.integers(1, 20),
    shape=st.sampled_from([(1,), (2,), (17,), (64,), (3, 5), (0,)]),
    density=DENSITIES,
    bias=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_a_sparse_linear_layer_equals_the_masked_dense_one(
    features: int, outputs: int, shape: tuple[int, ...], density: float, bias: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    linear = nn.Linear(features, outputs, bias=bias)
    mask, bias_mask = masked(linear, density)
    sparse, reference = SparseLinear(linear, mask, bias_mask), double(linear)
    rows = torch.randn(*shape, features, requires_grad=True)
    exact = rows.detach().double().requires_grad_()
    found, expected = sparse(rows), reference(exact)
    assert_close(found, expected.float())
    gradient = torch.randn_like(found)
    found.backward(gradient)
    expected.backward(gradient.double())
    assert exact.grad is not None
    assert_close(rows.grad, exact.grad.float())
    terms = gradient.numel() // outputs
    assert_close(sparse.values.grad, reference.weight.grad.float()[mask], terms)
    if sparse.bias_values is not None:
        assert_close(sparse.bias_values.grad, reference.bias.grad.float()[bias_mask], terms)


@settings(max_examples=50, deadline=None)
@given(
    size=st.tuples(st.integers(2, 9), st.integers(2, 9)),
    channels=st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(0, 3)),
    relu=st.booleans(),
    examples=BATCHES,
    seed=st.integers(0, 2**31),
)
def test_averages_equal_those_of_pytorch(
    size: tuple[int, int], channels: tuple[int, int, int], relu: bool, examples: int, seed: int
) -> None:
    torch.manual_seed(seed)
    before, own, after = channels
    images = torch.randn(examples, own, *size, requires_grad=True)
    twin = images.detach().clone().requires_grad_()
    found = leave(average(enter(images), before, after, relu), examples)
    expected = functional.avg_pool2d(twin.relu() if relu else twin, 2)
    expected = functional.pad(expected, (0, 0, 0, 0, before, after))
    assert_close(found, expected)
    gradient = torch.randn_like(found)
    found.backward(gradient)
    expected.backward(gradient)
    assert_close(images.grad, twin.grad)


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@pytest.mark.parametrize("padding", ["same", "valid"])
def test_padding_may_be_spelled_as_a_word(padding: str) -> None:
    torch.manual_seed(0)
    conv = nn.Conv2d(3, 5, (4, 3), padding=padding)
    mask, bias_mask = masked(conv, 0.5)
    images = torch.randn(9, 3, 11, 10).to(memory_format=torch.channels_last)
    assert_close(SparseConv2d(conv, mask, bias_mask)(images), conv(images).detach())


def shifted(tensor: Tensor, floats: int) -> Tensor:
    """The same numbers in memory that starts at another alignment."""
    room = torch.empty(tensor.numel() + floats)
    return room[floats:].copy_(tensor.flatten()).view(tensor.shape)


def test_bits_do_not_depend_on_the_call_or_on_alignment() -> None:
    torch.manual_seed(0)
    conv = nn.Conv2d(8, 12, 5)
    mask, bias_mask = masked(conv, 0.2)
    images, gradient = torch.randn(24, 8, 12, 12), torch.randn(24, 12, 4, 4)
    results = []
    for shift in (0, 0, 1, 3, 5):
        sparse = SparseConv2d(conv, mask, bias_mask)
        sparse.values.data = shifted(sparse.values.data, shift)
        x = shifted(enter(images), shift).requires_grad_()
        out = sparse(x, blocked=True, pool=True)
        out.backward(shifted(enter(gradient), shift))
        results.append((out, x.grad, sparse.values.grad))
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_an_example_does_not_depend_on_the_batch_around_it() -> None:
    torch.manual_seed(0)
    conv = nn.Conv2d(4, 6, 3, padding=1)
    sparse = SparseConv2d(conv, *masked(conv, 0.3))
    images = torch.randn(19, 4, 9, 9)
    assert torch.equal(sparse(images)[7:9], sparse(images[7:9]))


def test_nan_is_seen_behind_pool_and_relu() -> None:
    conv = nn.Conv2d(1, 1, 1, bias=False)
    sparse = SparseConv2d(conv, torch.ones_like(conv.weight, dtype=torch.bool))
    for corner in range(4):
        images = torch.ones(1, 1, 2, 2)
        images[0, 0, corner // 2, corner % 2] = torch.nan
        assert leave(sparse(enter(images), blocked=True, pool=True), 1).isnan().all()


def test_the_dense_weight_and_bias_can_be_read_back() -> None:
    torch.manual_seed(0)
    for layer in (nn.Conv2d(3, 4, 3), nn.Linear(7, 5)):
        sparse_type = SparseConv2d if isinstance(layer, nn.Conv2d) else SparseLinear
        sparse = sparse_type(layer, *masked(layer, 0.4))  # type: ignore[arg-type]
        assert torch.equal(sparse.weight, layer.weight)
        assert sparse.bias is not None
        assert torch.equal(sparse.bias, layer.bias)


def test_a_layer_can_be_copied_and_pickled() -> None:
    torch.manual_seed(0)
    conv = nn.Conv2d(3, 4, 3)
    sparse = SparseConv2d(conv, *masked(conv, 0.4))
    images = torch.randn(5, 3, 8, 8)
    expected = sparse(images)
    for twin in (copy.deepcopy(sparse), pickle.loads(pickle.dumps(sparse))):
        assert torch.equal(twin(images), expected)


def test_other_types_than_float32_are_refused_in_a_sentence() -> None:
    conv = nn.Conv2d(1, 1, 3)
    sparse = SparseConv2d(conv, torch.ones_like(conv.weight, dtype=torch.bool))
    with pytest.raises(KernelsError, match=r"need float32 tensors on the CPU, not torch\.float64"):
        sparse(torch.zeros(1, 1, 5, 5, dtype=torch.float64))


def test_a_wrong_shape_never_reaches_the_native_code() -> None:
    conv = nn.Conv2d(2, 1, 3)
    sparse = SparseConv2d(conv, torch.ones_like(conv.weight, dtype=torch.bool))
    with pytest.raises(ValueError, match="expected shape"):
        sparse(torch.zeros(1, 3, 5, 5))
    with pytest.raises(ValueError, match="positive"):
        sparse(torch.zeros(1, 2, 2, 2))
