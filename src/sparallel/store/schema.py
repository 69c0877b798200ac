"""The tables, as append-only migrations: released ones are never edited."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True)
class Schema:
    """One kind of store: how its files are known, which command makes them, their tables."""

    application_id: int  # tells our files from those of other tools, and our kinds apart
    holds: str
    command: str
    migrations: tuple[str, ...]

    @property
    def version(self) -> int:
        """The newest version this sparallel knows."""
        return len(self.migrations)

    def migrate(self, connection: sqlite3.Connection) -> None:
        """Bring a store up to this version, one transaction a migration."""
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        for number, migration in enumerate(self.migrations[version:], start=version + 1):
            connection.executescript(
                f"BEGIN IMMEDIATE; {migration} PRAGMA application_id = {self.application_id}; "
                f"PRAGMA user_version = {number}; COMMIT;"
            )


SESSIONS = """
    CREATE TABLE sessions (
        id INTEGER PRIMARY KEY,
        started TEXT NOT NULL,
        ended TEXT,
        outcome TEXT,
        provenance TEXT NOT NULL            -- as JSON
    ) STRICT;
"""

_EXPERIMENT = 0x53504152  # "SPAR"
_SMOOTHNESS = 0x5350534D  # "SPSM"

EXPERIMENT_MIGRATIONS = (
    # 1: the experiment, its studies and trials, the goals reached, the winners, the provenance
    """
    CREATE TABLE experiment (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        spec TEXT NOT NULL                  -- resolved, as JSON
    ) STRICT;
    CREATE TABLE studies (
        batch_size INTEGER NOT NULL,
        sparsity REAL NOT NULL,
        PRIMARY KEY (batch_size, sparsity)
    ) STRICT;
    CREATE TABLE trials (
        batch_size INTEGER NOT NULL,
        sparsity REAL NOT NULL,
        trial INTEGER NOT NULL,
        seed INTEGER NOT NULL,              -- the experiment's; another where it is a rerun
        metaparameters TEXT NOT NULL,       -- as JSON
        step INTEGER NOT NULL,              -- trained and checked so far
        infeasible_at INTEGER,              -- the check that saw it diverge
        failure TEXT,                       -- why the last session gave up on it
        checkpoint TEXT,                    -- file name below checkpoints/
        checkpoint_sha256 TEXT,
        examples_trained INTEGER NOT NULL,
        examples_checked INTEGER NOT NULL,
        checks INTEGER NOT NULL,
        seconds REAL NOT NULL,
        PRIMARY KEY (batch_size, sparsity, trial, seed)
    ) STRICT;
    CREATE TABLE arrivals (
        batch_size INTEGER NOT NULL,
        sparsity REAL NOT NULL,
        trial INTEGER NOT NULL,
        seed INTEGER NOT NULL,
        goal_error REAL NOT NULL,
        steps INTEGER NOT NULL,             -- K
        PRIMARY KEY (batch_size, sparsity, trial, seed, goal_error)
    ) STRICT;
    CREATE TABLE winners (
        batch_size INTEGER NOT NULL,
        sparsity REAL NOT NULL,
        goal_error REAL NOT NULL,
        trial INTEGER NOT NULL,
        steps INTEGER NOT NULL,
        snapshot TEXT,                      -- parameters at K, below checkpoints/, until evaluated
        snapshot_sha256 TEXT,
        parameters TEXT,                    -- file name below winners/
        parameters_sha256 TEXT,
        test_error REAL,
        PRIMARY KEY (batch_size, sparsity, goal_error)
    ) STRICT;
    """
    + SESSIONS,
)

EXPERIMENT = Schema(_EXPERIMENT, "an experiment", "sparallel run EXPERIMENT", EXPERIMENT_MIGRATIONS)

SMOOTHNESS_MIGRATIONS = (
    # 1: what is measured, the runs ("paths"), the points measured along them, the provenance
    """
    CREATE TABLE plan (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        plan TEXT NOT NULL                  -- resolved, as JSON
    ) STRICT;
    CREATE TABLE paths (
        sparsity REAL NOT NULL,
        seed INTEGER NOT NULL,
        step INTEGER NOT NULL,              -- trained so far
        infeasible_at INTEGER,              -- the point that saw it diverge
        failure TEXT,                       -- why the last session gave up on it
        checkpoint TEXT,                    -- file name below checkpoints/
        checkpoint_sha256 TEXT,
        seconds REAL NOT NULL,
        PRIMARY KEY (sparsity, seed)
    ) STRICT;
    CREATE TABLE points (
        sparsity REAL NOT NULL,
        seed INTEGER NOT NULL,
        step INTEGER NOT NULL,              -- k
        learning_rate REAL NOT NULL,
        train_loss REAL NOT NULL,
        train_error REAL NOT NULL,
        validation_loss REAL NOT NULL,
        validation_error REAL NOT NULL,
        lipschitz REAL,                     -- NULL where the step was zero
        lipschitz_error REAL,               -- NULL too where every example was measured
        gradient_squared REAL NOT NULL,
        variance REAL NOT NULL,
        PRIMARY KEY (sparsity, seed, step)
    ) STRICT;
    """
    + SESSIONS,
)

SMOOTHNESS = Schema(
    _SMOOTHNESS, "measured smoothness", "sparallel smoothness EXPERIMENT", SMOOTHNESS_MIGRATIONS
)

KINDS = {schema.application_id: schema for schema in (EXPERIMENT, SMOOTHNESS)}
