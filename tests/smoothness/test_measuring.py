"""Measuring a real network: against torch.func, a loop over examples, and plain training."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from sparallel.smoothness.examples import MeasuredExamples, evaluate, subset
from sparallel.smoothness.lipschitz import lipschitz
from sparallel.smoothness.tasks import Measure, measure, train
from sparallel.training.batches import Batches
from sparallel.training.parameters import FlatParameters
from sparallel.training.sparse import arrange
from sparallel.training.state import TrialState
from sparallel.training.tasks import Place
from sparallel.training.trial import Interrupted, Trial, advance, never, start
from sparallel.training.workbench import Workbench

EXAMPLES = 160


def trial(
    sparsity: float = 0.0, learning_rate: float = 0.005, optimizer: str = "momentum"
) -> Trial:
    momentum = {} if optimizer == "sgd" else {"momentum": 0.9}
    return Trial(
        data="mnist-5k",
        model="simple-cnn",
        optimizer=optimizer,
        schedule="constant",
        pruning="snip",
        goal_errors=(0.0,),
        check_interval=1000,
        seed=0,
        batch_size=16,
        sparsity=sparsity,
        index=0,
        metaparameters={"learning_rate": learning_rate, **momentum},
    )


def loss_of(network: nn.Module, batches: Batches, indices: Tensor) -> Callable[[Tensor], Tensor]:
    """The mean loss of these examples in float64, as a function of the flat dense parameters."""
    images, labels = batches.gather(indices)
    shapes = dict(network.named_parameters())

    def loss(flat: Tensor) -> Tensor:
        views = {
            name: flat.as_strided(p.shape, p.stride(), p.storage_offset())
            for name, p in shapes.items()
        }
        outputs = torch.func.functional_call(network, views, (images.double(),))
        return functional.cross_entropy(outputs, labels)

    return loss


@pytest.fixture(params=[0.0, 0.9])
def trained(request: pytest.FixtureRequest, bench: Workbench) -> tuple[Trial, TrialState]:
    """A dense and a sparse network after twelve steps."""
    chosen = trial(request.param)
    return chosen, train(chosen, start(chosen, bench), 12, bench, never)


def kept(state: TrialState) -> Tensor:
    return torch.from_numpy(np.ones(len(state.parameters)) if state.mask is None else state.mask)


def test_training_between_points_is_that_of_advance_to_the_bit(
    trained: tuple[Trial, TrialState], bench: Workbench
) -> None:
    chosen, state = trained
    expected, _ = advance(chosen, start(chosen, bench), 12, bench)
    assert np.array_equal(state.parameters, expected.parameters)
    assert np.array_equal(state.slots, expected.slots)
    after, point = measure(chosen, state, 64, bench, never)
    expected, _ = advance(chosen, state, 13, bench)
    assert point is not None
    assert (after.step, point.step) == (13, 12)
    assert np.array_equal(after.parameters, expected.parameters)
    assert np.array_equal(after.slots, expected.slots)


def test_every_number_of_a_point_is_what_a_direct_computation_gives(
    trained: tuple[Trial, TrialState], bench: Workbench
) -> None:
    chosen, state = trained
    after, point = measure(chosen, state, EXAMPLES, bench, never)
    assert point is not None
    indices = torch.from_numpy(subset(len(bench.train), EXAMPLES))
    mask, network = kept(state), bench.flat.network
    at = torch.from_numpy(state.parameters).double()
    step = torch.from_numpy(after.parameters).double() - at
    loss = loss_of(network, bench.train, indices)

    def gradient(flat: Tensor) -> Tensor:
        return torch.func.grad(loss)(flat) * mask

    here = gradient(at)
    ratios = [
        float((gradient(at + tenth / 10 * step) - here).norm() / (tenth / 10 * step).norm())
        for tenth in range(1, 11)
    ]
    assert point.lipschitz == pytest.approx(max(ratios), rel=1e-3)
    assert point.lipschitz_error is not None
    assert 0 < point.lipschitz_error < max(ratios)
    single = torch.stack(
        [torch.func.grad(loss_of(network, bench.train, i[None]))(at) * mask for i in indices]
    )
    beta = float(single.var(0).sum())
    # Groups of examples estimate it; how well is a matter of chance, and of how many there are.
    assert point.variance == pytest.approx(beta, rel=0.25)
    sampled = point.variance / EXAMPLES * (1 - EXAMPLES / len(bench.train))
    squared = float(here.square().sum())
    assert point.gradient_squared == pytest.approx(squared - sampled, rel=1e-4)
    assert point.train_loss == pytest.approx(float(loss(at)), rel=1e-5)
    validation = torch.arange(len(bench.validation))
    expected = float(loss_of(network, bench.validation, validation)(at))
    assert point.validation_loss == pytest.approx(expected, rel=1e-5)
    assert point.learning_rate == 0.005


def test_beta_in_groups_of_one_is_that_of_a_loop_over_examples(
    trained: tuple[Trial, TrialState], bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, state = trained
    monkeypatch.setattr("sparallel.smoothness.examples.GROUP", 1)
    arranged = bench.arranged(state.mask)
    at = torch.from_numpy(arranged.compress(state.parameters))
    found = MeasuredExamples(bench.train, 50, arranged).start(at)
    dense = torch.from_numpy(state.parameters).double()
    single = torch.stack(
        [
            torch.func.grad(loss_of(bench.flat.network, bench.train, torch.tensor([i])))(dense)
            * kept(state)
            for i in subset(len(bench.train), 50)
        ]
    )
    assert found.variance == pytest.approx(float(single.var(0).sum()), rel=1e-4)


def hessian_times(loss: Callable[[Tensor], Tensor], at: Tensor, along: Tensor) -> Tensor:
    _, times = torch.func.vjp(torch.func.grad(loss), at)
    (product,) = times(along)  # the Hessian is symmetric
    assert isinstance(product, Tensor)
    return product


def test_along_a_small_step_l_is_the_length_of_the_hessian_times_d(bench: Workbench) -> None:
    """On a smooth network, through the micro-batches that measure."""
    torch.manual_seed(0)
    smooth = nn.Sequential(
        nn.Conv2d(1, 4, 5), nn.Tanh(), nn.AvgPool2d(4), nn.Flatten(), nn.Linear(144, 10)
    )
    arranged = arrange(FlatParameters(smooth, torch.device("cpu")), None, "off")
    at = arranged.flat.values.clone()
    step = 0.01 * functional.normalize(torch.randn(len(at)), dim=0)
    measured = MeasuredExamples(bench.train, EXAMPLES, arranged)
    found = lipschitz(measured.gradient, at, step)
    indices = torch.from_numpy(subset(len(bench.train), EXAMPLES))
    product = hessian_times(loss_of(smooth, bench.train, indices), at.double(), step.double())
    assert found.value == pytest.approx(float(product.norm() / step.double().norm()), rel=0.01)


def test_where_no_relu_switches_simple_cnn_s_l_is_the_length_of_the_hessian_times_d(
    trained: tuple[Trial, TrialState], bench: Workbench
) -> None:
    """A step that crosses a kink of a ReLU or max-pool sees more than the Hessian: hence 1e-9."""
    _, state = trained
    at, mask = torch.from_numpy(state.parameters).double(), kept(state)
    loss = loss_of(
        bench.flat.network, bench.train, torch.from_numpy(subset(len(bench.train), EXAMPLES))
    )
    direction = torch.randn(len(at), dtype=torch.float64, generator=torch.manual_seed(0)) * mask
    step = 1e-9 * functional.normalize(direction, dim=0)
    found = lipschitz(lambda w: (torch.func.grad(loss)(w) * mask)[None], at, step)
    expected = float((hessian_times(loss, at, step) * mask).norm() / step.norm())
    assert found.value == pytest.approx(expected, rel=1e-3)


def test_sparse_kernels_change_the_cost_and_not_the_measurement(bench: Workbench) -> None:
    chosen = trial(0.9)
    state = start(chosen, bench)
    step = 1e-3 * np.random.default_rng(0).normal(size=len(state.parameters)).astype(np.float32)
    found = []
    for mode in ("on", "off"):
        arranged = arrange(bench.flat, state.mask, mode)  # type: ignore[arg-type]
        at = torch.from_numpy(arranged.compress(state.parameters))
        moved = torch.from_numpy(arranged.compress(step * state.mask))
        measured = MeasuredExamples(bench.train, EXAMPLES, arranged)
        begun = measured.start(at)
        found.append((begun.variance, begun.loss, lipschitz(measured.gradient, at, moved).value))
    assert found[0] == pytest.approx(found[1], rel=1e-3)


def test_more_examples_add_to_fewer_and_all_of_them_have_no_sampling_error(
    bench: Workbench,
) -> None:
    assert set(subset(3600, 100)) < set(subset(3600, 500))
    assert sorted(subset(3600, 3600)) == list(range(3600))
    chosen = trial(0.9)
    _, point = measure(chosen, start(chosen, bench), len(bench.train), bench, never)
    assert point is not None
    assert point.lipschitz is not None
    assert point.lipschitz_error is None


def test_stopped_while_measuring_a_run_stays_before_the_point(
    bench: Workbench, scratch_cache: object
) -> None:
    chosen = trial()
    state, asked = start(chosen, bench), []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 10  # three steps and then some micro-batches

    place = Place(scratch_cache, "cpu")  # type: ignore[arg-type]
    found = Measure(chosen, state, 3, EXAMPLES, place).run(stop)
    assert (found.point, found.state.step, found.steps) == (None, 3, 3)
    assert np.array_equal(found.state.parameters, train(chosen, state, 3, bench, never).parameters)
    again = Measure(chosen, found.state, 3, EXAMPLES, place).run(never)
    at_once = Measure(chosen, state, 3, EXAMPLES, place).run(never)
    assert again.point == at_once.point
    with pytest.raises(Interrupted):
        measure(chosen, state, EXAMPLES, bench, lambda: True)


@pytest.mark.parametrize("learning_rate", [1e38, 1e6])
def test_a_run_that_diverges_is_infeasible_and_gives_no_number(
    bench: Workbench, learning_rate: float
) -> None:
    chosen = trial(learning_rate=learning_rate, optimizer="sgd")
    state = train(chosen, start(chosen, bench), 6, bench, never)
    after, point = measure(chosen, state, 64, bench, never)
    assert point is None
    assert (after.infeasible_at, after.step) == (6, 6)


def test_a_network_that_no_longer_moves_has_no_l(bench: Workbench) -> None:
    chosen = trial(0.9, learning_rate=1e-30, optimizer="sgd")
    _, point = measure(chosen, start(chosen, bench), 64, bench, never)
    assert point is not None
    assert (point.lipschitz, point.lipschitz_error) == (None, None)
    values = [v for v in dataclasses.astuple(point) if v is not None]
    assert all(math.isfinite(value) for value in values)


def test_the_error_counted_is_that_of_the_examples(bench: Workbench) -> None:
    chosen = trial()
    state = train(chosen, start(chosen, bench), 30, bench, never)
    arranged = bench.arranged(None)
    arranged.flat.load(state.parameters)
    outputs = arranged.flat.network(bench.validation.gather(torch.arange(400))[0])
    wrong = (outputs.argmax(1) != bench.validation.labels[:400]).float().mean()
    assert len(bench.validation) == 400
    assert evaluate(arranged, bench.validation)[1] == pytest.approx(float(wrong))
    at = torch.from_numpy(state.parameters)
    found = MeasuredExamples(bench.train, len(bench.train), arranged).start(at)
    arranged.flat.load(state.parameters)
    assert found.error == pytest.approx(evaluate(arranged, bench.train)[1])
    assert found.loss == pytest.approx(evaluate(arranged, bench.train)[0], rel=1e-5)
