"""The optimizers, each one update of the flat parameter vector in place."""

from sparallel.optimizers.base import Optimizer
from sparallel.registry import Registry

OPTIMIZERS: Registry[Optimizer] = Registry(
    "optimizer",
    {
        "sgd": "sparallel.optimizers.sgd:SGD",
        "momentum": "sparallel.optimizers.momentum:MOMENTUM",
        "nesterov": "sparallel.optimizers.nesterov:NESTEROV",
    },
    needs=("update", "metaparameters", "slots"),
)
