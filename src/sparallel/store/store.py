"""The store as its one writer sees it: whose folder it is, its trials, winners and sessions."""

from __future__ import annotations

from pathlib import Path

from sparallel.spec import Experiment
from sparallel.store.extension import extended
from sparallel.store.opening import lock, open_for_writing, told_plainly
from sparallel.store.reading import read_spec
from sparallel.store.sessions import Sessions
from sparallel.store.trials import Trials
from sparallel.store.winners import Winners
from sparallel.store.writer import Writer


class Store:
    """An experiment folder held for writing."""

    def __init__(self, folder: Path, asked: Experiment) -> None:
        self._lock = lock(folder)
        try:
            self._writer = Writer(folder, open_for_writing(folder))
            self.experiment = self._adopt(asked)
        except BaseException:
            self._lock.close()
            raise
        self.folder = folder
        self.trials = Trials(self._writer, self.experiment)
        self.winners = Winners(self._writer)
        self.sessions = Sessions(self._writer)

    def _adopt(self, asked: Experiment) -> Experiment:
        """Make the folder this experiment's, or extend the one it has."""
        folder = self._writer.folder
        with told_plainly(folder):
            stored = read_spec(self._writer.connection, folder)
        whole = asked if stored is None else extended(stored, asked, folder)
        with self._writer.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO experiment VALUES (1, ?)", (whole.model_dump_json(),)
            )
            connection.executemany(
                "INSERT OR IGNORE INTO studies VALUES (?, ?)",
                [(study.batch_size, study.sparsity) for study in asked.studies],
            )
            # A crash is never a result: what failed in an earlier session is tried again.
            connection.execute("UPDATE trials SET failure = NULL")
        return whole

    def close(self) -> None:
        """Let go of the folder."""
        self._writer.connection.close()
        self._lock.close()
