"""A trial is a value: the same bits however it is sliced, and the mathematics of a plain loop."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.nn import functional

from sparallel.training.gradient import accumulate_gradient
from sparallel.training.order import DataOrder
from sparallel.training.state import TrialState
from sparallel.training.trial import Trial, advance, start
from sparallel.training.workbench import Workbench

TRIAL = Trial(
    data="mnist-5k",
    model="simple-cnn",
    optimizer="momentum",
    schedule="constant",
    pruning="snip",
    goal_errors=(0.15, 0.3),
    check_interval=8,
    seed=3,
    batch_size=32,
    sparsity=0.0,
    index=1,
    metaparameters={"learning_rate": 0.01, "momentum": 0.9},
)


def bits(state: TrialState) -> bytes:
    return state.to_bytes()


@pytest.mark.parametrize("sparsity", [0.0, 0.9])
@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cuts=st.lists(st.integers(1, 47), max_size=4))
def test_slicing_changes_no_bit(bench: Workbench, sparsity: float, cuts: list[int]) -> None:
    trial = dataclasses.replace(TRIAL, sparsity=sparsity, goal_errors=(0.05, 0.3))
    whole, progress = advance(trial, start(trial, bench), 48, bench)
    state, trained, checked = start(trial, bench), 0, 0
    for until in [*sorted(cuts), 48]:
        state, part = advance(trial, TrialState.from_bytes(state.to_bytes()), until, bench)
        trained, checked = trained + part.examples_trained, checked + part.examples_checked
    assert bits(state) == bits(whole)
    assert (trained, checked) == (progress.examples_trained, progress.examples_checked)


def test_stopping_between_steps_changes_no_bit(bench: Workbench) -> None:
    whole, _ = advance(TRIAL, start(TRIAL, bench), 24, bench)
    asked = iter([False, False, True])
    stopped, _ = advance(TRIAL, start(TRIAL, bench), 24, bench, stop=lambda: next(asked))
    assert stopped.step == 3
    resumed, _ = advance(TRIAL, stopped, 24, bench)
    assert bits(resumed) == bits(whole)


def test_training_is_that_of_a_plain_loop(bench: Workbench) -> None:
    """Twelve steps against torch.optim and a whole-batch loss, written as a user would."""
    state, _ = advance(TRIAL, start(TRIAL, bench), 12, bench)
    start(TRIAL, bench)
    network = bench.flat.network
    parameters = [parameter.detach().clone() for parameter in network.parameters()]
    leaves = [parameter.requires_grad_() for parameter in parameters]
    optimizer = torch.optim.SGD(leaves, lr=0.01, momentum=0.9)
    names = [name for name, _ in network.named_parameters()]
    order = DataOrder(len(bench.train), seed=3)
    for step in range(12):
        images, labels = bench.train.gather(torch.from_numpy(order.indices(step * 32, 32)))
        outputs = torch.func.functional_call(
            network, dict(zip(names, leaves, strict=True)), (images,)
        )
        optimizer.zero_grad()
        functional.cross_entropy(outputs, labels).backward()
        optimizer.step()
    bench.flat.load(state.parameters)
    for ours, theirs in zip(network.parameters(), leaves, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5, check_stride=False)


@pytest.mark.parametrize("batch_size", [1, 63, 64, 65, 200, 1000])
def test_micro_batches_sum_to_the_whole_batch(bench: Workbench, batch_size: int) -> None:
    bench.initialize(0, 0)
    indices = torch.arange(batch_size)
    accumulate_gradient(bench.flat, bench.train, indices, scale=1 / batch_size)
    found = bench.flat.gradient.clone()
    bench.flat.gradient.zero_()
    images, labels = bench.train.gather(indices)
    functional.cross_entropy(bench.flat.network(images), labels).backward()
    torch.testing.assert_close(found, bench.flat.gradient, rtol=1e-3, atol=1e-5)


def test_the_state_survives_its_bytes(bench: Workbench) -> None:
    trial = dataclasses.replace(TRIAL, sparsity=0.5)
    state, _ = advance(trial, start(trial, bench), 9, bench)
    copy = TrialState.from_bytes(state.to_bytes())
    for field in dataclasses.fields(TrialState):
        ours, theirs = getattr(state, field.name), getattr(copy, field.name)
        assert np.array_equal(ours, theirs), field.name


def test_goals_are_reached_in_order_and_each_leaves_its_parameters(bench: Workbench) -> None:
    state, progress = advance(TRIAL, start(TRIAL, bench), 400, bench)
    hard, easy = state.reached
    assert hard is not None
    assert easy is not None
    assert easy <= hard == state.step
    assert set(progress.arrivals) == {0, 1}
    at_easy, _ = advance(TRIAL, start(TRIAL, bench), easy, bench)
    assert (progress.arrivals[1] == at_easy.parameters).all()


def test_divergence_is_infeasible_and_ends_the_trial(bench: Workbench) -> None:
    wild = dataclasses.replace(TRIAL, metaparameters={"learning_rate": 1e6, "momentum": 0.99})
    state, _ = advance(wild, start(wild, bench), 400, bench)
    assert state.infeasible_at is not None
    assert state.infeasible_at == state.step < 400
    again, progress = advance(wild, state, 400, bench)
    assert bits(again) == bits(state)
    assert progress.examples_trained == 0
