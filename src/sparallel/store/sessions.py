"""The sessions of a folder: who computed, when, with what."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from sparallel.store.writer import Writer


@dataclass
class Sessions:
    """Records the provenance of a folder's results, one row a run of the command."""

    writer: Writer
    _current: int | None = None

    def begin(self, provenance: Mapping[str, object]) -> None:
        """Record who computes from now on, with what."""
        with self.writer.transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO sessions (started, provenance) VALUES (?, ?)",
                (_now(), json.dumps(provenance)),
            )
            self._current = cursor.lastrowid

    def end(self, outcome: str) -> None:
        """Record how it ended."""
        with self.writer.transaction() as connection:
            connection.execute(
                "UPDATE sessions SET ended = ?, outcome = ? WHERE id = ?",
                (_now(), outcome, self._current),
            )


def read_sessions(connection: sqlite3.Connection) -> tuple[Mapping[str, object], ...]:
    """The provenance of every session, the first one first."""
    return tuple(
        {**json.loads(provenance), "started": started, "ended": ended, "outcome": outcome}
        for started, ended, outcome, provenance in connection.execute(
            "SELECT started, ended, outcome, provenance FROM sessions ORDER BY id"
        )
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
