"""The two things a worker is asked to do, as values any executor can carry."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from sparallel.kernels import Mode
from sparallel.training.state import Floats, TrialState
from sparallel.training.trial import Interrupted, Progress, Trial, advance, start
from sparallel.training.workbench import Workbench, workbench


@dataclass(frozen=True)
class Place:
    """Where a task finds its data and computes."""

    data_dir: Path
    device: str
    sparse_kernels: Mode = "auto"

    def bench(self, trial: Trial) -> Workbench:
        """The workbench of this process for the trial's workload."""
        where = (self.data_dir, self.device, self.sparse_kernels)
        return workbench(trial.data, trial.model, *where)


@dataclass(frozen=True)
class Advanced:
    """A trial, further on."""

    state: TrialState
    progress: Progress


@dataclass(frozen=True)
class Advance:
    """Advance a trial until a step; without a state, from its very start."""

    trial: Trial
    state: TrialState | None
    until_step: int
    place: Place

    def run(self, stop: Callable[[], bool]) -> Advanced:
        """Train."""
        bench = self.place.bench(self.trial)
        state = self.state or start(self.trial, bench, stop)
        return Advanced(*advance(self.trial, state, self.until_step, bench, stop))


@dataclass(frozen=True)
class Evaluated:
    """A winner's network and its error on the test set."""

    test_error: float
    network: bytes  # a state_dict, for torch.load(weights_only=True)


@dataclass(frozen=True)
class Evaluate:
    """Test the parameters with which a trial reached a goal; without them, train it again first."""

    trial: Trial
    goal: int
    steps: int
    parameters: bytes | None
    place: Place

    def run(self, stop: Callable[[], bool]) -> Evaluated:
        """Test."""
        bench = self.place.bench(self.trial)
        parameters = self._parameters(bench, stop)
        test_error = bench.test_error(parameters)
        stream = io.BytesIO()
        state = {
            name: value.contiguous() for name, value in bench.flat.network.state_dict().items()
        }
        torch.save(state, stream)
        return Evaluated(test_error, stream.getvalue())

    def _parameters(self, bench: Workbench, stop: Callable[[], bool]) -> Floats:
        if self.parameters is not None:
            return np.frombuffer(self.parameters, dtype="<f4").astype(np.float32)
        state = start(self.trial, bench, stop)
        _, progress = advance(self.trial, state, self.steps, bench, stop)
        if self.goal not in progress.arrivals and stop():
            raise Interrupted
        return progress.arrivals[self.goal]


Task = Advance | Evaluate
Result = Advanced | Evaluated
