"""Whole measurements: the same records however they are run, killed, resumed or extended."""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import time
from dataclasses import astuple
from pathlib import Path

import pytest

from sparallel.errors import DamagedStoreError, FolderBusyError
from sparallel.loading import load_spec
from sparallel.smoothness.asking import plan_of
from sparallel.smoothness.path_run import PathRun
from sparallel.smoothness.plan import Plan
from sparallel.smoothness.reading import load_smoothness
from sparallel.smoothness.records import PathRecord, PointRecord
from sparallel.smoothness.running import Watch, measure_session
from sparallel.smoothness.store import SmoothnessStore
from tests.experiments import command, sparallel

WORDS = "quickstart --steps 30 --points 6 --examples 160 --seeds 2 --batch-size 16".split()

Paths = tuple[PathRecord, ...]


def plan(**changes: object) -> Plan:
    """What WORDS ask for."""
    asked = plan_of(
        load_spec("quickstart"), steps=30, points=6, examples="160", seeds=2, batch_size=16
    )
    return asked.model_copy(update=changes)


def measured(asked: Plan, folder: Path, watch: Watch | None = None, workers: int = 2) -> Paths:
    report = measure_session(asked, folder, workers=workers, device="cpu", watch=watch)
    assert not report.failures
    return load_smoothness(folder).paths


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory, scratch_cache: Path) -> Paths:
    """What the measurement gives when nothing happens to it."""
    del scratch_cache
    return measured(plan(), tmp_path_factory.mktemp("uninterrupted") / "out")


def test_every_run_is_measured_at_every_point(uninterrupted: Paths) -> None:
    """So that the tests below compare something."""
    assert [(path.sparsity, path.seed) for path in uninterrupted] == list(plan().paths)
    for path in uninterrupted:
        assert (path.finished, path.step, path.infeasible_at) == (True, 30, None)
        assert tuple(point.step for point in path.points) == plan().points
        for point in path.points:
            assert all(math.isfinite(value) for value in astuple(point))
    assert len({path.points for path in uninterrupted}) == len(uninterrupted)


def test_one_worker_and_two_give_the_same_records(uninterrupted: Paths, tmp_path: Path) -> None:
    assert measured(plan(), tmp_path / "out", workers=1) == uninterrupted


def test_a_killed_worker_loses_only_its_point(uninterrupted: Paths, tmp_path: Path) -> None:
    class Killer(Watch):
        """Kills every worker at the third and eighth point."""

        told = crashes = 0

        def advanced(self, path: PathRun, point: PointRecord | None) -> None:
            self.told += 1
            if self.told in (3, 8):
                for child in workers_of(os.getpid()):
                    os.kill(child, signal.SIGKILL)

        def crashed(self, path: PathRun, why: str, final: bool) -> None:
            assert "signal 9" in why
            assert not final
            self.crashes += 1

    watch = Killer()
    assert measured(plan(), tmp_path / "out", watch) == uninterrupted
    assert watch.crashes >= 2


def workers_of(process_id: int) -> list[int]:
    """The worker processes of a driver."""
    listed = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(process_id)],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split(None, 1) for line in listed.stdout.splitlines()]
    return [int(number) for number, words in lines if "spawn_main" in words]


def test_a_run_killed_at_random_ends_as_if_it_had_not_been(
    uninterrupted: Paths, tmp_path: Path
) -> None:
    """One kill while it starts, then four at random moments of its progress."""
    moments, out = random.Random(20210504), tmp_path / "out"
    words = command("smoothness", *WORDS, "--out", out, "--workers", "1")
    for kill in range(5):
        process = subprocess.Popen(words, stderr=subprocess.DEVNULL, start_new_session=True)
        began = time.time()
        while kill and newest(out) < began and process.poll() is None:
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 0.6))
        assert process.poll() is None, f"it ended before kill {kill}: make it longer"
        process.send_signal(signal.SIGKILL)
        process.wait()
    last = sparallel("smoothness", *WORDS, "--out", out)
    assert last.returncode == 0, last.stderr
    assert load_smoothness(out).paths == uninterrupted
    assert not list(out.glob("checkpoints/*/*")), "a finished run leaves no checkpoint behind"


def newest(folder: Path) -> float:
    """When a checkpoint last came or went."""
    return max((path.stat().st_mtime for path in folder.glob("checkpoints/*")), default=0.0)


def test_ctrl_c_saves_within_a_moment_and_names_the_command_that_resumes(
    uninterrupted: Paths, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(
        command("smoothness", *WORDS, "--out", out), stderr=subprocess.PIPE, text=True
    )
    while not list(out.glob("checkpoints/*/*")) and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert time.monotonic() - began < 20  # a second or two; more on a machine under load
    assert "go on with: sparallel smoothness quickstart" in said
    stopped = load_smoothness(out)
    assert stopped.sessions[-1]["outcome"] == "stopped"
    assert any(path.points for path in stopped.paths)
    assert measured(plan(), out) == uninterrupted


def test_more_sparsities_and_seeds_give_what_one_larger_measurement_gives(
    uninterrupted: Paths, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    first = measured(plan(sparsities=(0.9,), seeds=1), out)
    assert first == uninterrupted[1:2]
    assert measured(plan(sparsities=(0,), seeds=1), out) == uninterrupted[:2]
    assert measured(plan(), out) == uninterrupted


def test_without_its_checkpoints_a_folder_starts_over_and_ends_the_same(
    uninterrupted: Paths, tmp_path: Path
) -> None:
    out, stops = tmp_path / "out", []

    class Stopper(Watch):
        def advanced(self, path: PathRun, point: PointRecord | None) -> None:
            stops.append(point)

    for _ in range(2):
        stops.clear()
        measure_session(
            plan(),
            out,
            workers=2,
            device="cpu",
            watch=Stopper(),
            stopping=lambda: len(stops) >= 9,
        )
        checkpoints = list(out.glob("checkpoints/*/*"))
        assert checkpoints
        for path in checkpoints:
            path.unlink()
    assert measured(plan(), out) == uninterrupted


def test_a_damaged_checkpoint_is_refused_and_what_to_do_is_said(tmp_path: Path) -> None:
    out, stops = tmp_path / "out", []

    class Stopper(Watch):
        def advanced(self, path: PathRun, point: PointRecord | None) -> None:
            stops.append(point)

    measure_session(
        plan(), out, workers=1, device="cpu", watch=Stopper(), stopping=lambda: len(stops) >= 2
    )
    for path in out.glob("checkpoints/*/*"):
        path.write_bytes(path.read_bytes()[:-7] + b"damaged")
    with pytest.raises(DamagedStoreError, match="delete it and this run starts over"):
        measure_session(plan(), out, workers=1, device="cpu")


def test_a_diverging_run_is_infeasible_and_its_earlier_points_stand(tmp_path: Path) -> None:
    asked = plan(
        metaparameters={"learning_rate": 1e5, "momentum": 0.9}, seeds=1, sparsities=(0, 0.9)
    )
    for path in measured(asked, tmp_path / "out"):
        assert path.finished
        assert path.infeasible_at in asked.points
        for point in path.points:
            assert point.step < path.infeasible_at
            assert point.lipschitz is None or math.isfinite(point.lipschitz)


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    store = SmoothnessStore(tmp_path, plan())
    try:
        with pytest.raises(FolderBusyError):
            SmoothnessStore(tmp_path, plan())
    finally:
        store.close()
    record = load_smoothness(tmp_path)
    assert [path.finished for path in record.paths] == [False] * 4
