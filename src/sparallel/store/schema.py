"""The tables, as append-only migrations: released ones are never edited."""

from __future__ import annotations

import sqlite3

APPLICATION_ID = 0x53504152  # "SPAR": tells our files from those of other tools

MIGRATIONS = (
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
    CREATE TABLE sessions (
        id INTEGER PRIMARY KEY,
        started TEXT NOT NULL,
        ended TEXT,
        outcome TEXT,
        provenance TEXT NOT NULL            -- as JSON
    ) STRICT;
    """,
)

VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a store up to this version, one transaction a migration."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for number, migration in enumerate(MIGRATIONS[version:], start=version + 1):
        connection.executescript(
            f"BEGIN IMMEDIATE; {migration} PRAGMA application_id = {APPLICATION_ID}; "
            f"PRAGMA user_version = {number}; COMMIT;"
        )
