"""Race and exhaustive agree on everything that is reported, over generated outcome tables."""

from __future__ import annotations

import random
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from sparallel.records import Status
from sparallel.strategies import Strategy
from sparallel.strategies.exhaustive import Exhaustive
from sparallel.strategies.facts import Judgement, TrialFacts, judge, winner
from sparallel.strategies.race import Race
from sparallel.strategies.slices import next_slice, slice_end

INTERVAL, LAST = 4, 80


@dataclass(frozen=True)
class Outcome:
    """What would happen to a trial if it ran to the end: K of every goal, or where it diverges."""

    reached: tuple[int | None, ...]
    infeasible_at: int | None

    def seen_at(self, step: int) -> TrialFacts:
        """What is known after training up to `step`."""
        reached = tuple(at if at is not None and at <= step else None for at in self.reached)
        if None not in reached:
            return TrialFacts(max(at for at in reached if at), reached)
        if self.infeasible_at is not None and self.infeasible_at <= step:
            return TrialFacts(self.infeasible_at, reached, self.infeasible_at)
        return TrialFacts(step, reached)


CHECKS = st.integers(1, LAST // INTERVAL).map(lambda n: n * INTERVAL)


@st.composite
def outcomes(draw: st.DrawFn, goals: int) -> Outcome:
    """Few distinct steps, so that ties are common; harder goals are never reached earlier."""
    some = st.one_of(st.none(), st.sampled_from([8, 12, 40]), CHECKS)
    found = [draw(some) for _ in range(goals)]
    never = [at is None for at in found]
    ordered = sorted(at for at in found if at is not None)
    reached = tuple(ordered + [None] * sum(never))
    infeasible_at = draw(st.one_of(st.none(), CHECKS))
    if infeasible_at is not None:
        reached = tuple(at if at is not None and at < infeasible_at else None for at in reached)
        if None not in reached:
            infeasible_at = None
    return Outcome(reached, infeasible_at)


@st.composite
def tables(draw: st.DrawFn) -> list[Outcome]:
    goals = draw(st.integers(1, 3))
    return draw(st.lists(outcomes(goals), min_size=1, max_size=12))


def run(
    table: list[Outcome], strategy: Strategy, workers: int, batch_size: int, seed: int
) -> tuple[list[TrialFacts], int]:
    """A whole study with so many workers, whose slices end in a random order."""
    random_ = random.Random(seed)
    facts = [TrialFacts(0, (None,) * len(table[0].reached)) for _ in table]
    busy: dict[int, int] = {}
    steps = 0
    while True:
        while len(busy) < workers:
            found = next_slice(
                strategy,
                facts,
                busy,
                batch_size=batch_size,
                check_interval=INTERVAL,
                last_check=LAST,
            )
            if found is None:
                break
            assert facts[found.trial].step < found.until_step <= LAST
            busy[found.trial] = found.until_step
        if not busy:
            return facts, steps
        trial = random_.choice(sorted(busy))
        before = facts[trial].step
        facts[trial] = table[trial].seen_at(busy.pop(trial))
        steps += facts[trial].step - before


def reported(facts: list[TrialFacts], strategy: Strategy, goal: int) -> list[Judgement]:
    return judge(facts, goal, strategy.bound(facts, LAST), LAST)


ANY_RUN = (tables(), st.integers(1, 5), st.sampled_from([1, 64, 700, 4096]), st.integers(0, 99))


@settings(max_examples=300)
@given(*ANY_RUN)
def test_race_finds_the_k_winner_and_ties_of_exhaustive(
    table: list[Outcome], workers: int, batch_size: int, seed: int
) -> None:
    everything, _ = run(table, Exhaustive(), 1, 64, 0)
    raced, _ = run(table, Race(), workers, batch_size, seed)
    for goal in range(len(table[0].reached)):
        found = winner(reported(raced, Race(), goal))
        assert found == winner(reported(everything, Exhaustive(), goal))


@settings(max_examples=300)
@given(*ANY_RUN, st.integers(1, 4))
def test_every_status_is_the_same_however_the_race_was_run(
    table: list[Outcome], workers: int, batch_size: int, seed: int, finishers: int
) -> None:
    race = Race(finishers)
    one, _ = run(table, race, 1, 64, 0)
    other, _ = run(table, race, workers, batch_size, seed)
    for goal in range(len(table[0].reached)):
        judgements = reported(other, race, goal)
        assert judgements == reported(one, race, goal)
        assert not any(j.status in (Status.PENDING, Status.FAILED) for j in judgements)


@settings(max_examples=200)
@given(tables(), st.integers(1, 4))
def test_a_race_knows_exactly_its_finishers_best_trials(
    table: list[Outcome], finishers: int
) -> None:
    race = Race(finishers)
    facts, _ = run(table, race, 2, 64, 1)
    arrivals = sorted(max(o.reached) for o in table if None not in o.reached)  # type: ignore[type-var]
    hardest = len(table[0].reached) - 1
    complete = sorted(
        j.steps for j in reported(facts, race, hardest) if j.status is Status.COMPLETE
    )
    bound = arrivals[finishers - 1] if len(arrivals) >= finishers else LAST
    assert complete == [at for at in arrivals if at <= bound]


@settings(max_examples=200)
@given(tables(), st.integers(1, 11), st.integers(0, 99))
def test_adding_trials_gives_what_one_larger_race_gives(
    table: list[Outcome], first: int, seed: int
) -> None:
    """Facts of a smaller study, carried over, change nothing that is reported."""
    first = min(first, len(table))
    part, _ = run(table[:first], Race(), 2, 64, seed)
    facts = part + [TrialFacts(0, (None,) * len(table[0].reached))] * (len(table) - first)
    bound = Race().bound(facts, LAST)
    for trial in range(first, len(table)):
        facts[trial] = table[trial].seen_at(bound)
        bound = Race().bound(facts, LAST)
    whole, _ = run(table, Race(), 1, 64, 0)
    for goal in range(len(table[0].reached)):
        assert reported(facts, Race(), goal) == reported(whole, Race(), goal)


def test_a_race_trains_about_trials_times_the_best_k() -> None:
    table = [Outcome((16,), None)] + [Outcome((None,), None)] * 9
    _, raced = run(table, Race(), 1, 4096, 0)
    _, everything = run(table, Exhaustive(), 1, 4096, 0)
    assert raced == 10 * 16
    assert everything == 16 + 9 * LAST


@given(st.integers(0, 40_000), st.integers(1, 2500), st.sampled_from([1, 2, 32, 128, 4096, 16384]))
def test_a_slice_goes_on_never_past_the_bound_and_adds_a_tenth_or_a_second(
    step: int, checks: int, batch_size: int
) -> None:
    bound = checks * 16
    if step >= bound:
        return
    end = slice_end(step, bound, batch_size, 16)
    assert step < end <= bound
    work = (end - step) * (batch_size + 150 / 16)
    assert end - step <= step // 10 + 16 or work <= 2_500 + 16 * (batch_size + 10)


def test_ties_go_to_the_lowest_index_and_all_are_named() -> None:
    complete = Judgement(Status.COMPLETE, 32)
    found = winner([Judgement(Status.BEATEN, 32), complete, complete, complete])
    assert found is not None
    assert (found.trial, found.steps, found.ties) == (1, 32, (2, 3))
    assert winner([Judgement(Status.INCOMPLETE, 80)]) is None
