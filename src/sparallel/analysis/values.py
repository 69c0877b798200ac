"""What the analysis says: plain values that reports and figures draw without computing."""

from __future__ import annotations

from dataclasses import dataclass

from sparallel.analysis.interval import Interval
from sparallel.analysis.noise import Noise
from sparallel.records import StudyRecord

FROM_FIT = "c1/c2 from the fit (steps are twice the minimum)"
FROM_POINTS = "20% above ideal scaling, from the measured points"
USUAL_PRUNING = "snip"  # goes without saying; any other method is named


@dataclass(frozen=True, order=True)
class WorkloadKey:
    """What makes two studies points of one workload."""

    data: str
    model: str
    optimizer: str
    schedule: str

    def __str__(self) -> str:
        return f"{self.data} · {self.model} · {self.optimizer} · {self.schedule}"


@dataclass(frozen=True)
class CurvePoint:
    """One finished study on a curve.

    `steps` is K* (the minimum over trials), None where no trial was complete: then K* lies
    beyond `budget`. The goal was crossed after `crossed_after` steps and at or before `steps`.
    The rerun columns come from the winner's repeats and are never mixed with the minimum.
    """

    batch_size: int
    steps: int | None
    crossed_after: int
    budget: int
    trials: int
    interval: Interval | None  # K* under check interval and noise; None if that is not known
    subsample_interval: Interval | None  # K* over random halves of the trials, where known
    examples: int | None  # examples-to-result, K* x B
    seconds_to_result: float | None  # the winner's share of the study's seconds
    study_seconds: float  # what the whole search took
    ideal_steps: float | None  # ideal scaling from the curve's first measured point
    above_ideal: float | None  # K* / ideal_steps
    normalised: float | None  # K* / K* of the curve's first measured point
    rerun_median: float | None  # median K of the winner's reruns that arrived
    reruns: int
    reruns_arrived: int
    experiment: str  # the experiment's name
    folder: str
    study: StudyRecord

    @property
    def is_censored(self) -> bool:
        """No trial was complete within the budget."""
        return self.steps is None


@dataclass(frozen=True)
class BandPoint:
    """The fitted curve at one batch size, with the interval of the noise-free curve there."""

    batch_size: float
    steps: float
    low: float
    high: float


@dataclass(frozen=True)
class Fit:
    """K = c1/B + c2 by maximum likelihood on log K; c2 = 0 where the curve never bends."""

    c1: float
    c2: float
    sigma: float  # noise of log K
    sigma_from_reruns: bool
    degrees_of_freedom: int
    c1_interval: Interval
    c2_interval: Interval
    points: int
    censored_points: int
    log_likelihood: float
    is_poor: bool
    goodness: str  # the goodness-of-fit statement
    band: tuple[BandPoint, ...]

    def steps(self, batch_size: float) -> float:
        """The fitted steps-to-result at a batch size."""
        return self.c1 / batch_size + self.c2


@dataclass(frozen=True)
class CriticalBatchSize:
    """A critical batch size by one named definition; None where the curve shows none."""

    definition: str  # FROM_FIT or FROM_POINTS
    value: float | None
    interval: Interval
    is_bracketed: bool  # do the measured batch sizes lie on both sides of it?
    warning: str | None  # the sentence to show where they do not
    side: str | None = None  # "above" or "below" the measured batch sizes, where not between

    def in_words(self) -> str:
        """For example: 700 [520, 950]."""
        if self.value is None:
            word = "already passed" if self.side == "below" else "not reached"
            return f"{word} {self.interval.brackets(_batch)}"
        return f"{_batch(self.value)} {self.interval.brackets(_batch)}"


def _batch(value: float) -> str:
    return f"{value:.0f}" if value < 1000 else f"{float(f'{value:.3g}'):.0f}"


@dataclass(frozen=True)
class Regimes:
    """The three regimes as batch-size ranges; an end that the data do not limit is None.

    linear scaling: up to `linear_up_to`; diminishing returns: between; maximal data
    parallelism: from `maximal_from` on.
    """

    rule: str
    linear_up_to: float | None
    linear_interval: Interval
    maximal_from: float | None
    maximal_interval: Interval
    measured: tuple[tuple[int, str], ...]  # (batch size, its regime), by the fit


@dataclass(frozen=True)
class Curve:
    """K*(B) of one workload, goal and sparsity, with what follows from it."""

    workload: WorkloadKey
    goal_error: float
    sparsity: float
    points: tuple[CurvePoint, ...]  # by batch size; another seed gives a second point at one
    fit: Fit | None
    critical: tuple[CriticalBatchSize, ...]
    regimes: Regimes | None
    warnings: tuple[str, ...]
    pruning: str = USUAL_PRUNING  # what made it sparse; of no account where dense
    noise: Noise | None = None  # of log K, from the fit or else from reruns; None if not known

    @property
    def label(self) -> str:
        """The curve's name in a table or a legend."""
        words = sparsity_in_words(self.sparsity, self.pruning)
        return f"{self.workload}, goal {self.goal_error:g}, {words}"


def sparsity_in_words(sparsity: float, pruning: str = USUAL_PRUNING) -> str:
    """dense, or for example: 90% sparse; a pruning method other than the usual one is named."""
    if sparsity == 0:
        return "dense"
    method = "" if pruning == USUAL_PRUNING else f" ({pruning})"
    return f"{100 * sparsity:g}% sparse{method}"


@dataclass(frozen=True)
class RatioPoint:
    """Sparse K* over dense K* at one batch size; None where either is beyond its budget."""

    batch_size: int
    ratio: float | None
    interval: Interval
    rerun_ratio: float | None  # of the rerun medians


@dataclass(frozen=True)
class Ratio:
    """What a sparsity costs in steps, by batch size and on (geometric) average."""

    workload: WorkloadKey
    goal_error: float
    sparsity: float
    points: tuple[RatioPoint, ...]
    mean: float | None
    mean_interval: Interval
    warnings: tuple[str, ...]
    pruning: str = USUAL_PRUNING

    @property
    def label(self) -> str:
        """The ratio's name in a table or a legend."""
        words = sparsity_in_words(self.sparsity, self.pruning)
        return f"{self.workload}, goal {self.goal_error:g}, {words} over dense"


@dataclass(frozen=True)
class BorderTouch:
    """A best metaparameter close to the edge of its searched range."""

    name: str
    value: float
    position: float  # 0 at the low end, 1 at the high end, on the metaparameter's own scale
    side: str  # "low" or "high": the side to extend
    extend_to: float


@dataclass(frozen=True)
class BorderVerdict:
    """Is a study's best point inside the searched space, and if not, what to run next?"""

    workload: WorkloadKey
    goal_error: float
    sparsity: float
    batch_size: int
    experiment: str
    folder: str
    rule: str
    touches: tuple[BorderTouch, ...]
    command: str | None  # the command that searches further, where something touches
    has_winner: bool
    verdict: str  # in words, with the command

    @property
    def is_inside(self) -> bool:
        """Known to lie inside: a study without a winner is neither inside nor touching."""
        return self.has_winner and not self.touches


@dataclass(frozen=True)
class SubsetPoint:
    """The minimum K over random subsets of `trials` of a study's trials, exactly."""

    trials: int
    expected: float | None  # None where stopped or unsuccessful trials leave it unidentified
    at_least: float  # the expected minimum is at least this
    median: float | None
    chance: float  # that a subset holds a trial known to be complete


@dataclass(frozen=True)
class SubsetCurve:
    """K* against the number of trials of one study."""

    workload: WorkloadKey
    goal_error: float
    sparsity: float
    batch_size: int
    experiment: str
    points: tuple[SubsetPoint, ...]
    identified_from: int | None  # the least number of trials with a known expected minimum
    note: str


@dataclass(frozen=True)
class Analysis:
    """Everything the records say, ready to be shown."""

    curves: tuple[Curve, ...]
    ratios: tuple[Ratio, ...]
    borders: tuple[BorderVerdict, ...]
    subsets: tuple[SubsetCurve, ...]
    answer: tuple[str, ...]  # the answer in words, one sentence each
    warnings: tuple[str, ...]
    missing: tuple[str, ...]  # what is planned and not finished, one sentence each
