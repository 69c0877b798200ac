"""Is the best metaparameter inside the searched range, or at its edge?

A best point close to an edge means that a better one may lie beyond, and K* is then only an
upper limit. "Close" is within 5% of the range, measured on the metaparameter's own scale.
The search space is part of an experiment's identity, so searching further is another run.
"""

from __future__ import annotations

import math
import shlex

from sparallel.analysis.curves import Source, curve_key
from sparallel.analysis.interval import rounded
from sparallel.analysis.values import BorderTouch, BorderVerdict
from sparallel.records import DimensionRecord

EDGE = 0.05
RULE = (
    "at the border if the best value lies within 5% of the searched range's end, on the "
    "metaparameter's own scale (log, reverse-log or linear)"
)


def position(dimension: DimensionRecord, value: float) -> float:
    """Where a value lies in its range on its own scale: 0 at the low end, 1 at the high end."""
    low, high, at = (_scaled(dimension, v) for v in (dimension.low, dimension.high, value))
    return (at - low) / (high - low) if high != low else 0.5


def _scaled(dimension: DimensionRecord, value: float) -> float:
    if dimension.scale == "log":
        return math.log(value)
    if dimension.scale == "reverse-log":
        return -math.log1p(-value)
    return value


def extended(dimension: DimensionRecord, side: str) -> float:
    """Where to move an end: a decade further on a log scale, a quarter of the range else."""
    end, outward = (dimension.low, -1) if side == "low" else (dimension.high, 1)
    if dimension.scale == "log":
        return _tidy(end * 10.0**outward)
    if dimension.scale == "reverse-log":
        return _tidy(max(round(1 - (1 - end) * 10.0**-outward, 12), 0.0))
    further = end + outward * 0.25 * (dimension.high - dimension.low)
    return _tidy(further if end < 0 else max(further, 0.0))


def _tidy(value: float) -> float:
    return float(f"{value:.10g}")


def border_verdict(source: Source) -> BorderVerdict | None:
    """The verdict on one finished study; None where it has not finished."""
    study = source.study
    if not study.finished:
        return None
    best = study.best_metaparameters
    touches = (
        ()
        if best is None
        else tuple(
            touch
            for dimension in study.space
            if dimension.name in best and dimension.high != dimension.low
            if (touch := _touch(dimension, best[dimension.name])) is not None
        )
    )
    command = _command(source, touches) if touches else None
    key = curve_key(source)
    return BorderVerdict(
        workload=key.workload,
        goal_error=key.goal_error,
        sparsity=key.sparsity,
        batch_size=study.batch_size,
        experiment=source.experiment,
        folder=source.folder,
        rule=RULE,
        touches=touches,
        command=command,
        has_winner=best is not None,
        verdict=_sentence(touches, best is not None, command),
    )


def _touch(dimension: DimensionRecord, value: float) -> BorderTouch | None:
    at = position(dimension, value)
    if EDGE <= at <= 1 - EDGE:
        return None
    side = "low" if at < EDGE else "high"
    further = extended(dimension, side)
    if further == (dimension.low if side == "low" else dimension.high):
        return None  # momentum and the like end at 0 by nature: there is nothing beyond
    return BorderTouch(dimension.name, value, at, side, further)


def _command(source: Source, touches: tuple[BorderTouch, ...]) -> str:
    """The command that made the experiment, with a wider space and another folder."""
    keys = [f"space.{touch.name}.{touch.side}" for touch in touches]
    words = _without(source.command, keys) if source.command else ["run", source.experiment]
    for key, touch in zip(keys, touches, strict=True):
        words += ["--set", f"{key}={touch.extend_to:.10g}"]
    return shlex.join(["sparallel", *words, "--out", f"{source.folder.rstrip('/')}-wider"])


def _without(command: tuple[str, ...], keys: list[str]) -> list[str]:
    """The words of a command less its folder and its own settings of these keys."""
    kept: list[str] = []
    words = iter(command)
    for word in words:
        option, given, value = word.partition("=")
        if option in ("--out", "--set"):
            value = value if given else next(words, "")
            if option == "--set" and value.partition("=")[0] not in keys:
                kept += ["--set", value]
        else:
            kept.append(word)
    return kept


def _sentence(touches: tuple[BorderTouch, ...], has_winner: bool, command: str | None) -> str:
    if not has_winner:
        return "No trial is complete, so there is no best point to judge."
    if not touches:
        return "The best point lies inside the searched space."
    where = "; ".join(
        f"the best {t.name} ({rounded(t.value)}) lies {_percent(t)} from the {t.side} end of its "
        f"range: extend it to {t.extend_to:.10g}"
        for t in touches
    )
    return f"{where[0].upper()}{where[1:]}. Run: {command}"


def _percent(touch: BorderTouch) -> str:
    distance = touch.position if touch.side == "low" else 1 - touch.position
    return f"{100 * max(distance, 0.0):.1f}%"
