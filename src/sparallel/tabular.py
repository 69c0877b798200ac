"""A table: what every figure draws and every export writes; no number hides in a picture."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Table:
    """Named columns and rows of plain values; None is an empty cell."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, columns: Sequence[str], rows: Sequence[Mapping[str, Cell]]) -> Table:
        """The table of these records; a value a record lacks is an empty cell."""
        return cls(tuple(columns), tuple(tuple(row.get(c) for c in columns) for row in rows))

    def records(self) -> Iterator[dict[str, Cell]]:
        """Each row by its columns' names."""
        for row in self.rows:
            yield dict(zip(self.columns, row, strict=True))

    def column(self, name: str) -> list[Cell]:
        """One column's values, top to bottom."""
        at = self.columns.index(name)
        return [row[at] for row in self.rows]


def write_csv(table: Table, path: Path) -> Path:
    """Write the table as CSV: a header line, then a line a row."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows(table.rows)
    return path
