"""Whole runs on real data: the same results however they are run, killed, resumed or extended."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
import torch

from sparallel.data.source import data_folder
from sparallel.executors.local import LocalExecutor
from sparallel.models.simple_cnn import SimpleCNN
from sparallel.records import Status
from sparallel.runner import Runner, Watch
from sparallel.store.reading import load_experiment
from sparallel.store.store import Store
from sparallel.study_run import StudyRun
from sparallel.training.tasks import Place
from sparallel.training.trial import Trial, advance, start
from sparallel.training.workbench import workbench
from tests.experiments import command, promised, run_here, small, small_file, sparallel

Results = list[dict[str, object]]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory, scratch_cache: Path) -> Results:
    """What the small experiment gives when nothing happens to it."""
    del scratch_cache
    folder = tmp_path_factory.mktemp("uninterrupted")
    return run_here(small(folder), folder / "out")


def test_the_small_experiment_has_every_kind_of_outcome(uninterrupted: Results) -> None:
    """So that the tests below compare something."""
    statuses = {status for row in uninterrupted for status, _ in row["outcomes"]}  # type: ignore[attr-defined]
    assert {"complete", "beaten", "infeasible"} <= statuses
    assert all(row["finished"] for row in uninterrupted)
    assert all(row["test_error"] for row in uninterrupted if row["steps_to_result"])


def test_race_and_exhaustive_give_the_same_k_and_winner(
    uninterrupted: Results, tmp_path: Path
) -> None:
    whole = run_here(small(tmp_path, strategy="exhaustive"), tmp_path / "out")
    for raced, exhausted in zip(uninterrupted, whole, strict=True):
        for key in ("steps_to_result", "best_trial", "ties", "test_error"):
            assert raced[key] == exhausted[key], key
        assert exhausted["beaten"] == 0


def test_one_worker_and_two_give_the_same_results(uninterrupted: Results, tmp_path: Path) -> None:
    assert run_here(small(tmp_path), tmp_path / "out", workers=1) == uninterrupted


def test_a_killed_worker_loses_only_its_slice(uninterrupted: Results, tmp_path: Path) -> None:
    executor = LocalExecutor(2)
    store = Store(tmp_path / "out", small(tmp_path))
    killed: list[int] = []

    class Killer(Watch):
        """Kills a worker at the second, fifth and ninth step of progress."""

        told = 0
        crashes = 0

        def advanced(self, study: StudyRun) -> None:
            self.told += 1
            if self.told in (2, 5, 9):
                killed.append(executor.process_ids[self.told % 2])
                os.kill(killed[-1], signal.SIGKILL)

        def crashed(self, study: StudyRun, trial: int, why: str, final: bool) -> None:
            assert "signal 9" in why
            assert not final
            self.crashes += 1

    watch = Killer()
    try:
        place = Place(data_folder(None), "cpu")
        report = Runner(store.experiment, store, executor, place, watch).run()
    finally:
        executor.close()
        store.close()
    assert len(set(killed)) == 3
    assert watch.crashes >= 1
    assert not report.failures
    assert promised(tmp_path / "out") == uninterrupted


def newest(folder: Path) -> float:
    """When a checkpoint last came or went."""
    return max((path.stat().st_mtime for path in folder.glob("checkpoints/*")), default=0.0)


def test_a_run_killed_at_random_ends_as_if_it_had_not_been(
    uninterrupted: Results, tmp_path: Path
) -> None:
    """Two kills while it starts, then five at random moments of its progress."""
    moments, out = random.Random(20210504), tmp_path / "out"
    words = command("run", small_file(tmp_path), "--out", out, "--workers", "1")
    for kill in range(7):
        process = subprocess.Popen(words, stderr=subprocess.DEVNULL, start_new_session=True)
        if kill >= 2:
            began = time.time()
            while newest(out) < began and process.poll() is None:
                time.sleep(0.01)
            time.sleep(moments.uniform(0, 0.8))
        else:
            time.sleep(moments.uniform(0.1, 4))
        assert process.poll() is None, f"it ended before kill {kill}: make the experiment longer"
        process.send_signal(signal.SIGKILL)
        process.wait()
    last = sparallel("run", small_file(tmp_path), "--out", out)
    assert last.returncode == 0, last.stderr
    assert promised(out) == uninterrupted


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stop_signal_saves_and_names_the_command_that_resumes(
    uninterrupted: Results, tmp_path: Path, number: int, status: int
) -> None:
    file, out = small_file(tmp_path), tmp_path / "out"
    process = subprocess.Popen(
        command("run", file, "--out", out), stderr=subprocess.PIPE, text=True
    )
    while not list(out.glob("checkpoints/*/*")) and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    assert process.returncode == status, said
    assert f"go on with: sparallel run {file} --out {out}" in said
    stopped = load_experiment(out)
    assert stopped.sessions[-1]["outcome"] == "stopped"
    assert any(trial.steps > 0 for study in stopped.studies for trial in study.trials)
    assert run_here(small(tmp_path), out) == uninterrupted


def test_an_extended_folder_holds_what_one_larger_run_gives(
    uninterrupted: Results, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run_here(small(tmp_path, trials=2, max_steps=16, sparsities=(0,)), out)
    run_here(small(tmp_path, trials=4, max_steps=40, sparsities=(0,)), out)
    assert run_here(small(tmp_path), out) == uninterrupted
    larger = run_here(small(tmp_path, strategy="exhaustive", batch_sizes=(16, 32)), out)
    assert larger == run_here(
        small(tmp_path, strategy="exhaustive", batch_sizes=(16, 32)), tmp_path / "at once"
    )


def test_without_its_checkpoints_a_folder_is_extended_all_the_same(
    uninterrupted: Results, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run_here(small(tmp_path, trials=4, max_steps=16), out)
    for path in out.glob("checkpoints/*/*"):
        path.unlink()
    assert run_here(small(tmp_path), out) == uninterrupted


def test_repeats_rerun_the_winner_with_other_seeds_and_leave_k_alone(
    uninterrupted: Results, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    alone = run_here(small(tmp_path, sparsities=(0,)), out)
    assert run_here(small(tmp_path, sparsities=(0,), repeats=2), out) == alone
    studies = load_experiment(out).studies
    arrived = [repeat.steps for study in studies for repeat in study.repeats if repeat.steps]
    assert arrived, "no rerun arrived, so this test shows nothing"
    for study in studies:
        assert [repeat.seed for repeat in study.repeats] == [1, 2]
        assert all(repeat.status is not Status.PENDING for repeat in study.repeats)
        # A rerun is the winner's trial with another seed, wherever and whenever it is run.
        assert study.best_trial is not None
        trial = Trial(
            data="mnist-5k",
            model="simple-cnn",
            optimizer="momentum",
            schedule="constant",
            pruning="snip",
            goal_errors=(0.12, 0.3),
            check_interval=4,
            seed=1,
            batch_size=32,
            sparsity=0.0,
            index=study.best_trial,
            metaparameters=dict(study.best_metaparameters or {}),
        )
        bench = workbench("mnist-5k", "simple-cnn", data_folder(None), "cpu")
        state, _ = advance(trial, start(trial, bench), 80, bench)
        goal = [0.12, 0.3].index(study.goal_error)
        assert state.reached[goal] == study.repeats[0].steps


def test_a_finished_run_does_nothing_more(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_here(small(tmp_path, trials=2, max_steps=16, sparsities=(0,)), out)
    before = [study.examples_trained for study in load_experiment(out).studies]
    run_here(small(tmp_path, trials=2, max_steps=16, sparsities=(0,)), out)
    assert [study.examples_trained for study in load_experiment(out).studies] == before


def test_the_winners_parameters_give_its_test_error(tmp_path: Path) -> None:
    out = tmp_path / "out"
    rows = run_here(small(tmp_path, sparsities=(0,)), out)
    bench = workbench("mnist-5k", "simple-cnn", data_folder(None), "cpu")
    for row in rows:
        name = f"b32-s0-goal-{row['goal_error']}-trial-{row['best_trial']}.pt"
        network = SimpleCNN((1, 28, 28), 10)
        network.load_state_dict(torch.load(out / "winners" / name, weights_only=True))
        images, labels = bench.test.gather(torch.arange(1_000))
        with torch.no_grad():
            wrong = (network(images).argmax(1) != labels).float().mean()
        assert float(wrong) == pytest.approx(row["test_error"], abs=0.0011)
