"""Models that a trial could not carry are refused with a sentence."""

import math
from pathlib import Path

import pytest
from torch import nn

from sparallel.data.mnist_5k import MNIST_5K
from sparallel.errors import SpecError
from sparallel.loading import load_spec
from sparallel.models.building import build
from sparallel.models.checking import check_network
from sparallel.session import run_session


def with_dropout(shape: tuple[int, int, int], classes: int) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(math.prod(shape), classes))


def with_batch_norm(shape: tuple[int, int, int], classes: int) -> nn.Module:
    return nn.Sequential(
        nn.BatchNorm2d(shape[0]), nn.Flatten(), nn.Linear(math.prod(shape), classes)
    )


def with_buffer(shape: tuple[int, int, int], classes: int) -> nn.Module:
    network = nn.Sequential(nn.Flatten(), nn.Linear(math.prod(shape), classes))
    network.register_buffer("seen", nn.Parameter(requires_grad=False))
    return network


def linear(shape: tuple[int, int, int], classes: int) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(shape), classes))


@pytest.mark.parametrize("name", ["with_dropout", "with_batch_norm", "with_buffer"])
def test_state_outside_the_parameters_is_refused(name: str, tmp_path: Path) -> None:
    spec = load_spec("quickstart", {"model": f"{__name__}:{name}"})
    with pytest.raises(SpecError, match=r"Dropout|BatchNorm2d|buffer"):
        run_session(spec, tmp_path / "out", workers=1)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["math:floor", "builtins:dict"])
def test_what_makes_no_network_is_refused(name: str) -> None:
    with pytest.raises(SpecError, match=r"cannot be made|not a torch module"):
        build(name, MNIST_5K)


def test_a_users_own_model_is_taken() -> None:
    check_network(build(f"{__name__}:linear", MNIST_5K), "linear")
