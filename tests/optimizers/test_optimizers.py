"""Optimizers against hand-computed values and against torch.optim."""

import pytest
import torch

from sparallel.optimizers import OPTIMIZERS

META = {"learning_rate": 0.1, "momentum": 0.5}


def trajectory(name: str, gradients: list[list[float]]) -> list[list[float]]:
    optimizer = OPTIMIZERS.get(name)
    weights, slots = torch.tensor([1.0, 2.0]), torch.zeros(optimizer.slots, 2)
    path = []
    for gradient in gradients:
        optimizer.update(weights, torch.tensor(gradient), slots, 0.1, META)
        path.append(weights.tolist())
    return path


@pytest.mark.parametrize(
    ("name", "second"),
    [
        ("sgd", 1 - 0.1 * 1 - 0.1 * 2),
        ("momentum", 1 - 0.1 * 1 - 0.1 * (0.5 * 1 + 2)),
        ("nesterov", 1 - 0.1 * (1 + 0.5 * 1) - 0.1 * (2 + 0.5 * (0.5 * 1 + 2))),
    ],
)
def test_two_steps_by_hand(name: str, second: float) -> None:
    assert trajectory(name, [[1.0, 0.0], [2.0, 0.0]])[1] == pytest.approx([second, 2.0])


@pytest.mark.parametrize("name", OPTIMIZERS.names())
def test_the_same_path_as_torch(name: str) -> None:
    torch.manual_seed(1)
    weights = torch.randn(50)
    reference = weights.clone().requires_grad_()
    momentum = 0.9 if name != "sgd" else 0.0
    theirs = torch.optim.SGD([reference], lr=0.03, momentum=momentum, nesterov=name == "nesterov")
    ours = OPTIMIZERS.get(name)
    slots = torch.zeros(ours.slots, 50)
    for _ in range(20):
        gradient = torch.randn(50)
        reference.grad = gradient.clone()
        theirs.step()
        ours.update(weights, gradient, slots, 0.03, {"momentum": 0.9})
    torch.testing.assert_close(weights, reference.detach(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", OPTIMIZERS.names())
def test_what_has_no_gradient_stays_exactly_where_it_was(name: str) -> None:
    assert [weights[1] for weights in trajectory(name, [[1.0, 0.0]] * 5)] == [2.0] * 5
