"""May this folder go on with that experiment? The same one may grow; another is refused."""

from __future__ import annotations

from pathlib import Path

from sparallel.errors import DifferentExperimentError
from sparallel.spec import Experiment

IDENTITY = (
    "data",
    "model",
    "optimizer",
    "schedule",
    "pruning",
    "goal_errors",
    "check_interval",
    "seed",
)
"""What is measured. A change of any of these, or of the search space, is another experiment."""

GROWING = ("trials", "max_steps", "repeats")


def extended(stored: Experiment, asked: Experiment, folder: Path) -> Experiment:
    """The folder's experiment with what was asked added to it."""
    differences = [
        f"{key} is {getattr(stored, key)!r} there and {getattr(asked, key)!r} here"
        for key in IDENTITY
        if getattr(stored, key) != getattr(asked, key)
    ]
    if not differences and stored.search_space != asked.search_space:
        differences = [
            f"the space of {name} is ({before}) there and ({now}) here"
            for name in asked.metaparameters
            if (before := stored.search_space.dimensions[name])
            != (now := asked.search_space.dimensions[name])
        ]
    if differences:
        raise DifferentExperimentError(
            f"{folder} belongs to another experiment, {stored.name}: {'; '.join(differences)}. "
            "Choose another folder with --out."
        )
    shrinking = [
        f"{key} {getattr(asked, key)} where it has {getattr(stored, key)}"
        for key in GROWING
        if getattr(asked, key) < getattr(stored, key)
    ]
    if stored.strategy == "exhaustive" and asked.strategy == "race":
        shrinking.append("a race where it is exhaustive")
    elif asked.strategy == "race" and asked.race.finishers < stored.race.finishers:
        shrinking.append(f"{asked.race.finishers} finishers where it has {stored.race.finishers}")
    if shrinking:
        raise DifferentExperimentError(
            f"{folder} can be extended but not cut: this asks for {' and '.join(shrinking)}. "
            "Ask for as much or more, or choose another folder with --out."
        )
    return asked.model_copy(
        update={
            "name": stored.name,
            "race": max(stored.race, asked.race, key=lambda race: race.finishers),
            "batch_sizes": tuple(sorted({*stored.batch_sizes, *asked.batch_sizes})),
            "sparsities": tuple(sorted({*stored.sparsities, *asked.sparsities})),
        }
    )
