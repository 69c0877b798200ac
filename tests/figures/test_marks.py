"""Where the search figures put a trial, and whether grey paper can tell series apart."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_rgb

from sparallel.figures.metaparameters import metaparameter_table
from sparallel.figures.style import STATUS_LOOKS, series_look, sparsity_looks
from sparallel.figures.trial_map import trial_map_plane, trial_map_table
from sparallel.records import Status
from tests.generated import generated_study


def test_a_trial_map_has_every_trial_once_and_one_star() -> None:
    study = generated_study(trials=40)
    rows = list(trial_map_table([study]).records())
    assert [row["trial"] for row in rows] == list(range(40))
    assert [row["trial"] for row in rows if row["best"]] == [study.best_trial]
    for status in Status:
        assert sum(row["status"] == status for row in rows) == study.count(status)


def test_a_search_without_momentum_has_no_plane_to_map() -> None:
    assert trial_map_plane(generated_study(optimizer="sgd")) is None
    plane = trial_map_plane(generated_study(optimizer="nesterov"))
    assert plane is not None
    assert [dimension.name for dimension in plane] == ["learning_rate", "momentum"]


@pytest.mark.parametrize("strategy", ["race", "exhaustive"])
def test_only_an_infeasible_trial_is_drawn_away_from_its_steps(strategy: str) -> None:
    study = generated_study(trials=60, strategy=strategy)
    seen = set()
    for row in metaparameter_table([study]).records():
        seen.add(row["status"])
        if row["status"] == Status.INFEASIBLE:
            assert row["drawn_at"] > study.max_steps
        else:
            assert row["drawn_at"] == row["steps"]
    assert Status.INFEASIBLE in seen
    assert (Status.BEATEN in seen) == (strategy == "race")


def _grey(colour: str) -> float:
    red, green, blue = to_rgb(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue


@pytest.mark.parametrize("count", [1, 2, 4, 6])
def test_sparsities_grow_lighter_in_grey_and_differ_in_marker(count: int) -> None:
    sparsities = [at / 10 for at in range(count)]
    looks = sparsity_looks(sparsities)
    greys = [_grey(looks[sparsity].colour) for sparsity in sparsities]
    assert greys == sorted(greys)
    assert len(set(greys)) == count
    assert len({looks[sparsity].marker for sparsity in sparsities}) == count


def test_statuses_and_optimizers_never_share_a_marker() -> None:
    assert len({look.marker for look in STATUS_LOOKS.values()}) == len(STATUS_LOOKS)
    assert len({series_look(index).marker for index in range(7)}) == 7
