"""One study while it runs: what is known, what to do next, and what each outcome means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sparallel.spec import Experiment, Study
from sparallel.store.reading import nothing_known
from sparallel.store.store import Store
from sparallel.store.trials import Costs
from sparallel.store.winners import Candidate
from sparallel.strategies import Strategy
from sparallel.strategies.choice import strategy_of
from sparallel.strategies.facts import Run, TrialFacts, Winner, judge, winner
from sparallel.strategies.reruns import planned_reruns, rerun_budget
from sparallel.strategies.slices import next_slice, slice_end
from sparallel.training.state import Floats, TrialState
from sparallel.training.tasks import Advance, Advanced, Evaluate, Evaluated, Place, Task
from sparallel.training.trial import Trial

Save = Callable[[], None]


@dataclass(frozen=True)
class Key:
    """Names a task of a study: advancing a run, or testing the winner of a goal."""

    study: Study
    run: Run
    goal: int | None = None


@dataclass
class StudyRun:
    """A study under way. Outcomes change it at once; saving them is handed back to the caller."""

    study: Study
    experiment: Experiment
    store: Store
    place: Place
    points: list[dict[str, float]]
    known: dict[Run, TrialFacts]
    candidates: dict[int, Candidate]  # by goal
    strategy: Strategy
    states: dict[Run, TrialState] = field(default_factory=dict)
    snapshots: dict[int, Floats] = field(default_factory=dict)  # by goal
    busy: set[Key] = field(default_factory=set)
    seconds: float = 0.0  # spent in this session
    steps: int = 0  # trained in this session

    @classmethod
    def resume(
        cls, study: Study, store: Store, place: Place, points: list[dict[str, float]]
    ) -> StudyRun:
        """The study as the store knows it."""
        experiment = store.experiment
        candidates = {
            goal: candidate
            for goal, goal_error in enumerate(experiment.goal_errors)
            if (candidate := store.winners.candidate(study, goal_error)) is not None
        }
        known, strategy = store.trials.facts(study), strategy_of(experiment)
        return cls(study, experiment, store, place, points, known, candidates, strategy)

    # what is known

    @property
    def facts(self) -> list[TrialFacts]:
        """What is known of the study's trials; reruns are no part of the race."""
        seed = self.experiment.seed
        return [self.known[Run(trial, seed)] for trial in range(self.experiment.trials)]

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
        """Settled, the winner of every goal tested, and its reruns made."""
        return self.settled and not self._untested() and not self._unrepeated()

    def winner(self, goal: int) -> Winner | None:
        """The winner for a goal as far as is known."""
        return winner(judge(self.facts, goal, self.bound, self.experiment.last_check))

    def _winners(self) -> dict[int, Winner]:
        found = {goal: self.winner(goal) for goal in range(len(self.experiment.goal_errors))}
        return {goal: best for goal, best in found.items() if best is not None}

    def _untested(self) -> dict[int, Winner]:
        def tested(goal: int, best: Winner) -> bool:
            known = self.candidates.get(goal)
            if known is None or known.test_error is None:
                return False
            return (known.trial, known.steps) == (best.trial, best.steps)

        return {goal: best for goal, best in self._winners().items() if not tested(goal, best)}

    def _unrepeated(self) -> dict[Run, int]:
        """The reruns still to make, and how far each must go."""
        budgets: dict[Run, int] = {}
        for goal, best in self._winners().items():
            budget = rerun_budget(self.experiment, best)
            for run in planned_reruns(self.experiment, best):
                facts = self.known.get(run, nothing_known(self.experiment))
                if facts.reached[goal] is None and not facts.settled(budget):
                    budgets[run] = max(budget, budgets.get(run, 0))
        return budgets

    # what to do next

    def next_task(self) -> tuple[Key, Task] | None:
        """The next task that can start now; it counts as busy from here on."""
        found = self._next_after_race() if self.settled else self._next_advance()
        if found is not None:
            self.busy.add(found[0])
        return found

    def _next_after_race(self) -> tuple[Key, Task] | None:
        return self._next_test() or self._next_rerun()

    def _next_advance(self) -> tuple[Key, Task] | None:
        chosen = next_slice(
            self.strategy,
            self.facts,
            {key.run.trial for key in self.busy},
            batch_size=self.study.batch_size,
            check_interval=self.experiment.check_interval,
            last_check=self.experiment.last_check,
        )
        if chosen is None:
            return None
        return self._advance(Run(chosen.trial, self.experiment.seed), chosen.until_step)

    def _next_rerun(self) -> tuple[Key, Task] | None:
        for run, budget in self._unrepeated().items():
            facts = self.known.setdefault(run, nothing_known(self.experiment))
            if Key(self.study, run) not in self.busy and not facts.failed:
                interval = self.experiment.check_interval
                until = slice_end(facts.step, budget, self.study.batch_size, interval)
                return self._advance(run, until)
        return None

    def _advance(self, run: Run, until_step: int) -> tuple[Key, Task]:
        state = self.states.pop(run, None)
        if state is None and self.known[run].step > 0:
            state = self.store.trials.state(self.study, run)
        task = Advance(self.trial(run), state, until_step, self.place)
        return Key(self.study, run), task

    def _next_test(self) -> tuple[Key, Task] | None:
        for goal, best in self._untested().items():
            run = Run(best.trial, self.experiment.seed)
            key = Key(self.study, run, goal)
            if key in self.busy or self.known[run].failed:
                continue
            parameters = self._snapshot(goal, best)
            return key, Evaluate(self.trial(run), goal, best.steps, parameters, self.place)
        return None

    def _snapshot(self, goal: int, best: Winner) -> bytes | None:
        """The winner's parameters at K; None where only another trial's are kept."""
        kept = self.candidates.get(goal)
        if kept is None or (kept.trial, kept.steps) != (best.trial, best.steps):
            return None
        if goal in self.snapshots:
            return self.snapshots[goal].astype("<f4").tobytes()
        return self.store.winners.snapshot(self.study, self.experiment.goal_errors[goal])

    def trial(self, run: Run) -> Trial:
        """A trial of this study, run with this seed."""
        experiment = self.experiment
        return Trial(
            data=experiment.data,
            model=experiment.model,
            optimizer=experiment.optimizer,
            schedule=experiment.schedule,
            pruning=experiment.pruning,
            goal_errors=experiment.goal_errors,
            check_interval=experiment.check_interval,
            seed=run.seed,
            batch_size=self.study.batch_size,
            sparsity=self.study.sparsity,
            index=run.trial,
            metaparameters=self.points[run.trial],
        )

    # what an outcome means

    def take_advance(self, key: Key, done: Advanced) -> Save:
        """Take in how far a run has come."""
        self.busy.discard(key)
        state, progress = done.state, done.progress
        self.steps += state.step - self.known[key.run].step
        self.seconds += progress.seconds
        self.known[key.run] = TrialFacts(state.step, state.reached, state.infeasible_at)
        self.states[key.run] = state
        arrivals: dict[int, tuple[Candidate, Floats]] = {}
        if key.run.seed == self.experiment.seed:
            arrivals = self._new_candidates(key.run.trial, state, progress.arrivals)
        if self.settled:  # the race's states are on disk; those of reruns go on
            seed = self.experiment.seed
            self.states = {run: kept for run, kept in self.states.items() if run.seed != seed}
        costs = Costs(
            progress.examples_trained, progress.examples_checked, progress.checks, progress.seconds
        )

        def save() -> None:
            # The snapshot first: an arrival in the store then always has its parameters.
            for goal, (best, parameters) in arrivals.items():
                goal_error = self.experiment.goal_errors[goal]
                self.store.winners.record_candidate(self.study, goal_error, best, parameters)
            self.store.trials.record(self.study, key.run, self.points[key.run.trial], state, costs)

        return save

    def _new_candidates(
        self, trial: int, state: TrialState, arrived: dict[int, Floats]
    ) -> dict[int, tuple[Candidate, Floats]]:
        """The goals for which this trial is now the best, with the parameters that reached them."""
        better = {}
        for goal, parameters in arrived.items():
            steps, known = state.reached[goal], self.candidates.get(goal)
            if steps and (known is None or (steps, trial) < (known.steps, known.trial)):
                self.candidates[goal] = Candidate(trial, steps)
                self.snapshots[goal] = parameters
                better[goal] = (self.candidates[goal], parameters)
        return better

    def take_test(self, key: Key, done: Evaluated) -> Save:
        """Take in a winner's test error."""
        self.busy.discard(key)
        assert key.goal is not None
        goal = key.goal
        tested = Candidate(key.run.trial, self._winners()[goal].steps, done.test_error)
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
            self.known[key.run] = replace(self.known[key.run], failed=True)

        def save() -> None:
            if final:
                metaparameters = self.points[key.run.trial]
                self.store.trials.record_failure(self.study, key.run, metaparameters, why)

        return save
