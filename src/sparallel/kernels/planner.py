"""Keeps the blocked layout between neighbouring layers of a traced network.

The network's computation is traced once, and a second one is written from it in which sparse
layers, ReLUs, sums and pools pass blocked tensors to each other; conversions stand only where
something else needs the plain layout. ReLUs, zero padding and 2x2 max-pools next to a sparse
convolution become part of it, and so do the max-pool and the ReLU behind a dense one. What cannot
be traced, or computes differently from call to call, runs layer by layer, each converting.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from sparallel.kernels import operations
from sparallel.kernels.functions import average, enter, leave
from sparallel.kernels.layers import NO_PADDING, SparseConv2d, SparseLayer, SparseLinear
from sparallel.kernels.library import available
from sparallel.kernels.pooled import can_pool, conv_pool_relu
from sparallel.kernels.tracing import trace

Run = Callable[..., Any]


def pool_blocked(pooling: str | nn.Module, blocked: Tensor, *args: Any, **named: Any) -> Tensor:
    """Pool a blocked tensor by a module or a function of this name, without moving memory.

    (blocks x channels, height, width, lanes) is what PyTorch calls a channels-last image whose
    channels are the lanes.
    """
    blocks, channels, height, width, lanes = blocked.shape
    images = blocked.contiguous().view(blocks * channels, height, width, lanes)
    apply = getattr(functional, pooling) if isinstance(pooling, str) else pooling
    pooled: Tensor = apply(images.permute(0, 3, 1, 2), *args, **named)
    out = pooled.permute(0, 2, 3, 1).contiguous()
    return out.view(blocks, channels, *out.shape[1:])


def plan_network(root: nn.Module) -> tuple[Run, str] | None:
    """The planned forward function of (root, inputs...) and its source.

    None if there is nothing to plan, or the network cannot be traced.
    """
    if not available():
        return None
    if not (any(isinstance(m, SparseLayer) for m in root.modules()) or pooled_convolutions(root)):
        return None
    graph = trace(root)
    if graph is None:
        return None
    code = _Rewriter(root, graph).planned.python_code("self")
    space: dict[str, Any] = dict(code.globals)
    exec(compile(code.src, "<planned network>", "exec"), space)
    run: Run = space["forward"]
    return run, code.src


def fastest(network: nn.Module) -> Run:
    """What a dense network computes, by the fastest way known.

    The network itself where there is nothing to gain, on another device, and where its Python,
    hooks or mode could make a plan compute something else. A plan reads the parameters at every
    call, and asks again whether each layer is what it was.
    """
    if not operations.is_plain(network) or not pooled_convolutions(network):
        return network
    planned = plan_network(network)
    return network if planned is None else partial(planned[0], network)


def _pooled(node: fx.Node, root: nn.Module) -> list[fx.Node]:
    """The pool and the ReLU behind a dense convolution, where all three can be one function."""
    fits = can_pool(operations.module_of(node, root)) and len(node.args) == 1 and not node.kwargs
    return operations.pool_and_relu_behind(node, root) if fits else []


def pooled_convolutions(root: nn.Module) -> set[str]:
    """The names of the dense convolutions that would become one function with their pool."""
    graph = trace(root)
    return set() if graph is None else {str(n.target) for n in graph.nodes if _pooled(n, root)}


class _Rewriter:
    """Writes the planned graph, keeping for every old node its plain or blocked new value."""

    def __init__(self, root: nn.Module, graph: fx.Graph) -> None:
        self.root = root
        self.planned = fx.Graph()
        self._plain: dict[fx.Node, fx.Node] = {}
        self._blocked: dict[fx.Node, fx.Node] = {}
        self._examples: dict[fx.Node, fx.Node] = {}
        self._features: set[fx.Node] = set()  # nodes known to be (examples, features)
        done: set[fx.Node] = set()
        for node in graph.nodes:
            if node not in done:
                done.update(self._write(node))
        self.planned.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))

    def plain(self, node: fx.Node) -> fx.Node:
        if node not in self._plain:
            value, examples = self._blocked[node], self._examples[node]
            self._plain[node] = self.planned.call_function(leave, (value, examples))
        return self._plain[node]

    def blocked(self, node: fx.Node) -> fx.Node:
        if node not in self._blocked:
            plain = self._plain[node]
            self._blocked[node] = self.planned.call_function(enter, (plain,))
            self._examples[node] = self.planned.call_function(len, (plain,))
        return self._blocked[node]

    def _set(self, node: fx.Node, value: fx.Node, source: fx.Node) -> None:
        self._blocked[node] = value
        self._examples[node] = self._examples[source]

    def _write(self, node: fx.Node) -> list[fx.Node]:
        """Write one node, or the few that become one; returns those that are done."""
        module = operations.module_of(node, self.root)
        if isinstance(module, SparseConv2d):
            return self._convolution(node)
        if isinstance(module, nn.Conv2d) and (behind := _pooled(node, self.root)):
            source = self.plain(node.all_input_nodes[0])
            layer = self.planned.get_attr(str(node.target))
            self._plain[behind[-1]] = self.planned.call_function(conv_pool_relu, (layer, source))
            return [node, *behind]
        if isinstance(module, SparseLinear) and self._linear(node):
            return [node]
        if node.all_input_nodes and node.all_input_nodes[0] in self._blocked:
            written = self._between(node)
            if written is not None:
                return [node]
        self._plain[node] = self.planned.node_copy(node, self.plain)
        if operations.flattens(node, self.root):
            self._features.add(node)
        return [node]

    def _convolution(self, node: fx.Node) -> list[fx.Node]:
        source, extra, relu = node.args[0], NO_PADDING, False
        assert isinstance(source, fx.Node)
        padding = operations.spatial_padding(source)
        if padding is not None:
            extra, source = padding, source.all_input_nodes[0]
        before = source.all_input_nodes[0] if source.all_input_nodes else None
        if operations.is_relu(source, self.root) and before in self._blocked:
            assert before is not None
            relu, source = True, before
        settings: dict[str, Any] = {"blocked": True}
        done = [node, *operations.pool_and_relu_behind(node, self.root)]
        if len(done) > 1:
            settings["pool"] = True
        if relu:
            settings["relu"] = True
        if extra != NO_PADDING:
            settings["extra"] = extra
        value = self.planned.call_module(str(node.target), (self.blocked(source),), settings)
        self._set(done[-1], value, source)
        return done

    def _linear(self, node: fx.Node) -> bool:
        source = node.args[0]
        assert isinstance(source, fx.Node)
        settings: dict[str, Any] = {"blocked": True}
        if operations.flattens(source, self.root):
            images = source.all_input_nodes[0]
            if images not in self._blocked and operations.puts_channels_last(images):
                images = images.all_input_nodes[0]
                settings["channels_last"] = True
            if images in self._blocked and images not in self._features:
                source = images
        if source not in self._features and source not in self._blocked:
            return False
        if source not in self._blocked:
            settings.pop("channels_last", None)
        value = self.planned.call_module(str(node.target), (self.blocked(source),), settings)
        self._set(node, value, source)
        self._features.add(node)
        return True

    def _between(self, node: fx.Node) -> fx.Node | None:
        """A node that works on blocked tensors as well; None if this one does not."""
        source = node.all_input_nodes[0]
        value = self._blocked[source]
        call = self.planned.call_function
        written: fx.Node | None
        if operations.is_relu(node, self.root):
            written = call(torch.relu, (value,))
        elif operations.is_addition(node):
            written = self._addition(*node.all_input_nodes)
        elif source in self._features:
            return None
        elif operations.is_spatial_mean(node):
            written = call(torch.mean, (value, (2, 3)))
            self._features.add(node)
        else:
            written = self._average(node) or self._pooling(node)
        if written is not None:
            if source in self._features:
                self._features.add(node)
            self._set(node, written, source)
        return written

    def _addition(self, first: fx.Node, second: fx.Node) -> fx.Node | None:
        """A sum; one that alone uses a sparse convolution's output becomes part of it."""
        if first not in self._blocked or second not in self._blocked:
            return None
        for conv, other in ((second, first), (first, second)):
            done = self._blocked[conv]
            sparse = isinstance(operations.module_of(conv, self.root), SparseConv2d)
            if sparse and len(conv.users) == 1:
                settings = {**done.kwargs, "residual": self._blocked[other]}
                return self.planned.call_module(str(done.target), done.args, settings)
        return self.planned.call_function(torch.add, (self._blocked[first], self._blocked[second]))

    def _average(self, node: fx.Node) -> fx.Node | None:
        """A 2x2 average with the ReLU before it and the channels of zeros around it."""
        before, after = operations.channel_padding(node) or (0, 0)
        pooling = node.all_input_nodes[0] if operations.channel_padding(node) else node
        if not operations.is_2x2_average(pooling, self.root):
            return None
        source, relu = pooling.all_input_nodes[0], False
        if operations.is_relu(source, self.root) and source.all_input_nodes[0] in self._blocked:
            source, relu = source.all_input_nodes[0], True
        value = self._blocked[source]
        return self.planned.call_function(average, (value, before, after, relu))

    def _pooling(self, node: fx.Node) -> fx.Node | None:
        """Any pooling, or a padding with zeros."""
        value, call = self._blocked[node.all_input_nodes[0]], self.planned.call_function
        name, amounts = operations.spatial_name(node, self.root), operations.image_padding(node)
        if name is not None and node.op == "call_module":
            return call(pool_blocked, (self.planned.get_attr(name), value))
        if name is not None:
            return call(pool_blocked, (name, value, *node.args[1:]), dict(node.kwargs))
        if amounts is not None:
            return call(functional.pad, (value, (0, 0, *amounts)))
        return None
