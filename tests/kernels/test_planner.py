"""Plans keep the blocked layout between layers, and freeze nothing that may change."""

from __future__ import annotations

import copy
import random

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from sparallel.kernels import sparsify
from tests.kernels.test_sparsify import NETWORKS, pruned


def test_between_sparse_layers_the_layout_is_never_converted() -> None:
    for name in ("Simple-CNN", "ResNet-8"):
        sparse = sparsify(*pruned(NETWORKS[name][0], 0.1), "on")
        assert sparse.source.count("_enter(") == 1, sparse.source
        assert sparse.source.count("_leave(") == 1, sparse.source
    source = sparsify(*pruned(NETWORKS["Simple-CNN"][0], 0.1), "on").source
    assert source.count("pool = True") == 2
    assert "relu(" not in source


def test_functional_dropout_keeps_the_mode_of_the_moment() -> None:
    class Dropping(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(50, 50)

        def forward(self, x: Tensor) -> Tensor:
            return functional.dropout(self.linear(x), 0.5, training=self.training)

    sparse = sparsify(*pruned(Dropping, 0.5), "on").eval()
    x = torch.randn(4, 50)
    assert torch.equal(sparse(x), sparse(x))
    sparse.train()
    assert not torch.equal(sparse(x), sparse(x))


class Drawing(nn.Module):
    """Decides by chance, in Python or by tensors, whether to go on."""

    def __init__(self, by_tensor: bool) -> None:
        super().__init__()
        self.by_tensor = by_tensor
        self.linear = nn.Linear(5, 5)

    def forward(self, x: Tensor) -> Tensor:
        chance = float(torch.rand(())) if self.by_tensor else random.random()
        return self.linear(x) if chance < 0.5 else x


@pytest.mark.parametrize("by_tensor", [True, False])
def test_chance_is_never_frozen_by_tracing(by_tensor: bool) -> None:
    random.seed(0)
    torch.manual_seed(0)
    sparse = sparsify(*pruned(lambda: Drawing(by_tensor), 0.5), "on")
    before = torch.get_rng_state(), random.getstate()
    copy.deepcopy(sparse)
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == random.getstate()
    x = torch.ones(2, 5)
    assert len({bool(torch.equal(sparse(x), x)) for _ in range(50)}) == 2


def test_constants_made_in_forward_are_made_at_every_call() -> None:
    class Noisy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(5, 5)

        def forward(self, x: Tensor) -> Tensor:
            return self.linear(x) + torch.randn(5)

    sparse = sparsify(*pruned(Noisy, 0.5), "on")
    x = torch.ones(2, 5)
    assert not torch.equal(sparse(x), sparse(x))
