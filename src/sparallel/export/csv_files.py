"""Export as CSV: two files any spreadsheet opens."""

from __future__ import annotations

from pathlib import Path

from sparallel.export.tables import studies_table, trials_table
from sparallel.records import ExperimentRecord
from sparallel.tabular import write_csv

FILES = ("studies.csv", "trials.csv")


def write(experiment: ExperimentRecord, folder: Path) -> None:
    """Write studies.csv and trials.csv into the folder."""
    write_csv(studies_table(experiment), folder / FILES[0])
    write_csv(trials_table(experiment), folder / FILES[1])
