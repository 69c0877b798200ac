"""Ties everything together: the plan, less what is known, goes to the executor and to the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sparallel.executors import Crash, Executor
from sparallel.spec import Experiment, Study
from sparallel.store.store import Store
from sparallel.study_run import Key, Save, StudyRun
from sparallel.training.tasks import Advanced, Evaluated, Place

ATTEMPTS = 3
"""How often a crashing task is tried in one session before its trial counts as failed."""

POLL_SECONDS = 0.5


@dataclass
class Report:
    """How a session ended."""

    stopped: bool = False
    failures: list[str] = field(default_factory=list)


class Watch:
    """Hears what a run does; this one is silent."""

    def planned(self, studies: list[StudyRun]) -> None:
        """The studies of this run, finished ones included."""

    def advanced(self, study: StudyRun) -> None:
        """Something of this study is known and safe that was not before."""

    def finished(self, study: StudyRun) -> None:
        """The study is decided and its winners are tested."""

    def crashed(self, study: StudyRun, trial: int, why: str, final: bool) -> None:
        """A task gave no result; it is tried again, or its trial has failed."""


@dataclass
class Runner:
    """Runs an experiment's studies to their end, or until asked to stop."""

    experiment: Experiment  # what this session was asked for; the folder may hold more
    store: Store
    executor: Executor
    place: Place
    watch: Watch = field(default_factory=Watch)
    stopping: Callable[[], bool] = lambda: False
    report: Report = field(default_factory=Report)
    _busy: dict[object, StudyRun] = field(default_factory=dict)
    _crashes: dict[object, int] = field(default_factory=dict)  # in a row
    _told: set[Study] = field(default_factory=set)

    def run(self) -> Report:
        """Do what is missing. Whatever `watch` is told is already in the store."""
        points = self.store.experiment.search_space.points(self.store.experiment.trials)
        studies = [
            StudyRun.resume(study, self.store, self.place, points)
            for study in self.experiment.studies
        ]
        self.watch.planned(studies)
        waiting = [study for study in studies if not study.finished]
        self._fill(waiting)
        while self._busy:
            saves: list[Save] = []
            for done in self.executor.wait(POLL_SECONDS):
                study = self._busy.pop(done.key)
                assert isinstance(done.key, Key)
                saves.append(self._take(study, done.key, done.result))
            # Workers get their next tasks before the disk is asked: it is they who are scarce.
            self._fill(waiting)
            for save in saves:
                save()
            waiting = [study for study in waiting if not study.finished]
        return self.report

    def _fill(self, waiting: list[StudyRun]) -> None:
        """Give every free worker a task: of the first study that has one, then of the next."""
        if self.stopping():
            self.report.stopped = True
            self.executor.interrupt()
            return
        for study in waiting:
            while self.executor.free() and (found := study.next_task()) is not None:
                key, task = found
                self._busy[key] = study
                self.executor.submit(key, task)

    def _take(self, study: StudyRun, key: Key, result: object) -> Save:
        """Take an outcome in, so that the next task can be chosen; saving it is left for later."""
        if isinstance(result, Advanced):
            save = study.take_advance(key, result)
        elif isinstance(result, Evaluated):
            save = study.take_test(key, result)
        else:
            return self._take_crash(study, key, result)
        self._crashes.pop(key, None)
        finished = study.finished and study.study not in self._told
        if finished:
            self._told.add(study.study)

        def save_and_tell() -> None:
            save()
            self.watch.advanced(study)
            if finished:
                self.watch.finished(study)

        return save_and_tell

    def _take_crash(self, study: StudyRun, key: Key, result: object) -> Save:
        if not isinstance(result, Crash):  # stopped before there was anything to keep
            return study.take_crash(key, "", final=False)
        self._crashes[key] = self._crashes.get(key, 0) + 1
        final = self._crashes[key] >= ATTEMPTS
        if final:
            self.report.failures.append(f"{study.study.label} trial {key.run.trial}: {result.why}")
        self.watch.crashed(study, key.run.trial, result.why, final)
        return study.take_crash(key, result.why, final=final)
