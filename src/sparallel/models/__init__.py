"""The network models, without dropout and without batch normalisation."""

from collections.abc import Callable

from torch import nn

from sparallel.registry import Registry

Shape = tuple[int, int, int]
"""Channels, height, width of an input image."""

MODELS: Registry[Callable[[Shape, int], nn.Module]] = Registry(
    "model",
    {
        "simple-cnn": "sparallel.models.simple_cnn:SimpleCNN",
        "resnet-8": "sparallel.models.resnet8:ResNet8",
    },
)
