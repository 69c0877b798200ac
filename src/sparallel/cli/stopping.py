"""How commands that train begin and end: what to warn of, stop signals, exit statuses."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sparallel.spec import Experiment

if TYPE_CHECKING:
    from sparallel.runner import Report

INTERRUPTED, TERMINATED = 130, 143


def say_once_where_kernels_are_off(asked: Experiment, mode: str) -> None:
    """Warn that pruned networks will cost what dense ones do."""
    from sparallel.kernels import available, why_not

    if mode == "auto" and any(asked.sparsities) and not available():
        print(
            f"sparallel: sparse kernels are off ({why_not()}); pruned networks train as masked "
            "dense ones, at the dense cost.",
            file=sys.stderr,
        )


def conclude(report: Report, stops: list[int], what: str, open_: str) -> None:
    """Say how it ended, and give the exit status that says so too."""
    if report.failures:
        count = len(report.failures)
        print(
            f"sparallel: {count} {what}{'s' * (count > 1)} failed, so {open_}; "
            f"the same command tries again. The first: {report.failures[0].strip()}",
            file=sys.stderr,
        )
        if not report.stopped:
            sys.exit(1)
    if report.stopped:
        again = shlex.join(["sparallel", *sys.argv[1:]])
        print(f"sparallel: stopped, everything is saved; go on with: {again}", file=sys.stderr)
        sys.exit(TERMINATED if stops[0] == signal.SIGTERM else INTERRUPTED)


@contextmanager
def stop_signals() -> Iterator[list[int]]:
    """The stop signals received: the first asks politely, a second one ends the process."""
    received: list[int] = []

    def note(number: int, _frame: object) -> None:
        received.append(number)
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, before[one])
        print("sparallel: stopping; saving what is under way ...", file=sys.stderr)

    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    for one in before:
        signal.signal(one, note)
    try:
        yield received
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
