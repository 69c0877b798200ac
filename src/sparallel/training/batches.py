"""Examples on the training device, gathered and normalised batch by batch."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparallel.data.dataset import DataSet, Examples


class Batches:
    """The examples of one part of a data set, ready to be gathered by index."""

    def __init__(self, examples: Examples, data: DataSet, device: torch.device) -> None:
        self.device = device
        self.images = torch.from_numpy(np.array(examples.images)).to(device)
        self.labels = torch.from_numpy(np.array(examples.labels)).to(device)
        # (x / 255 - mean) / std as one multiply and one add.
        scale, shift = 1 / (255 * data.std), -data.mean / data.std
        self._scale = torch.from_numpy(scale.astype(np.float32)).to(device)
        self._shift = torch.from_numpy(shift.astype(np.float32)).to(device)

    def __len__(self) -> int:
        return len(self.labels)

    def gather(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Normalised images (channels-last) and labels of these examples."""
        chosen = self.images.index_select(0, indices).float()
        images = torch.addcmul(self._shift, chosen, self._scale)
        return images.permute(0, 3, 1, 2), self.labels.index_select(0, indices)

    def place(self, indices: NDArray[np.int64]) -> Tensor:
        """Indices on the device."""
        return torch.from_numpy(indices).to(self.device)
