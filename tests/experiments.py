"""Small experiments on real data, and ways to run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from sparallel.loading import load_spec
from sparallel.session import run_session
from sparallel.spec import Experiment
from sparallel.store.reading import load_experiment
from sparallel.tables import study_row

SMALL = """
extends = "quickstart"
name = "small"
goal_errors = [0.12, 0.3]
check_interval = 4
max_steps = 80
batch_sizes = [32]
sparsities = [0, 0.9]
trials = 8

[space.learning_rate]
low = 0.001
high = 10_000

[space.momentum]
low = 0.8
high = 0.98
"""
"""Ends in seconds, with complete, beaten and infeasible trials, and two goals."""

NOT_PROMISED = {"seconds", "examples_trained", "examples_checked"}
"""What may differ between two runs of the same experiment."""


def small(folder: Path, **changes: object) -> Experiment:
    """The small experiment, changed."""
    return load_spec(str(small_file(folder)), changes)


def small_file(folder: Path) -> Path:
    """The small experiment as a user's TOML file."""
    path = folder / "small.toml"
    path.write_text(SMALL)
    return path


def run_here(experiment: Experiment, folder: Path, workers: int = 2) -> list[dict[str, object]]:
    """Run in this process (with real workers) and give the results."""
    report = run_session(experiment, folder, workers=workers, device="cpu")
    assert not report.failures
    return promised(folder)


def promised(folder: Path) -> list[dict[str, object]]:
    """The results of a folder, less what is not promised; every trial's status with them."""
    record = load_experiment(folder)
    return [
        {
            **{key: value for key, value in study_row(study).items() if key not in NOT_PROMISED},
            "outcomes": [(trial.status.value, trial.steps) for trial in study.trials],
        }
        for study in record.studies
    ]


def command(*words: object) -> list[str]:
    """The command line, as a user types it."""
    return [sys.executable, "-m", "sparallel", *map(str, words)]


def sparallel(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        command(*words),
        capture_output=True,
        text=True,
        cwd=cwd,
        env=dict(os.environ),
        check=False,
        timeout=600,
    )


def printed(result: subprocess.CompletedProcess[str]) -> object:
    """The JSON document on standard output."""
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)
