"""Before a session: are data and network there and right, and what its numbers will depend on."""

from __future__ import annotations

import sys
from pathlib import Path

from pydantic import BaseModel

from sparallel import machine
from sparallel.data import DATA_SETS
from sparallel.data.source import data_folder
from sparallel.kernels import available, instruction_set
from sparallel.models.building import build
from sparallel.models.checking import check_network
from sparallel.spec import Experiment
from sparallel.training.device import device_named, kernels_named, numerics
from sparallel.training.tasks import Place


def prepare(asked: Experiment, *, device: str, sparse_kernels: str, data_dir: Path | None) -> Place:
    """Where this experiment's tasks find their data and compute; raises what a user can mend."""
    kernels = kernels_named(sparse_kernels)
    place = Place(data_folder(data_dir).absolute(), device_named(device), kernels)
    source = DATA_SETS.get(asked.data)
    source.verify(place.data_dir)
    check_network(build(asked.model, source), asked.model)
    return place


def provenance(place: Place, workers: int, spec: BaseModel) -> dict[str, object]:
    """What a session's numbers depend on, as its folder records it."""
    kernels = instruction_set() if available() else "none"
    return {
        "command": sys.argv,
        "versions": machine.versions(),
        "commit": machine.commit(),
        "machine": machine.description(),
        "numerics": numerics(place.device),
        "device": place.device,
        "sparse_kernels": f"{place.sparse_kernels} ({kernels})",
        "workers": workers,
        "spec": spec.model_dump(mode="json"),
    }
