"""`sparallel smoothness`: the gradient's smoothness and variance along training."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from sparallel.cli import options
from sparallel.cli.stopping import conclude, say_once_where_kernels_are_off, stop_signals
from sparallel.smoothness.asking import plan_of
from sparallel.smoothness.reading import load_smoothness
from sparallel.smoothness.records import SmoothnessRecord
from sparallel.smoothness.summary import Quantity, Summary, dense_of, summarise


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
    if json_:
        typer.echo(json.dumps(document(record), indent=2))
        return
    print_summary(record, Console())


def document(record: SmoothnessRecord) -> dict[str, object]:
    """The record and its summary as one JSON document."""
    return {**asdict(record), "summary": [_row(s, summarise(record)) for s in summarise(record)]}


def _row(summary: Summary, summaries: tuple[Summary, ...]) -> dict[str, object]:
    dense = dense_of(summaries)
    names = ("lipschitz", "delta", "beta")
    row: dict[str, object] = {"sparsity": summary.sparsity, "until": summary.until}
    for name in names:
        own: Quantity | None = getattr(summary, name)
        other: Quantity | None = getattr(dense, name, None)
        ratio = own.over(other) if own and other else None
        row[name] = own.mean if own else None
        row[f"{name}_deviation"] = own.deviation if own else None
        row[f"{name}_ratio"] = ratio.mean if ratio else None
    row["lipschitz_error"] = summary.lipschitz_error
    row["noise_scale"] = summary.noise_scale
    row["infeasible"] = summary.infeasible
    return row


def print_summary(record: SmoothnessRecord, console: Console) -> None:
    """A row a sparsity: means along training, and their ratio to the dense network's."""
    summaries = summarise(record)
    dense = dense_of(summaries)
    title = f"{record.name}: smoothness along training (mean ± deviation over seeds)"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, title_style="bold")
    for column in ("sparsity", "L", "L / dense", "Delta", "beta", "beta / dense", "noise scale"):
        table.add_column(column, justify="right")
    for summary in summaries:
        table.add_row(
            f"{summary.sparsity:g}",
            _said(summary.lipschitz),
            _said(_over(summary.lipschitz, dense.lipschitz if dense else None)),
            _said(summary.delta),
            _said(summary.beta),
            _said(_over(summary.beta, dense.beta if dense else None)),
            "" if summary.noise_scale is None else f"{summary.noise_scale:.3g}",
        )
    console.print(table)
    for summary in summaries:
        if summary.infeasible:
            console.print(
                f"At sparsity {summary.sparsity:g}, {summary.infeasible} of {record_seeds(record)} "
                "runs diverged and are left out of the means: lower learning_rate.",
                highlight=False,
            )


def record_seeds(record: SmoothnessRecord) -> int:
    """How many runs a sparsity has."""
    return len({path.seed for path in record.paths})


def _over(own: Quantity | None, other: Quantity | None) -> Quantity | None:
    return own.over(other) if own and other else None


def _said(quantity: Quantity | None) -> str:
    if quantity is None:
        return ""
    spread = f" ± {quantity.deviation:.2g}" if quantity.deviation is not None else ""
    return f"{quantity.mean:.3g}{spread}"
