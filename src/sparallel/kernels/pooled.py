"""A dense convolution before a 2x2 max-pool and a ReLU, as one function.

The pool passes a gradient to one pixel in four and the ReLU stops many of those, so at least three
quarters of what an ordinary backward pass multiplies are zeros; this one leaves them out. Images
lie channels last, and a convolution with few inputs pools on its way out. The function is the same
either way: what does not fit goes through PyTorch's own layers.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from sparallel.kernels import operations
from sparallel.kernels.library import available, native

LAST = torch.channels_last

FEW_INPUTS = 64
"""Weights an output channel below which the native forward pass beats a matrix product."""


class _ConvPool(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, images: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        examples, in_channels, height, width = images.shape
        channels, _, kernel_height, kernel_width = weight.shape
        rows, columns = height - kernel_height + 1, width - kernel_width + 1
        ctx.sizes = (height, width, in_channels, kernel_height, kernel_width, channels, examples)
        out = _images(images, (examples, channels, rows // 2, columns // 2))
        wanted = any(ctx.needs_input_grad)
        choice = images.new_empty(out.numel(), dtype=torch.uint8) if wanted else None
        if weight[0].numel() < FEW_INPUTS:
            tensors = images, weight, bias, out, choice
            native.pooled_conv_forward(*ctx.sizes, *map(_address, tensors))
        else:
            full = functional.conv2d(images, weight, bias).contiguous(memory_format=LAST)
            sizes = rows, columns, channels, examples
            native.pool_forward(*sizes, _address(full), _address(out), _address(choice))
        ctx.save_for_backward(images, weight, choice)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        images, weight, choice = ctx.saved_tensors
        gradient = gradient.contiguous(memory_format=LAST)
        wants_images, wants_weight, wants_bias = ctx.needs_input_grad
        to_images = _images(images, images.shape) if wants_images else None
        to_weight = _images(images, weight.shape) if wants_weight else None
        to_bias = images.new_empty(weight.shape[0]) if wants_bias else None
        tensors = images, weight, gradient, choice, to_weight, to_bias, to_images
        native.pooled_conv_backward(*ctx.sizes, *map(_address, tensors))
        return to_images, to_weight, to_bias


def _images(like: Tensor, shape: tuple[int, ...]) -> Tensor:
    # Whatever this program's defaults are: the native code writes float32 into memory.
    return torch.empty(shape, dtype=like.dtype, device=like.device, memory_format=LAST)


def _address(tensor: Tensor | None) -> int:
    return 0 if tensor is None else tensor.data_ptr()


def conv_pool_relu(conv: nn.Conv2d, images: Tensor) -> Tensor:
    """A convolution, a 2x2 max-pool and a ReLU."""
    if not _fits(conv, images):
        return functional.max_pool2d(conv(images), 2).relu()
    weight, bias = conv.weight, conv.bias
    # With one channel a tensor lies both ways; its stride says which one is meant.
    last = any(t.is_contiguous(memory_format=LAST) and t.stride(1) == 1 for t in (images, weight))
    out: Tensor = _ConvPool.apply(  # type: ignore[no-untyped-call]
        images.contiguous(memory_format=LAST),
        weight.contiguous(memory_format=LAST),
        None if bias is None else bias.contiguous(),
    )
    return out if last else out.contiguous()  # laid out as PyTorch's own layers would


def can_pool(conv: nn.Module | None) -> bool:
    """Whether a layer is a convolution that the native code knows: no padding, stride 1."""
    if not isinstance(conv, nn.Conv2d) or not operations.is_plain_conv(conv):
        return False
    return tuple(conv.stride) == (1, 1) and conv.padding in ((0, 0), "valid")


def _fits(conv: nn.Conv2d, images: Tensor) -> bool:
    """Asked at every call: a layer may have changed since its network was planned."""
    if not (available() and can_pool(conv) and images.dim() == 4):
        return False
    channels, height, width = images.shape[1:]
    rows, columns = (
        side - kernel + 1 for side, kernel in zip((height, width), conv.kernel_size, strict=True)
    )
    return (
        images.dtype is torch.float32
        and images.is_cpu
        and channels == conv.in_channels
        and min(rows, columns) >= 2
        and max(images[:1].numel(), conv.weight.numel()) < 2**28  # offsets are 32 bits wide
        and not torch.is_autocast_enabled("cpu")
    )
