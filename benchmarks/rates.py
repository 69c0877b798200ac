"""What this machine can do: sgemm on some of its cores at once, and what a network costs."""

from __future__ import annotations

import multiprocessing
import time

import torch
from torch import nn

SIZE = 1024
SECONDS = 2.0


def _sgemm(ready: object, results: object) -> None:
    torch.set_num_threads(1)
    left, right = torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE)
    out = torch.empty(SIZE, SIZE)
    torch.mm(left, right, out=out)
    ready.wait()  # type: ignore[attr-defined]
    count, began = 0, time.perf_counter()
    while (spent := time.perf_counter() - began) < SECONDS:
        torch.mm(left, right, out=out)
        count += 1
    results.put(2 * SIZE**3 * count / spent)  # type: ignore[attr-defined]


def sgemm_rate(processes: int) -> float:
    """FLOP/s of single-threaded sgemm in so many processes together."""
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(processes), context.Queue()
    workers = [context.Process(target=_sgemm, args=(ready, results)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    rate = sum(results.get() for _ in workers)
    for worker in workers:
        worker.join()
    return float(rate)


def network_flops(network: nn.Module, shape: tuple[int, int, int]) -> tuple[float, float]:
    """FLOP of one trained and of one checked example: multiply-adds of layers, counted twice.

    Training costs a layer three times its forward pass; the first layer needs no gradient to its
    input, so twice.
    """
    forward: list[float] = []

    def count(layer: nn.Module, _inputs: object, output: torch.Tensor) -> None:
        weights = sum(p.numel() for p in layer.parameters() if p.ndim > 1)
        pixels = output[0].numel() / output.shape[1]
        forward.append(2 * weights * pixels)

    hooks = [
        layer.register_forward_hook(count)
        for layer in network.modules()
        if isinstance(layer, nn.Conv2d | nn.Linear)
    ]
    with torch.no_grad():
        network(torch.zeros(1, *shape))
    for hook in hooks:
        hook.remove()
    return 3 * sum(forward) - forward[0], sum(forward)
