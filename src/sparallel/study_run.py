"""One study while it runs: what is known, what to do next, and what each outcome means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sparallel.spec import Experiment, Study
from sparallel.store.store import Store
from sparallel.store.trials import Costs
from sparallel.store.winners import Candidate
from sparallel.strategies import Strategy
from sparallel.strategies.choice import strategy_of
from sparallel.strategies.facts import TrialFacts, Winner, judge, winner
from sparallel.strategies.slices import next_slice
from sparallel.training.state import Floats, TrialState
from sparallel.training.tasks import Advance, Advanced, Evaluate, Evaluated, Place, Task
from sparallel.training.trial import Trial

Save = Callable[[], None]


@dataclass(frozen=True)
class Key:
    """Names a task of a study: advancing a trial, or testing the winner of a goal."""

    study: str
    trial: int
    goal: int | None = None


@dataclass
class StudyRun:
    """A study under way. Outcomes change it at once; saving them is handed back to the caller."""

    study: Study
    experiment: Experiment
    store: Store
    place: Place
    points: list[dict[str, float]]
    facts: list[TrialFacts]
    candidates: dict[int, Candidate]  # by goal
    strategy: Strategy
    states: dict[int, TrialState] = field(default_factory=dict)
    snapshots: dict[int, Floats] = field(default_factory=dict)  # by goal
    busy: set[Key] = field(default_factory=set)
    seconds: float = 0.0  # spent in this session
    steps: int = 0  # trained in this session

    @classmethod
    def resume(
        cls, study: Study, store: Store, place: Place, points: list[dict[str, float]]
    ) -> StudyRun:
        """The study as the store knows it."""
        candidates = {
            goal: candidate
            for goal, goal_error in enumerate(store.experiment.goal_errors)
            if (candidate := store.winners.candidate(study, goal_error)) is not None
        }
        experiment = store.experiment
        facts, strategy = store.trials.facts(study), strategy_of(experiment)
        return cls(study, experiment, store, place, points, facts, candidates, strategy)

    # what is known

    @property
    def bound(self) -> int:
        """No trial needs to be checked beyond this step."""
        return self.strategy.bound(self.facts, self.experiment.last_check)

    @property
    def settled(self) -> bool:
        """Every trial is known as far as the bound asks."""
        bound = self.bound
        return all(facts.settled(bound) for facts in self.facts)

    @property
    def finished(self) -> bool:
        """Settled, and the winner of every goal is tested."""
        return self.settled and not self._untested()

    def winner(self, goal: int) -> Winner | None:
        """The winner for a goal as far as is known."""
        return winner(judge(self.facts, goal, self.bound, self.experiment.last_check))

    def _untested(self) -> list[tuple[int, Winner]]:
        found = ((goal, self.winner(goal)) for goal in range(len(self.experiment.goal_errors)))
        return [
            (goal, best)
            for goal, best in found
            if best is not None
            and (
                (known := self.candidates.get(goal)) is None
                or (known.trial, known.steps) != (best.trial, best.steps)
                or known.test_error is None
            )
        ]

    # what to do next

    def next_task(self) -> tuple[Key, Task] | None:
        """The next task that can start now; it counts as busy from here on."""
        found = self._next_test() if self.settled else self._next_advance()
        if found is not None:
            self.busy.add(found[0])
        return found

    def _next_advance(self) -> tuple[Key, Task] | None:
        chosen = next_slice(
            self.strategy,
            self.facts,
            {key.trial for key in self.busy},
            batch_size=self.study.batch_size,
            check_interval=self.experiment.check_interval,
            last_check=self.experiment.last_check,
        )
        if chosen is None:
            return None
        state = self.states.pop(chosen.trial, None)
        if state is None and self.facts[chosen.trial].step > 0:
            state = self.store.trials.state(self.study, chosen.trial)
        task = Advance(self.trial(chosen.trial), state, chosen.until_step, self.place)
        return Key(self.study.label, chosen.trial), task

    def _next_test(self) -> tuple[Key, Task] | None:
        self.states.clear()
        for goal, best in self._untested():
            key = Key(self.study.label, best.trial, goal)
            if key in self.busy:
                continue
            snapshot = self.snapshots.get(goal)
            if snapshot is not None:
                parameters: bytes | None = snapshot.astype("<f4").tobytes()
            else:
                parameters = self.store.winners.snapshot(
                    self.study, self.experiment.goal_errors[goal]
                )
            trial = self.trial(best.trial)
            return key, Evaluate(trial, goal, best.steps, parameters, self.place)
        return None

    def trial(self, index: int) -> Trial:
        """A trial of this study."""
        experiment = self.experiment
        return Trial(
            data=experiment.data,
            model=experiment.model,
            optimizer=experiment.optimizer,
            schedule=experiment.schedule,
            pruning=experiment.pruning,
            goal_errors=experiment.goal_errors,
            check_interval=experiment.check_interval,
            seed=experiment.seed,
            batch_size=self.study.batch_size,
            sparsity=self.study.sparsity,
            index=index,
            metaparameters=self.points[index],
        )

    # what an outcome means

    def take_advance(self, key: Key, done: Advanced) -> Save:
        """Take in how far a trial has come."""
        self.busy.discard(key)
        state, progress = done.state, done.progress
        self.steps += state.step - self.facts[key.trial].step
        self.seconds += progress.seconds
        self.facts[key.trial] = TrialFacts(state.step, state.reached, state.infeasible_at)
        self.states[key.trial] = state
        arrivals: dict[int, tuple[Candidate, Floats]] = {}
        for goal, parameters in progress.arrivals.items():
            steps = state.reached[goal]
            known = self.candidates.get(goal)
            if steps and (known is None or (steps, key.trial) < (known.steps, known.trial)):
                self.candidates[goal] = Candidate(key.trial, steps)
                self.snapshots[goal] = parameters
                arrivals[goal] = (self.candidates[goal], parameters)
        costs = Costs(
            progress.examples_trained, progress.examples_checked, progress.checks, progress.seconds
        )

        def save() -> None:
            # The snapshot first: an arrival in the store then always has its parameters.
            for goal, (best, parameters) in arrivals.items():
                goal_error = self.experiment.goal_errors[goal]
                self.store.winners.record_candidate(self.study, goal_error, best, parameters)
            self.store.trials.record(self.study, key.trial, self.points[key.trial], state, costs)

        return save

    def take_test(self, key: Key, done: Evaluated) -> Save:
        """Take in a winner's test error."""
        self.busy.discard(key)
        goal = key.goal if key.goal is not None else 0
        best = self.winner(goal)
        steps = best.steps if best else 0
        tested = Candidate(key.trial, steps, done.test_error)
        self.candidates[goal] = tested
        self.snapshots.pop(goal, None)

        def save() -> None:
            goal_error = self.experiment.goal_errors[goal]
            self.store.winners.record_winner(self.study, goal_error, tested, done.network)

        return save

    def take_crash(self, key: Key, why: str, *, final: bool) -> Save:
        """Take in that a task gave nothing: it is tried again, or its trial has failed."""
        self.busy.discard(key)
        if final:
            self.facts[key.trial] = replace(self.facts[key.trial], failed=True)

        def save() -> None:
            if final:
                self.store.trials.record_failure(self.study, key.trial, self.points[key.trial], why)

        return save
