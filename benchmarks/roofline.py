"""How much of the machine's arithmetic a race uses, and where the rest goes.

    python benchmarks/roofline.py [--data-dir DIR] [--preset mnist-momentum] [--seconds 15]

Useful FLOP/s: trained and checked examples, counted at the multiply-adds of their layers, over the
run's time with every core busy, as a share of sgemm on as many cores measured beside it.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from sparallel.data import DATA_SETS
from sparallel.data.source import data_folder
from sparallel.loading import load_spec
from sparallel.machine import cores, cpu_model
from sparallel.models import MODELS
from sparallel.training import stepping
from sparallel.training.trial import Trial, advance, start
from sparallel.training.workbench import workbench

from measuring import run_measured
from rates import network_flops, sgemm_rate

BATCHES = (2, 8, 32, 128, 1024, 16384)


def shares(trial: Trial, steps: int, data_dir: Path) -> dict[str, float]:
    """Where one worker's time goes, from timers around the parts of `advance`."""
    bench = workbench(trial.data, trial.model, data_dir, "cpu")
    spent: dict[str, float] = defaultdict(float)

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **keywords: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*args, **keywords)
            finally:
                spent[name] += time.perf_counter() - began

        return call

    state = start(trial, bench)
    state, _ = advance(trial, state, 1, bench)
    gather, check = bench.train.gather, bench.check
    gradient, optimizers = stepping.accumulate_gradient, stepping.OPTIMIZERS
    optimizer = optimizers.get(trial.optimizer)

    class Timed:
        metaparameters, slots = optimizer.metaparameters, optimizer.slots
        update = staticmethod(timed("optimizer", optimizer.update))

    class Choice:
        get = staticmethod(lambda _name: Timed)

    bench.train.gather = timed("data", gather)  # type: ignore[method-assign]
    bench.check = timed("goal check", check)  # type: ignore[assignment]
    stepping.accumulate_gradient = timed("gradient and data", gradient)
    stepping.OPTIMIZERS = Choice  # type: ignore[assignment]
    try:
        began = time.perf_counter()
        advance(trial, state, steps, bench)
        total = time.perf_counter() - began
    finally:
        bench.train.gather, bench.check = gather, check  # type: ignore[method-assign]
        stepping.accumulate_gradient, stepping.OPTIMIZERS = gradient, optimizers
    parts = {
        "gradient": spent["gradient and data"] - spent["data"],
        "goal check": spent["goal check"],
        "data": spent["data"],
        "optimizer": spent["optimizer"],
    }
    parts["Python and the rest"] = total - sum(parts.values())
    return {name: seconds / total for name, seconds in parts.items()}


def main() -> None:
    """Every batch size in turn, sgemm before and after it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--preset", default="mnist-momentum")
    parser.add_argument("--seconds", type=float, default=15.0, help="aimed at, a batch size")
    parser.add_argument("--batch-sizes", default=",".join(map(str, BATCHES)))
    words = parser.parse_args()
    preset = load_spec(words.preset)
    source, folder = DATA_SETS.get(preset.data), data_folder(words.data_dir)
    trained_flop, checked_flop = network_flops(
        MODELS.get(preset.model)(source.shape, source.classes), source.shape
    )
    print(f"machine: {cpu_model()}, {cores()} cores")
    print(
        f"{preset.model}: {trained_flop / 1e6:.1f} MFLOP trained, {checked_flop / 1e6:.1f} checked"
    )
    torch.set_num_threads(1)
    interval = preset.check_interval
    for batch_size in map(int, words.batch_sizes.split(",")):
        # As many steps as fill the time at half the machine's rate, in whole checks.
        budget = words.seconds * cores() * 30e9
        per_step = batch_size * trained_flop + 250 * checked_flop / interval
        count = 4 if batch_size < 1024 else 2
        steps = max(interval, round(budget / count / per_step / interval) * interval)
        spec = load_spec(
            words.preset,
            {"batch_sizes": (batch_size,), "sparsities": (0,), "trials": count, "max_steps": steps},
        )
        before = sgemm_rate(cores())
        run = run_measured(spec, cores(), folder)
        peak = (before + sgemm_rate(cores())) / 2
        useful = (run.trained * trained_flop + run.checked * checked_flop) / run.seconds
        point = spec.search_space.points(1)[0]
        sample = Trial(
            data=spec.data,
            model=spec.model,
            optimizer=spec.optimizer,
            schedule=spec.schedule,
            pruning=spec.pruning,
            goal_errors=spec.goal_errors,
            check_interval=interval,
            seed=0,
            batch_size=batch_size,
            sparsity=0.0,
            index=0,
            metaparameters=point,
        )
        where = shares(sample, min(steps, max(interval, 16_384 // batch_size)), folder)
        told = ", ".join(f"{name} {share:.1%}" for name, share in where.items())
        print(
            f"batch {batch_size:>6}: {useful / 1e9:6.1f} of {peak / 1e9:6.1f} GFLOP/s = "
            f"{useful / peak:.1%};  {run.checked / max(run.checks, 1):.0f} examples/check;  {told}",
            flush=True,
        )


if __name__ == "__main__":
    main()
