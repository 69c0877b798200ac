"""One training step after another, from a trial's state: the only place where one is taken."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from sparallel.optimizers import OPTIMIZERS
from sparallel.schedules import SCHEDULES
from sparallel.training.gradient import accumulate_gradient
from sparallel.training.order import DataOrder
from sparallel.training.state import TrialState
from sparallel.training.workbench import Workbench

if TYPE_CHECKING:
    from sparallel.training.trial import Trial


class Stepping:
    """A trial's network, put at a state and moved on from it step by step."""

    def __init__(self, trial: Trial, state: TrialState, bench: Workbench) -> None:
        self.trial, self.bench, self.step = trial, bench, state.step
        self.arranged = bench.arranged(state.mask)
        self.flat, self._mask = self.arranged.flat, self.arranged.mask
        self.flat.load(self.arranged.compress(state.parameters))
        # A copy in torch's own memory, whose alignment is always the same: a kernel that chooses
        # its path by alignment then takes the same one however the run is sliced.
        slots = torch.from_numpy(self.arranged.compress(state.slots))
        self._slots = slots.to(bench.device, copy=True)
        self._optimizer = OPTIMIZERS.get(trial.optimizer)
        self._schedule = SCHEDULES.get(trial.schedule)
        self._order = DataOrder(len(bench.train), trial.seed)

    def take(self) -> None:
        """One step: the batch's gradient and the optimizer's update."""
        trial, flat, train = self.trial, self.flat, self.bench.train
        indices = self._order.indices(self.step * trial.batch_size, trial.batch_size)
        accumulate_gradient(flat, train, train.place(indices), scale=1 / trial.batch_size)
        if self._mask is not None:
            flat.gradient.mul_(self._mask)
        rate = self.learning_rate
        self._optimizer.update(flat.values, flat.gradient, self._slots, rate, trial.metaparameters)
        self.step += 1

    @property
    def learning_rate(self) -> float:
        """That of the next step."""
        return self._schedule.learning_rate(self.step, self.trial.metaparameters)

    def state(self, before: TrialState) -> TrialState:
        """The state reached; what training does not change is as it was `before`."""
        return replace(
            before,
            step=self.step,
            parameters=self.arranged.expand(self.flat.numpy()),
            slots=self.arranged.expand(self._slots.cpu().numpy()),
        )
