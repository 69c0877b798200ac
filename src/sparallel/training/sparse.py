"""The parameters a pruned trial really trains: the kept ones alone where sparse kernels run.

A trial's state is always dense, so checkpoints and winners are the same files with and without
kernels; only inside a slice are parameters and slots shorter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sparallel.kernels import Mode, sparsify
from sparallel.training.parameters import FlatParameters

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Arrangement:
    """A network to train, and where each of its parameters lies among the dense ones."""

    flat: FlatParameters
    positions: NDArray[np.int64]
    mask: Tensor | None  # of what is trained; None where nothing of it is pruned
    dense_size: int

    def compress(self, dense: Floats) -> Floats:
        """Of dense parameters or slots (last axis), those that are trained."""
        return dense[..., self.positions]

    def expand(self, trained: Floats) -> Floats:
        """Dense parameters or slots, 0 where pruned."""
        dense = np.zeros((*trained.shape[:-1], self.dense_size), dtype=np.float32)
        dense[..., self.positions] = trained
        return dense


def _views(network: nn.Module, flat: Tensor) -> dict[str, Tensor]:
    """A flat vector cut into the shapes, and laid out as, the network's flat parameters."""
    return {
        name: flat.as_strided(p.shape, p.stride(), p.storage_offset())
        for name, p in network.named_parameters()
    }


def arrange(dense: FlatParameters, mask: NDArray[np.bool_] | None, mode: Mode) -> Arrangement:
    """What to train for this mask: the dense network itself, or a sparse copy of it."""
    everything = torch.arange(dense.size)
    if mask is None:
        return Arrangement(dense, everything.numpy(), None, dense.size)
    device, kept = dense.values.device, torch.from_numpy(mask)
    if mode == "off" or device.type != "cpu":
        return Arrangement(dense, everything.numpy(), kept.to(device).float(), dense.size)
    sparse = sparsify(dense.network, _views(dense.network, kept), mode)
    if not sparse.sparse_layers():
        return Arrangement(dense, everything.numpy(), kept.float(), dense.size)
    flat = FlatParameters(sparse, device)
    places: Mapping[str, Tensor] = sparse.compress(_views(dense.network, everything))
    positions = torch.empty(flat.size, dtype=torch.int64)
    for name, view in _views(sparse, positions).items():
        view.copy_(places[name])
    trained = kept[positions]
    still_masked = None if bool(trained.all()) else trained.float()
    return Arrangement(flat, positions.numpy(), still_masked, dense.size)
