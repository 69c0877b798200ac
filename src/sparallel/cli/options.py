"""Options that several commands share, spelled the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparallel.errors import SpecError
from sparallel.loading import load_spec
from sparallel.machine import cores
from sparallel.spec import Experiment

ExperimentArgument = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="A preset's name ('sparallel list' shows them) or the path of a TOML file.",
        show_default=False,
    ),
]
FolderArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="An experiment folder.", show_default=False)
]
BatchSizes = Annotated[
    str | None, typer.Option("--batch-sizes", metavar="16,64", help="Only these batch sizes.")
]
Sparsities = Annotated[
    str | None, typer.Option("--sparsities", metavar="0,0.9", help="Only these sparsities.")
]
Trials = Annotated[int | None, typer.Option("--trials", help="Metaparameters to try a study.")]
MaxSteps = Annotated[int | None, typer.Option("--max-steps", help="Step budget of a trial.")]
Seed = Annotated[
    int | None, typer.Option("--seed", help="Moves the initializations and the data order.")
]
Repeats = Annotated[
    int | None,
    typer.Option("--repeats", help="Rerun every study's winner with this many more seeds."),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", help="Worker processes.", show_default="one a core"),
]
Strategy = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="race|exhaustive",
        help="Stop trials that can no longer win (same result), or run every one to its end.",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        help="Folder of the data sets.",
        show_default="SPARALLEL_DATA, or the user's cache",
    ),
]
Device = Annotated[
    str, typer.Option("--device", metavar="auto|cpu|cuda", help="Where the networks train.")
]
SparseKernels = Annotated[
    str,
    typer.Option(
        "--sparse-kernels",
        metavar="auto|on|off",
        help="Train pruned layers with their kept weights only: where it is faster, everywhere, "
        "or nowhere.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Any key of the TOML, e.g. --set race.finishers=3."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def experiment_of(
    source: str,
    *,
    batch_sizes: str | None = None,
    sparsities: str | None = None,
    trials: int | None = None,
    max_steps: int | None = None,
    seed: int | None = None,
    repeats: int | None = None,
    strategy: str | None = None,
    settings: list[str] | None = None,
) -> Experiment:
    """The experiment that a command's words ask for."""
    changes: dict[str, object] = {
        "batch_sizes": _numbers("--batch-sizes", batch_sizes, int),
        "sparsities": _numbers("--sparsities", sparsities, float),
        "trials": trials,
        "max_steps": max_steps,
        "seed": seed,
        "repeats": repeats,
        "strategy": strategy,
    }
    return load_spec(source, changes, settings or ())


def worker_count(workers: int | None) -> int:
    """The worker processes asked for; one a core where none are."""
    if workers is not None and workers < 1:
        raise SpecError(f"--workers takes 1 or more, not {workers}.")
    return workers or cores()


def _numbers(
    option: str, text: str | None, kind: type[int] | type[float]
) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        return tuple(kind(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        what = "whole numbers" if kind is int else "numbers"
        raise SpecError(f"{option} takes {what} with commas between them, not {text!r}.") from error
