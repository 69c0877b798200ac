"""This machine and the software on it, as provenance records them."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

from sparallel import __version__

DISTRIBUTIONS = ("torch", "numpy", "scipy", "mlxtend")


def cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@functools.cache
def cpu_model() -> str:
    """The processor's name, as its maker spells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """The versions of this package and of those that its numbers depend on."""
    found = {"sparallel": __version__, "python": platform.python_version()}
    for name in DISTRIBUTIONS:
        found[name] = importlib.metadata.version(name)
    return found


def commit() -> str | None:
    """The commit of the source tree this package runs from, or None where it is installed."""
    here = Path(__file__).resolve().parent
    if not (here.parent.parent / ".git").exists():
        return None
    command = ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None


def description() -> dict[str, object]:
    """The machine, for the provenance of a result."""
    return {
        "system": platform.platform(),
        "cpu": cpu_model(),
        "cores": cores(),
    }
