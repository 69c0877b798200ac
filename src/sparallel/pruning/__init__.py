"""The pruning methods: a score for every parameter at initialization."""

from sparallel.pruning.base import Score
from sparallel.registry import Registry

PRUNING_METHODS: Registry[Score] = Registry(
    "pruning method",
    {"snip": "sparallel.pruning.snip:connection_sensitivity"},
    needs=("__call__",),
)
