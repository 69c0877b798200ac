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
    experiment: Experiment, count: int, data_dir: Path | None, rates: list[float]
) -> Measured:
    """A run with so many workers; the rates of sgemm on as many cores, before and after it."""
    rates.append(sgemm_rate(count))
    run = run_measured(experiment, count, data_dir)
    rates.append(sgemm_rate(count))
    return run


def workers(data_dir: Path | None, rounds: int, steps: int) -> None:
    """One worker and two in turns, each between two measurements of sgemm on as many cores.

    Single rounds differ by 10% on a machine with neighbours, so medians over all are compared.
    """
    rates: dict[str, list[float]] = {"one": [], "two": [], "one core": [], "two cores": []}
    overhead, driver, looked = [], [], []
    experiment = race(batch_sizes=(128,), trials=16, max_steps=steps)
    for _ in range(rounds):
        one = beside_sgemm(experiment, 1, data_dir, rates["one core"])
        two = beside_sgemm(experiment, 2, data_dir, rates["two cores"])
        rates["one"].append(one.trained / one.seconds)
        rates["two"].append(two.trained / two.seconds)
        overhead.append(1 - two.worker_seconds / (2 * two.seconds))
        driver.append(two.driver_seconds / (2 * two.seconds))
        looked.append(two.checked / two.checks / VALIDATION)
        print(line("1 worker", one))
        print(line("2 workers", two), flush=True)
    medians = {name: statistics.median(found) for name, found in rates.items()}
    ratio, ideal = medians["two"] / medians["one"], medians["two cores"] / medians["one core"]
    print(f"two workers over one: {ratio:.3f}")
    print(f"two cores over one, sgemm: {ideal:.3f}")
    print(f"=> share of the ideal: {ratio / ideal:.3f}   (at least 0.95)")
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
        workers(words.data_dir, 1 if words.quick else 6, 64)
    if "batches" in parts:
        batches(words.data_dir, 4_096 if words.quick else 16_384)
    if "trials" in parts:
        trials(words.data_dir)


if __name__ == "__main__":
    main()
