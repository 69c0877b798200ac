"""ResNet-8: three pre-activation residual blocks; 75,050 parameters on 32x32 colour images."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


class Block(nn.Module):
    """Two 3x3 convolutions, each after a ReLU, and a shortcut without parameters."""

    def __init__(self, channels_in: int, channels_out: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.widen = channels_out - channels_in
        # TensorFlow's SAME padding for a strided 3x3 on an even size: 0 before, 1 after.
        self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride, 1 if stride == 1 else 0)
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, 1, 1)

    def forward(self, images: Tensor) -> Tensor:
        hidden = images.relu()
        if self.stride == 1:
            shortcut = images
        else:
            before = self.widen // 2
            shortcut = functional.avg_pool2d(hidden, self.stride)
            shortcut = functional.pad(shortcut, (0, 0, 0, 0, before, self.widen - before))
            hidden = functional.pad(hidden, (0, 1, 0, 1))
        residual: Tensor = self.conv2(self.conv1(hidden).relu())
        return shortcut + residual


class ResNet8(nn.Module):
    """Convolution 3x3x16, residual blocks of 16, 32 and 64 filters, global average, dense."""

    def __init__(self, shape: tuple[int, int, int], classes: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(shape[0], 16, 3, 1, 1)
        self.blocks = nn.Sequential(Block(16, 16, 1), Block(16, 32, 2), Block(32, 64, 2))
        self.dense = nn.Linear(64, classes)

    def forward(self, images: Tensor) -> Tensor:
        hidden: Tensor = self.blocks(self.conv(images))
        features: Tensor = self.dense(hidden.relu().mean((2, 3)))
        return features
