"""What the planner recognises in a traced network: each question is about one node."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional

from sparallel.kernels.layers import NO_PADDING, Padding

_RELU = {functional.relu, torch.relu}
_ADD = {operator.add, operator.iadd, torch.add}
_MAX_POOL = {functional.max_pool2d, torch.max_pool2d}
_SPATIAL: dict[Any, str] = {
    functional.max_pool2d: "max_pool2d",
    torch.max_pool2d: "max_pool2d",
    functional.avg_pool2d: "avg_pool2d",
    functional.adaptive_avg_pool2d: "adaptive_avg_pool2d",
}
_SPATIAL_MODULES = (nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveAvgPool2d)


def module_of(node: fx.Node, root: nn.Module) -> nn.Module | None:
    """The module a node calls, if it calls one."""
    return root.get_submodule(str(node.target)) if node.op == "call_module" else None


def is_relu(node: fx.Node, root: nn.Module) -> bool:
    """A ReLU: as a module, a function or a method, in place or not."""
    if node.op == "call_method":
        return node.target in ("relu", "relu_")
    return node.target in _RELU or isinstance(module_of(node, root), nn.ReLU)


def is_addition(node: fx.Node) -> bool:
    """A sum of two traced tensors."""
    if node.op == "call_method" and node.target not in ("add", "add_"):
        return False
    if node.op not in ("call_function", "call_method"):
        return False
    if node.op == "call_function" and node.target not in _ADD:
        return False
    return len(node.args) == 2 and not node.kwargs and len(node.all_input_nodes) == 2


def spatial_name(node: fx.Node, root: nn.Module) -> str | None:
    """The name in `torch.nn.functional`, or of the module, of a pooling; None if it is none."""
    if isinstance(module_of(node, root), _SPATIAL_MODULES):
        return str(node.target)
    return _SPATIAL.get(node.target) if node.op == "call_function" else None


def is_2x2_max_pool(node: fx.Node, root: nn.Module) -> bool:
    """The max-pool that a convolution's kernel can do on its way out."""
    module = module_of(node, root)
    if isinstance(module, nn.MaxPool2d):
        settings: dict[str, Any] = {
            name: getattr(module, name)
            for name in ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
        }
        settings["return_indices"] = module.return_indices
    elif node.target in _MAX_POOL and node.op == "call_function":
        names = ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")
        settings = dict(zip(names, node.args[1:], strict=False)) | dict(node.kwargs)
    else:
        return False
    allowed: dict[str, tuple[Any, ...]] = {
        "kernel_size": (2, (2, 2)),
        "stride": (None, 2, (2, 2)),
        "padding": (0, (0, 0)),
        "dilation": (1, (1, 1)),
        "ceil_mode": (False,),
        "return_indices": (False,),
    }
    return all(name in allowed and value in allowed[name] for name, value in settings.items())


def pool_and_relu_behind(node: fx.Node, root: nn.Module) -> list[fx.Node]:
    """The 2x2 max-pool and the ReLU, in either order, that alone use this node's value."""
    found: list[fx.Node] = []
    while len(found) < 2 and len(node.users) == 1:
        node = next(iter(node.users))
        found.append(node)
    if len(found) < 2:
        return []
    modules = [module_of(behind, root) for behind in found]
    if not all(module is None or is_plain(module) for module in modules):
        return []
    for relu, pool in (found, found[::-1]):
        if is_relu(relu, root) and is_2x2_max_pool(pool, root):
            return found
    return []


def is_plain_conv(module: nn.Module | None) -> bool:
    """A Conv2d that computes what its class says: no groups, dilation, hooks or other types."""
    if not isinstance(module, nn.Conv2d) or type(module).forward is not nn.Conv2d.forward:
        return False
    return is_plain(module) and module.groups == 1 and tuple(module.dilation) == (1, 1)


def is_plain(module: nn.Module) -> bool:
    """A layer or network as its class made it: no hooks, and float32 in this machine's memory."""
    hooks = (
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
    )
    if hooks or "forward" in module.__dict__:
        return False
    return all(p.dtype == torch.float32 and p.is_cpu for p in module.parameters())


def is_2x2_average(node: fx.Node, root: nn.Module) -> bool:
    """The average pool that has a kernel of its own."""
    module = module_of(node, root)
    if isinstance(module, nn.AvgPool2d):
        shape = (module.kernel_size, module.stride, module.padding, module.ceil_mode)
        return shape in ((2, 2, 0, False), (2, None, 0, False), ((2, 2), (2, 2), 0, False))
    if node.op != "call_function" or node.target is not functional.avg_pool2d or node.kwargs:
        return False
    return node.args[1:] in ((2,), (2, 2), ((2, 2),))


def spatial_padding(node: fx.Node) -> Padding | None:
    """The zeros that a `pad` puts around images; None if it is anything else."""
    amounts = _padding(node)
    if amounts is None or len(amounts) != 4 or min(amounts) < 0:
        return None
    return amounts[0], amounts[1], amounts[2], amounts[3]


def image_padding(node: fx.Node) -> tuple[int, ...] | None:
    """The amounts of a `pad` by zeros that leaves the examples alone."""
    amounts = _padding(node)
    return amounts if amounts is not None and len(amounts) in (4, 6) else None


def channel_padding(node: fx.Node) -> tuple[int, int] | None:
    """The channels of zeros that a `pad` puts around an image's own, if it does only that."""
    amounts = _padding(node)
    if amounts is None or len(amounts) != 6 or any(amounts[:4]) or min(amounts) < 0:
        return None
    return amounts[4], amounts[5]


def _padding(node: fx.Node) -> tuple[int, ...] | None:
    if node.op != "call_function" or node.target is not functional.pad:
        return None
    names = ("pad", "mode", "value")
    settings = dict(zip(names, node.args[1:], strict=False)) | dict(node.kwargs)
    amounts = settings.pop("pad", NO_PADDING)
    if settings.get("mode", "constant") != "constant" or settings.get("value") not in (None, 0):
        return None
    if not isinstance(amounts, (tuple, list)) or not all(isinstance(a, int) for a in amounts):
        return None
    return tuple(amounts)


def is_spatial_mean(node: fx.Node) -> bool:
    """A mean over height and width that leaves (examples, channels)."""
    named = node.op == "call_method" and node.target == "mean"
    if not named and node.target is not torch.mean:
        return False
    dims = node.args[1] if len(node.args) == 2 else node.kwargs.get("dim")
    others = set(node.kwargs) - {"dim"}
    return isinstance(dims, (tuple, list)) and tuple(dims) in ((2, 3), (-2, -1)) and not others


def flattens(node: fx.Node, root: nn.Module) -> bool:
    """A flattening of everything but the examples."""
    module = module_of(node, root)
    if isinstance(module, nn.Flatten):
        return (module.start_dim, module.end_dim) == (1, -1)
    named = node.op == "call_method" and node.target == "flatten"
    if not named and node.target is not torch.flatten:
        return False
    return node.args[1:] in ((1,), (1, -1)) and not node.kwargs


def puts_channels_last(node: fx.Node) -> bool:
    """A permutation from (examples, channels, height, width) to channels last."""
    named = node.op == "call_method" and node.target == "permute"
    if not named and node.target is not torch.permute:
        return False
    order = node.args[1:] if len(node.args) == 5 else node.args[1]
    return isinstance(order, (tuple, list)) and tuple(order) == (0, 2, 3, 1) and not node.kwargs
