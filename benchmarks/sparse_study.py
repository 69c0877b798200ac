"""A whole sparse study with and without the sparse kernels: seconds a trained step.

    python benchmarks/sparse_study.py [--data-dir DIR] [--sparsity 0.9] [--max-steps 160]

mnist-momentum, batch 128, 8 trials, both ways in turn, twice; the initializations' masks are
computed before the clock starts.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from sparallel.kernels import instruction_set
from sparallel.loading import load_spec
from sparallel.machine import cores, cpu_model

from measuring import run_measured


def main() -> None:
    """Run both ways in turn."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--sparsity", type=float, default=0.9)
    parser.add_argument("--max-steps", type=int, default=160)
    words = parser.parse_args()

    def seconds_a_step(mode: str, steps: int) -> float:
        changes = {"batch_sizes": (128,), "sparsities": (words.sparsity,), "trials": 8}
        spec = load_spec("mnist-momentum", {**changes, "max_steps": steps})
        run = run_measured(spec, cores(), words.data_dir, mode)  # type: ignore[arg-type]
        return run.worker_seconds / (run.trained / 128)

    print(f"machine: {cpu_model()}, {cores()} cores, kernels {instruction_set()}")
    seconds_a_step("auto", 16)  # fills the cache of masks
    times = {"off": 0.0, "auto": 0.0}
    for _ in range(2):
        for mode in times:
            times[mode] += seconds_a_step(mode, words.max_steps) / 2
    for mode, seconds in times.items():
        print(f"--sparse-kernels {mode:>4}: {1000 * seconds:6.1f} ms a step, checks included")
    print(f"=> with kernels over without: {times['auto'] / times['off']:.2f}   (at most 0.5)")


if __name__ == "__main__":
    main()
