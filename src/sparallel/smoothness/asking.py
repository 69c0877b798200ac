"""From a command's words to a plan: defaults, and a sentence where something cannot be right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from sparallel.data import DATA_SETS
from sparallel.errors import SpecError
from sparallel.records import ExperimentRecord
from sparallel.registry import unknown
from sparallel.smoothness.plan import Plan, evenly_spaced, log_spaced
from sparallel.spec import Experiment
from sparallel.store.reading import load_experiment

BATCH_SIZE, STEPS, POINTS, EXAMPLES = 128, 4_000, 40, 5_000

LEARNING_RATE = 0.05
"""Of SGD; with momentum m it is (1 - m) times as much, which goes as far in the long run. The
paper does not say with what its figure 4 was measured: this is below 1/L for every mean L that it
gives (at most 11.18, of ResNet-8 at 90%), so that the sparsest network trains too."""

OTHERS = {"momentum": 0.9, "decay_steps": 40_000.0, "decay_factor": 0.01}
"""The lowest momentum of the paper's search, around which its best trials lie; a decay from
within its ranges."""

SHORT = {"lr": "learning_rate"}

WORKLOAD = ("data", "model", "optimizer", "schedule", "pruning")


def plan_of(
    experiment: Experiment,
    *,
    batch_size: int | None = None,
    metaparameters: str | None = None,
    steps: int | None = None,
    every: int | None = None,
    points: int | None = None,
    examples: str | None = None,
    seeds: int = 1,
    measured: Path | None = None,
) -> Plan:
    """The plan asked for; `measured` is an experiment's folder, whose best trial it follows."""
    chosen = _batch_size(experiment, batch_size)
    found = _count("--steps", steps, min(STEPS, experiment.max_steps), least=1)
    return Plan(
        experiment=experiment,
        batch_size=chosen,
        metaparameters=_metaparameters(experiment, metaparameters, chosen, measured),
        steps=found,
        points=_points(found, every, points),
        examples=_examples(experiment, examples),
        sparsities=experiment.sparsities,
        seeds=_count("--seeds", seeds, 1, least=1),
    )


def _count(option: str, given: int | None, default: int, *, least: int) -> int:
    if given is not None and given < least:
        raise SpecError(f"{option} takes {least} or more, not {given}.")
    return default if given is None else given


def _batch_size(experiment: Experiment, given: int | None) -> int:
    most = DATA_SETS.get(experiment.data).train_size
    if given is not None and not 1 <= given <= most:
        raise SpecError(
            f"--batch-size takes 1 to {most}, the training examples of {experiment.data}, "
            f"not {given}."
        )
    if given is not None:
        return given
    sizes = sorted(experiment.batch_sizes)
    return BATCH_SIZE if BATCH_SIZE in sizes else sizes[len(sizes) // 2]


def _points(steps: int, every: int | None, points: int | None) -> tuple[int, ...]:
    if every is not None and points is not None:
        raise SpecError("--every and --points exclude each other: choose one.")
    if every is not None:
        return evenly_spaced(steps, _count("--every", every, 1, least=1))
    return log_spaced(steps, _count("--points", points, POINTS, least=2))


def _examples(experiment: Experiment, given: str | None) -> int:
    most = DATA_SETS.get(experiment.data).train_size
    if given is None:
        return min(EXAMPLES, most)
    if given == "all":
        return most
    if not given.isdecimal() or not 2 <= int(given) <= most:
        raise SpecError(
            f"--examples takes 2 to {most}, the training examples of {experiment.data}, "
            f"or all, not {given!r}."
        )
    return int(given)


def _metaparameters(
    experiment: Experiment, given: str | None, batch_size: int, measured: Path | None
) -> dict[str, float]:
    """What was given on the command line, else the measured winner's, else the defaults."""
    needed = experiment.metaparameters
    chosen = _parsed(given or "", needed)
    if measured is not None:
        winner = winning_metaparameters(experiment, load_experiment(measured), batch_size)
        chosen = {**winner, **chosen}
    for name, value in chosen.items():
        _check_reasonable(name, value)
    momentum = chosen.get("momentum", OTHERS["momentum"]) if "momentum" in needed else 0.0
    default = {**OTHERS, "learning_rate": LEARNING_RATE * (1 - momentum)}
    missing = [name for name in needed if name not in chosen and name not in default]
    if missing:
        example = ",".join(f"{name}=..." for name in missing)
        raise SpecError(
            f"--metaparameters must give {' and '.join(missing)}, for which there is no default: "
            f"--metaparameters {example}."
        )
    return {name: chosen[name] if name in chosen else default[name] for name in needed}


def _parsed(text: str, needed: tuple[str, ...]) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in text.split(","):
        if not part.strip():
            continue
        word, equals, value = part.partition("=")
        name = SHORT.get(word.strip(), word.strip())
        if name not in needed:
            raise unknown("metaparameter of this optimizer and schedule", name, needed)
        try:
            found[name] = float(value)
        except ValueError as error:
            raise SpecError(
                f"--metaparameters takes name=number with commas between them, for example "
                f"learning_rate=0.1, not {part.strip()!r}."
            ) from error
        del equals
    return found


def _check_reasonable(name: str, value: float) -> None:
    ranges = {
        "learning_rate": (value > 0, "above 0"),
        "momentum": (0 <= value < 1, "0 or more and below 1"),
        "decay_steps": (value >= 1, "1 or more"),
        "decay_factor": (0 < value <= 1, "above 0 and at most 1"),
    }
    fits, allowed = ranges.get(name, (True, "finite"))
    if not (fits and math.isfinite(value)):
        raise SpecError(f"The metaparameter {name} must be {allowed}, not {value:g}.")


def check_same_workload(experiment: Experiment, measured: ExperimentRecord) -> None:
    """Refuse an experiment folder whose workload is another one."""
    differences = [
        f"{key} is {measured.spec[key]!r} there and {getattr(experiment, key)!r} here"
        for key in WORKLOAD
        if measured.spec[key] != getattr(experiment, key)
    ]
    if differences:
        raise SpecError(
            f"{measured.folder} measures another workload: {'; '.join(differences)}. Give "
            "--experiment the folder of an experiment on this one."
        )


def winning_metaparameters(
    experiment: Experiment, measured: ExperimentRecord, batch_size: int
) -> Mapping[str, float]:
    """Those of the best trial at this batch size without pruning, for the hardest goal reached."""
    check_same_workload(experiment, measured)
    dense = [
        study
        for study in sorted(measured.studies, key=lambda study: study.goal_error)
        if study.batch_size == batch_size and study.sparsity == 0 and study.best_metaparameters
    ]
    if not dense:
        sizes = sorted({s.batch_size for s in measured.studies if s.best_metaparameters})
        raise SpecError(
            f"{measured.folder} has no trial that reached its goal at batch size {batch_size} "
            f"without pruning (it has batch sizes {', '.join(map(str, sizes)) or 'none'}): choose "
            "another with --batch-size, or leave --experiment out."
        )
    best = dense[0].best_metaparameters
    assert best is not None
    return best
