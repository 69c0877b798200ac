"""Simple-CNN: two convolutions and a dense layer; 62,346 parameters on 28x28 grey images."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


class SimpleCNN(nn.Module):
    """Convolution 5x5x32, convolution 5x5x64, each with ReLU and max-pool 2, then dense."""

    def __init__(self, shape: tuple[int, int, int], classes: int) -> None:
        super().__init__()
        channels, height, width = shape
        self.conv1 = nn.Conv2d(channels, 32, 5)
        self.conv2 = nn.Conv2d(32, 64, 5)
        height, width = (((side - 4) // 2 - 4) // 2 for side in (height, width))
        self.dense = nn.Linear(64 * height * width, classes)

    def forward(self, images: Tensor) -> Tensor:
        # Max-pool before ReLU is the same function as after it, on a quarter of the values.
        hidden = functional.max_pool2d(self.conv1(images), 2).relu()
        hidden = functional.max_pool2d(self.conv2(hidden), 2).relu()
        # Flattened as (height, width, channel): no copy from channels-last memory.
        features: Tensor = self.dense(hidden.permute(0, 2, 3, 1).flatten(1))
        return features
