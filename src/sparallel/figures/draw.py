"""Every figure that the records and the analysis have data for, written to one folder."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from matplotlib.figure import Figure

from sparallel.analysis import Analysis, WorkloadKey
from sparallel.figures.files import distinct_names, save, slug
from sparallel.figures.gradient_noise import draw_gradient_noise, gradient_noise_table
from sparallel.figures.lipschitz import draw_lipschitz, lipschitz_table
from sparallel.figures.metaparameters import draw_metaparameter, metaparameter_table
from sparallel.figures.optimizers import draw_optimizers, optimizers_table
from sparallel.figures.ratio import draw_ratio, ratio_table
from sparallel.figures.scaling import draw_scaling, scaling_table
from sparallel.figures.training_logs import draw_training_logs, training_logs_table
from sparallel.figures.trial_map import draw_trial_map, trial_map_plane, trial_map_table
from sparallel.figures.trials import is_drawn, pages
from sparallel.records import ExperimentRecord, StudyRecord
from sparallel.smoothness.prediction import workload_of
from sparallel.smoothness.why import Why
from sparallel.tabular import Table

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Plan:
    """A figure to be drawn: its file name, its data, and how to draw it."""

    name: str
    data: Table
    draw: Callable[[], Figure]


def draw_all(
    experiments: Sequence[ExperimentRecord],
    analysis: Analysis,
    folder: Path,
    progress: Callable[[str], None] | None = None,
    *,
    workers: int = 1,
    why: Sequence[Why] = (),
) -> list[Path]:
    """Write every figure as png, svg, pdf and csv, and return the files, in order.

    Several workers are processes of their own: call that from a program whose main module can
    be imported, as `multiprocessing` asks.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plans = list(plan_figures(experiments, analysis, why))
    written: list[Path] = []
    with ExitStack() as stack:
        run: Callable[..., Iterable[list[Path]]] = map
        if min(workers, len(plans)) > 1:
            spawn = get_context("spawn")  # a fork would copy the threads of torch
            pool = ProcessPoolExecutor(min(workers, len(plans)), mp_context=spawn)
            run = stack.enter_context(pool).map
        for plan, files in zip(plans, run(partial(_write, folder=folder), plans), strict=True):
            written.extend(files)
            if progress is not None:
                progress(plan.name)
    return written


def _write(plan: Plan, folder: Path) -> list[Path]:
    return save(plan.draw(), plan.data, folder, plan.name)


def plan_figures(
    experiments: Sequence[ExperimentRecord], analysis: Analysis, why: Sequence[Why] = ()
) -> Iterator[Plan]:
    """The figures there are data for, lazily: a figure is drawn only when asked."""
    yield from _scaling(analysis)
    yield from _optimizers(analysis)
    ratios = ratio_table(analysis.ratios)
    if ratios.rows:
        yield Plan("ratio", ratios, partial(draw_ratio, ratios, "What sparsity costs in steps"))
    for experiment, name in zip(experiments, distinct_names(experiments), strict=True):
        prefix = f"{slug(name)}-" if len(experiments) > 1 else ""
        yield from _search(experiment, prefix, why)
    for own, name in zip(why, distinct_names([own.record for own in why]), strict=True):
        yield from _smoothness(own, f"{slug(name)}-" if len(why) > 1 else "")


def _scaling(analysis: Analysis) -> Iterator[Plan]:
    groups = _grouped(analysis.curves, lambda c: (c.workload, c.goal_error))
    for (workload, goal), curves in groups:
        data = scaling_table(curves)
        if any(kind in ("measured", "beyond budget") for kind in data.column("kind")):
            title = f"{workload}, goal error {goal:g}"
            yield Plan(
                f"scaling-{slug(str(workload))}-goal-{goal:g}",
                data,
                partial(draw_scaling, data, title),
            )


def _optimizers(analysis: Analysis) -> Iterator[Plan]:
    groups = _grouped(
        analysis.curves,
        lambda c: (c.workload.data, c.workload.model, c.workload.schedule, c.goal_error),
    )
    for (data_set, model, schedule, goal), curves in groups:
        measured = [c for c in curves if any(p.steps is not None for p in c.points)]
        if len({curve.workload.optimizer for curve in measured}) < 2:
            continue
        data = optimizers_table(measured)
        title = f"{data_set} · {model} · {schedule}, goal error {goal:g}"
        yield Plan(
            f"optimizers-{slug(f'{data_set} {model} {schedule}')}-goal-{goal:g}",
            data,
            partial(draw_optimizers, data, title),
        )


def _smoothness(why: Why, prefix: str) -> Iterator[Plan]:
    """Figures 4 and 6 and the gradient's noise, of one smoothness folder."""
    record = why.record
    name = f"{prefix}{slug(str(workload_of(record)))}"
    seeds = len({path.seed for path in record.paths})
    runs = f"{seeds} seeds" if seeds > 1 else "one seed"
    title = f"{workload_of(record)}, batch size {record.batch_size:,}, {runs}"
    lipschitz = lipschitz_table(why)
    if lipschitz.rows:
        yield Plan(f"lipschitz-{name}", lipschitz, partial(draw_lipschitz, lipschitz, title))
    logs = training_logs_table(why)
    if logs.rows:
        draw = partial(draw_training_logs, logs, title, record.goal_errors)
        yield Plan(f"training-logs-{name}", logs, draw)
    noise = gradient_noise_table(why)
    if any(kind == "along training" for kind in noise.column("kind")):
        yield Plan(f"gradient-noise-{name}", noise, partial(draw_gradient_noise, noise, title))


def _rate_limits(workload: WorkloadKey, why: Sequence[Why]) -> dict[float, float]:
    """1/L by sparsity, where smoothness was measured on this workload; the first folder's."""
    limits: dict[float, float] = {}
    for own in why:
        if workload_of(own.record) == workload:
            for each in own.sparsities:
                if each.rate is not None:
                    limits.setdefault(each.sparsity, each.rate.limit)
    return limits


def _search(experiment: ExperimentRecord, prefix: str, why: Sequence[Why]) -> Iterator[Plan]:
    tried = [s for s in experiment.studies if any(is_drawn(t.status) for t in s.trials)]
    groups = _grouped(
        tried, lambda s: (s.data, s.model, s.optimizer, s.schedule, s.goal_error, s.seed)
    )
    seeds = len({study.seed for study in tried})
    for (data_set, model, optimizer, schedule, goal, seed), studies in groups:
        workload = WorkloadKey(data_set, model, optimizer, schedule)
        title = f"{workload}, goal error {goal:g}"
        name = f"{prefix}{slug(str(workload))}-goal-{goal:g}" + (f"-seed-{seed}" * (seeds > 1))
        parts = pages(studies)
        for number, page in enumerate(parts, 1):
            ending = f"-{number}" if len(parts) > 1 else ""
            yield from _page(page, title, f"{name}{ending}", _rate_limits(workload, why))


def _page(
    studies: Sequence[StudyRecord], title: str, name: str, limits: Mapping[float, float]
) -> Iterator[Plan]:
    plane = trial_map_plane(studies[0])
    if plane is not None:
        plotted = trial_map_table(studies)
        yield Plan(f"trial-map-{name}", plotted, partial(draw_trial_map, plotted, plane, title))
    plain = metaparameter_table(studies)
    for dimension in studies[0].space:
        limited = limits and dimension.name == "learning_rate"
        steps = metaparameter_table(studies, limits) if limited else plain
        yield Plan(
            f"{slug(dimension.name)}-{name}",
            steps,
            partial(draw_metaparameter, steps, dimension, title),
        )


def _grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> list[tuple[Key, list[Item]]]:
    """The items by key, in the order the keys first appear."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.items())
