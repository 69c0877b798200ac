"""What a process needs to train: the data, a network and the goal check, made once and reused."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from sparallel.data import DATA_SETS
from sparallel.kernels import Mode, fastest
from sparallel.models.building import build
from sparallel.models.initialization import initialize
from sparallel.pruning import PRUNING_METHODS
from sparallel.pruning.base import keep_highest
from sparallel.pruning.cache import cached_scores
from sparallel.training.batches import Batches
from sparallel.training.device import numerics
from sparallel.training.goal import GoalCheck
from sparallel.training.gradient import MICRO_BATCH, accumulate_gradient
from sparallel.training.hardness import guessed_margins
from sparallel.training.parameters import FlatParameters
from sparallel.training.sparse import Arrangement, arrange

ARRANGEMENTS = 128
"""How many trials' sparse networks a worker keeps: about half a megabyte each."""


class Workbench:
    """Data set and network of a workload on one device."""

    def __init__(
        self,
        data: str,
        model: str,
        data_dir: Path,
        device: torch.device,
        sparse_kernels: Mode = "auto",
    ) -> None:
        source = DATA_SETS.get(data)
        loaded = source.load(data_dir)
        self.data, self.model, self.device = data, model, device
        self._sparse_kernels: Mode = sparse_kernels
        self._arranged: OrderedDict[bytes, Arrangement] = OrderedDict()
        self.train = Batches(loaded.train, loaded, device)
        self.validation = Batches(loaded.validation, loaded, device)
        self.test = Batches(loaded.test, loaded, device)
        network = build(model, source)
        self.flat = FlatParameters(network, device, fastest(network))
        self.check = GoalCheck(self.validation)
        guess = guessed_margins(self.train, self.validation, source.classes)
        self.guessed_margins = guess.cpu().numpy()

    def initialize(self, seed: int, trial: int) -> None:
        """Put a trial's initialization into the network."""
        initialize(self.flat.network, seed, trial)

    def mask(
        self, pruning: str, sparsity: float, keep_going: Callable[[], None]
    ) -> NDArray[np.bool_] | None:
        """The mask of the initialization now in the network; None where nothing is pruned."""
        if sparsity == 0:
            return None

        def compute() -> NDArray[np.float32]:
            score = PRUNING_METHODS.get(pruning)
            return score(self.flat.values, lambda: self._whole_gradient(keep_going))

        own = [name for name in (pruning, self.data, self.model) if ":" in name]
        if own:  # a user's own part may change under its name, so its scores are not kept
            return keep_highest(compute(), sparsity)
        weights = hashlib.sha256(self.flat.numpy().tobytes()).hexdigest()
        key = f"{pruning}|{self.data}|{self.model}|{weights}|{numerics(self.device.type)}"
        return keep_highest(cached_scores(key, self.flat.size, compute), sparsity)

    def arranged(self, mask: NDArray[np.bool_] | None) -> Arrangement:
        """What to train for a mask; kept, since a worker comes back to the same trials."""
        key = b"" if mask is None else hashlib.sha256(mask.tobytes()).digest()
        found = self._arranged.get(key)
        if found is None:
            found = arrange(self.flat, mask, self._sparse_kernels)
        self._arranged[key] = found
        self._arranged.move_to_end(key)
        if len(self._arranged) > ARRANGEMENTS:
            self._arranged.popitem(last=False)
        return found

    def _whole_gradient(self, keep_going: Callable[[], None]) -> torch.Tensor:
        """The loss's gradient over the whole training set; `keep_going` may raise to stop it."""
        total = torch.zeros(self.flat.size, dtype=torch.float64, device=self.device)
        everything = torch.arange(len(self.train), device=self.device)
        for chunk in torch.split(everything, 16 * MICRO_BATCH):
            keep_going()
            accumulate_gradient(self.flat, self.train, chunk, scale=1 / len(self.train))
            total += self.flat.gradient
        return total

    def test_error(self, parameters: NDArray[np.float32]) -> float:
        """The share of test examples that a network with these parameters gets wrong."""
        self.flat.load(parameters)
        check = GoalCheck(self.test)
        everything = torch.zeros(len(self.test), device=self.device)
        verdict = check(self.flat.outputs, everything, limit=len(self.test))
        return verdict.errors / len(self.test)


@contextlib.contextmanager
def flushed_denormals() -> Iterator[None]:
    """Treat denormal numbers as zero meanwhile.

    The momentum of dead units decays into them, and a step on them costs a hundred times as much.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


@functools.cache
def workbench(
    data: str, model: str, data_dir: Path, device: str, sparse_kernels: Mode = "auto"
) -> Workbench:
    """The workbench of this process for a workload, made at first use."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    # Deterministic mode also fills every new buffer, which costs time and changes no result here.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    return Workbench(data, model, data_dir, torch.device(device), sparse_kernels)
