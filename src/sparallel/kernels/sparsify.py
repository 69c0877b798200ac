"""Swaps sparse layers into a pruned network where its density makes them faster."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn

from sparallel.kernels.layers import SparseConv2d, SparseLayer, SparseLinear
from sparallel.kernels.library import KernelsError, available, why_not
from sparallel.kernels.operations import is_plain, is_plain_conv
from sparallel.kernels.planner import Run, plan_network, pooled_convolutions
from sparallel.kernels.pooled import FEW_INPUTS

Mode = Literal["auto", "on", "off"]

CONV_DENSITY = 0.7
POOLED_CONV_DENSITY = 0.3
FIRST_CONV_DENSITY = 0.75
LINEAR_DENSITY = 0.35
"""Densities up to which a sparse layer is the faster one (benchmarks/sparse.py measures them).

A convolution before a 2x2 max-pool and a ReLU has a fast dense way too (pooled.py), all the more
where it has few inputs, as a network's first.
"""


class SparseNetwork(nn.Module):
    """A pruned network whose swapped layers hold only their kept parameters.

    Its parameters and the dense network's say the same: `compress` and `expand` go both ways.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        self._planned: tuple[Run, str] | None = plan_network(network)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """What the dense network computes with its pruned parameters at zero."""
        if self._planned is None:
            return self.network(*inputs, **named)
        return self._planned[0](self.network, *inputs, **named)

    @property
    def source(self) -> str:
        """The planned computation as Python source; empty where there is none."""
        return "" if self._planned is None else self._planned[1]

    def sparse_layers(self) -> dict[str, SparseLayer]:
        """The swapped layers by their names in the dense network."""
        modules = self.network.named_modules()
        return {name: module for name, module in modules if isinstance(module, SparseLayer)}

    def compress(self, dense: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Dense parameters, by their dense names, as this network's, by `named_parameters`.

        Works on any tensors of the dense shapes: gradients, momentum, masks or positions.
        """
        compressed = {
            name: dense[owner].detach().reshape(-1)[kept]
            for (owner, name), kept in self._kept().items()
        }
        for name, _ in self.named_parameters():
            if name not in compressed:
                compressed[name] = dense[name.removeprefix("network.")].detach().clone()
        return {name: compressed[name] for name, _ in self.named_parameters()}

    def expand(self, values: Mapping[str, Tensor] | None = None) -> dict[str, Tensor]:
        """This network's parameters (or `values` in their place) as dense ones, 0 where pruned."""
        chosen = dict(self.named_parameters()) if values is None else values
        places = self._kept()
        compressed = {name for _, name in places}
        dense = {
            name.removeprefix("network."): chosen[name].detach().clone()
            for name, _ in self.named_parameters()
            if name not in compressed
        }
        for name, layer in self.sparse_layers().items():
            like = chosen[_inside("network", _inside(name, "values"))]
            dense[_inside(name, "weight")] = like.new_zeros(layer.dense_shape)
            if layer.has_bias:
                dense[_inside(name, "bias")] = like.new_zeros(layer.dense_shape[:1])
        for (owner, name), kept in places.items():
            dense[owner].view(-1)[kept] = chosen[name].detach()
        return dense

    def _kept(self) -> dict[tuple[str, str], Tensor]:
        """(dense name, this network's name) of every kept vector -> places in the dense tensor."""
        places = {}
        for name, layer in self.sparse_layers().items():
            own = _inside("network", name).rstrip(".")
            places[_inside(name, "weight"), _inside(own, "values")] = layer.kept
            if layer.bias_values is not None:
                places[_inside(name, "bias"), _inside(own, "bias_values")] = layer.kept_bias
        return places

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_planned"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self._planned = plan_network(self.network)


def _inside(owner: str, name: str) -> str:
    """The name of a thing inside a module, which may be the network itself ("")."""
    return f"{owner}.{name}" if owner else name


def can_be_sparse(module: nn.Module) -> bool:
    """Whether the kernels compute what this layer computes."""
    if isinstance(module, nn.Conv2d):
        return is_plain_conv(module) and module.padding_mode == "zeros"
    linear = isinstance(module, nn.Linear) and type(module).forward is nn.Linear.forward
    return linear and is_plain(module)


def is_faster_sparse(module: nn.Module, mask: Tensor, pooled: bool) -> bool:
    """Whether a layer of this kind, `pooled` or not, is faster sparse at its mask's density."""
    density = float(mask.float().mean())
    if not isinstance(module, nn.Conv2d):
        return density <= LINEAR_DENSITY
    few = module.weight[0].numel() < FEW_INPUTS
    if pooled:
        return density <= (FIRST_CONV_DENSITY if few else POOLED_CONV_DENSITY)
    return few or density <= CONV_DENSITY


def sparsify(model: nn.Module, masks: Mapping[str, Tensor], mode: Mode = "auto") -> SparseNetwork:
    """A copy of `model` with sparse layers where they pay (auto), everywhere (on) or nowhere (off).

    `masks` has a mask of its shape for every pruned parameter, by name. Parameters of layers that
    stay dense stay whole, zero where pruned; masking their gradients is left to the caller.
    """
    if mode not in ("auto", "on", "off"):
        raise KernelsError(f"Sparse kernels can be auto, on or off, not {mode!r}.")
    if mode == "on" and not available():
        raise KernelsError(f"Sparse kernels were asked for, but {why_not()}; or use auto or off.")
    network = copy.deepcopy(model)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name in masks:
                parameter.mul_(masks[name].to(parameter))
    if mode == "off" or not available():
        return SparseNetwork(network)
    pooled = pooled_convolutions(network)
    owners = Counter(id(p) for m in network.modules() for p in m.parameters(recurse=False))
    for name, module in list(network.named_modules()):
        mask = masks.get(_inside(name, "weight"))
        if mask is None or not can_be_sparse(module):
            continue
        if any(owners[id(p)] > 1 for p in module.parameters()):
            continue  # a tensor that two layers share cannot become two vectors
        if mode == "on" or is_faster_sparse(module, mask, name in pooled):
            layer = _sparse(module, mask, masks.get(_inside(name, "bias")))
            if not name:
                return SparseNetwork(layer)
            network.set_submodule(name, layer)
    return SparseNetwork(network)


def _sparse(module: nn.Module, mask: Tensor, bias_mask: Tensor | None) -> SparseLayer:
    if isinstance(module, nn.Conv2d):
        return SparseConv2d(module, mask, bias_mask)
    assert isinstance(module, nn.Linear)
    return SparseLinear(module, mask, bias_mask)
