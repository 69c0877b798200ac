"""Border verdicts: the edge on each scale, the side to extend and the command."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparallel.analysis.border import border_verdict, extended, position
from sparallel.analysis.curves import Source
from sparallel.analysis.synthetic_experiment import SPACE, experiment_with_truth
from sparallel.analysis.values import BorderVerdict
from sparallel.records import DimensionRecord

LEARNING_RATE, MOMENTUM = SPACE
DECAY_STEPS = DimensionRecord("decay_steps", 30_000, 60_000, "linear")
STUDY = experiment_with_truth({0.0: (1e5, 200)}, [64]).studies[0]


def judge(**best: float) -> BorderVerdict:
    trials = tuple(
        replace(t, metaparameters=best) if t.trial == STUDY.best_trial else t for t in STUDY.trials
    )
    study = replace(STUDY, trials=trials, space=(*SPACE, DECAY_STEPS))
    verdict = border_verdict(Source(study, "mnist-momentum", "results/first"))
    assert verdict is not None
    return verdict


@pytest.mark.parametrize(
    ("dimension", "value", "expected"),
    [
        (LEARNING_RATE, 1e-4, 0.0),
        (LEARNING_RATE, 1e-2, 0.5),
        (LEARNING_RATE, 1.0, 1.0),
        (MOMENTUM, 0.9, 0.0),
        (MOMENTUM, 0.99, 1 / 3),
        (MOMENTUM, 0.9999, 1.0),
        (DECAY_STEPS, 45_000, 0.5),
    ],
)
def test_position_is_measured_on_the_own_scale(
    dimension: DimensionRecord, value: float, expected: float
) -> None:
    assert position(dimension, value) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("dimension", "side", "expected"),
    [
        (LEARNING_RATE, "high", 10),
        (LEARNING_RATE, "low", 1e-5),
        (MOMENTUM, "high", 0.99999),
        (MOMENTUM, "low", 0),
        (DECAY_STEPS, "high", 67_500),
        (DECAY_STEPS, "low", 22_500),
    ],
)
def test_extension_goes_a_decade_or_a_quarter_range_further(
    dimension: DimensionRecord, side: str, expected: float
) -> None:
    assert extended(dimension, side) == pytest.approx(expected)


def test_best_point_inside_needs_nothing() -> None:
    verdict = judge(learning_rate=0.01, momentum=0.99, decay_steps=45_000)
    assert verdict.is_inside
    assert verdict.command is None
    assert "inside" in verdict.verdict


def test_best_point_at_the_edge_names_the_side_and_the_command() -> None:
    verdict = judge(learning_rate=0.95, momentum=0.99, decay_steps=45_000)
    assert [(t.name, t.side, t.extend_to) for t in verdict.touches] == [
        ("learning_rate", "high", 10.0)
    ]
    assert verdict.command == (
        "sparallel run mnist-momentum --set space.learning_rate.high=10 --out results/first-wider"
    )
    assert not verdict.is_inside


def test_command_keeps_how_the_experiment_was_run() -> None:
    trials = tuple(
        replace(t, metaparameters={"learning_rate": 0.95, "momentum": 0.99}) for t in STUDY.trials
    )
    ran = ("run", "my spec.toml", "--trials", "8", "--out", "old", "--set=race.finishers=3",
           "--set", "space.learning_rate.high=1")  # fmt: skip
    source = Source(replace(STUDY, trials=trials), "mine", "old", command=ran)
    verdict = border_verdict(source)
    assert verdict is not None
    assert verdict.command == (
        "sparallel run 'my spec.toml' --trials 8 --set race.finishers=3 "
        "--set space.learning_rate.high=10 --out old-wider"
    )


def test_two_edges_make_one_command() -> None:
    verdict = judge(learning_rate=1.1e-4, momentum=0.9001, decay_steps=45_000)
    assert verdict.command is not None
    words = shlex.split(verdict.command)
    assert "space.learning_rate.low=1e-05" in words
    assert "space.momentum.low=0" in words


def test_natural_end_of_a_range_is_no_border() -> None:
    from_zero = DimensionRecord("momentum", 0.0, 0.99, "reverse-log")
    study = replace(
        STUDY,
        space=(from_zero,),
        trials=tuple(replace(t, metaparameters={"momentum": 0.001}) for t in STUDY.trials),
    )
    verdict = border_verdict(Source(study, "a", "b"))
    assert verdict is not None
    assert verdict.is_inside


def test_study_without_a_winner_is_not_inside() -> None:
    study = replace(STUDY, best_trial=None, steps_to_result=None)
    verdict = border_verdict(Source(study, "a", "b"))
    assert verdict is not None
    assert not verdict.is_inside
    assert "No trial is complete" in verdict.verdict


def test_unfinished_study_has_no_verdict() -> None:
    assert border_verdict(Source(replace(STUDY, finished=False), "a", "b")) is None


@given(st.floats(0, 1), st.sampled_from([LEARNING_RATE, MOMENTUM, DECAY_STEPS]))
def test_verdict_follows_the_5_percent_rule(share: float, dimension: DimensionRecord) -> None:
    inside = {"learning_rate": 0.01, "momentum": 0.99, "decay_steps": 45_000.0}
    if dimension.scale == "log":
        value = dimension.low * (dimension.high / dimension.low) ** share
    elif dimension.scale == "reverse-log":
        value = 1 - (1 - dimension.low) * ((1 - dimension.high) / (1 - dimension.low)) ** share
    else:
        value = dimension.low + share * (dimension.high - dimension.low)
    verdict = judge(**{**inside, dimension.name: value})
    if abs(share - 0.05) > 1e-6 and abs(share - 0.95) > 1e-6:
        expected = "low" if share < 0.05 else "high" if share > 0.95 else None
        assert [t.side for t in verdict.touches] == ([expected] if expected else [])
