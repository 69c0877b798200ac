"""What a smoothness measurement shows while it goes: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

from sparallel.cli.progress import PLAIN_SECONDS, duration
from sparallel.smoothness.path_run import PathRun
from sparallel.smoothness.plan import Plan
from sparallel.smoothness.records import PointRecord
from sparallel.smoothness.running import Watch


def seconds_left(paths: list[PathRun], workers: int) -> float | None:
    """Seconds until every run is measured; a sparsity not seen yet is as fast as the others."""

    def rate(chosen: list[PathRun]) -> float | None:
        work = sum(path.work for path in chosen)
        return sum(path.seconds for path in chosen) / work if work else None

    overall = rate(paths)
    if overall is None:
        return None
    left = []
    for path in paths:
        own = rate([other for other in paths if other.sparsity == path.sparsity])
        left.append(path.work_left * (overall if own is None else own))
    # The last runs may have fewer companions than there are workers.
    return max(sum(left) / workers, max(left, default=0.0))


class SmoothnessWatch(Watch):
    """Plain lines, for logs: now and then one about the whole."""

    def __init__(self, plan: Plan, folder: Path, workers: int) -> None:
        self.plan, self.folder, self.workers = plan, folder, workers
        self.paths: list[PathRun] = []
        self.latest = "starting the workers"
        self._last = time.monotonic()

    def planned(self, paths: list[PathRun]) -> None:
        self.paths = paths
        values = ", ".join(
            f"{name}={value:.4g}" for name, value in self.plan.metaparameters.items()
        )
        done = sum(path.finished for path in paths)
        known = f", {done} known already" if done else ""
        self.say(
            f"{self.plan.experiment.name}: {len(paths)} runs of {self.plan.steps} steps, "
            f"{len(self.plan.points)} points each over {self.plan.examples} examples{known} "
            f"(B={self.plan.batch_size}, {values}), in {self.folder}"
        )

    def advanced(self, path: PathRun, point: PointRecord | None) -> None:
        if point is not None:
            found = "undefined (no step)" if point.lipschitz is None else f"{point.lipschitz:.3g}"
            self.latest = (
                f"{path.label} step {point.step}: L={found}, loss {point.train_loss:.3g}, "
                f"validation error {point.validation_error:.3g}"
            )
        if path.infeasible_at is not None:
            self.say(f"{path.label}: infeasible, it had diverged by step {path.infeasible_at}")
        elif path.finished:
            self.say(f"{path.label}: measured; {self.overview()}")
        else:
            self.tick()

    def tick(self) -> None:
        """Say how it goes, if the last time was long ago."""
        if time.monotonic() - self._last >= PLAIN_SECONDS:
            self._last = time.monotonic()
            self.say(f"{self.latest}; {self.overview()}")

    def crashed(self, path: PathRun, why: str, final: bool) -> None:
        what = "failed" if final else "is tried again"
        self.say(f"{path.label} {what}: {why.strip().splitlines()[-1]}")

    def say(self, line: str) -> None:
        """Print a line that stays."""
        print(line, file=sys.stderr, flush=True)

    @property
    def points(self) -> tuple[int, int]:
        """Points measured, and to measure in all."""
        return sum(p.measured for p in self.paths), len(self.paths) * len(self.plan.points)

    def overview(self) -> str:
        """Points done and time left."""
        done, planned = self.points
        left = duration(seconds_left(self.paths, self.workers))
        return f"{done} of {planned} points, {left}"


class LiveSmoothnessWatch(SmoothnessWatch):
    """A display that renews itself in place."""

    def __init__(self, plan: Plan, folder: Path, workers: int, console: Console) -> None:
        super().__init__(plan, folder, workers)
        self._console = console

    def say(self, line: str) -> None:
        self._console.print(line, highlight=False)

    def tick(self) -> None:
        """The display shows it already."""

    def __rich__(self) -> Table:
        from rich.progress_bar import ProgressBar

        done, planned = self.points
        bar = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(max(planned, 1), done, width=30), self.overview())
        grid = Table.grid()
        grid.add_row(bar)
        grid.add_row(self.latest)
        return grid


@contextmanager
def watch_for_terminal(plan: Plan, folder: Path, workers: int) -> Iterator[SmoothnessWatch]:
    """The display that fits standard error."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield SmoothnessWatch(plan, folder, workers)
        return
    watch = LiveSmoothnessWatch(plan, folder, workers, console)
    with Live(watch, console=console, refresh_per_second=2, transient=True):
        yield watch
