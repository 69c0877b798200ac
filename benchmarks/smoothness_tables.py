"""Ours beside the paper's: the tables of docs/smoothness.md from a measured smoothness folder.

    python benchmarks/smoothness_tables.py DIR [--experiment DIR]

Markdown: L, Delta and beta by sparsity, their ratios to dense with intervals, the predicted ratio
of c1 and, with an experiment of the same workload, the fitted one; and L at equal training loss.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import geometric_mean

from sparallel.analysis import analyse, sparsity_in_words
from sparallel.analysis.interval import rounded
from sparallel.smoothness.paper import PaperValues, paper_values
from sparallel.smoothness.reading import load_smoothness
from sparallel.smoothness.records import SmoothnessRecord
from sparallel.smoothness.spread import Estimate
from sparallel.smoothness.summary import Quantity
from sparallel.smoothness.why import Why, explain
from sparallel.smoothness.words import state_in_words
from sparallel.store.reading import load_experiment

NONE = PaperValues(steps=0, lipschitz={})


def values_table(why: Why, paper: PaperValues) -> Iterable[str]:
    """One row a sparsity: means along training and at initialization."""
    columns = "sparsity, L, s.e., L (paper), Delta, Delta (paper), beta, beta (paper), noise scale"
    yield from _head(columns)
    for own in why.sparsities:
        summary = own.summary
        cells = [
            f"{own.sparsity:.0%}",
            _quantity(summary.lipschitz),
            "" if summary.lipschitz_error is None else rounded(summary.lipschitz_error),
            _of(paper.lipschitz, own.sparsity),
            _quantity(summary.delta),
            _of(paper.delta, own.sparsity),
            _quantity(summary.beta),
            _of(paper.beta, own.sparsity),
            _estimate(own.noise.whole),
        ]
        yield f"| {' | '.join(cells)} |"


def ratios_table(why: Why, paper: PaperValues) -> Iterable[str]:
    """One row a sparsity: over dense, predicted and measured."""
    columns = (
        "over dense, L, L (paper), beta, beta (paper), Delta, predicted c1, (paper), fitted c1"
    )
    yield from _head(columns)
    for prediction in why.predictions:
        fitted = [
            f"{_estimate(own.c1)} (goal {own.goal_error:g})"
            for own in prediction.measured
            if own.c1
        ]
        cells = [
            sparsity_in_words(prediction.sparsity),
            _estimate(prediction.lipschitz),
            _ratio(paper.lipschitz, prediction.sparsity),
            _estimate(prediction.beta),
            _ratio(paper.beta, prediction.sparsity),
            _estimate(prediction.delta),
            _estimate(prediction.predicted),
            _of(paper.c1_ratio, prediction.sparsity),
            ", ".join(fitted) or "not measured",
        ]
        yield f"| {' | '.join(cells)} |"


def equal_loss_table(record: SmoothnessRecord) -> Iterable[str]:
    """L where training loss is about the same: geometric means over points, by powers of two.

    The first tenth of the points is left out: a network may pass a loss there on its way up.
    """
    met: dict[float, dict[int, list[float]]] = {}
    for path in record.paths:
        own = met.setdefault(path.sparsity, {})
        for point in path.points[len(path.points) // 10 :]:
            if point.lipschitz:
                own.setdefault(math.floor(math.log2(point.train_loss)), []).append(point.lipschitz)
    powers = sorted({power for own in met.values() for power in own}, reverse=True)
    ranges = [f"loss {2.0**power:.2g} to {2.0 ** (power + 1):.2g}" for power in powers]
    yield from _head(", ".join(["L at equal loss", *ranges]))
    for sparsity, own in sorted(met.items()):
        cells = [
            f"{geometric_mean(own[power]):.3g} ({len(own[power])})" if power in own else ""
            for power in powers
        ]
        yield f"| {sparsity:.0%} | {' | '.join(cells)} |"


def _head(columns: str) -> Iterable[str]:
    names = columns.split(", ")
    yield f"| {' | '.join(names)} |"
    yield "|---" * len(names) + "|"


def _of(values: Mapping[float, float], sparsity: float) -> str:
    return f"{values[sparsity]:g}" if sparsity in values else ""


def _ratio(values: Mapping[float, float], sparsity: float) -> str:
    both = sparsity in values and 0.0 in values
    return f"{values[sparsity] / values[0.0]:.2f}" if both else ""


def _quantity(quantity: Quantity | None) -> str:
    if quantity is None:
        return ""
    spread = quantity.deviation
    return rounded(quantity.mean) + ("" if spread is None else f" ± {rounded(spread)}")


def _estimate(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    known = not estimate.interval.is_unbounded
    return estimate.in_words() if known else rounded(estimate.value)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--experiment", type=Path)
    words = parser.parse_args()
    record = load_smoothness(words.folder)
    analysis = analyse([load_experiment(words.experiment)]) if words.experiment else None
    why = explain(record, analysis)
    paper = paper_values(record.data, record.model) or NONE
    settings = ", ".join(f"{name} {value:g}" for name, value in record.metaparameters.items())
    print(f"{record.name}: {state_in_words(why)}; {settings}.\n")
    print("\n".join(values_table(why, paper)), end="\n\n")
    print("\n".join(ratios_table(why, paper)), end="\n\n")
    print("\n".join(equal_loss_table(record)), end="\n\n")
    for own in why.sparsities:
        if own.rate is not None:
            print(f"- {own.rate.in_words()}")
    for sentence in why.missing:
        print(f"- {sentence}")


if __name__ == "__main__":
    main()
