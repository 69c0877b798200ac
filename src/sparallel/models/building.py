"""The network of a workload."""

from __future__ import annotations

from torch import nn

from sparallel.data.source import DataSource
from sparallel.errors import SpecError
from sparallel.models import MODELS


def build(name: str, source: DataSource) -> nn.Module:
    """A network of this model for this data set's images and classes."""
    try:
        network = MODELS.get(name)(source.shape, source.classes)
    except (TypeError, ValueError, RuntimeError) as error:
        raise SpecError(
            f"The model {name!r} cannot be made for images of {source.shape} and "
            f"{source.classes} classes: {error}."
        ) from error
    if not isinstance(network, nn.Module):
        raise SpecError(f"The model {name!r} gives a {type(network).__name__}, not a torch module.")
    return network
