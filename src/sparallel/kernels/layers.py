"""Sparse layers that take the place of a Conv2d or Linear and hold only its kept weights."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from sparallel.kernels.functions import enter, leave, sparse_conv, sparse_linear
from sparallel.kernels.plans import ConvPlan, ConvShape, LinearPlan

Padding = tuple[int, int, int, int]
"""Zeros left, right, above and below, as `torch.nn.functional.pad` counts them."""

NO_PADDING: Padding = (0, 0, 0, 0)


class SparseLayer(nn.Module):
    """The kept weights of a dense layer, and its kept biases, as two vectors.

    A vector holds the kept entries in the order of the dense tensor (row-major), so a mask alone
    says which entry is which.
    """

    values: nn.Parameter
    bias_values: nn.Parameter | None
    kept: Tensor
    kept_bias: Tensor

    def __init__(
        self, weight: Tensor, mask: Tensor, bias: Tensor | None, bias_mask: Tensor | None
    ) -> None:
        super().__init__()
        self.dense_shape = weight.shape
        self.has_bias = bias is not None
        kept_bias = torch.empty(0, dtype=torch.int64)
        if bias is not None:
            keeps = torch.ones_like(bias, dtype=torch.bool) if bias_mask is None else bias_mask
            kept_bias = keeps.bool().flatten().nonzero()[:, 0]
        kept = mask.bool().reshape(-1).nonzero()[:, 0]
        # Not persistent: a checkpoint holds the mask once, and the kept vectors.
        self.register_buffer("kept", kept, persistent=False)
        self.register_buffer("kept_bias", kept_bias, persistent=False)
        self.values = nn.Parameter(weight.detach().reshape(-1)[kept].clone())
        self.bias_values = None
        if bias is not None and len(kept_bias):
            self.bias_values = nn.Parameter(bias.detach()[kept_bias].clone())

    @property
    def weight(self) -> Tensor:
        """The dense weight, zero where pruned."""
        flat = self.values.new_zeros(self.dense_shape.numel())
        return flat.index_put((self.kept,), self.values).view(self.dense_shape)

    @property
    def bias(self) -> Tensor | None:
        """The dense bias, zero where pruned; None if the layer has none."""
        if not self.has_bias:
            return None
        flat = self.values.new_zeros(self.dense_shape[0])
        return flat if self.bias_values is None else self.add_bias(flat, self.bias_values)

    def add_bias(self, flat: Tensor, bias_values: Tensor) -> Tensor:
        """`flat` with the kept biases in their places."""
        return flat.index_put((self.kept_bias,), bias_values)

    def needed_bias(self) -> Tensor | None:
        """The dense bias if any of it was kept; else there is nothing to add."""
        return None if self.bias_values is None else self.bias

    def extra_repr(self) -> str:
        """Shape and density, for `print(network)`."""
        shape = "x".join(str(side) for side in self.dense_shape)
        return f"{shape}, {len(self.kept)} kept ({len(self.kept) / self.dense_shape.numel():.1%})"


def conv_padding(conv: nn.Conv2d) -> Padding:
    """A convolution's padding, spelled out."""
    if isinstance(conv.padding, str):
        if conv.padding == "valid":
            return NO_PADDING
        # PyTorch's "same": stride 1, the odd zero goes right and below.
        height, width = (side - 1 for side in conv.kernel_size)
        return width // 2, width - width // 2, height // 2, height - height // 2
    height, width = conv.padding
    return width, width, height, height


class SparseConv2d(SparseLayer):
    """A Conv2d (groups 1, dilation 1, zero padding) that computes with its kept weights only."""

    def __init__(self, conv: nn.Conv2d, mask: Tensor, bias_mask: Tensor | None = None) -> None:
        super().__init__(conv.weight, mask, conv.bias, bias_mask)
        self.stride = (conv.stride[0], conv.stride[1])
        self.padding = conv_padding(conv)
        self._plans: dict[tuple[int, int, Padding, bool, bool], ConvPlan] = {}

    def forward(
        self,
        images: Tensor,
        *,
        blocked: bool = False,
        pool: bool = False,
        relu: bool = False,
        extra: Padding = NO_PADDING,
        residual: Tensor | None = None,
    ) -> Tensor:
        """Convolve images (examples, channels, height, width), or a blocked tensor of them.

        `pool` adds a 2x2 max-pool and a ReLU behind, `relu` a ReLU before, `extra` zeros around
        the input; `residual`, blocked, is added to the output: all in the same pass over memory.
        """
        x = images if blocked else enter(images)
        plan = self.plan(x.shape[2], x.shape[3], extra, pool, relu)
        if residual is not None and residual.shape[1:-1] != plan.out_shape:
            return sparse_conv(x, self.values, self.needed_bias(), plan) + residual
        out = sparse_conv(x, self.values, self.needed_bias(), plan, residual)
        return out if blocked else leave(out, images.shape[0])

    def plan(self, height: int, width: int, extra: Padding, pool: bool, relu: bool) -> ConvPlan:
        """The plan for an input of this size, made at first use."""
        key = (height, width, extra, pool, relu)
        if key not in self._plans:
            left, right, top, bottom = (
                own + more for own, more in zip(self.padding, extra, strict=True)
            )
            out_channels, in_channels, kernel_height, kernel_width = self.dense_shape
            shape = ConvShape(
                in_channels,
                height,
                width,
                out_channels,
                (height + top + bottom - kernel_height) // self.stride[0] + 1,
                (width + left + right - kernel_width) // self.stride[1] + 1,
                kernel_height,
                kernel_width,
                *self.stride,
                top,
                left,
                pool,
                relu,
            )
            self._plans[key] = ConvPlan(shape, self.kept.numpy())
        return self._plans[key]


class SparseLinear(SparseLayer):
    """A Linear layer that computes with its kept weights only."""

    def __init__(self, linear: nn.Linear, mask: Tensor, bias_mask: Tensor | None = None) -> None:
        super().__init__(linear.weight, mask, linear.bias, bias_mask)
        self._plans: dict[tuple[int, int, int] | None, LinearPlan] = {}

    def forward(self, x: Tensor, *, blocked: bool = False, channels_last: bool = False) -> Tensor:
        """Multiply (..., features), or a blocked tensor (blocks, features..., lanes).

        `channels_last`: the dense layer's features are (height, width, channel), while the
        blocked tensor is (blocks, channels, height, width, lanes).
        """
        outputs, features = self.dense_shape
        if not blocked:
            rows = x.reshape(-1, features)
            out = sparse_linear(enter(rows), self.values, self.needed_bias(), self.plan(None))
            return leave(out, len(rows)).view(*x.shape[:-1], outputs)
        image = (x.shape[1], x.shape[2], x.shape[3]) if channels_last else None
        flat = x.flatten(1, -2)
        return sparse_linear(flat, self.values, self.needed_bias(), self.plan(image))

    def plan(self, image: tuple[int, int, int] | None) -> LinearPlan:
        """The plan for features that are those of a channels-last image, or lie as they are."""
        if image not in self._plans:
            columns = None
            if image is not None:
                # Dense feature (h, w, c) lies at (c, h, w).
                places = np.arange(int(np.prod(image)), dtype=np.int64).reshape(image)
                columns = places.transpose(1, 2, 0).reshape(-1)
            outputs, features = self.dense_shape
            self._plans[image] = LinearPlan(features, outputs, self.kept.numpy(), columns)
        return self._plans[image]
