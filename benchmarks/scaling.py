"""How a run's time and memory grow with workers, trials and batch size.

    python benchmarks/scaling.py [workers] [batches] [trials] [--data-dir DIR] [--quick]

Prints ratios measured side by side in one run: two workers over one against two cores over one in
sgemm; the share of the run that is not training or checking; the share of the validation set that
a goal check looks at; peak memory at batch 16384 over batch 128.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

from sparallel.loading import load_spec
from sparallel.machine import cpu_model
from sparallel.spec import Experiment

from measuring import Measured, run_measured
from rates import sgemm_rate

VALIDATION = 6_000
PARTS = ("workers", "batches", "trials")


def race(**changes: object) -> Experiment:
    """MNIST, Momentum, dense, changed."""
    return load_spec("mnist-momentum", {"sparsities": (0,), **changes})


def line(name: str, run: Measured) -> str:
    """One run in one line."""
    return (
        f"{name:>24}  {run.seconds:8.1f} s  {run.trained / run.seconds:8.0f} trained examples/s  "
        f"{run.peak_megabytes:7.0f} MB peak  {run.checked / max(run.checks, 1):6.0f} examples/check"
    )


def beside_sgemm(
    experiment: Experiment, count: int, data_dir: Path | None
) -> tuple[Measured, float]:
    """A run with so many workers, and the rate of sgemm on as many cores before and after it."""
    before = sgemm_rate(count)
    run = run_measured(experiment, count, data_dir)
    return run, (before + sgemm_rate(count)) / 2


def workers(data_dir: Path | None, rounds: int, steps: int) -> None:
    """One worker and two, each between two measurements of sgemm on as many cores."""
    ratios, ideal, overhead, driver, looked = [], [], [], [], []
    experiment = race(batch_sizes=(128,), trials=16, max_steps=steps)
    for _ in range(rounds):
        one, one_core = beside_sgemm(experiment, 1, data_dir)
        two, two_cores = beside_sgemm(experiment, 2, data_dir)
        ratios.append((two.trained / two.seconds) / (one.trained / one.seconds))
        ideal.append(two_cores / one_core)
        overhead.append(1 - two.worker_seconds / (2 * two.seconds))
        driver.append(two.driver_seconds / (2 * two.seconds))
        looked.append(two.checked / two.checks / VALIDATION)
        print(line("1 worker", one))
        print(line("2 workers", two), flush=True)
    shares = [own / best for own, best in zip(ratios, ideal, strict=True)]
    print(f"two workers over one: {statistics.median(ratios):.3f}")
    print(f"two cores over one, sgemm: {statistics.median(ideal):.3f}")
    each = ", ".join(f"{share:.3f}" for share in shares)
    print(f"=> share of the ideal: {statistics.median(shares):.3f} ({each})   (at least 0.95)")
    print(f"=> not training or checking: {statistics.median(overhead):.2%}   (at most 3%)")
    print(f"   of it the driver's processor time: {statistics.median(driver):.2%}")
    print(f"=> validation set looked at a check: {statistics.median(looked):.2%}   (at most 5%)")


def batches(data_dir: Path | None, examples: int) -> None:
    """The same number of trained examples at every batch size."""
    peak = {}
    for batch_size in (2, 8, 32, 128, 1024, 4096, 16384):
        steps = max(16, examples // batch_size // 16 * 16)
        run = run_measured(race(batch_sizes=(batch_size,), trials=2, max_steps=steps), 2, data_dir)
        peak[batch_size] = run.peak_megabytes
        print(line(f"batch {batch_size}", run), flush=True)
    print(f"=> peak memory, batch 16384 over 128: {peak[16384] / peak[128]:.3f}   (at most 1.2)")


def trials(data_dir: Path | None) -> None:
    """More trials: time should grow in proportion, memory hardly."""
    for count in (4, 16, 64):
        run = run_measured(race(batch_sizes=(128,), trials=count, max_steps=32), 2, data_dir)
        print(line(f"{count} trials", run), f"  {run.seconds / count:.2f} s a trial", flush=True)


def main() -> None:
    """Run every part."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all where none is named")
    parser.add_argument("--quick", action="store_true", help="one round of short runs")
    words = parser.parse_args()
    print(f"machine: {cpu_model()}")
    parts = words.parts or PARTS
    if "workers" in parts:
        workers(words.data_dir, 1 if words.quick else 3, 64 if words.quick else 96)
    if "batches" in parts:
        batches(words.data_dir, 4_096 if words.quick else 16_384)
    if "trials" in parts:
        trials(words.data_dir)


if __name__ == "__main__":
    main()
