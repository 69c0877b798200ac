"""A network's computation as a graph, where it is the same at every call.

Tracing runs a network's Python once. What depends on its mode, on chance or on a tensor changed in
place would be frozen or reordered by a plan, so such a network gets none.
"""

from __future__ import annotations

import operator
import random

import numpy as np
import torch
from torch import fx, nn

from sparallel.kernels import operations
from sparallel.kernels.layers import SparseLayer

_IN_PLACE = {
    getattr(operator, name)
    for name in dir(operator)
    if name.startswith("i") and not name.startswith("is") and name[1:] in dir(operator)
}
_VIEWS = {"view", "permute", "transpose", "flatten", "reshape", "unsqueeze", "squeeze", "chunk"}


class _Tracer(fx.Tracer):
    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, SparseLayer) or super().is_leaf_module(m, module_qualified_name)


def trace(root: nn.Module) -> fx.Graph | None:
    """The network's computation, if it is one: the same in every mode, and without chance."""
    modes = {module: module.training for module in root.modules()}
    chance = torch.get_rng_state(), np.random.get_state(legacy=False), random.getstate()
    graphs = []
    try:
        for training in (True, False):
            root.train(training)
            graphs.append(_Tracer().trace(root))
    except Exception:  # any Python may stand in a user's forward; untraceable is no error
        return None
    finally:
        for module, training in modes.items():
            module.training = training
        drew = not torch.equal(chance[0], torch.get_rng_state()) or chance[2] != random.getstate()
        drew = drew or str(chance[1]) != str(np.random.get_state(legacy=False))
        torch.set_rng_state(chance[0])
        np.random.set_state(chance[1])
        random.setstate(chance[2])
    # What was drawn, or made, while tracing would be frozen into the plan.
    made = any(str(node.target).startswith("_tensor_constant") for node in graphs[0].nodes)
    sources = {graph.python_code("self").src for graph in graphs}
    frozen = drew or made or len(sources) > 1
    return None if frozen or not all(_is_pure(n, root) for n in graphs[0].nodes) else graphs[0]


def _is_pure(node: fx.Node, root: nn.Module) -> bool:
    """Whether a node may be moved: it changes nothing that another node reads."""
    module = operations.module_of(node, root)
    method = str(node.target) if node.op == "call_method" else ""
    in_place = (
        node.target in _IN_PLACE
        or (method.endswith("_") and not method.endswith("__"))
        or node.kwargs.get("inplace") is True
        or getattr(module, "inplace", False) is True
    )
    if not in_place:
        return True
    source = node.args[0]
    known = operations.is_relu(node, root) or operations.is_addition(node)
    if not known or not isinstance(source, fx.Node):
        return False
    # Nobody else may look at the tensor that is changed, by its own name or another.
    return len(source.users) == 1 and source.op != "placeholder" and source.target not in _VIEWS
