"""What measuring L at one point costs, against eleven gradient passes: one core, one run.

    python benchmarks/smoothness.py [--data mnist-5k] [--model simple-cnn] [--data-dir D]
                                    [--repeats N]

The passes are training's own: `accumulate_gradient` over the same examples. A point is L and all
that is logged with it: beta, |grad f|^2, the step, losses and errors, the validation set. They take
turns, so all meet the same neighbours on the machine; figures are medians of the core's time in
this one thread, so that waiting for other processes does not count.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

from sparallel.data.source import data_folder
from sparallel.machine import cpu_model
from sparallel.smoothness.examples import MeasuredExamples, subset
from sparallel.smoothness.lipschitz import GAMMAS, lipschitz
from sparallel.smoothness.tasks import measure
from sparallel.training.gradient import accumulate_gradient
from sparallel.training.state import TrialState
from sparallel.training.stepping import Stepping
from sparallel.training.trial import Trial, never, start
from sparallel.training.workbench import Workbench, flushed_denormals, workbench

PASSES = 1 + len(GAMMAS)
EXAMPLES = (640, 1_280, 2_500)

Action = Callable[[], object]


def trial(data: str, model: str, sparsity: float) -> Trial:
    """A run of SGD at batch size 128."""
    return Trial(
        data=data,
        model=model,
        optimizer="sgd",
        schedule="constant",
        pruning="snip",
        goal_errors=(0.0,),
        check_interval=1_000,
        seed=0,
        batch_size=128,
        sparsity=sparsity,
        index=0,
        metaparameters={"learning_rate": 0.02},
    )


def actions(chosen: Trial, state: TrialState, examples: int, bench: Workbench) -> list[Action]:
    """L at a point, as many plain gradient passes, and a whole point with all that it logs."""
    stepping = Stepping(chosen, state, bench)
    flat, before = stepping.flat, stepping.flat.values.clone()
    stepping.take()
    step = flat.values - before
    indices = bench.train.place(subset(len(bench.train), examples))

    def one_l() -> object:
        measured = MeasuredExamples(bench.train, examples, stepping.arranged)
        return lipschitz(measured.gradient, before, step)

    def passes() -> None:
        flat.values.copy_(before)
        for _ in range(PASSES):
            accumulate_gradient(flat, bench.train, indices, scale=1 / examples)

    return [one_l, passes, lambda: measure(chosen, state, examples, bench, never)]


def interleaved(things: list[Action], repeats: int) -> list[float]:
    """Median seconds of several things that take turns; a first turn warms caches and plans."""
    times: list[list[float]] = [[] for _ in things]
    for turn in range(repeats + 1):
        for action, taken in zip(things, times, strict=True):
            began = time.thread_time()
            action()
            if turn:
                taken.append(time.thread_time() - began)
    return [statistics.median(taken) for taken in times]


@flushed_denormals()
def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="mnist-5k")
    parser.add_argument("--model", default="simple-cnn")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    words = parser.parse_args()
    bench = workbench(words.data, words.model, data_folder(words.data_dir).absolute(), "cpu")
    print(f"{words.model} on {words.data}, {cpu_model()}, one core; torch {torch.__version__}")
    print("sparsity examples  seconds(L)  ms an example  L / 11 passes  point / 11 passes")
    for sparsity in (0.0, 0.9):
        chosen = trial(words.data, words.model, sparsity)
        state = start(chosen, bench)
        for examples in EXAMPLES:
            one_l, passes, point = interleaved(
                actions(chosen, state, examples, bench), words.repeats
            )
            print(
                f"{sparsity:8g} {examples:8d} {one_l:11.3f} {1000 * one_l / examples:14.3f} "
                f"{one_l / passes:14.3f} {point / passes:18.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
