"""Trials in the store: how far they have come, what was seen, and their checkpoints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass

from sparallel.spec import Experiment, Study
from sparallel.store.files import read_file, write_file
from sparallel.store.opening import told_plainly
from sparallel.store.reading import read_facts
from sparallel.store.writer import CHECKPOINTS, Writer
from sparallel.strategies.facts import Run, TrialFacts
from sparallel.training.state import TrialState

OF_TRIAL = "WHERE batch_size = ? AND sparsity = ? AND trial = ? AND seed = ?"


@dataclass(frozen=True)
class Costs:
    """What a slice cost."""

    examples_trained: int
    examples_checked: int
    checks: int
    seconds: float


@dataclass(frozen=True)
class Trials:
    """The trials of an experiment folder."""

    writer: Writer
    experiment: Experiment

    def facts(self, study: Study) -> dict[Run, TrialFacts]:
        """What is known of the study's trials and of the reruns of its winners."""
        with told_plainly(self.writer.folder):
            return read_facts(self.writer.connection, self.experiment, study)

    def state(self, study: Study, run: Run) -> TrialState | None:
        """The checkpointed state of a trial; None where it has to start over."""
        row = self.writer.row(
            f"SELECT checkpoint, checkpoint_sha256 FROM trials {OF_TRIAL}",
            (study.batch_size, study.sparsity, *run),
        )
        if row is None or row[0] is None:
            return None
        with told_plainly(self.writer.folder):
            path = self.writer.folder / CHECKPOINTS / row[0]
            content = read_file(path, row[1], "delete it and the trial starts over")
        return None if content is None else TrialState.from_bytes(content)

    def record(
        self,
        study: Study,
        run: Run,
        metaparameters: Mapping[str, float],
        state: TrialState,
        costs: Costs,
    ) -> None:
        """Record how far a trial has come: first its checkpoint, then the facts that name it."""
        checkpoint = sha256 = None
        if not state.ended:
            name = f"trial-{run.trial}-seed-{run.seed}-step-{state.step}.npz"
            checkpoint = f"{study.label}/{name}"
            with told_plainly(self.writer.folder):
                path = self.writer.folder / CHECKPOINTS / checkpoint
                sha256 = write_file(path, state.to_bytes())
        key = (study.batch_size, study.sparsity, *run)
        before = self.writer.row(f"SELECT checkpoint FROM trials {OF_TRIAL}", key)
        values = (json.dumps(dict(metaparameters)), state.step, state.infeasible_at)
        reached = zip(self.experiment.goal_errors, state.reached, strict=True)
        with self.writer.transaction() as connection:
            connection.execute(
                "INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET step = excluded.step, failure = NULL, "
                "infeasible_at = excluded.infeasible_at, checkpoint = excluded.checkpoint, "
                "checkpoint_sha256 = excluded.checkpoint_sha256, "
                "examples_trained = examples_trained + excluded.examples_trained, "
                "examples_checked = examples_checked + excluded.examples_checked, "
                "checks = checks + excluded.checks, seconds = seconds + excluded.seconds",
                (*key, *values, checkpoint, sha256, *astuple(costs)),
            )
            connection.executemany(
                "INSERT OR REPLACE INTO arrivals VALUES (?, ?, ?, ?, ?, ?)",
                [(*key, goal, at) for goal, at in reached if at is not None],
            )
        if before is not None and before[0] != checkpoint:
            self.writer.discard(before[0])

    def record_failure(
        self, study: Study, run: Run, metaparameters: Mapping[str, float], why: str
    ) -> None:
        """Record that this session gave up on a trial; the next one tries it again."""
        with self.writer.transaction() as connection:
            connection.execute(
                "INSERT INTO trials VALUES (?, ?, ?, ?, ?, 0, NULL, ?, NULL, NULL, 0, 0, 0, 0) "
                "ON CONFLICT DO UPDATE SET failure = excluded.failure",
                (study.batch_size, study.sparsity, *run, json.dumps(dict(metaparameters)), why),
            )
