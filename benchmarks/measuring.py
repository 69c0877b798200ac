"""Running an experiment and timing it, less the start of its workers."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sparallel.data.source import data_folder
from sparallel.executors.local import LocalExecutor
from sparallel.kernels import Mode
from sparallel.machine import cores
from sparallel.runner import Runner, Watch
from sparallel.spec import Experiment
from sparallel.store.reading import load_experiment
from sparallel.store.store import Store
from sparallel.training.state import TrialState
from sparallel.training.tasks import Advance, Advanced, Place
from sparallel.training.trial import Trial
from sparallel.training.workbench import workbench


@dataclass(frozen=True)
class WarmUp:
    """Makes a worker load torch and the data before the clock starts."""

    data: str
    model: str
    place: Place

    def run(self, stop: object) -> None:
        """Load."""
        del stop
        place = self.place
        workbench(self.data, self.model, place.data_dir, place.device, place.sparse_kernels)


@dataclass(frozen=True)
class Measured:
    """What a run took and did."""

    seconds: float  # of the run, workers started
    worker_seconds: float  # spent in slices, all workers together
    driver_seconds: float  # of the driver's processor time
    trained: int
    checked: int
    checks: int
    peak_megabytes: float  # of the largest worker


def run_measured(
    experiment: Experiment,
    workers: int,
    data_dir: Path | None = None,
    sparse_kernels: Mode = "auto",
) -> Measured:
    """Run an experiment in a scratch folder on warm workers."""
    place = Place(data_folder(data_dir).absolute(), "cpu", sparse_kernels)
    executor = LocalExecutor(workers)
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(Path(scratch) / "run", experiment)
        try:
            for worker in range(workers):
                executor.submit(worker, WarmUp(experiment.data, experiment.model, place))
            warm = 0
            while warm < workers:
                warm += len(executor.wait(1.0))
            for pid in executor.process_ids:  # the peak is the run's, not that of loading
                Path(f"/proc/{pid}/clear_refs").write_text("5")
            began, processor = time.perf_counter(), time.process_time()
            report = Runner(experiment, store, executor, place, Watch()).run()
            seconds = time.perf_counter() - began
            driver_seconds = time.process_time() - processor
            assert not report.failures, report.failures
            peak = max(_peak_megabytes(pid) for pid in executor.process_ids)
        finally:
            executor.close()
            store.close()
        record = load_experiment(Path(scratch) / "run")
        studies = {(s.batch_size, s.sparsity): s for s in record.studies}.values()
        return Measured(
            seconds=seconds,
            worker_seconds=sum(study.seconds for study in studies),
            driver_seconds=driver_seconds,
            trained=sum(study.examples_trained for study in studies),
            checked=sum(study.examples_checked for study in studies),
            checks=_checks(Path(scratch) / "run"),
            peak_megabytes=peak,
        )


def run_trials(
    trials: list[Trial], until_step: int, data_dir: Path, sparse_kernels: Mode = "auto"
) -> list[TrialState]:
    """Run single trials to their end or a budget, one a core at a time."""
    place = Place(data_dir.absolute(), "cpu", sparse_kernels)
    executor = LocalExecutor(cores())
    states: dict[int, TrialState] = {}
    waiting = list(range(len(trials)))
    try:
        while len(states) < len(trials):
            while waiting and executor.free():
                index = waiting.pop(0)
                executor.submit(index, Advance(trials[index], None, until_step, place))
            for done in executor.wait(1.0):
                assert isinstance(done.result, Advanced), done.result
                states[int(str(done.key))] = done.result.state
    finally:
        executor.close()
    return [states[index] for index in range(len(trials))]


def _peak_megabytes(process_id: int) -> float:
    status = Path(f"/proc/{process_id}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _checks(folder: Path) -> int:
    import sqlite3

    with sqlite3.connect(folder / "sparallel.sqlite") as connection:
        (checks,) = connection.execute("SELECT sum(checks) FROM trials").fetchone()
    return int(checks)
