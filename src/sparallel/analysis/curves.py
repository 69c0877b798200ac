"""K*(B) curves: studies gathered by workload, goal and sparsity, each point with its company."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from sparallel.analysis.interval import Interval
from sparallel.analysis.noise import Noise, draw_log_steps, observe, percentile_interval
from sparallel.analysis.subsets import half_search_interval
from sparallel.analysis.values import USUAL_PRUNING, CurvePoint, WorkloadKey, sparsity_in_words
from sparallel.records import ExperimentRecord, StudyRecord


@dataclass(frozen=True, order=True)
class CurveKey:
    """What the points of one curve share."""

    workload: WorkloadKey
    goal_error: float
    sparsity: float
    pruning: str = USUAL_PRUNING

    def __str__(self) -> str:
        words = sparsity_in_words(self.sparsity, self.pruning)
        return f"{self.workload}, goal {self.goal_error:g}, {words}"


@dataclass(frozen=True)
class Source:
    """A study and the experiment it comes from."""

    study: StudyRecord
    experiment: str
    folder: str
    pruning: str = USUAL_PRUNING
    command: tuple[str, ...] = ()  # the words that last ran the experiment, where recorded


def curve_key(source: Source) -> CurveKey:
    """The curve a study belongs to; how it would be pruned matters only where it is sparse."""
    study = source.study
    workload = WorkloadKey(study.data, study.model, study.optimizer, study.schedule)
    pruning = source.pruning if study.sparsity != 0 else USUAL_PRUNING
    return CurveKey(workload, study.goal_error, study.sparsity, pruning)


def gather(experiments: Sequence[ExperimentRecord]) -> dict[CurveKey, list[Source]]:
    """Every study of every experiment by curve, in order of batch size."""
    curves: dict[CurveKey, list[Source]] = defaultdict(list)
    for number, experiment in enumerate(experiments):
        if experiment in experiments[:number]:
            continue  # the same folder named twice tells nothing new
        pruning = str(experiment.spec.get("pruning", USUAL_PRUNING))
        command = _last_command(experiment)
        for study in experiment.studies:
            source = Source(study, experiment.name, experiment.folder, pruning, command)
            curves[curve_key(source)].append(source)
    ordered = sorted(curves)
    return {key: sorted(curves[key], key=lambda s: s.study.batch_size) for key in ordered}


def _last_command(experiment: ExperimentRecord) -> tuple[str, ...]:
    """The arguments of the last `sparallel run` that the provenance names, or nothing."""
    for session in reversed(experiment.sessions):
        command = session.get("command")
        if isinstance(command, Sequence) and not isinstance(command, str):
            words = tuple(map(str, command))
            if len(words) > 2 and words[1] == "run":
                return words[1:]
    return ()


def select(sources: Sequence[Source]) -> tuple[list[Source], list[str]]:
    """One study a batch size and seed: of several searches the lowest K*, as K* is a minimum.

    Studies of other seeds stay: they are measurements of their own, and tell the noise.
    """
    kept: dict[tuple[int, int], Source] = {}
    notes: list[str] = []
    for source in sources:
        if not source.study.finished:
            continue
        key = (source.study.batch_size, source.study.seed)
        other = kept.get(key)
        if other is None or _steps(source) < _steps(other):
            kept[key] = source
        if other is not None and source.study != other.study:
            notes.append(
                f"Batch size {key[0]} was searched more than once with seed {key[1]}: "
                f"the lowest K* is used (from {kept[key].folder})."
            )
    chosen = list(kept.values())
    return chosen, notes + _unequal(chosen)


def _steps(source: Source) -> float:
    steps = source.study.steps_to_result
    return float("inf") if steps is None else steps


def _unequal(sources: Sequence[Source]) -> list[str]:
    """K* falls with the number of trials and the size of the space: unlike searches are named."""
    notes = []
    trials = sorted({len(s.study.trials) for s in sources})
    if len(trials) > 1:
        counts = ", ".join(str(n) for n in trials)
        notes.append(
            f"The studies searched unequal numbers of trials ({counts}): K* falls with the "
            "number of trials, so compare studies with equal numbers."
        )
    if len({s.study.space for s in sources}) > 1:
        notes.append("The studies searched different spaces: their K* are not strictly comparable.")
    return notes


def curve_points(sources: Sequence[Source], noise: Noise | None) -> tuple[CurvePoint, ...]:
    """The chosen studies as points; ideal scaling starts at the first that reached the goal."""
    reached = [s.study for s in sources if s.study.steps_to_result is not None]
    first = reached[0] if reached else None
    return tuple(_point(source, first, noise) for source in sources)


def _point(source: Source, first: StudyRecord | None, noise: Noise | None) -> CurvePoint:
    study = source.study
    seen = observe(study)
    steps = study.steps_to_result
    arrived = [r.steps for r in study.repeats if r.steps is not None]
    start = first.steps_to_result if first is not None else None
    ideal = None if first is None or start is None else start * first.batch_size / study.batch_size
    interval: Interval | None
    if steps is None:
        interval = Interval(float(study.max_steps), None)
    elif noise is not None:
        interval = percentile_interval(draw_log_steps([seen], noise)[:, 0])
    else:
        interval = None
    examples = None if steps is None else steps * study.batch_size
    return CurvePoint(
        batch_size=study.batch_size,
        steps=steps,
        crossed_after=seen.crossed_after,
        budget=study.max_steps,
        trials=len(study.trials),
        interval=interval,
        subsample_interval=half_search_interval(study),
        examples=examples,
        seconds_to_result=_seconds_to_result(study),
        study_seconds=study.seconds,
        ideal_steps=ideal,
        above_ideal=None if ideal is None or steps is None else steps / ideal,
        normalised=None if start is None or steps is None else steps / start,
        rerun_median=float(median(arrived)) if arrived else None,
        reruns=len(study.repeats),
        reruns_arrived=len(arrived),
        experiment=source.experiment,
        folder=source.folder,
        study=study,
    )


def _seconds_to_result(study: StudyRecord) -> float | None:
    """The study's seconds shared out by examples trained: what the winner alone would take."""
    if study.steps_to_result is None or study.examples_trained <= 0:
        return None
    return study.seconds * study.steps_to_result * study.batch_size / study.examples_trained
