"""The goal check: early stopping never changes its verdict."""

import dataclasses

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sparallel.training.goal import GoalCheck, Verdict, error_limit, reached
from sparallel.training.trial import advance, start
from sparallel.training.workbench import Workbench
from tests.training.test_trial import TRIAL


class WatchedCheck(GoalCheck):
    """Checks as usual, and beside it looks at every example, plainly."""

    def __init__(self, check: GoalCheck) -> None:
        super().__init__(check.batches)
        self.pairs: list[tuple[Verdict, int, int, bool]] = []

    def __call__(self, network: torch.nn.Module, margins: torch.Tensor, limit: int) -> Verdict:
        verdict = super().__call__(network, margins, limit)
        with torch.no_grad():
            images, labels = self.batches.gather(torch.arange(len(self.batches)))
            outputs = network(images)
        finite = bool(outputs.isfinite().all())
        good = (outputs.argmax(1) == labels) & outputs.isfinite().all(1)
        self.pairs.append((verdict, limit, int((~good).sum()), finite))
        return verdict


@pytest.mark.parametrize(
    ("learning_rate", "goals", "steps"),
    [(0.01, (0.06,), 480), (0.02, (0.1, 0.25), 240), (1e6, (0.06,), 240), (1e-6, (0.06,), 80)],
)
def test_every_verdict_of_a_real_run_is_that_of_a_full_evaluation(
    bench: Workbench,
    monkeypatch: pytest.MonkeyPatch,
    learning_rate: float,
    goals: tuple,
    steps: int,
) -> None:
    watched = WatchedCheck(bench.check)
    monkeypatch.setattr(bench, "check", watched)
    metaparameters = {"learning_rate": learning_rate, "momentum": 0.9}
    trial = dataclasses.replace(TRIAL, goal_errors=goals, metaparameters=metaparameters)
    state, _ = advance(trial, start(trial, bench), steps, bench)
    examples = len(bench.validation)
    for verdict, limit, errors, finite in watched.pairs:
        assert (verdict.errors > limit) == (errors > limit)
        if verdict.seen == examples:
            assert verdict.errors == errors
        assert verdict.finite == finite
    easiest = max(error_limit(goal, examples) for goal in goals)
    assert len(watched.pairs) >= 1
    if learning_rate < 1:
        stopped_early = [v for v, *_ in watched.pairs if v.errors > easiest and v.seen < examples]
        assert stopped_early, "no check of this run stopped early, so this test shows nothing"
    for goal, at in zip(goals, state.reached, strict=True):
        first = next(
            (
                number * trial.check_interval
                for number, (_, _, errors, _) in enumerate(watched.pairs, start=1)
                if errors <= error_limit(goal, examples)
            ),
            None,
        )
        assert at == first


@given(st.integers(1, 20_000), st.integers(0, 10_000))
def test_the_limit_is_exact_in_decimal(examples: int, basis_points: int) -> None:
    limit = error_limit(basis_points / 10_000, examples)
    assert limit == basis_points * examples // 10_000


def test_the_protocols_limits() -> None:
    limits = [error_limit(goal, 6_000) for goal in (0.02, 0.12, 0.14)]
    assert [*limits, error_limit(0.4, 5_000)] == [120, 720, 840, 2_000]


def test_only_a_check_that_saw_everything_can_say_yes() -> None:
    assert reached(Verdict(errors=5, seen=100, finite=True), [4, 5], 100) == [False, True]
    assert reached(Verdict(errors=5, seen=99, finite=True), [4, 5], 100) == [False, False]
