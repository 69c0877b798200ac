"""The compiled kernels; addresses are integers, 0 stands for "not wanted"."""

from typing import NewType

CapsuleType = NewType("CapsuleType", object)

LANES: int
INSTRUCTION_SET: str

def new_conv_plan(*geometry_indices_kept: int) -> CapsuleType: ...
def new_linear_plan(
    features: int, outputs: int, indices: int, kept: int, columns: int, /
) -> CapsuleType: ...
def conv_forward(
    plan: CapsuleType,
    blocks: int,
    x: int,
    values: int,
    bias: int,
    residual: int,
    out: int,
    choice: int,
    /,
) -> None: ...
def conv_backward(
    plan: CapsuleType,
    blocks: int,
    x: int,
    values: int,
    gradient: int,
    choice: int,
    to_values: int,
    to_bias: int,
    to_x: int,
    /,
) -> None: ...
def linear_forward(
    plan: CapsuleType, blocks: int, x: int, values: int, bias: int, out: int, /
) -> None: ...
def linear_backward(
    plan: CapsuleType,
    blocks: int,
    x: int,
    values: int,
    gradient: int,
    to_values: int,
    to_bias: int,
    to_x: int,
    /,
) -> None: ...
def to_blocked(x: int, examples: int, size: int, out: int, /) -> None: ...
def from_blocked(x: int, examples: int, size: int, out: int, /) -> None: ...
def average_forward(*averaging_blocks_x_out: int) -> None: ...
def average_backward(*averaging_blocks_x_gradient_to_x: int) -> None: ...
def pool_forward(
    height: int, width: int, channels: int, examples: int, x: int, out: int, choice: int, /
) -> None: ...
def pooled_conv_forward(*sizes_examples_x_weights_bias_out_choice: int) -> None: ...
def pooled_conv_backward(
    *sizes_examples_x_weights_gradient_choice_to_weights_to_bias_to_x: int,
) -> None: ...
