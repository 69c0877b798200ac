"""Where tasks run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Value_co = TypeVar("Value_co", covariant=True)


class Task(Protocol[Value_co]):
    """Something to compute, as a value that can be sent anywhere and tried again."""

    def run(self, stop: Callable[[], bool]) -> Value_co:
        """Compute; ends early, at a good state, once `stop()` is true."""


@dataclass(frozen=True)
class Crash:
    """A task that gave no result: it raised, or its process died."""

    why: str


@dataclass(frozen=True)
class Done(Generic[Value_co]):
    """What became of the task submitted under `key`."""

    key: object
    result: Value_co | Crash | None  # None: stopped before there was anything to keep


class Executor(Protocol):
    """Runs tasks somewhere, several at a time."""

    def free(self) -> int:
        """How many more tasks would start at once."""

    def submit(self, key: object, task: Task[object]) -> None:
        """Start a task; its outcome comes back under `key`."""

    def wait(self, seconds: float) -> list[Done[object]]:
        """The outcomes there are, waiting at most so long for the first."""

    def interrupt(self) -> None:
        """Ask every running task to stop at its next good state."""

    def close(self) -> None:
        """End everything at once."""
