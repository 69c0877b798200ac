"""May this network be trained as a trial is? A trial is a value: all of it must be parameters."""

from __future__ import annotations

from torch import nn

from sparallel.errors import SpecError

RANDOM = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout)
NORMALISING = (nn.LayerNorm, nn.GroupNorm, nn.modules.batchnorm._NormBase)


def check_network(network: nn.Module, name: str) -> None:
    """Refuse what a trial's state does not hold, or what its initialization would break."""
    for path, module in network.named_modules():
        if isinstance(module, RANDOM + NORMALISING):
            raise SpecError(
                f"The model {name!r} has a {type(module).__name__} layer ({path}): dropout and "
                "normalisation layers are not supported, since a trial must depend on its "
                "parameters alone; leave them out."
            )
    for path, _ in network.named_buffers():
        raise SpecError(
            f"The model {name!r} has a buffer ({path}): a trial's state holds parameters only; "
            "make it a constant or a parameter."
        )
    if not any(True for _ in network.parameters()):
        raise SpecError(f"The model {name!r} has no parameters to train.")
