"""The presets are the rows of the protocol's table."""

import pytest

from sparallel.loading import load_spec
from sparallel.presets import preset_names

POWERS = tuple(2**n for n in range(1, 15))
ALL = (0, 0.5, 0.7, 0.9)
ROWS = {
    **{
        f"mnist-{o}": ("mnist", "simple-cnn", "constant", (0.02,), 16, 40_000, POWERS, ALL)
        for o in ("sgd", "momentum", "nesterov")
    },
    **{
        f"fashion-mnist-{o}": (
            *("fashion-mnist", "simple-cnn", "constant", (0.12, 0.14)),
            *(16, 40_000, POWERS[1:], ALL),
        )
        for o in ("sgd", "momentum", "nesterov")
    },
    **{
        f"cifar10-{o}-{s}": ("cifar-10", "resnet-8", s, (0.4,), 32, 100_000, POWERS[1:], (0, 0.9))
        for o, s in (
            ("sgd", "linear"),
            ("momentum", "linear"),
            ("nesterov", "linear"),
            ("sgd", "constant"),
            ("momentum", "constant"),
        )
    },
}


def test_there_is_a_preset_for_every_row_and_the_quickstart() -> None:
    assert set(preset_names()) == {*ROWS, "quickstart"}


@pytest.mark.parametrize("name", ROWS)
def test_a_preset_is_its_row(name: str) -> None:
    spec = load_spec(name)
    found = (
        *(spec.data, spec.model, spec.schedule, spec.goal_errors),
        *(spec.check_interval, spec.max_steps, spec.batch_sizes, spec.sparsities),
    )
    assert found == ROWS[name]
    assert spec.optimizer in name
    assert spec.name == name
    assert (spec.trials, spec.pruning, spec.strategy) == (100, "snip", "race")


def test_quickstart_shows_the_curve_and_the_cost_of_sparsity() -> None:
    spec = load_spec("quickstart")
    assert (spec.data, spec.model, spec.optimizer) == ("mnist-5k", "simple-cnn", "momentum")
    assert len(spec.batch_sizes) >= 4
    assert spec.sparsities == (0, 0.9)
    assert spec.trials >= 8
