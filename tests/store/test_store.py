"""The store: whose folder is it, is it whole, who writes; and nothing is overwritten."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from sparallel.errors import (
    DamagedStoreError,
    DifferentExperimentError,
    FolderBusyError,
    StoreError,
)
from sparallel.loading import load_spec
from sparallel.spec import Experiment, Study
from sparallel.store.opening import is_locked
from sparallel.store.reading import load_experiment
from sparallel.store.store import Store
from sparallel.store.trials import Costs
from sparallel.store.winners import Candidate
from sparallel.strategies.facts import Run, TrialFacts
from sparallel.training.state import TrialState

STUDY = Study(batch_size=8, sparsity=0.0)
RUN = Run(0, 0)
COSTS = Costs(examples_trained=64, examples_checked=10, checks=1, seconds=0.5)
POINT = {"learning_rate": 0.1, "momentum": 0.9}


def spec(**changes: object) -> Experiment:
    return load_spec("quickstart", {"batch_sizes": (8,), "sparsities": (0,), **changes})


def state(step: int, reached: int | None = None) -> TrialState:
    return TrialState(
        step=step,
        parameters=np.arange(6, dtype=np.float32),
        slots=np.ones((1, 6), dtype=np.float32),
        mask=None,
        margins=np.zeros(4, dtype=np.float32),
        reached=(reached,),
        infeasible_at=None,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one trial at step 8."""
    store = Store(tmp_path / "out", spec())
    store.trials.record(STUDY, RUN, POINT, state(8), COSTS)
    store.close()
    return tmp_path / "out"


def contents(folder: Path) -> dict[str, str]:
    """Every file but the lock, by checksum."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "lock"
    }


def refused(folder: Path, kind: type[Exception], sentence: str, **changes: object) -> None:
    """Opening is refused with this sentence, and nothing in the folder has changed."""
    before = contents(folder)
    with pytest.raises(kind, match=sentence) as error:
        Store(folder, spec(**changes))
    assert "\n" not in str(error.value)
    assert contents(folder) == before


def test_what_was_recorded_is_there_again(folder: Path) -> None:
    store = Store(folder, spec())
    assert store.trials.facts(STUDY)[RUN] == TrialFacts(8, (None,))
    found = store.trials.state(STUDY, RUN)
    assert found is not None
    assert found.to_bytes() == state(8).to_bytes()
    store.close()


def test_a_later_checkpoint_replaces_the_earlier_file(folder: Path) -> None:
    store = Store(folder, spec())
    store.trials.record(STUDY, RUN, POINT, state(16), COSTS)
    assert [path.name for path in folder.glob("checkpoints/*/*")] == ["trial-0-seed-0-step-16.npz"]
    store.trials.record(STUDY, RUN, POINT, state(24, reached=24), COSTS)
    assert not list(folder.glob("checkpoints/*/*"))
    store.close()
    (study,) = load_experiment(folder).studies
    assert (study.steps_to_result, study.best_trial) == (24, 0)
    assert (study.examples_trained, study.seconds) == (3 * 64, 3 * 0.5)


def test_a_candidate_that_is_displaced_leaves_no_file(folder: Path) -> None:
    store = Store(folder, spec())
    values = np.arange(6, dtype=np.float32)
    store.winners.record_candidate(STUDY, 0.06, Candidate(3, 40), values)
    store.winners.record_candidate(STUDY, 0.06, Candidate(1, 32), values + 1)
    assert len(list(folder.glob("checkpoints/*/goal-*"))) == 1
    assert store.winners.snapshot(STUDY, 0.06) == (values + 1).tobytes()
    store.winners.record_winner(STUDY, 0.06, Candidate(1, 32, 0.05), b"network")
    assert not list(folder.glob("checkpoints/*/goal-*"))
    assert store.winners.candidate(STUDY, 0.06) == Candidate(1, 32, 0.05)
    assert (folder / "winners/b8-s0-goal-0.06-trial-1.pt").read_bytes() == b"network"
    store.close()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"seed": 1}, "seed is 0 there and 1 here"),
        ({"goal_errors": (0.1,)}, "goal_errors is"),
        ({"optimizer": "nesterov"}, "optimizer is 'momentum' there and 'nesterov' here"),
        ({"check_interval": 7}, "check_interval"),
        ({"data": "mnist"}, "data is 'mnist-5k' there and 'mnist' here"),
        ({"space": {"learning_rate": {"high": 7}}}, "the space of learning_rate"),
        ({"trials": 1}, "can be extended but not cut: this asks for trials 1 where it has"),
        ({"max_steps": 40}, "can be extended but not cut: this asks for max_steps 40"),
    ],
)
def test_another_experiment_is_refused_by_name(
    folder: Path, changes: dict[str, object], sentence: str
) -> None:
    refused(folder, DifferentExperimentError, sentence, **changes)


def test_a_race_cannot_take_the_place_of_an_exhaustive_search(tmp_path: Path) -> None:
    Store(tmp_path, spec(strategy="exhaustive")).close()
    refused(tmp_path, DifferentExperimentError, "a race where it is exhaustive")


@pytest.mark.parametrize("keys", [{"high": 0.200000001}, {"integer": True}, {"scale": "linear"}])
def test_any_change_of_the_space_is_another_experiment(
    folder: Path, keys: dict[str, object]
) -> None:
    before = {"low": 5e-4, "high": 0.2, "scale": "log", **keys}
    space = {"learning_rate": before, "momentum": {"low": 0.5, "high": 0.98}}
    refused(folder, DifferentExperimentError, "the space of learning_rate", space=space)


def test_a_race_with_finishers_may_become_exhaustive(tmp_path: Path) -> None:
    Store(tmp_path, load_spec("quickstart", {}, ["race.finishers=3"])).close()
    Store(tmp_path, load_spec("quickstart", {"strategy": "exhaustive"})).close()


def test_a_store_killed_inside_a_commit_can_be_read(folder: Path, tmp_path: Path) -> None:
    """A hot journal: the store as it lies on disk in the middle of a transaction."""
    connection = sqlite3.connect(folder / "sparallel.sqlite", isolation_level=None)
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("PRAGMA cache_spill = 1")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE trials SET step = 999")
    for number in range(3000):
        connection.execute(
            "INSERT INTO sessions (started, provenance) VALUES (?, ?)", ("now", f"{number}" * 50)
        )
    killed = tmp_path / "killed"
    killed.mkdir()
    for name in ("sparallel.sqlite", "sparallel.sqlite-journal"):
        (killed / name).write_bytes((folder / name).read_bytes())
    connection.rollback()
    connection.close()
    (study,) = load_experiment(killed).studies
    assert study.trials[0].steps == 8


def test_growing_is_allowed(folder: Path) -> None:
    grown = spec(trials=20, max_steps=9_000, batch_sizes=(16,), strategy="exhaustive", repeats=2)
    store = Store(folder, grown)
    assert store.experiment.batch_sizes == (8, 16)
    store.close()
    record = load_experiment(folder)
    assert [study.batch_size for study in record.studies] == [8, 16]
    assert {len(study.trials) for study in record.studies} == {20}


def test_a_second_writer_is_refused_while_the_first_is_there(folder: Path) -> None:
    assert not is_locked(folder)
    first = Store(folder, spec())
    assert is_locked(folder)
    refused(folder, FolderBusyError, "Another run .* is writing to")
    first.close()
    Store(folder, spec()).close()


def test_a_store_of_a_newer_version_is_refused(folder: Path) -> None:
    with sqlite3.connect(folder / "sparallel.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    refused(folder, StoreError, "written by a newer sparallel")
    with pytest.raises(StoreError, match="newer"):
        load_experiment(folder)


def test_a_store_of_another_tool_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "sparallel.sqlite") as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    refused(tmp_path, StoreError, "was not written by sparallel")


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_a_truncated_store_is_refused(folder: Path, keep: float) -> None:
    path = folder / "sparallel.sqlite"
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * keep)])
    refused(folder, StoreError, "damaged|cannot be used")
    with pytest.raises(StoreError):
        load_experiment(folder)


def test_a_store_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sparallel.sqlite").write_bytes(b"not a database" * 100)
    refused(tmp_path, DamagedStoreError, "is damaged")


def test_a_damaged_checkpoint_is_refused_and_a_missing_one_starts_over(folder: Path) -> None:
    (path,) = folder.glob("checkpoints/*/*.npz")
    path.write_bytes(path.read_bytes()[:-3] + b"xyz")
    store = Store(folder, spec())
    with pytest.raises(DamagedStoreError, match="delete it and the trial starts over") as error:
        store.trials.state(STUDY, RUN)
    assert str(path) in str(error.value)
    path.unlink()
    assert store.trials.state(STUDY, RUN) is None
    store.close()


def test_a_folder_without_an_experiment_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="There is no experiment in"):
        load_experiment(tmp_path)


def test_a_failure_is_no_result_and_the_next_session_tries_again(folder: Path) -> None:
    store = Store(folder, spec())
    store.trials.record_failure(STUDY, RUN, POINT, "out of memory")
    store.close()
    (study,) = load_experiment(folder).studies
    assert (study.trials[0].status, study.finished) == ("failed", False)
    Store(folder, spec()).close()
    (study,) = load_experiment(folder).studies
    assert study.trials[0].status == "pending"
