"""`sparallel run`: run or resume an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparallel.cli import options
from sparallel.cli.stopping import conclude, say_once_where_kernels_are_off, stop_signals


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

    say_once_where_kernels_are_off(asked, sparse_kernels)
    with stop_signals() as stops, watch_for_terminal(asked, folder, count) as watch:
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
    conclude(report, stops, "trial", "some studies are open")
