"""A dense convolution before a 2x2 max-pool and a ReLU, as one function.

The pool passes a gradient to one pixel in four and the ReLU stops many of those, so at least three
quarters of what an ordinary backward pass multiplies are zeros; this one leaves them out. Images
lie channels last, and a convolution with few inputs pools on its way out. The function is the same
either way: what does not fit goes through PyTorch's own layers.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

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
        out = _images((examples, channels, rows // 2, columns // 2))
        wanted = any(ctx.needs_input_grad)
        choice = torch.empty(out.numel(), dtype=torch.uint8) if wanted else None
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
        to_images = _images(images.shape) if wants_images else None
        to_weight = _images(weight.shape) if wants_weight else None
        to_bias = torch.empty(weight.shape[0]) if wants_bias else None
        tensors = images, weight, gradient, choice, to_weight, to_bias, to_images
        native.pooled_conv_backward(*ctx.sizes, *map(_address, tensors))
        return to_images, to_weight, to_bias


def _images(shape: tuple[int, ...]) -> Tensor:
    return torch.empty(shape, memory_format=LAST)


def _address(tensor: Tensor | None) -> int:
    return 0 if tensor is None else tensor.data_ptr()


def conv_pool_relu(images: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """A convolution (no padding, stride 1), a 2x2 max-pool and a ReLU."""
    given = [tensor for tensor in (images, weight, bias) if tensor is not None]
    plain = all(tensor.dtype is torch.float32 and tensor.is_cpu for tensor in given)
    if not (available() and plain and images.dim() == 4 and images.shape[1] == weight.shape[1]):
        return functional.max_pool2d(functional.conv2d(images, weight, bias), 2).relu()
    images = images.contiguous(memory_format=LAST)
    weight = weight.contiguous(memory_format=LAST)
    out: Tensor = _ConvPool.apply(images, weight, bias)  # type: ignore[no-untyped-call]
    return out
