"""All parameters of a network in one flat buffer, and their gradients in another.

One buffer makes an optimizer step, a mask or a checkpoint one operation on one vector. The
network's own parameters are views of it, in channels-last memory, which its convolutions prefer.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Floats = NDArray[np.float32]


def _view(flat: Tensor, shape: torch.Size) -> Tensor:
    """`flat` as a tensor of this shape; a convolution's kernel lies channels-last."""
    if len(shape) != 4:
        return flat.view(shape)
    out_channels, in_channels, height, width = shape
    return flat.view(out_channels, height, width, in_channels).permute(0, 3, 1, 2)


class FlatParameters:
    """A network whose parameters and gradients are views of two flat buffers."""

    def __init__(
        self,
        network: nn.Module,
        device: torch.device,
        outputs: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        self.network = network.to(device)
        self.outputs = outputs or network  # what the network computes, by its fastest way
        self.size = sum(parameter.numel() for parameter in network.parameters())
        self.values = torch.zeros(self.size, device=device)
        self.gradient = torch.zeros(self.size, device=device)
        start = 0
        for parameter in network.parameters():
            end = start + math.prod(parameter.shape)
            view = _view(self.values[start:end], parameter.shape)
            view.copy_(parameter.data)
            parameter.data = view
            # Backward adds into an existing gradient in place, so micro-batches sum up here.
            parameter.grad = _view(self.gradient[start:end], parameter.shape)
            start = end

    def load(self, values: Floats) -> None:
        """Set every parameter."""
        self.values.copy_(torch.from_numpy(values))

    def numpy(self) -> Floats:
        """A copy of every parameter."""
        return self.values.cpu().numpy().copy()
