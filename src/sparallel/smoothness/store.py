"""The smoothness folder as its one writer sees it: its plan, runs, points and sessions."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

from sparallel.smoothness.plan import Plan, extended
from sparallel.smoothness.reading import read_path, read_plan
from sparallel.smoothness.records import PathRecord, PointRecord
from sparallel.spec import written
from sparallel.store.files import read_file, write_file
from sparallel.store.opening import lock, open_for_writing, told_plainly
from sparallel.store.schema import SMOOTHNESS
from sparallel.store.sessions import Sessions
from sparallel.store.writer import CHECKPOINTS, Writer
from sparallel.training.state import TrialState

OF_PATH = "WHERE sparsity = ? AND seed = ?"


class SmoothnessStore:
    """A smoothness folder held for writing."""

    def __init__(self, folder: Path, asked: Plan) -> None:
        self._lock = lock(folder)
        try:
            self._writer = Writer(folder, open_for_writing(folder, SMOOTHNESS))
            self.plan = self._adopt(asked)
        except BaseException:
            self._lock.close()
            raise
        self.sessions = Sessions(self._writer)

    def _adopt(self, asked: Plan) -> Plan:
        """Make the folder this plan's, or extend the one it has."""
        folder = self._writer.folder
        with told_plainly(folder):
            stored = read_plan(self._writer.connection, folder)
        whole = asked if stored is None else extended(stored, asked, folder)
        with self._writer.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO plan VALUES (1, ?)", (whole.model_dump_json(),)
            )
            # A crash is never a result: what failed in an earlier session is tried again.
            connection.execute("UPDATE paths SET failure = NULL")
        return whole

    def path(self, sparsity: float, seed: int) -> PathRecord:
        """What is known of a run."""
        with told_plainly(self._writer.folder):
            return read_path(self._writer.connection, self.plan, sparsity, seed)

    def state(self, sparsity: float, seed: int) -> TrialState | None:
        """The checkpointed state of a run; None where it has to start over."""
        row = self._writer.row(
            f"SELECT checkpoint, checkpoint_sha256 FROM paths {OF_PATH}", (sparsity, seed)
        )
        if row is None or row[0] is None:
            return None
        with told_plainly(self._writer.folder):
            path = self._writer.folder / CHECKPOINTS / row[0]
            content = read_file(path, row[1], "delete it and this run starts over")
        return None if content is None else TrialState.from_bytes(content)

    def record(
        self,
        sparsity: float,
        seed: int,
        state: TrialState,
        point: PointRecord | None,
        seconds: float,
        *,
        ended: bool,
    ) -> None:
        """Record how far a run has come: first its checkpoint, then the facts that name it."""
        checkpoint = sha256 = None
        if not ended:
            checkpoint = f"s{written(sparsity)}/seed-{seed}-step-{state.step}.npz"
            with told_plainly(self._writer.folder):
                path = self._writer.folder / CHECKPOINTS / checkpoint
                sha256 = write_file(path, state.to_bytes())
        key = (sparsity, seed)
        before = self._writer.row(f"SELECT checkpoint FROM paths {OF_PATH}", key)
        with self._writer.transaction() as connection:
            connection.execute(
                "INSERT INTO paths VALUES (?, ?, ?, ?, NULL, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET step = excluded.step, failure = NULL, "
                "infeasible_at = excluded.infeasible_at, checkpoint = excluded.checkpoint, "
                "checkpoint_sha256 = excluded.checkpoint_sha256, "
                "seconds = seconds + excluded.seconds",
                (*key, state.step, state.infeasible_at, checkpoint, sha256, seconds),
            )
            if point is not None:
                connection.execute(
                    "INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*key, *astuple(point)),
                )
        if before is not None and before[0] != checkpoint:
            self._writer.discard(before[0])

    def record_failure(self, sparsity: float, seed: int, why: str) -> None:
        """Record that this session gave up on a run; the next one tries it again."""
        with self._writer.transaction() as connection:
            connection.execute(
                "INSERT INTO paths VALUES (?, ?, 0, NULL, ?, NULL, NULL, 0) "
                "ON CONFLICT DO UPDATE SET failure = excluded.failure",
                (sparsity, seed, why),
            )

    def close(self) -> None:
        """Let go of the folder."""
        self._writer.connection.close()
        self._lock.close()
