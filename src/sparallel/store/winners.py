"""Winners in the store: their parameters at K*, and their test error."""

from __future__ import annotations

from dataclasses import dataclass

from sparallel.spec import Study, written
from sparallel.store.files import read_file, write_file
from sparallel.store.opening import told_plainly
from sparallel.store.writer import CHECKPOINTS, Writer
from sparallel.training.state import Floats

WINNERS = "winners"
OF_GOAL = "WHERE batch_size = ? AND sparsity = ? AND goal_error = ?"


@dataclass(frozen=True)
class Candidate:
    """The best trial of a study for one goal so far; `test_error` is None until evaluated."""

    trial: int
    steps: int
    test_error: float | None = None


@dataclass(frozen=True)
class Winners:
    """The winners of an experiment folder, one a study and goal."""

    writer: Writer

    def candidate(self, study: Study, goal_error: float) -> Candidate | None:
        """The best trial for this goal so far."""
        row = self.writer.row(
            f"SELECT trial, steps, test_error FROM winners {OF_GOAL}",
            (study.batch_size, study.sparsity, goal_error),
        )
        return None if row is None else Candidate(*row)

    def record_candidate(
        self, study: Study, goal_error: float, best: Candidate, parameters: Floats
    ) -> None:
        """Keep the parameters with which a trial reached the goal earlier than all others."""
        snapshot = f"{study.label}/goal-{written(goal_error)}-trial-{best.trial}.f4"
        with told_plainly(self.writer.folder):
            path = self.writer.folder / CHECKPOINTS / snapshot
            sha256 = write_file(path, parameters.astype("<f4").tobytes())
        self._replace(study, goal_error, best, (snapshot, sha256, None, None))

    def snapshot(self, study: Study, goal_error: float) -> bytes | None:
        """The bytes of the candidate's parameters; None where they must be computed again."""
        name, sha256 = self._snapshot_row(study, goal_error)
        if name is None:
            return None
        with told_plainly(self.writer.folder):
            path = self.writer.folder / CHECKPOINTS / name
            return read_file(path, sha256, "delete it and it is computed again")

    def record_winner(
        self, study: Study, goal_error: float, best: Candidate, network: bytes
    ) -> None:
        """Keep the winner's network and its test error; the snapshot has served."""
        stem = f"{study.label}-goal-{written(goal_error)}-trial-"
        name = f"{stem}{best.trial}.pt"
        folder = self.writer.folder / WINNERS
        with told_plainly(self.writer.folder):
            sha256 = write_file(folder / name, network)
            for displaced in folder.glob(f"{stem}*"):
                if displaced.name != name:
                    displaced.unlink()
        self._replace(study, goal_error, best, (None, None, name, sha256))

    def _replace(
        self, study: Study, goal_error: float, best: Candidate, files: tuple[str | None, ...]
    ) -> None:
        """Put one row in place of another, and delete the snapshot that only the old one named."""
        before, _ = self._snapshot_row(study, goal_error)
        key = (study.batch_size, study.sparsity, goal_error)
        with self.writer.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO winners VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*key, best.trial, best.steps, *files, best.test_error),
            )
        if before != files[0]:
            self.writer.discard(before)

    def _snapshot_row(self, study: Study, goal_error: float) -> tuple[str | None, str]:
        row: tuple[str | None, str] | None = self.writer.row(
            f"SELECT snapshot, snapshot_sha256 FROM winners {OF_GOAL}",
            (study.batch_size, study.sparsity, goal_error),
        )
        return row or (None, "")
