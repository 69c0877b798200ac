"""L against the number of examples it is measured on, from one trained run a sparsity.

    python benchmarks/subset.py [--experiment mnist-momentum] [--data-dir DIR] [--out docs/images]

Trains to one step, then measures L there on ever more examples of the training set (each
subset holds the one before it), and draws L with twice its standard error. It answers how large
`sparallel smoothness --examples N` should be: large enough that L no longer falls, and that its
bar is small beside the difference between sparsities.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from matplotlib.figure import Figure

from sparallel.analysis import sparsity_in_words
from sparallel.data.source import data_folder
from sparallel.figures.files import save
from sparallel.figures.layout import entitle, grid, legend_below
from sparallel.figures.style import log_limits, paper_style, power_axis, sparsity_looks
from sparallel.loading import load_spec
from sparallel.smoothness.asking import plan_of
from sparallel.smoothness.tasks import measure, train
from sparallel.spec import Experiment
from sparallel.tabular import Cell, Table
from sparallel.training.tasks import Place
from sparallel.training.trial import Trial, never, start
from sparallel.training.workbench import flushed_denormals

NAME = "lipschitz-against-examples"
SIZES = (100, 300, 1_000, 3_000, 10_000)
COLUMNS = ("sparsity", "step", "examples", "lipschitz", "error", "gradient_squared", "variance")


def rows_of(
    experiment: Experiment, sparsity: float, words: argparse.Namespace
) -> list[dict[str, Cell]]:
    """Train one run to the step, and measure it there on each number of examples."""
    plan = plan_of(experiment, steps=words.step + 1, metaparameters=words.metaparameters)
    fields = ("data", "model", "optimizer", "schedule", "pruning", "goal_errors", "check_interval")
    trial = Trial(
        **{name: getattr(experiment, name) for name in fields},
        seed=experiment.seed,
        batch_size=plan.batch_size,
        sparsity=sparsity,
        index=0,
        metaparameters=plan.metaparameters,
    )
    bench = Place(data_folder(words.data_dir).absolute(), "cpu").bench(trial)
    rows: list[dict[str, Cell]] = []
    with flushed_denormals():
        state = train(trial, start(trial, bench, never), words.step, bench, never)
        for size in sorted({min(size, len(bench.train)) for size in words.examples}):
            _, point = measure(trial, state, size, bench, never)
            assert point is not None, "the run diverged: lower the learning rate"
            rows.append(
                {
                    "sparsity": sparsity,
                    "step": point.step,
                    "examples": size,
                    "lipschitz": point.lipschitz,
                    "error": point.lipschitz_error,
                    "gradient_squared": point.gradient_squared,
                    "variance": point.variance,
                }
            )
            error = (
                "all examples" if point.lipschitz_error is None else f"{point.lipschitz_error:.3g}"
            )
            print(f"{sparsity:>5g} {size:>7,} {point.lipschitz or 0:>9.4g}   {error}", flush=True)
    return rows


def draw(table: Table, title: str) -> Figure:
    """L against the number of examples, a line a sparsity, bars of two standard errors."""
    rows = list(table.records())
    looks = sparsity_looks([float(row["sparsity"] or 0) for row in rows])
    x = log_limits([float(row["examples"] or 1) for row in rows])
    with paper_style():
        figure, (ax,) = grid(1, columns=1, height=2.4)
        entitle(figure, title)
        for number, (sparsity, look) in enumerate(looks.items()):
            own = [row for row in rows if row["sparsity"] == sparsity]
            # Nudged apart, so that bars at one size do not hide each other.
            sizes = [float(row["examples"] or 1) * 1.04**number for row in own]
            values = [float(row["lipschitz"] or 0) for row in own]
            bars = [2 * float(row["error"] or 0) for row in own]
            ax.errorbar(
                sizes, values, bars, color=look.colour, fmt="none", linewidth=0.8, capsize=2
            )
            ax.plot(sizes, values, **look.line_and_marker, label=sparsity_in_words(sparsity))
        ax.set_xscale("log")
        ax.set_xlim(*x)
        power_axis(ax.xaxis, *x, 10, most=6)
        ax.set_ylim(bottom=0)
        ax.set_xlabel("Examples measured on")
        ax.set_ylabel("L, with two standard errors")
        ax.grid(True)
        legend_below(figure, [ax])
    return figure


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--experiment", default="mnist-momentum")
    parser.add_argument("--metaparameters", default=None)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--step", type=int, default=200)
    parser.add_argument("--sparsities", type=float, nargs="+", default=[0.0, 0.9])
    parser.add_argument("--examples", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    words = parser.parse_args()
    experiment = load_spec(words.experiment)
    print("sparsity examples   L         standard error")
    found = [row for sparsity in words.sparsities for row in rows_of(experiment, sparsity, words)]
    table = Table.of(COLUMNS, found)
    words.out.mkdir(parents=True, exist_ok=True)
    title = f"{experiment.data} · {experiment.model} · {experiment.optimizer}, step {words.step:,}"
    for path in save(draw(table, title), table, words.out, NAME):
        print(path)


if __name__ == "__main__":
    main()
