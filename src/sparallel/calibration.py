"""How fast this machine trains a workload: a few seconds' measurement, kept for next time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparallel.caches import cache_folder
from sparallel.errors import SpecError
from sparallel.executors import Crash
from sparallel.executors.local import LocalExecutor
from sparallel.kernels import available, instruction_set
from sparallel.pruning.base import keep_highest
from sparallel.spec import Experiment, Study
from sparallel.training.device import numerics
from sparallel.training.goal import error_limit
from sparallel.training.gradient import MICRO_BATCH

if TYPE_CHECKING:
    import torch

SIZES = (1, 8, MICRO_BATCH)
SECONDS_EACH = 0.6
LOOKED_AT = 1.8
"""A goal check looks at this many examples for every error the goal allows, on average."""


@dataclass(frozen=True)
class Speed:
    """Seconds for one training step at some batch sizes, and for one checked example."""

    step_seconds: tuple[float, ...]  # at SIZES
    check_seconds: float  # an example

    def step(self, batch_size: int) -> float:
        """Seconds for one training step at any batch size."""
        if batch_size >= MICRO_BATCH:
            return self.step_seconds[-1] * batch_size / MICRO_BATCH
        upper = next(i for i, size in enumerate(SIZES) if size >= batch_size)
        if SIZES[upper] == batch_size:
            return self.step_seconds[upper]
        low, high = SIZES[upper - 1], SIZES[upper]
        share = (batch_size - low) / (high - low)
        return self.step_seconds[upper - 1] * (1 - share) + self.step_seconds[upper] * share


@dataclass(frozen=True)
class Calibrate:
    """Measures one worker's speed; run on every worker at once, as a study is."""

    data: str
    model: str
    sparsity: float
    data_dir: Path

    def run(self, stop: Callable[[], bool]) -> Speed:  # noqa: ARG002 - it takes seconds
        """Train and check for a moment at each size."""
        import torch

        from sparallel.training.gradient import accumulate_gradient
        from sparallel.training.workbench import workbench

        bench = workbench(self.data, self.model, self.data_dir, "cpu")
        bench.initialize(0, 0)
        flat = bench.arranged(self._mask(bench.flat.values)).flat
        seconds = []
        for size in SIZES:
            indices = torch.arange(size)

            def step(indices: torch.Tensor = indices) -> None:
                accumulate_gradient(flat, bench.train, indices, scale=1.0)

            seconds.append(_seconds(step))
        margins = torch.from_numpy(bench.guessed_margins).clone()
        limit = min(128, len(margins) // 2)
        seen = bench.check(flat.outputs, margins, limit).seen
        check = _seconds(lambda: bench.check(flat.outputs, margins, limit)) / seen
        return Speed(tuple(seconds), check)

    def _mask(self, values: torch.Tensor) -> NDArray[np.bool_] | None:
        """The largest weights: spread over the layers much as a pruning method's are."""
        if self.sparsity == 0:
            return None
        return keep_highest(values.abs().numpy(), self.sparsity)


def _seconds(action: Callable[[], object]) -> float:
    action()
    count, began = 0, time.perf_counter()
    while (spent := time.perf_counter() - began) < SECONDS_EACH:
        action()
        count += 1
    return spent / count


def measured_speed(experiment: Experiment, sparsity: float, data_dir: Path, workers: int) -> Speed:
    """This machine's speed with so many busy workers, from the cache or measured now."""
    path = cache_folder() / "speed.json"
    kernels = instruction_set() if available() else "none"
    key = f"{experiment.data}|{experiment.model}|{sparsity}|{workers}|{kernels}|{numerics('cpu')}"
    try:
        known = json.loads(path.read_text())
        return Speed(tuple(known[key]["step_seconds"]), known[key]["check_seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    speed = _measure(Calibrate(experiment.data, experiment.model, sparsity, data_dir), workers)
    try:
        known = json.loads(path.read_text()) if path.exists() else {}
        path.parent.mkdir(parents=True, exist_ok=True)
        known[key] = {"step_seconds": speed.step_seconds, "check_seconds": speed.check_seconds}
        path.write_text(json.dumps(known))
    except (OSError, ValueError):
        pass
    return speed


def _measure(calibrate: Calibrate, workers: int) -> Speed:
    executor = LocalExecutor(workers)
    try:
        for worker in range(workers):
            executor.submit(worker, calibrate)
        speeds: list[Speed] = []
        while len(speeds) < workers:
            for done in executor.wait(1.0):
                if isinstance(done.result, Crash):
                    raise SpecError(f"The speed cannot be measured: {done.result.why.strip()}")
                assert isinstance(done.result, Speed)
                speeds.append(done.result)
    finally:
        executor.close()
    columns = zip(*(speed.step_seconds for speed in speeds), strict=True)
    return Speed(
        tuple(sum(column) / workers for column in columns),
        sum(speed.check_seconds for speed in speeds) / workers,
    )


@dataclass(frozen=True)
class Cost:
    """What a study costs one worker, in seconds, for so many steps of every trial."""

    study: Study
    steps: float
    seconds: float


def study_cost(
    experiment: Experiment, study: Study, steps: float, speed: Speed, validation: int
) -> Cost:
    """The cost of running every trial of a study for `steps` steps."""
    limit = error_limit(max(experiment.goal_errors), validation)
    looked_at = min(LOOKED_AT * (limit + 1), validation)
    each = (
        speed.step(study.batch_size) + looked_at * speed.check_seconds / experiment.check_interval
    )
    return Cost(study, steps, experiment.trials * steps * each)
