"""One session: open the folder, start the workers, run, and record how it went."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sparallel import machine
from sparallel.executors.local import LocalExecutor
from sparallel.runner import Report, Runner, Watch
from sparallel.spec import Experiment
from sparallel.store.store import Store
from sparallel.training.preparing import prepare, provenance


def run_session(
    asked: Experiment,
    folder: Path,
    *,
    workers: int | None = None,
    device: str = "auto",
    sparse_kernels: str = "auto",
    data_dir: Path | None = None,
    watch: Watch | None = None,
    stopping: Callable[[], bool] = lambda: False,
) -> Report:
    """Run what is missing of an experiment in a folder; returns when done or asked to stop."""
    place = prepare(asked, device=device, sparse_kernels=sparse_kernels, data_dir=data_dir)
    store = Store(folder, asked)
    count = workers or machine.cores()
    try:
        executor = LocalExecutor(count)
        try:
            store.sessions.begin(provenance(place, count, asked))
            runner = Runner(asked, store, executor, place, watch or Watch(), stopping)
            report = runner.run()
            outcome = "stopped" if report.stopped else "failed" if report.failures else "done"
            store.sessions.end(outcome)
        finally:
            executor.close()
    finally:
        store.close()
    return report
