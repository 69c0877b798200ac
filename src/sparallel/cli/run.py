"""`sparallel run`: run or resume an experiment."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparallel.cli import options
from sparallel.spec import Experiment

if TYPE_CHECKING:
    from sparallel.runner import Report

INTERRUPTED, TERMINATED = 130, 143


def run(
    experiment: options.ExperimentArgument,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Experiment folder.", show_default="runs/EXPERIMENT"),
    ] = None,
    batch_sizes: options.BatchSizes = None,
    sparsities: options.Sparsities = None,
    trials: options.Trials = None,
    max_steps: options.MaxSteps = None,
    seed: options.Seed = None,
    repeats: options.Repeats = None,
    strategy: options.Strategy = None,
    workers: options.Workers = None,
    device: options.Device = "auto",
    sparse_kernels: options.SparseKernels = "auto",
    data_dir: options.DataDir = None,
    settings: options.Set = None,
) -> None:
    """Run an experiment, or go on with it: the same command resumes whatever stopped it.

    A folder can be extended: ask for more trials, batch sizes, sparsities or steps, and only what
    is missing runs.
    """
    asked = options.experiment_of(
        experiment,
        batch_sizes=batch_sizes,
        sparsities=sparsities,
        trials=trials,
        max_steps=max_steps,
        seed=seed,
        repeats=repeats,
        strategy=strategy,
        settings=settings,
    )
    folder, count = out or Path("runs") / asked.name, options.worker_count(workers)
    from sparallel.cli.progress import watch_for_terminal
    from sparallel.session import run_session

    _say_once_where_kernels_are_off(asked, sparse_kernels)
    with _stop_signals() as stops, watch_for_terminal(asked, folder, count) as watch:
        report = run_session(
            asked,
            folder,
            workers=count,
            device=device,
            sparse_kernels=sparse_kernels,
            data_dir=data_dir,
            watch=watch,
            stopping=lambda: bool(stops),
        )
    _conclude(report, stops)


def _say_once_where_kernels_are_off(asked: Experiment, mode: str) -> None:
    from sparallel.kernels import available, why_not

    if mode == "auto" and any(asked.sparsities) and not available():
        print(
            f"sparallel: sparse kernels are off ({why_not()}); pruned networks train as masked "
            "dense ones, at the dense cost.",
            file=sys.stderr,
        )


def _conclude(report: Report, stops: list[int]) -> None:
    """Say how it ended, and give the exit status that says so too."""
    if report.failures:
        count = len(report.failures)
        print(
            f"sparallel: {count} trial{'s' * (count > 1)} failed, so some studies are open; "
            f"the same command tries again. The first: {report.failures[0].strip()}",
            file=sys.stderr,
        )
        if not report.stopped:
            sys.exit(1)
    if report.stopped:
        again = shlex.join(["sparallel", *sys.argv[1:]])
        print(f"sparallel: stopped, everything is saved; go on with: {again}", file=sys.stderr)
        sys.exit(TERMINATED if stops[0] == signal.SIGTERM else INTERRUPTED)


@contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """The stop signals received: the first asks politely, a second one ends the process."""
    received: list[int] = []

    def note(number: int, _frame: object) -> None:
        received.append(number)
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, before[one])
        print("sparallel: stopping; saving what is under way ...", file=sys.stderr)

    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    for one in before:
        signal.signal(one, note)
    try:
        yield received
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
