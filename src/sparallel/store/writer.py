"""A folder's connection, written one transaction at a time."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparallel.store.opening import told_plainly

CHECKPOINTS = "checkpoints"


@dataclass(frozen=True)
class Writer:
    """The one writer of an experiment folder."""

    folder: Path
    connection: sqlite3.Connection

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing; on disk when it returns."""
        with told_plainly(self.folder):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
            except BaseException:
                self.connection.rollback()
                raise
            self.connection.execute("COMMIT")

    def row(self, query: str, key: tuple[object, ...]) -> Any:
        """The one row a query finds, or None."""
        with told_plainly(self.folder):
            return self.connection.execute(query, key).fetchone()

    def discard(self, name: str | None) -> None:
        """Delete a file below checkpoints/ that nothing points to any more."""
        if name is not None:
            with told_plainly(self.folder):
                (self.folder / CHECKPOINTS / name).unlink(missing_ok=True)
