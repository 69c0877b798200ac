"""Does the 95% interval of c1/c2 cover the truth in 95% of generated experiments?

    python benchmarks/coverage.py [--simulations 1000] [--check-interval 16] [--reruns 0]

For every design, noise and truth: how often the profile-likelihood interval covers the true
critical batch size, how often it is open at the top, and beside it the same for a naive
least-squares fit that ignores censoring and the check interval.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from sparallel.analysis.noise import pooled_spread
from sparallel.analysis.profile import prepare, profile
from sparallel.analysis.synthetic import naive_critical_batch_size, observations_with_truth

DESIGNS = {
    3: [64, 512, 4096],
    4: [4, 64, 512, 4096],
    6: [2, 8, 64, 256, 1024, 8192],
    14: [2**power for power in range(1, 15)],
}
TRUTHS = [(1.3e5, 220.0), (3e5, 150.0), (1e5, 50.0)]
SIGMAS = [0.05, 0.1, 0.2, 0.3]


@dataclass
class Counts:
    """How many of the simulated intervals did what."""

    covered: int = 0
    opened: int = 0
    naive: int = 0


def simulate(size: int, truth: tuple[float, float], sigma: float, options: Namespace) -> Counts:
    """Generate and fit experiments of one kind, always the same ones."""
    c1, c2 = truth
    random = np.random.default_rng([size, int(c1), int(c2), int(1000 * sigma)])
    draw = partial(
        observations_with_truth,
        random=random,
        c1=c1,
        c2=c2,
        sigma=sigma,
        check_interval=options.check_interval,
    )
    counts = Counts()
    for _ in range(options.simulations):
        seen = draw(DESIGNS[size])
        reruns = [draw([b] * options.reruns) for b in DESIGNS[size] if options.reruns]
        arrived = [[o.steps for o in group if o.steps is not None] for group in reruns]
        spread = pooled_spread([(options.check_interval, steps) for steps in arrived])
        interval = profile(prepare(seen, spread)).critical
        counts.covered += c1 / c2 in interval
        counts.opened += interval.high is None
        counts.naive += c1 / c2 in naive_critical_batch_size(seen)[1]
    return counts


def main() -> None:
    """Print the table as Markdown, one line a design, truth and noise."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--check-interval", type=int, default=16)
    parser.add_argument("--reruns", type=int, default=0)
    options = parser.parse_args()
    print("| batch sizes | c1/c2 | c2 | sigma | covered | open at the top | naive covered |")
    print("|---|---|---|---|---|---|---|")
    started, lines = time.perf_counter(), 0
    for size, truth, sigma in product(DESIGNS, TRUTHS, SIGMAS):
        found = simulate(size, truth, sigma, options)
        shares = [
            f"{100 * count / options.simulations:.1f}%"
            for count in (found.covered, found.opened, found.naive)
        ]
        ratio = f"{truth[0] / truth[1]:.0f}"
        print("|", " | ".join([str(size), ratio, f"{truth[1]:g}", f"{sigma}", *shares]), "|")
        sys.stdout.flush()
        lines += 1
    each = (time.perf_counter() - started) / (lines * options.simulations)
    print(f"\n{options.simulations} experiments a line, {1000 * each:.1f} ms each")


if __name__ == "__main__":
    main()
