"""The store as its one writer sees it: every step of progress is one transaction."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sparallel.spec import Experiment, Study
from sparallel.store.extension import extended
from sparallel.store.files import read_file, write_file
from sparallel.store.opening import lock, open_for_writing, told_plainly
from sparallel.store.reading import read_facts, read_spec
from sparallel.strategies.facts import TrialFacts
from sparallel.training.state import Floats, TrialState

CHECKPOINTS, WINNERS = "checkpoints", "winners"


@dataclass(frozen=True)
class Costs:
    """What a slice cost."""

    examples_trained: int
    examples_checked: int
    checks: int
    seconds: float


@dataclass(frozen=True)
class Candidate:
    """The best trial of a study for one goal so far; `test_error` is None until evaluated."""

    trial: int
    steps: int
    test_error: float | None


class Store:
    """An experiment folder held for writing."""

    def __init__(self, folder: Path, experiment: Experiment) -> None:
        self.folder = folder
        self._lock = lock(folder)
        try:
            self._connection = open_for_writing(folder)
            with told_plainly(folder):
                self.experiment = self._adopt(experiment)
        except BaseException:
            self._lock.close()
            raise
        self._session: int | None = None

    def _adopt(self, asked: Experiment) -> Experiment:
        """Make the folder this experiment's, or extend the one it has."""
        stored = read_spec(self._connection, self.folder)
        whole = asked if stored is None else extended(stored, asked, self.folder)
        with self._transaction() as connection:
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

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with told_plainly(self.folder):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.rollback()
                raise
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Let go of the folder."""
        self._connection.close()
        self._lock.close()

    # sessions

    def begin_session(self, provenance: Mapping[str, object]) -> None:
        """Record who computes from now on, with what."""
        with self._transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO sessions (started, provenance) VALUES (?, ?)",
                (_now(), json.dumps(provenance)),
            )
            self._session = cursor.lastrowid

    def end_session(self, outcome: str) -> None:
        """Record how it ended."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE sessions SET ended = ?, outcome = ? WHERE id = ?",
                (_now(), outcome, self._session),
            )

    # trials

    def facts(self, study: Study) -> list[TrialFacts]:
        """What is known of the study's trials; those never started are at step 0."""
        with told_plainly(self.folder):
            return read_facts(self._connection, self.experiment, study)

    def state(self, study: Study, trial: int) -> TrialState | None:
        """The checkpointed state of a trial; None where it has to start over."""
        with told_plainly(self.folder):
            row = self._connection.execute(
                "SELECT checkpoint, checkpoint_sha256 FROM trials "
                "WHERE batch_size = ? AND sparsity = ? AND trial = ?",
                (study.batch_size, study.sparsity, trial),
            ).fetchone()
            if row is None or row[0] is None:
                return None
            path = self.folder / CHECKPOINTS / row[0]
            content = read_file(path, row[1], "delete it and the trial starts over")
        return None if content is None else TrialState.from_bytes(content)

    def record(
        self,
        study: Study,
        trial: int,
        metaparameters: Mapping[str, float],
        state: TrialState,
        costs: Costs,
    ) -> None:
        """Record how far a trial has come: its checkpoint first, then the facts that point to it."""
        checkpoint = sha256 = None
        ended = state.infeasible_at is not None or None not in state.reached
        with told_plainly(self.folder):
            if not ended:
                checkpoint = f"{study.label}/trial-{trial}-step-{state.step}.npz"
                sha256 = write_file(self.folder / CHECKPOINTS / checkpoint, state.to_bytes())
        with self._transaction() as connection:
            key = (study.batch_size, study.sparsity, trial)
            before = connection.execute(
                "SELECT checkpoint FROM trials WHERE batch_size = ? AND sparsity = ? AND trial = ?",
                key,
            ).fetchone()
            connection.execute(
                "INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET step = excluded.step, failure = NULL, "
                "infeasible_at = excluded.infeasible_at, checkpoint = excluded.checkpoint, "
                "checkpoint_sha256 = excluded.checkpoint_sha256, "
                "examples_trained = examples_trained + excluded.examples_trained, "
                "examples_checked = examples_checked + excluded.examples_checked, "
                "checks = checks + excluded.checks, seconds = seconds + excluded.seconds",
                (
                    *key,
                    json.dumps(dict(metaparameters)),
                    state.step,
                    state.infeasible_at,
                    checkpoint,
                    sha256,
                    costs.examples_trained,
                    costs.examples_checked,
                    costs.checks,
                    costs.seconds,
                ),
            )
            connection.executemany(
                "INSERT OR REPLACE INTO arrivals VALUES (?, ?, ?, ?, ?)",
                [
                    (*key, goal, at)
                    for goal, at in zip(self.experiment.goal_errors, state.reached, strict=True)
                    if at is not None
                ],
            )
        if before is not None and before[0] not in (None, checkpoint):
            (self.folder / CHECKPOINTS / before[0]).unlink(missing_ok=True)

    def record_failure(
        self, study: Study, trial: int, metaparameters: Mapping[str, float], why: str
    ) -> None:
        """Record that this session gave up on a trial; the next one tries it again."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO trials VALUES (?, ?, ?, ?, 0, NULL, ?, NULL, NULL, 0, 0, 0, 0) "
                "ON CONFLICT DO UPDATE SET failure = excluded.failure",
                (study.batch_size, study.sparsity, trial, json.dumps(dict(metaparameters)), why),
            )

    # winners

    def candidate(self, study: Study, goal_error: float) -> Candidate | None:
        """The best trial for this goal so far."""
        with told_plainly(self.folder):
            row = self._connection.execute(
                "SELECT trial, steps, test_error FROM winners "
                "WHERE batch_size = ? AND sparsity = ? AND goal_error = ?",
                (study.batch_size, study.sparsity, goal_error),
            ).fetchone()
        return None if row is None else Candidate(*row)

    def record_candidate(
        self, study: Study, goal_error: float, trial: int, steps: int, parameters: Floats
    ) -> None:
        """Keep the parameters with which a trial reached the goal earlier than all others."""
        old = self._snapshot_row(study, goal_error)
        snapshot = f"{study.label}/goal-{goal_error:g}-trial-{trial}.f4"
        with told_plainly(self.folder):
            path = self.folder / CHECKPOINTS / snapshot
            sha256 = write_file(path, parameters.astype("<f4").tobytes())
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO winners VALUES (?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL)",
                (study.batch_size, study.sparsity, goal_error, trial, steps, snapshot, sha256),
            )
        if old is not None and old[0] not in (None, snapshot):
            (self.folder / CHECKPOINTS / old[0]).unlink(missing_ok=True)

    def snapshot(self, study: Study, goal_error: float) -> bytes | None:
        """The bytes of the candidate's parameters; None where they must be computed again."""
        row = self._snapshot_row(study, goal_error)
        if row is None or row[0] is None:
            return None
        with told_plainly(self.folder):
            path = self.folder / CHECKPOINTS / row[0]
            return read_file(path, row[1], "delete it and it is computed again")

    def record_winner(
        self, study: Study, goal_error: float, best: Candidate, network: bytes
    ) -> None:
        """Keep the winner's network and its test error; the snapshot has served."""
        old = self._snapshot_row(study, goal_error)
        name = f"{study.label}-goal-{goal_error:g}-trial-{best.trial}.pt"
        with told_plainly(self.folder):
            for displaced in (self.folder / WINNERS).glob(f"{study.label}-goal-{goal_error:g}-*"):
                if displaced.name != name:
                    displaced.unlink()
            sha256 = write_file(self.folder / WINNERS / name, network)
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO winners VALUES (?, ?, ?, ?, ?, NULL, NULL, ?, ?, ?)",
                (
                    study.batch_size,
                    study.sparsity,
                    goal_error,
                    best.trial,
                    best.steps,
                    name,
                    sha256,
                    best.test_error,
                ),
            )
        if old is not None and old[0] is not None:
            (self.folder / CHECKPOINTS / old[0]).unlink(missing_ok=True)

    def _snapshot_row(self, study: Study, goal_error: float) -> tuple[str | None, str] | None:
        with told_plainly(self.folder):
            row: tuple[str | None, str] | None = self._connection.execute(
                "SELECT snapshot, snapshot_sha256 FROM winners "
                "WHERE batch_size = ? AND sparsity = ? AND goal_error = ?",
                (study.batch_size, study.sparsity, goal_error),
            ).fetchone()
        return row


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
