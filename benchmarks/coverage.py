"""Does the 95% interval of c1/c2 cover the truth in 95% of generated experiments?

    python benchmarks/coverage.py [--simulations 1000] [--check-interval 16]

For every design, noise and truth: how often the profile-likelihood interval covers the true
critical batch size, how often it is open at the top, and beside it the same for a naive
least-squares fit that ignores censoring and the check interval.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from sparallel.analysis.profile import prepare, profile
from sparallel.analysis.synthetic import naive_critical_batch_size, observations_with_truth

DESIGNS = {
    4: [16, 128, 1024, 8192],
    6: [4, 16, 64, 256, 1024, 4096],
    14: [2**power for power in range(1, 15)],
}
TRUTHS = [(1e5, 200.0), (3e5, 150.0), (1e5, 50.0)]
SIGMAS = [0.05, 0.1, 0.2, 0.3]


def main() -> None:
    """Print the table as Markdown, one line a design, truth and noise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--check-interval", type=int, default=16)
    options = parser.parse_args()
    print("| batch sizes | c1 | c2 | c1/c2 | sigma | covered | open at the top | naive covered |")
    print("|---|---|---|---|---|---|---|---|")
    started, done = time.perf_counter(), 0
    for size, batch_sizes in DESIGNS.items():
        for c1, c2 in TRUTHS:
            for sigma in SIGMAS:
                random = np.random.default_rng([size, int(c1), int(c2), int(1000 * sigma)])
                covered = opened = naive = 0
                for _ in range(options.simulations):
                    seen = observations_with_truth(
                        batch_sizes,
                        random,
                        c1=c1,
                        c2=c2,
                        sigma=sigma,
                        check_interval=options.check_interval,
                    )
                    interval = profile(prepare(seen)).critical
                    covered += c1 / c2 in interval
                    opened += interval.high is None
                    naive += c1 / c2 in naive_critical_batch_size(seen)[1]
                    done += 1
                shares = [f"{100 * n / options.simulations:.1f}%" for n in (covered, opened, naive)]
                print(
                    f"| {size} | {c1:g} | {c2:g} | {c1 / c2:.0f} | {sigma} | "
                    + " | ".join(shares)
                    + " |",
                    flush=True,
                )
    print(f"\n{1000 * (time.perf_counter() - started) / done:.1f} ms a fit")


if __name__ == "__main__":
    main()
