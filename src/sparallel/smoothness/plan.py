"""What is to be measured: which runs, with which metaparameters, at which of their steps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from sparallel.errors import DifferentExperimentError
from sparallel.spec import Experiment, Sparsity

WORKLOAD = ("data", "model", "optimizer", "schedule", "pruning", "seed")
"""What of the experiment a run depends on; its goals and search are not used here."""

MEASURED = ("batch_size", "metaparameters", "steps", "points", "examples")


class Plan(BaseModel):
    """The runs to measure: one a sparsity and seed, all with the same metaparameters."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    experiment: Experiment
    batch_size: int = Field(ge=1)
    metaparameters: Mapping[str, float]
    steps: int = Field(ge=1)
    points: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1)  # steps, rising
    examples: int = Field(ge=2)
    sparsities: tuple[Sparsity, ...] = Field(min_length=1)
    seeds: int = Field(ge=1)

    @property
    def paths(self) -> tuple[tuple[float, int], ...]:
        """Sparsity and seed of every run; the sparsities of one seed share an initialization."""
        return tuple((s, seed) for seed in range(self.seeds) for s in sorted(self.sparsities))


def log_spaced(steps: int, points: int) -> tuple[int, ...]:
    """Step 0, then distinct steps evenly spaced on a log scale, up to the last one.

    Training changes fastest at its start. Where whole steps are too few for the early spacing,
    they are all taken, and the later ones are spaced so that the number asked for is kept.
    """
    last, count = steps - 1, min(points, steps)
    for tried in range(count, 100 * count):
        spaced = np.unique(np.geomspace(1, max(last, 1), tried).round().astype(int))
        if len(spaced) >= count - 1:
            break
    # One try may jump past the number wanted; leave out what lies closest to its neighbours.
    kept = [0, *(int(step) for step in spaced if step <= last)]
    while len(kept) > count:
        gaps = [kept[i + 1] / max(kept[i - 1], 0.5) for i in range(1, len(kept) - 1)]
        del kept[1 + int(np.argmin(gaps))]
    return tuple(kept)


def evenly_spaced(steps: int, every: int) -> tuple[int, ...]:
    """Step 0 and every so many steps after it."""
    return tuple(range(0, steps, every))


def extended(stored: Plan, asked: Plan, folder: Path) -> Plan:
    """The folder's plan with what was asked added: more sparsities and seeds, nothing else."""
    differences = [
        f"{key} is {getattr(of, key)!r} there and {getattr(now, key)!r} here"
        for keys, of, now in (
            (WORKLOAD, stored.experiment, asked.experiment),
            (MEASURED, stored, asked),
        )
        for key in keys
        if getattr(of, key) != getattr(now, key)
    ]
    if differences:
        raise DifferentExperimentError(
            f"{folder} measures something else: {'; '.join(differences)}. It can grow by "
            "sparsities and seeds only: choose another folder with --out."
        )
    return stored.model_copy(
        update={
            "sparsities": tuple(sorted({*stored.sparsities, *asked.sparsities})),
            "seeds": max(stored.seeds, asked.seeds),
        }
    )
