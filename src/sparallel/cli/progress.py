"""What a run shows while it goes: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

from sparallel.cli.timeleft import seconds_left
from sparallel.runner import Watch
from sparallel.spec import Experiment
from sparallel.study_run import StudyRun

PLAIN_SECONDS = 30.0
"""Without a terminal, a line about the current race this often."""


def result_line(study: StudyRun) -> str:
    """One line a finished study: K* of every goal."""
    parts = []
    for goal, goal_error in enumerate(study.experiment.goal_errors):
        best = study.winner(goal)
        if best is None:
            parts.append(f"no trial reached {goal_error:g} in {study.experiment.last_check} steps")
            continue
        values = ", ".join(f"{k}={v:.4g}" for k, v in study.points[best.trial].items())
        parts.append(f"K*={best.steps} at goal {goal_error:g} (trial {best.trial}: {values})")
    return f"B={study.study.batch_size} sparsity={study.study.sparsity:g}: " + "; ".join(parts)


def race_line(study: StudyRun) -> str:
    """One study under way: how many trials still run, how far, and the best so far."""
    bound = study.bound
    live = [facts for facts in study.facts if not facts.settled(bound)]
    goals = study.experiment.goal_errors
    best = study.winner(goals.index(min(goals)))
    where = f"step {min(f.step for f in live)}" if live else "testing the winner"
    found = f"best K={best.steps}" if best else "goal not reached yet"
    label = f"B={study.study.batch_size} sparsity={study.study.sparsity:g}"
    return f"{label}: {len(live)} of {len(study.facts)} trials to go, {where}, {found}"


def duration(seconds: float | None) -> str:
    """Time left as a person says it."""
    if seconds is None:
        return "time left: not known yet"
    return f"about {timedelta(seconds=round(seconds))} left"


class ProgressWatch(Watch):
    """Keeps what there is to show."""

    def __init__(self, experiment: Experiment, folder: Path, workers: int) -> None:
        self.experiment, self.folder, self.workers = experiment, folder, workers
        self.studies: list[StudyRun] = []
        self.current: StudyRun | None = None
        self.began = time.monotonic()

    def planned(self, studies: list[StudyRun]) -> None:
        self.studies = studies
        done = sum(study.finished for study in studies)
        known = f", {done} known already" if done else ""
        self.say(
            f"{self.experiment.name}: {len(studies)} studies x {self.experiment.trials} trials"
            f"{known}, in {self.folder}"
        )

    def advanced(self, study: StudyRun) -> None:
        self.current = study

    def finished(self, study: StudyRun) -> None:
        self.say(result_line(study))

    def crashed(self, study: StudyRun, trial: int, why: str, final: bool) -> None:
        what = "failed" if final else "is tried again"
        self.say(f"{study.study.label} trial {trial} {what}: {why.strip().splitlines()[-1]}")

    def say(self, line: str) -> None:
        """Print a line that stays."""
        print(line, file=sys.stderr, flush=True)

    def overview(self) -> str:
        """Studies done and time left."""
        done = sum(study.finished for study in self.studies)
        left = seconds_left(self.experiment, self.studies, self.workers)
        return f"{done} of {len(self.studies)} studies, {duration(left)}"


class PlainWatch(ProgressWatch):
    """Plain lines, for logs."""

    def __init__(self, experiment: Experiment, folder: Path, workers: int) -> None:
        super().__init__(experiment, folder, workers)
        self._last = time.monotonic()

    def advanced(self, study: StudyRun) -> None:
        super().advanced(study)
        if time.monotonic() - self._last >= PLAIN_SECONDS and not study.finished:
            self._last = time.monotonic()
            self.say(f"{race_line(study)}; {self.overview()}")


class LiveWatch(ProgressWatch):
    """A display that renews itself in place."""

    def __init__(
        self, experiment: Experiment, folder: Path, workers: int, console: Console
    ) -> None:
        super().__init__(experiment, folder, workers)
        self._console = console

    def say(self, line: str) -> None:
        self._console.print(line, highlight=False)

    def __rich__(self) -> Table:
        from rich.progress_bar import ProgressBar

        done = sum(study.finished for study in self.studies)
        table = Table.grid(padding=(0, 1))
        table.add_row(ProgressBar(max(len(self.studies), 1), done, width=30), self.overview())
        grid = Table.grid()
        grid.add_row(table)
        elapsed = timedelta(seconds=round(time.monotonic() - self.began))
        now = race_line(self.current) if self.current else "starting the workers"
        grid.add_row(f"{now} ({elapsed} so far)")
        return grid


@contextmanager
def watch_for_terminal(
    experiment: Experiment, folder: Path, workers: int
) -> Iterator[ProgressWatch]:
    """The display that fits standard error."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield PlainWatch(experiment, folder, workers)
        return
    watch = LiveWatch(experiment, folder, workers, console)
    with Live(watch, console=console, refresh_per_second=2, transient=True):
        yield watch
