"""The paper's protocol as a user would write it today, beside sparallel, on the same trials.

    python benchmarks/protocol.py [--data-dir DIR] [--batch-size 32] [--trials 6] [--max-steps 3000]
                                  [--preset mnist-momentum] [--goal ERROR]

(a) plain PyTorch with its default threads, an Optuna study that enqueues the points, every trial to
    the goal or the budget, a full pass over the validation set at every check;
(b) `sparallel run` with its race; (c) `sparallel run --strategy exhaustive`.

(b) and (c) must agree exactly. (a) has other numerics, so its K* must lie within one seed's spread.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import optuna
import torch
from torch import nn
from torch.nn import functional

from sparallel.data import DATA_SETS
from sparallel.data.dataset import DataSet, Examples
from sparallel.data.source import data_folder
from sparallel.loading import load_spec
from sparallel.machine import cores, cpu_model
from sparallel.models import MODELS
from sparallel.models.initialization import initialize
from sparallel.spec import Experiment
from sparallel.training.order import DataOrder

PAPER_TRIALS = 100


@dataclass
class Tally:
    """What one way of running the protocol took and found."""

    seconds: float = 0.0
    trained: int = 0
    checked: int = 0
    steps_to_result: int | None = None
    winner: int | None = None
    train_seconds: float = 0.0
    check_seconds: float = 0.0
    ends: list[int | None] = field(default_factory=list)  # where each trial ended; None: it did not


def tensors(part: Examples, data: DataSet) -> tuple[torch.Tensor, torch.Tensor]:
    """Normalised images and labels, all of them, as floats."""
    images = torch.from_numpy(part.images.copy()).float() / 255
    images = (images - torch.from_numpy(data.mean)) / torch.from_numpy(data.std)
    return images.permute(0, 3, 1, 2).contiguous(), torch.from_numpy(part.labels)


def plain(spec: Experiment, data_dir: Path) -> Tally:
    """(a): everything in memory, whole batches, whole validation passes."""
    began = time.perf_counter()
    tally, batch_size = Tally(), spec.batch_sizes[0]
    source = DATA_SETS.get(spec.data)
    data = source.load(data_dir)

    images, labels = tensors(data.train, data)
    validation_images, validation_labels = tensors(data.validation, data)

    def error(network: nn.Module) -> float:
        wrong = 0
        with torch.no_grad():
            for chunk in torch.arange(len(validation_labels)).split(1_000):
                outputs = network(validation_images[chunk])
                wrong += int((outputs.argmax(1) != validation_labels[chunk]).sum())
        tally.checked += len(validation_labels)
        return wrong / len(validation_labels)

    def objective(trial: optuna.Trial) -> float:
        rate = trial.suggest_float("learning_rate", 1e-5, 10)
        momentum = trial.suggest_float("momentum", 0.0, 1.0)
        network = MODELS.get(spec.model)(source.shape, source.classes)
        initialize(network, spec.seed, trial.number)
        optimizer = torch.optim.SGD(network.parameters(), lr=rate, momentum=momentum)
        order = DataOrder(len(labels), spec.seed)
        for step in range(1, spec.last_check + 1):
            mark = time.perf_counter()
            batch = torch.from_numpy(order.indices((step - 1) * batch_size, batch_size))
            optimizer.zero_grad()
            loss = functional.cross_entropy(network(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            tally.trained += batch_size
            tally.train_seconds += time.perf_counter() - mark
            if step % spec.check_interval == 0:
                mark = time.perf_counter()
                reached = error(network) <= spec.goal_errors[0]
                tally.check_seconds += time.perf_counter() - mark
                if reached or not torch.isfinite(loss):
                    tally.ends.append(step)
                    if reached:
                        return step
                    raise optuna.TrialPruned
        tally.ends.append(None)
        raise optuna.TrialPruned

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study()
    for point in spec.search_space.points(spec.trials):
        study.enqueue_trial(point)
    study.optimize(objective, n_trials=spec.trials)
    complete = [t for t in study.trials if t.state is optuna.trial.TrialState.COMPLETE]
    if complete:
        best = min(complete, key=lambda t: (t.value, t.number))
        tally.steps_to_result, tally.winner = int(best.value or 0), best.number
    tally.seconds = time.perf_counter() - began
    return tally


def ours(spec: Experiment, preset: str, data_dir: Path, strategy: str, *more: str) -> Tally:
    """(b) and (c): the command a user types, start-up and all."""
    with tempfile.TemporaryDirectory() as scratch:
        words = [
            *(sys.executable, "-m", "sparallel", "run", preset, "--out", f"{scratch}/run"),
            *("--batch-sizes", str(spec.batch_sizes[0]), "--sparsities", "0"),
            *("--trials", str(spec.trials), "--max-steps", str(spec.max_steps)),
            *("--set", f"goal_errors=[{spec.goal_errors[0]}]"),
            *("--strategy", strategy, "--data-dir", str(data_dir), *more),
        ]
        began = time.perf_counter()
        subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - began
        shown = [sys.executable, "-m", "sparallel", "results", f"{scratch}/run", "--json"]
        printed = subprocess.run(shown, check=True, capture_output=True, text=True).stdout
        (row,) = json.loads(printed)
    return Tally(
        seconds=seconds,
        trained=row["examples_trained"],
        checked=row["examples_checked"],
        steps_to_result=row["steps_to_result"],
        winner=row["best_trial"],
    )


def project(spec: Experiment, a: Tally, b: Tally, budget: int) -> str:
    """The ratio at the paper's budget, from measured costs a step and measured outcomes.

    A trial of (a) that ended here, ends there too; one that was still running is taken to spend
    the whole budget, as an incomplete trial does. The race is taken to need the K* found here,
    which more trials could only lower.
    """
    batch_size = spec.batch_sizes[0]
    seconds_a_step = (a.train_seconds + a.check_seconds) / (a.trained / batch_size)
    mean_steps = sum(end or budget for end in a.ends) / len(a.ends)
    theirs = PAPER_TRIALS * mean_steps * seconds_a_step
    race_seconds_a_step = b.seconds / (b.trained / batch_size)
    mine = PAPER_TRIALS * (b.steps_to_result or budget) * race_seconds_a_step
    running = sum(end is None for end in a.ends)
    return (
        f"projection to {PAPER_TRIALS} trials x {budget} steps: (a) {theirs / 3600:.1f} h, "
        f"(b) {mine / 3600:.2f} h, ratio {theirs / mine:.0f}x (a projection, not a measurement; "
        f"{running} of {len(a.ends)} trials of (a) were still running at {spec.last_check} steps)"
    )


def told(name: str, tally: Tally) -> Tally:
    """Print one way's line as soon as it is done."""
    print(
        f"{name:>15}: {tally.seconds:8.1f} s, {tally.trained:>10,} trained, "
        f"{tally.checked:>10,} checked, K* {tally.steps_to_result}, trial {tally.winner}",
        flush=True,
    )
    return tally


def main() -> None:
    """Run the three, print each and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--preset", default="mnist-momentum")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--trials", type=int, default=6)
    parser.add_argument("--max-steps", type=int, default=3_000)
    parser.add_argument("--goal", type=float, help="goal error [default: the preset's]")
    parser.add_argument("--seeds", type=int, default=2, help="seeds of the race, for the spread")
    words = parser.parse_args()
    goal = {} if words.goal is None else {"goal_errors": (words.goal,)}
    spec = load_spec(
        words.preset,
        {
            "batch_sizes": (words.batch_size,),
            "sparsities": (0,),
            "trials": words.trials,
            "max_steps": words.max_steps,
            **goal,
        },
    )
    if (spec.optimizer, spec.schedule) != ("momentum", "constant"):
        sys.exit("(a) is written for Momentum at a constant learning rate: choose such a preset")
    data_dir = data_folder(words.data_dir).absolute()
    print(f"machine: {cpu_model()}, {cores()} cores; (a) uses {torch.get_num_threads()} threads")
    b = told("(b) race", ours(spec, words.preset, data_dir, "race"))
    c = told("(c) exhaustive", ours(spec, words.preset, data_dir, "exhaustive"))
    a = told("(a) plain", plain(spec, data_dir))
    same = (b.steps_to_result, b.winner) == (c.steps_to_result, c.winner)
    print(f"(b) and (c) agree: {same}")
    spread = [b.steps_to_result] + [
        ours(spec, words.preset, data_dir, "race", "--seed", str(seed)).steps_to_result
        for seed in range(1, words.seeds)
    ]
    print(f"K* of (a) {a.steps_to_result}; of the race over {words.seeds} seeds {spread}")
    print(f"=> (a) over (b), seconds: {a.seconds / b.seconds:.1f}x   (default case: at least 15)")
    print(f"   (c) over (b), seconds: {c.seconds / b.seconds:.1f}x")
    print(f"   (a) over (c), seconds: {a.seconds / c.seconds:.1f}x")
    print("=> " + project(spec, a, b, load_spec(words.preset).last_check))
    if not same:
        sys.exit("the race and the exhaustive search disagree")


if __name__ == "__main__":
    main()
