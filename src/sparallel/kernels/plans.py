"""A layer's kept weights, arranged once for the kernels: the pattern is fixed during training."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparallel.kernels.library import native

Indices = NDArray[np.int64]


class ConvShape(NamedTuple):
    """Everything about a convolution but its weights, in the order the native code reads it."""

    in_channels: int
    in_height: int
    in_width: int
    out_channels: int
    out_height: int
    out_width: int
    kernel_height: int
    kernel_width: int
    stride_y: int
    stride_x: int
    pad_top: int
    pad_left: int
    pool: bool
    relu: bool


class ConvPlan:
    """How to run one convolution: `indices` are its kept weights' places in the dense weight."""

    def __init__(self, shape: ConvShape, indices: Indices) -> None:
        self.shape = shape
        self.indices = np.ascontiguousarray(indices, dtype=np.int64)
        self.native = native.new_conv_plan(
            *(int(number) for number in shape), self.indices.ctypes.data, len(self.indices)
        )
        halved = 2 if shape.pool else 1
        self.in_shape = (shape.in_channels, shape.in_height, shape.in_width)
        self.out_shape = (
            shape.out_channels,
            shape.out_height // halved,
            shape.out_width // halved,
        )

    def __reduce__(self) -> tuple[type[ConvPlan], tuple[ConvShape, Indices]]:
        return type(self), (self.shape, self.indices)


class LinearPlan:
    """How to run one linear layer: `columns` is where dense feature f lies in a blocked input."""

    def __init__(
        self, features: int, outputs: int, indices: Indices, columns: Indices | None
    ) -> None:
        self.features, self.outputs = features, outputs
        self.indices = np.ascontiguousarray(indices, dtype=np.int64)
        self.columns = None if columns is None else np.ascontiguousarray(columns, dtype=np.int64)
        if self.columns is not None and len(self.columns) != features:
            raise ValueError("a position for every feature is needed")
        self.native = native.new_linear_plan(
            features,
            outputs,
            self.indices.ctypes.data,
            len(self.indices),
            0 if self.columns is None else self.columns.ctypes.data,
        )

    def __reduce__(
        self,
    ) -> tuple[type[LinearPlan], tuple[int, int, Indices, Indices | None]]:
        return type(self), (self.features, self.outputs, self.indices, self.columns)
