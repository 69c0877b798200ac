"""`sparallel smoothness`: the gradient's smoothness and variance along training."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from sparallel.analysis import analyse
from sparallel.cli import options
from sparallel.cli.smoothness_table import document, print_summary
from sparallel.cli.stopping import conclude, say_once_where_kernels_are_off, stop_signals
from sparallel.smoothness.asking import plan_of
from sparallel.smoothness.prediction import predict
from sparallel.smoothness.reading import load_smoothness
from sparallel.smoothness.words import theory_lines
from sparallel.store.reading import load_experiment


def smoothness(
    experiment: options.ExperimentArgument,
    out: Annotated[Path, typer.Option("--out", help="Smoothness folder.", show_default=False)],
    sparsities: options.Sparsities = None,
    batch_size: Annotated[
        int | None,
        typer.Option("--batch-size", help="Of training.", show_default="128, or the middle one"),
    ] = None,
    metaparameters: Annotated[
        str | None,
        typer.Option(
            "--metaparameters",
            metavar="lr=0.1,...",
            help="Of every run.",
            show_default="lr=0.05, or lr=0.005,momentum=0.9",
        ),
    ] = None,
    measured: Annotated[
        Path | None,
        typer.Option(
            "--experiment",
            metavar="DIR",
            help="A measured experiment on this workload: train with the metaparameters of its "
            "best dense trial, and compare the theory's prediction with it.",
        ),
    ] = None,
    steps: Annotated[
        int | None, typer.Option("--steps", help="Training steps a run.", show_default="4000")
    ] = None,
    points: Annotated[
        int | None,
        typer.Option("--points", help="Points to measure a run, log-spaced.", show_default="40"),
    ] = None,
    every: Annotated[
        int | None, typer.Option("--every", help="Measure every so many steps instead.")
    ] = None,
    examples: Annotated[
        str | None,
        typer.Option(
            "--examples",
            metavar="N|all",
            help="Training examples to measure on.",
            show_default="5000",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="Runs a sparsity.")] = 1,
    seed: options.Seed = None,
    workers: options.Workers = None,
    device: options.Device = "auto",
    sparse_kernels: options.SparseKernels = "auto",
    data_dir: options.DataDir = None,
    settings: options.Set = None,
    json_: options.Json = False,
) -> None:
    """Measure why sparse training is slower: L, Delta, beta and the noise scale along training.

    Trains one run a sparsity and seed, all with the same metaparameters and data order, and
    measures at points along the way how fast the gradient changes along the step (L) and how much
    it varies between examples (beta). The same command resumes; more sparsities or seeds extend.
    """
    asked = options.experiment_of(experiment, sparsities=sparsities, seed=seed, settings=settings)
    plan = plan_of(
        asked,
        batch_size=batch_size,
        metaparameters=metaparameters,
        steps=steps,
        every=every,
        points=points,
        examples=examples,
        seeds=seeds,
        measured=measured,
    )
    count = options.worker_count(workers)
    from sparallel.cli.smoothness_progress import watch_for_terminal
    from sparallel.smoothness.running import measure_session

    say_once_where_kernels_are_off(asked, sparse_kernels)
    with stop_signals() as stops, watch_for_terminal(plan, out, count) as watch:
        report = measure_session(
            plan,
            out,
            workers=count,
            device=device,
            sparse_kernels=sparse_kernels,
            data_dir=data_dir,
            watch=watch,
            stopping=lambda: bool(stops),
        )
    conclude(report, stops, "run", "some points are missing")
    record = load_smoothness(out)
    beside = None if measured is None else load_experiment(measured)
    if json_:
        predictions = predict(record, None if beside is None else analyse([beside]))
        whole = {**document(record), "predictions": [asdict(p) for p in predictions]}
        typer.echo(json.dumps(whole, indent=2))
        return
    console = Console()
    print_summary(record, console)
    for line in theory_lines(record, beside):
        console.print(line, highlight=False, markup=False)
