"""Export as Parquet: the same two tables with their types, for data frames and databases."""

from __future__ import annotations

from pathlib import Path

from sparallel.errors import SpecError
from sparallel.export.tables import studies_table, trials_table
from sparallel.records import ExperimentRecord
from sparallel.tabular import Table

FILES = ("studies.parquet", "trials.parquet")


def write(experiment: ExperimentRecord, folder: Path) -> None:
    """Write studies.parquet and trials.parquet into the folder."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise SpecError(
            "Exporting to parquet needs pyarrow, which is not installed: "
            "install it with `pip install 'sparallel[parquet]'`, or export with --to csv."
        ) from error

    def save(table: Table, path: Path) -> None:
        columns = {name: table.column(name) for name in table.columns}
        pyarrow.parquet.write_table(pyarrow.table(columns), path)

    save(studies_table(experiment), folder / FILES[0])
    save(trials_table(experiment), folder / FILES[1])
