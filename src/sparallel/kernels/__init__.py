"""Sparse training that pays: native layers which compute with the kept weights only.

`sparsify` swaps them into a pruned network; `available` says whether they can run here.
"""

from sparallel.kernels.layers import SparseConv2d, SparseLinear
from sparallel.kernels.library import KernelsError, available, instruction_set, why_not
from sparallel.kernels.sparsify import Mode, SparseNetwork, sparsify

__all__ = [
    "KernelsError",
    "Mode",
    "SparseConv2d",
    "SparseLinear",
    "SparseNetwork",
    "available",
    "instruction_set",
    "sparsify",
    "why_not",
]
