"""Measure what is missing in a folder: runs to workers, what they find to the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sparallel import machine
from sparallel.executors import Crash, Executor
from sparallel.executors.local import LocalExecutor
from sparallel.runner import ATTEMPTS, POLL_SECONDS, Report
from sparallel.smoothness.path_run import PathRun
from sparallel.smoothness.plan import Plan
from sparallel.smoothness.records import PointRecord
from sparallel.smoothness.store import SmoothnessStore
from sparallel.smoothness.tasks import Measured
from sparallel.training.preparing import prepare, provenance


class Watch:
    """Hears what a measurement does; this one is silent."""

    def planned(self, paths: list[PathRun]) -> None:
        """The runs of this session, finished ones included."""

    def advanced(self, path: PathRun, point: PointRecord | None) -> None:
        """A run has come further, perhaps by a measured point, and that is safe."""

    def crashed(self, path: PathRun, why: str, final: bool) -> None:
        """A task gave no result; it is tried again, or its run has failed."""


@dataclass
class _Runner:
    paths: list[PathRun]
    executor: Executor
    watch: Watch
    stopping: Callable[[], bool]
    report: Report = field(default_factory=Report)
    _crashes: dict[int, int] = field(default_factory=dict)  # in a row, by path

    def run(self) -> Report:
        self._fill()
        while any(path.busy for path in self.paths):
            saves = [self._take(done.key, done.result) for done in self.executor.wait(POLL_SECONDS)]
            # Workers get their next tasks before the disk is asked: it is they who are scarce.
            self._fill()
            for save in saves:
                save()
        return self.report

    def _fill(self) -> None:
        """Give every free worker the run with the fewest points: all grow side by side."""
        if self.stopping():
            self.report.stopped = True
            self.executor.interrupt()
            return
        while self.executor.free():
            waiting = [
                (path.measured, number)
                for number, path in enumerate(self.paths)
                if not (path.busy or path.finished or path.failed)
            ]
            if not waiting:
                return
            _, number = min(waiting)
            self.executor.submit(number, self.paths[number].next_task())

    def _take(self, key: object, result: object) -> Callable[[], None]:
        assert isinstance(key, int)
        path = self.paths[key]
        if isinstance(result, Measured):
            self._crashes.pop(key, None)
            save = path.take(result)

            def save_and_tell() -> None:
                save()
                self.watch.advanced(path, result.point)

            return save_and_tell
        path.busy = False
        if not isinstance(result, Crash):  # stopped before there was anything to keep
            return lambda: None
        self._crashes[key] = self._crashes.get(key, 0) + 1
        path.failed = self._crashes[key] >= ATTEMPTS
        self.watch.crashed(path, result.why, path.failed)
        if not path.failed:
            return lambda: None
        self.report.failures.append(f"{path.label}: {result.why}")
        return lambda: path.store.record_failure(path.sparsity, path.seed, result.why)


def measure_session(
    asked: Plan,
    folder: Path,
    *,
    workers: int | None = None,
    device: str = "auto",
    sparse_kernels: str = "auto",
    data_dir: Path | None = None,
    watch: Watch | None = None,
    stopping: Callable[[], bool] = lambda: False,
) -> Report:
    """Measure what is missing of a plan in a folder; returns when done or asked to stop."""
    place = prepare(
        asked.experiment, device=device, sparse_kernels=sparse_kernels, data_dir=data_dir
    )
    store = SmoothnessStore(folder, asked)
    count = workers or machine.cores()
    try:
        paths = [PathRun.resume(*key, store, place) for key in asked.paths]
        executor = LocalExecutor(count)
        try:
            store.sessions.begin(provenance(place, count, asked))
            watch = watch or Watch()
            watch.planned(paths)
            report = _Runner(paths, executor, watch, stopping).run()
            outcome = "stopped" if report.stopped else "failed" if report.failures else "done"
            store.sessions.end(outcome)
        finally:
            executor.close()
    finally:
        store.close()
    return report
