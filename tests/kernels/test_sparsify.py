"""Whole networks: the planned sparse one is the masked dense one, in value and in gradient."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from sparallel.kernels import KernelsError, SparseConv2d, SparseNetwork, available, sparsify
from sparallel.models.resnet8 import ResNet8
from sparallel.models.simple_cnn import SimpleCNN


class Odd(nn.Module):
    """What a user might write: branches, in-place ReLU, pools of every kind, two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(inplace=True))
        self.second = nn.Conv2d(6, 6, 3, padding="same", bias=False)
        self.third = nn.Conv2d(6, 8, 3, stride=2)
        self.pool = nn.MaxPool2d(3, 2)
        self.norm = nn.GroupNorm(2, 8)
        self.hidden = nn.Linear(8, 12)
        self.out = nn.Linear(12, 5)

    def forward(self, images: Tensor) -> Tensor:
        x = self.first(images)
        x = self.second(x) + x
        x = self.pool(x)
        x = self.norm(torch.relu(self.third(x)))
        x = functional.adaptive_avg_pool2d(x, 1)
        x = torch.flatten(x, 1)
        return self.out(functional.relu(self.hidden(x)))


class Untraceable(nn.Module):
    """Control flow that depends on the data cannot be traced; the layers still work one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        out: Tensor = self.conv(images)
        return out.mean((2, 3)) if float(out.detach().sum()) > -1e9 else out.amax((2, 3))


def relu_then_pool() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 14 * 14, 5)
    )


NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, int, int]]] = {
    "Simple-CNN": (lambda: SimpleCNN((1, 28, 28), 10), (1, 28, 28)),
    "ResNet-8": (lambda: ResNet8((3, 32, 32), 10), (3, 32, 32)),
    "a user's": (Odd, (3, 32, 32)),
    "untraceable": (Untraceable, (3, 32, 32)),
    "ReLU then pool": (relu_then_pool, (3, 32, 32)),
    "one layer": (lambda: nn.Conv2d(3, 4, 3), (3, 32, 32)),
}


def pruned(make: Callable[[], nn.Module], density: float) -> tuple[nn.Module, dict[str, Tensor]]:
    torch.manual_seed(3)
    network = make()
    masks = {name: torch.rand_like(p) < density for name, p in network.named_parameters()}
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.mul_(masks[name])
    return network, masks


def close(found: Tensor, expected: Tensor) -> bool:
    found, expected = found.detach(), expected.detach()
    scale = float(expected.abs().max()) if expected.numel() else 1.0
    return bool(((found - expected).abs() <= 1e-5 * max(scale, 1e-3)).all())


@pytest.mark.parametrize("examples", [2, 19, 64])
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("mode", ["on", "auto", "off"])
def test_a_sparse_network_equals_the_masked_dense_one(name: str, mode: str, examples: int) -> None:
    make, shape = NETWORKS[name]
    dense, masks = pruned(make, 0.2)
    sparse = sparsify(dense, masks, mode)  # type: ignore[arg-type]
    exact = copy.deepcopy(dense).double()
    images = torch.randn(examples, *shape)
    found, expected = sparse(images), exact(images.double())
    assert close(found, expected.float())
    gradient = torch.randn_like(found)
    found.backward(gradient)
    expected.backward(gradient.double())
    gradients = {n: p.grad.float() for n, p in exact.named_parameters() if p.grad is not None}
    for own, reference in sparse.compress(gradients).items():
        parameter = dict(sparse.named_parameters())[own]
        assert parameter.grad is not None
        assert close(parameter.grad, reference), own


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("mode", ["on", "auto", "off"])
def test_compress_and_expand_undo_each_other(name: str, mode: str) -> None:
    dense, masks = pruned(NETWORKS[name][0], 0.3)
    sparse = sparsify(dense, masks, mode)  # type: ignore[arg-type]
    parameters = dict(dense.named_parameters())
    expanded = sparse.expand()
    assert expanded.keys() == parameters.keys()
    assert all(torch.equal(expanded[key], value) for key, value in parameters.items())
    momentum = {key: torch.randn_like(value) * masks[key] for key, value in parameters.items()}
    compressed = sparse.compress(momentum)
    assert list(compressed) == [key for key, _ in sparse.named_parameters()]
    back = sparse.expand(compressed)
    assert all(torch.equal(back[key], value) for key, value in momentum.items())


def test_the_parameters_are_the_kept_ones_alone() -> None:
    dense, masks = pruned(NETWORKS["Simple-CNN"][0], 0.1)
    sparse = sparsify(dense, masks, "on")
    kept = sum(int(mask.sum()) for mask in masks.values())
    assert sum(p.numel() for p in sparse.parameters()) == kept


def test_auto_leaves_dense_what_is_faster_dense() -> None:
    def kinds(network: SparseNetwork) -> list[bool]:
        return [isinstance(m, SparseConv2d) for m in network.network.children()][:2]

    # A pooled convolution has a fast dense way that is hard to beat; one with few inputs, less so.
    dense, masks = pruned(NETWORKS["Simple-CNN"][0], 0.5)
    assert kinds(sparsify(dense, masks, "auto")) == [True, False]
    masks["conv2.weight"] &= torch.rand_like(dense.get_parameter("conv2.weight")) < 0.05
    assert kinds(sparsify(dense, masks, "auto")) == [True, True]
    assert kinds(sparsify(dense, masks, "on")) == [True, True]
    assert kinds(sparsify(dense, masks, "off")) == [False, False]


def test_layers_the_kernels_do_not_know_stay_dense() -> None:
    network = nn.Sequential(nn.Conv2d(4, 4, 3, groups=2), nn.Conv2d(4, 4, 3, dilation=2))
    masks = {name: torch.rand_like(p) < 0.1 for name, p in network.named_parameters()}
    assert sparsify(network, masks, "on").sparse_layers() == {}


def test_shared_weights_stay_dense() -> None:
    network = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    network[1].weight = network[0].weight
    masks = {"0.weight": torch.rand(4, 4) < 0.1, "1.weight": torch.rand(4, 4) < 0.1}
    assert sparsify(network, masks, "on").sparse_layers() == {}


def test_the_given_network_is_left_alone() -> None:
    network = SimpleCNN((1, 28, 28), 10)
    before = {name: p.detach().clone() for name, p in network.named_parameters()}
    sparsify(network, {name: torch.zeros_like(p) for name, p in before.items()}, "on")
    assert all(torch.equal(before[name], p) for name, p in network.named_parameters())


def test_a_sparse_network_survives_copy_and_pickle() -> None:
    dense, masks = pruned(NETWORKS["ResNet-8"][0], 0.1)
    sparse = sparsify(dense, masks, "on")
    images = torch.randn(3, 3, 32, 32)
    expected = sparse(images)
    for twin in (copy.deepcopy(sparse), pickle.loads(pickle.dumps(sparse))):
        assert torch.equal(twin(images), expected)
        assert twin.source == sparse.source


def test_an_unknown_mode_is_refused_in_a_sentence() -> None:
    with pytest.raises(KernelsError, match="auto, on or off, not 'maybe'"):
        sparsify(nn.Linear(2, 2), {}, "maybe")  # type: ignore[arg-type]


WITHOUT = """
import sys
sys.modules["sparallel.kernels._native"] = None  # what an install without a compiler leaves
import torch
from torch import nn
from sparallel.kernels import KernelsError, available, sparsify, why_not
assert not available() and "C compiler" in why_not()
network, mask = nn.Linear(3, 2), {"weight": torch.tensor([[1, 0, 0], [0, 1, 0]]).bool()}
out = sparsify(network, mask, "auto")(torch.eye(3))
assert torch.equal(out[2], network.bias)
try:
    sparsify(network, mask, "on")
except KernelsError as error:
    print(error)
"""


def test_without_the_native_kernels_the_dense_layers_run() -> None:
    assert available()
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "install a C compiler" in ran.stdout


BITS = """
import hashlib, torch
from sparallel.kernels import instruction_set, sparsify
from sparallel.models.simple_cnn import SimpleCNN
torch.manual_seed(0)
network = SimpleCNN((1, 28, 28), 10)
masks = {name: torch.rand_like(p) < 0.1 for name, p in network.named_parameters()}
out = sparsify(network, masks, "on")(torch.randn(5, 1, 28, 28))
out.sum().backward()
print(instruction_set(), f"{float(out.detach().double().norm()):.4f}")
"""


def test_every_instruction_set_gives_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    norms = set()
    for name in ("baseline", ""):
        monkeypatch.setenv("SPARALLEL_KERNELS", name)
        ran = subprocess.run(
            [sys.executable, "-c", BITS], capture_output=True, text=True, check=True
        )
        used, norm = ran.stdout.split()
        assert name in ("", used)
        norms.add(norm)
    assert len(norms) == 1
