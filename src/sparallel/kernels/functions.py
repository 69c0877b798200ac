"""The kernels as autograd functions on blocked tensors.

A blocked tensor has shape (blocks, ..., lanes): the examples of a block lie side by side, one a
vector lane, so every kernel works on whole vectors. Lanes beyond the last example hold values
that nobody reads, and their gradient is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from sparallel.kernels.library import KernelsError, native
from sparallel.kernels.plans import ConvPlan, LinearPlan


def _address(tensor: Tensor | None) -> int:
    return 0 if tensor is None else tensor.data_ptr()


def _ready(tensor: Tensor) -> Tensor:
    """`tensor` as the native code may read it."""
    if tensor.dtype is not torch.float32 or not tensor.is_cpu:
        raise KernelsError(
            f"Sparse kernels need float32 tensors on the CPU, not {tensor.dtype} on "
            f"{tensor.device}: turn them off with --sparse-kernels off."
        )
    return tensor if tensor.is_contiguous() else tensor.contiguous()


def _expect(tensor: Tensor, shape: Sequence[int]) -> None:
    """The native code trusts shapes, so none may pass unseen."""
    if tensor.shape != tuple(shape):
        raise ValueError(f"expected shape {tuple(shape)}, got {tuple(tensor.shape)}")


class _Enter(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, plain: Tensor) -> Tensor:
        ctx.examples = plain.shape[0]
        return _to_blocked(plain)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return _from_blocked(gradient, ctx.examples)


class _Leave(torch.autograd.Function):
    @staticmethod
    def forward(_: Any, blocked: Tensor, examples: int) -> Tensor:
        return _from_blocked(blocked, examples)

    @staticmethod
    @once_differentiable
    def backward(_: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return _to_blocked(gradient), None


def _to_blocked(plain: Tensor) -> Tensor:
    plain = _ready(plain)
    examples = plain.shape[0]
    size = plain.numel() // examples if examples else 0
    blocked = plain.new_empty((-(-examples // native.LANES), *plain.shape[1:], native.LANES))
    native.to_blocked(plain.data_ptr(), examples, size, blocked.data_ptr())
    return blocked


def _from_blocked(blocked: Tensor, examples: int) -> Tensor:
    blocked = _ready(blocked)
    plain = blocked.new_empty((examples, *blocked.shape[1:-1]))
    _expect(blocked, (-(-examples // native.LANES), *plain.shape[1:], native.LANES))
    size = plain.numel() // examples if examples else 0
    native.from_blocked(blocked.data_ptr(), examples, size, plain.data_ptr())
    return plain


def enter(plain: Tensor) -> Tensor:
    """(examples, ...) as a blocked tensor."""
    blocked: Tensor = _Enter.apply(plain)  # type: ignore[no-untyped-call]
    return blocked


def leave(blocked: Tensor, examples: int) -> Tensor:
    """A blocked tensor's first examples as (examples, ...)."""
    plain: Tensor = _Leave.apply(blocked, examples)  # type: ignore[no-untyped-call]
    return plain


class _Conv(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        values: Tensor,
        bias: Tensor | None,
        residual: Tensor | None,
        plan: ConvPlan,
    ) -> Tensor:
        x, values = _ready(x), _ready(values)
        bias = None if bias is None else _ready(bias)
        _expect(x, (x.shape[0], *plan.in_shape, native.LANES))
        _expect(values, (len(plan.indices),))
        if bias is not None:
            _expect(bias, plan.out_shape[:1])
        out = x.new_empty((x.shape[0], *plan.out_shape, native.LANES))
        if residual is not None:
            residual = _ready(residual)
            _expect(residual, out.shape)
        choice = None
        if plan.shape.pool and any(ctx.needs_input_grad):
            choice = torch.empty(out.shape, dtype=torch.uint8)
        native.conv_forward(
            plan.native,
            x.shape[0],
            x.data_ptr(),
            values.data_ptr(),
            _address(bias),
            _address(residual),
            out.data_ptr(),
            _address(choice),
        )
        ctx.save_for_backward(x, values, choice)
        ctx.plan = plan
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, values, choice = ctx.saved_tensors
        gradient = _ready(gradient)
        plan: ConvPlan = ctx.plan
        _expect(gradient, (x.shape[0], *plan.out_shape, native.LANES))
        wants_x, wants_values, wants_bias, wants_residual, _ = ctx.needs_input_grad
        to_x = torch.empty_like(x) if wants_x else None
        to_values = torch.empty_like(values) if wants_values else None
        to_bias = values.new_empty(plan.shape.out_channels) if wants_bias else None
        native.conv_backward(
            plan.native,
            x.shape[0],
            x.data_ptr(),
            values.data_ptr(),
            gradient.data_ptr(),
            _address(choice),
            _address(to_values),
            _address(to_bias),
            _address(to_x),
        )
        return to_x, to_values, to_bias, gradient if wants_residual else None, None


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, values: Tensor, bias: Tensor | None, plan: LinearPlan
    ) -> Tensor:
        x, values = _ready(x), _ready(values)
        bias = None if bias is None else _ready(bias)
        _expect(x, (x.shape[0], plan.features, native.LANES))
        _expect(values, (len(plan.indices),))
        if bias is not None:
            _expect(bias, (plan.outputs,))
        out = x.new_empty((x.shape[0], plan.outputs, native.LANES))
        native.linear_forward(
            plan.native,
            x.shape[0],
            x.data_ptr(),
            values.data_ptr(),
            _address(bias),
            out.data_ptr(),
        )
        ctx.save_for_backward(x, values)
        ctx.plan = plan
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, values = ctx.saved_tensors
        gradient = _ready(gradient)
        plan: LinearPlan = ctx.plan
        _expect(gradient, (x.shape[0], plan.outputs, native.LANES))
        wants_x, wants_values, wants_bias, _ = ctx.needs_input_grad
        to_x = torch.empty_like(x) if wants_x else None
        to_values = torch.empty_like(values) if wants_values else None
        to_bias = values.new_empty(plan.outputs) if wants_bias else None
        native.linear_backward(
            plan.native,
            x.shape[0],
            x.data_ptr(),
            values.data_ptr(),
            gradient.data_ptr(),
            _address(to_values),
            _address(to_bias),
            _address(to_x),
        )
        return to_x, to_values, to_bias, None


class _Average(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, before: int, after: int, relu: bool) -> Tensor:
        x = _ready(x)
        blocks, channels, height, width, lanes = x.shape
        _expect(x, (blocks, channels, height, width, native.LANES))
        out = x.new_empty((blocks, before + channels + after, height // 2, width // 2, lanes))
        ctx.settings = (channels, height, width, before, after, int(relu), blocks)
        native.average_forward(*ctx.settings, x.data_ptr(), out.data_ptr())
        ctx.save_for_backward(x)
        ctx.out_shape = out.shape
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (x,) = ctx.saved_tensors
        gradient = _ready(gradient)
        _expect(gradient, ctx.out_shape)
        to_x = torch.empty_like(x)
        native.average_backward(*ctx.settings, x.data_ptr(), gradient.data_ptr(), to_x.data_ptr())
        return to_x, None, None, None


def sparse_conv(
    x: Tensor,
    values: Tensor,
    bias: Tensor | None,
    plan: ConvPlan,
    residual: Tensor | None = None,
) -> Tensor:
    """Convolve a blocked tensor with the kept weights (and pool and rectify, if planned).

    `residual`, a tensor of the output's shape, is added on the way out.
    """
    out: Tensor = _Conv.apply(x, values, bias, residual, plan)  # type: ignore[no-untyped-call]
    return out


def average(x: Tensor, before: int, after: int, relu: bool) -> Tensor:
    """2x2 averages of a blocked tensor of images, rectified first if `relu`.

    `before` and `after` channels of zeros are put around them: a residual block's shortcut.
    """
    out: Tensor = _Average.apply(x, before, after, relu)  # type: ignore[no-untyped-call]
    return out


def sparse_linear(x: Tensor, values: Tensor, bias: Tensor | None, plan: LinearPlan) -> Tensor:
    """Multiply a blocked tensor (blocks, features, lanes) by the kept weights."""
    out: Tensor = _Linear.apply(x, values, bias, plan)  # type: ignore[no-untyped-call]
    return out
