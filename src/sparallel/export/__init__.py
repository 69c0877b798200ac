"""Results in other tools' formats, never over an existing export."""

from __future__ import annotations

import tempfile
from enum import StrEnum
from pathlib import Path
from types import ModuleType

from sparallel.errors import StoreError
from sparallel.export import csv_files, optuna_storage, parquet
from sparallel.records import ExperimentRecord

__all__ = ["ExportFormat", "export_experiment"]


class ExportFormat(StrEnum):
    """What an experiment can be exported to."""

    CSV = "csv"
    PARQUET = "parquet"
    OPTUNA = "optuna"


_WRITERS: dict[ExportFormat, ModuleType] = {
    ExportFormat.CSV: csv_files,
    ExportFormat.PARQUET: parquet,
    ExportFormat.OPTUNA: optuna_storage,
}


def export_experiment(experiment: ExperimentRecord, to: ExportFormat, folder: Path) -> list[Path]:
    """Write the experiment into the folder and return the files; all of them, or none."""
    writer = _WRITERS[to]
    targets = [folder / name for name in writer.FILES]
    existing = [path for path in targets if path.exists()]
    if existing:
        raise StoreError(
            f"{existing[0]} already exists and an export never overwrites: "
            "move it away, or name another folder with --out."
        )
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{folder} is a file: name a folder for the export with --out.")
    folder.mkdir(parents=True, exist_ok=True)
    # Beside the target, so that moving into place is one rename.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".export-") as unfinished:
        writer.write(experiment, Path(unfinished))
        for path in targets:
            (Path(unfinished) / path.name).rename(path)
    return targets
