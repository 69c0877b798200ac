"""Native layers: sparse ones, which compute with the kept weights only, and dense ones that pool.

`sparsify` swaps sparse layers into a pruned network, `fastest` finds the quickest way through a
dense one; `available` says whether they can run here.
"""

from sparallel.kernels.layers import SparseConv2d, SparseLinear
from sparallel.kernels.library import KernelsError, available, instruction_set, why_not
from sparallel.kernels.planner import fastest
from sparallel.kernels.sparsify import Mode, SparseNetwork, sparsify

__all__ = [
    "KernelsError",
    "Mode",
    "SparseConv2d",
    "SparseLinear",
    "SparseNetwork",
    "available",
    "fastest",
    "instruction_set",
    "sparsify",
    "why_not",
]
