"""The network models, without dropout and without batch normalisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sparallel.registry import Registry

if TYPE_CHECKING:
    from torch import nn

Shape = tuple[int, int, int]
"""Channels, height, width of an input image."""

MODELS: Registry[Callable[[Shape, int], nn.Module]] = Registry(
    "model",
    {
        "simple-cnn": "sparallel.models.simple_cnn:SimpleCNN",
        "resnet-8": "sparallel.models.resnet8:ResNet8",
    },
    needs=("__call__",),
)
