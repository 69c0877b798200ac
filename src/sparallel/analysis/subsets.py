"""K* against the number of trials: the minimum over random subsets, exactly.

The minimum of n trials drawn from N without replacement has a known law: of C(N, n) equally
likely subsets, C(N - i, n - 1) have the i-th best trial as their best. Nothing is simulated.

A plain bootstrap is not used, here or for K* itself. Resampling N trials with replacement
keeps the observed minimum in 63% of resamples whatever N is, and can never go below it: for a
minimum the bootstrap is not even consistent (Bickel and Freedman 1981). Smaller subsets
drawn without replacement are (Politis and Romano 1994).
"""

from __future__ import annotations

from sparallel.analysis.interval import LEVEL, Interval
from sparallel.analysis.values import SubsetCurve, SubsetPoint, WorkloadKey
from sparallel.records import Status, StudyRecord


def known_steps(study: StudyRecord) -> tuple[list[int], list[int]]:
    """K of the complete trials in order, and for the others a bound that their K exceeds.

    A trial that diverged never reaches the goal: its bound is the budget. A stopped trial's is
    the step it was stopped at. Complete trials beyond a stopped one's bound keep their order
    only up to the lowest bound, so that a later one counts as a bound too.
    """
    bounds = []
    for trial in study.trials:
        if trial.status is Status.INFEASIBLE:
            bounds.append(max(study.max_steps, trial.steps))
        elif trial.status in (Status.INCOMPLETE, Status.BEATEN):
            bounds.append(trial.steps)
    complete = sorted(t.steps for t in study.trials if t.status is Status.COMPLETE)
    lowest = min(bounds, default=None)
    if lowest is not None:
        bounds += [k for k in complete if k > lowest]
        complete = [k for k in complete if k <= lowest]
    return complete, sorted(bounds)


def best_of_subset(total: int, size: int) -> list[float]:
    """For each rank (1 is best) the chance that it is the best of a random subset.

    C(total - i, size - 1) / C(total, size), from one rank to the next without large numbers.
    """
    chances = [size / total]
    for rank in range(1, total):
        chances.append(chances[-1] * max(total - rank - size + 1, 0) / (total - rank))
    return chances


def subset_curve(study: StudyRecord, workload: WorkloadKey, experiment: str) -> SubsetCurve | None:
    """The expected and median minimum for every number of trials; None without a winner."""
    known, bounds = known_steps(study)
    total = len(known) + len(bounds)
    if not study.finished or not known:
        return None
    points = tuple(_subset_point(known, bounds, size) for size in range(1, total + 1))
    start = len(bounds) + 1
    kept = "every trial is complete" if not bounds else f"{len(bounds)} of {total} are not complete"
    note = f"{kept[0].upper()}{kept[1:]}: the expected minimum is exact from {start} trials on" + (
        ", and for fewer only a lower limit of it is known." if bounds else "."
    )
    return SubsetCurve(
        workload=workload,
        goal_error=study.goal_error,
        sparsity=study.sparsity,
        batch_size=study.batch_size,
        experiment=experiment,
        points=points,
        identified_from=start if start <= total else None,
        note=note,
    )


def _subset_point(known: list[int], bounds: list[int], size: int) -> SubsetPoint:
    total = len(known) + len(bounds)
    chances = best_of_subset(total, size)
    exact = sum(p * k for p, k in zip(chances, known, strict=False))
    unknown = sum(p * k for p, k in zip(chances[len(known) :], bounds, strict=True))
    is_known = size > len(bounds)
    chance = 1.0 if is_known else sum(chances[: len(known)])
    return SubsetPoint(
        trials=size,
        expected=exact if is_known else None,
        at_least=exact + unknown,
        median=_quantile(known, chances, 0.5),
        chance=chance,
    )


def _quantile(known: list[int], chances: list[float], share: float) -> float | None:
    """The value the minimum does not exceed with this chance; None beyond what is known."""
    reached = 0.0
    for steps, chance in zip(known, chances, strict=False):
        reached += chance
        if reached >= share - 1e-12:
            return float(steps)
    return None


def half_search_interval(study: StudyRecord, level: float = LEVEL) -> Interval | None:
    """The range of K* over random halves of the trials; None where only the winner is known.

    How far K* hangs on a few lucky trials: the low end is K* itself, since half of the halves
    hold the winner, and the high end is open where too few trials finished to know it.
    """
    known, bounds = known_steps(study)
    total = len(known) + len(bounds)
    if not study.finished or len(known) < 2 or total < 4:
        return None
    chances = best_of_subset(total, total // 2)
    tail = (1 - level) / 2
    return Interval(_quantile(known, chances, tail), _quantile(known, chances, 1 - tail), level)
