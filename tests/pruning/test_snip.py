"""SNIP against its definition, and against what the protocol says of real masks."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch.func import functional_call
from torch.nn import functional

from sparallel.data.source import data_folder
from sparallel.pruning.base import keep_highest
from sparallel.pruning.cache import cached_scores
from sparallel.pruning.snip import connection_sensitivity
from sparallel.training.gradient import accumulate_gradient
from sparallel.training.state import TrialState
from sparallel.training.trial import Trial, advance, start
from sparallel.training.workbench import Workbench, workbench


def proceed() -> None:
    """Never stops."""


def whole_gradient(bench: Workbench) -> torch.Tensor:
    """The gradient over the whole training set at once."""
    accumulate_gradient(bench.flat, bench.train, torch.arange(len(bench.train)), scale=1.0)
    return bench.flat.gradient.double()


def a_trial(sparsity: float, index: int = 0, data: str = "mnist-5k") -> Trial:
    return Trial(
        data=data,
        model="simple-cnn",
        optimizer="momentum",
        schedule="constant",
        pruning="snip",
        goal_errors=(0.02,),
        check_interval=16,
        seed=0,
        batch_size=16,
        sparsity=sparsity,
        index=index,
        metaparameters={"learning_rate": 0.01, "momentum": 0.9},
    )


def test_saliency_is_the_gradient_of_the_mask(bench: Workbench) -> None:
    """Autograd on the mask itself, over the whole training set, gives the same scores."""
    bench.initialize(0, 5)
    mask = bench.mask("snip", 0.5, proceed)
    scores = connection_sensitivity(bench.flat.values, lambda: whole_gradient(bench))
    assert mask is not None
    assert (keep_highest(scores, 0.5) == mask).mean() > 0.999
    weights = {n: p.detach().clone() for n, p in bench.flat.network.named_parameters()}
    masks = {name: torch.ones_like(value, requires_grad=True) for name, value in weights.items()}
    for chosen in torch.arange(len(bench.train)).split(300):
        images, labels = bench.train.gather(chosen)
        masked = {name: masks[name] * value for name, value in weights.items()}
        outputs = functional_call(bench.flat.network, masked, (images,))
        functional.cross_entropy(outputs, labels, reduction="sum").backward()
    start_at = 0
    total = sum(mask.grad.abs().sum() for mask in masks.values())
    for mask in masks.values():
        expected = (mask.grad.abs() / total).numpy()
        found = scores[start_at : start_at + expected.size]
        if expected.ndim == 4:  # the flat vector holds kernels channels-last
            expected = expected.transpose(0, 2, 3, 1)
        np.testing.assert_allclose(found, expected.ravel(), rtol=2e-3, atol=1e-8)
        start_at += expected.size
    assert scores.sum() == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("sparsity", [0.003, 0.5, 0.7, 0.9, 0.95])
def test_the_mask_keeps_exactly_k_and_no_bias(bench: Workbench, sparsity: float) -> None:
    state = start(a_trial(sparsity), bench)
    assert state.mask is not None
    assert state.mask.sum() == round(62_346 * (1 - sparsity))
    biases = np.r_[800:832, 52_032:52_096, 62_336:62_346]
    assert not state.mask[biases].any()
    assert not state.parameters[~state.mask].any()


@given(
    hnp.arrays(np.float32, st.integers(1, 200), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    st.floats(0, 0.999),
)
def test_top_k_keeps_the_highest_and_of_equals_the_earliest(
    scores: np.ndarray, sparsity: float
) -> None:
    mask = keep_highest(scores, sparsity)
    assert mask.sum() == round(len(scores) * (1 - sparsity))
    if mask.any() and not mask.all():
        threshold = scores[mask].min()
        assert (scores[~mask] <= threshold).all()
        tied = np.flatnonzero(scores == threshold)
        assert (np.diff(mask[tied].astype(int)) <= 0).all()


def test_pruned_parameters_are_exactly_zero_after_training(bench: Workbench) -> None:
    trial = a_trial(0.9)
    state, _ = advance(trial, start(trial, bench), 40, bench)
    assert state.mask is not None
    assert not state.parameters[~state.mask].any()
    assert not state.slots[:, ~state.mask].any()
    assert (state.parameters[state.mask] != 0).mean() > 0.99


@pytest.mark.data("mnist")
def test_kept_shares_a_layer_are_those_of_the_protocol(scratch_cache: Path) -> None:
    """At 90%: 46-58% of conv1, 5.8-8.1% of conv2, 16-28% of dense; 6,235 in all."""
    del scratch_cache
    real = workbench("mnist", "simple-cnn", data_folder(None), "cpu")
    state = start(a_trial(0.9, data="mnist"), real)
    assert state.mask is not None
    conv1, conv2, dense = state.mask[:800], state.mask[832:52_032], state.mask[52_096:62_336]
    assert state.mask.sum() == 6_235
    assert 0.44 < conv1.mean() < 0.60
    assert 0.055 < conv2.mean() < 0.085
    assert 0.15 < dense.mean() < 0.30


def test_scores_are_computed_once_and_a_damaged_entry_again(scratch_cache: Path) -> None:
    calls = []

    def compute() -> np.ndarray:
        calls.append(1)
        return np.arange(5, dtype=np.float32)

    first = cached_scores("key of this test", 5, compute)
    assert (cached_scores("key of this test", 5, compute) == first).all()
    assert len(calls) == 1
    (entry,) = [p for p in (scratch_cache / "scores").iterdir() if p.stat().st_size == 32 + 5 * 4]
    entry.write_bytes(entry.read_bytes()[:-1] + b"\xff")
    assert (cached_scores("key of this test", 5, compute) == first).all()
    assert len(calls) == 2


def test_the_mask_depends_on_the_initialization_alone(bench: Workbench) -> None:
    def mask(**changes: object) -> bytes:
        trial = Trial(**{**a_trial(0.9).__dict__, **changes})  # type: ignore[arg-type]
        state: TrialState = start(trial, bench)
        assert state.mask is not None
        return state.mask.tobytes()

    same = mask()
    assert mask(batch_size=512, optimizer="sgd") == same
    assert mask(index=1) != same
    assert mask(seed=1) != same
