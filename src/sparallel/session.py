"""One session: open the folder, start the workers, run, and record how it went."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from sparallel import machine
from sparallel.data import DATA_SETS
from sparallel.data.source import data_folder
from sparallel.executors.local import LocalExecutor
from sparallel.kernels import available, instruction_set
from sparallel.models.building import build
from sparallel.models.checking import check_network
from sparallel.runner import Report, Runner, Watch
from sparallel.spec import Experiment
from sparallel.store.store import Store
from sparallel.training.device import device_named, kernels_named
from sparallel.training.tasks import Place


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
    kernels = kernels_named(sparse_kernels)
    place = Place(data_folder(data_dir).absolute(), device_named(device), kernels)
    source = DATA_SETS.get(asked.data)
    source.verify(place.data_dir)
    check_network(build(asked.model, source), asked.model)
    store = Store(folder, asked)
    count = workers or machine.cores()
    try:
        executor = LocalExecutor(count)
        try:
            store.begin_session(
                {
                    "command": sys.argv,
                    "versions": machine.versions(),
                    "commit": machine.commit(),
                    "machine": machine.description(),
                    "numerics": machine.numerics(place.device),
                    "device": place.device,
                    "sparse_kernels": f"{kernels} ({instruction_set() if available() else 'none'})",
                    "workers": count,
                    "spec": asked.model_dump(mode="json"),
                }
            )
            runner = Runner(asked, store, executor, place, watch or Watch(), stopping)
            report = runner.run()
            outcome = "stopped" if report.stopped else "failed" if report.failures else "done"
            store.end_session(outcome)
        finally:
            executor.close()
    finally:
        store.close()
    return report
