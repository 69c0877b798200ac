"""Which folders hold measured smoothness: told by the store's own mark, without opening it."""

from __future__ import annotations

from pathlib import Path

from sparallel.store.opening import FILE
from sparallel.store.schema import SMOOTHNESS

BESIDE = "smoothness"  # where an experiment's folder may keep the smoothness of its workload
_MARK = slice(68, 72)  # of an SQLite file's header: the application's id, high byte first


def holds_smoothness(folder: Path) -> bool:
    """Is this a folder that `sparallel smoothness` wrote?"""
    try:
        with (folder / FILE).open("rb") as file:
            header = file.read(_MARK.stop)
    except OSError:
        return False
    return int.from_bytes(header[_MARK], "big") == SMOOTHNESS.application_id


def smoothness_beside(folder: Path) -> Path | None:
    """The smoothness folder inside an experiment's folder, where there is one."""
    found = folder / BESIDE
    return found if holds_smoothness(found) else None
