"""This machine: one single-threaded process a core."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import threading
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

from sparallel.executors import Crash, Done, Task

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def _work(connection: Connection, stop_flag: Any) -> None:
    """A worker's life: take a task, run it, send back its result."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides what Ctrl-C means
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _die_with_parent()
    with contextlib.suppress(EOFError, OSError):
        while True:
            task: Task[object] = connection.recv()
            connection.send(_outcome(task, stop_flag))


def _outcome(task: Task[object], stop_flag: Any) -> object:
    from sparallel.training.trial import Interrupted

    try:
        return task.run(lambda: bool(stop_flag.value))
    except Interrupted:
        return None
    except Exception:
        return Crash(traceback.format_exc(limit=-5))


def _die_with_parent() -> None:
    """Leave at once when the driver is gone: its folder may already be another run's."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@dataclass
class _Worker:
    process: SpawnProcess
    connection: Connection
    key: object = None  # of the task it is running


class LocalExecutor:
    """Runs tasks in `workers` processes of this machine, replacing any that dies."""

    def __init__(self, workers: int) -> None:
        self._context: SpawnContext = multiprocessing.get_context("spawn")
        # A bare byte, read without a lock: a worker killed while reading it blocks nobody.
        self._stop = self._context.RawValue(ctypes.c_bool, False)
        self._workers = [self._spawn() for _ in range(workers)]

    def _spawn(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, self._stop), daemon=True)
        # Set for the child only while it starts: its libraries read them when they are loaded.
        before = dict(os.environ)
        os.environ.update(ONE_THREAD)
        try:
            process.start()
        finally:
            os.environ.clear()
            os.environ.update(before)
        theirs.close()
        return _Worker(process, ours)

    @property
    def process_ids(self) -> list[int]:
        """The workers' process ids."""
        return [worker.process.pid or 0 for worker in self._workers]

    def free(self) -> int:
        return sum(worker.key is None for worker in self._workers)

    def submit(self, key: object, task: Task[object]) -> None:
        worker = next(worker for worker in self._workers if worker.key is None)
        worker.key = key
        # A broken pipe here is a dead worker, which the next wait finds and reports.
        with contextlib.suppress(OSError):
            worker.connection.send(task)

    def wait(self, seconds: float) -> list[Done[object]]:
        busy = [worker for worker in self._workers if worker.key is not None]
        handles = [w.connection for w in busy] + [w.process.sentinel for w in busy]
        ready = set(wait(handles, timeout=seconds))
        outcomes: list[Done[object]] = []
        for worker in busy:
            if worker.connection not in ready and worker.process.sentinel not in ready:
                continue
            key, worker.key = worker.key, None
            try:
                result = worker.connection.recv()
            except (EOFError, OSError):
                result = Crash(self._replace(worker))
            outcomes.append(Done(key, result))
        return outcomes

    def _replace(self, worker: _Worker) -> str:
        worker.process.join()
        worker.connection.close()
        self._workers[self._workers.index(worker)] = self._spawn()
        code = worker.process.exitcode or 0
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        return f"its worker process died ({how})"

    def interrupt(self) -> None:
        self._stop.value = True

    def close(self) -> None:
        for worker in self._workers:
            worker.connection.close()
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
