"""One figure on disk: png to look at, svg and pdf to print, csv to check."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sparallel.figures.style import paper_style
from sparallel.records import ExperimentRecord
from sparallel.smoothness.records import SmoothnessRecord
from sparallel.tabular import Table, write_csv

FORMATS = ("png", "svg", "pdf")
_NO_DATE: dict[str, dict[str, str | None]] = {
    "png": {"Software": "sparallel"},
    "svg": {"Date": None, "Creator": "sparallel"},
    "pdf": {"CreationDate": None, "Creator": "sparallel", "Producer": None},
}


def slug(text: str) -> str:
    """The text as part of a file name: lower-case ASCII letters, digits, dots and hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9.]+", "-", plain).strip("-.") or "unnamed"


def distinct_names(experiments: Sequence[ExperimentRecord | SmoothnessRecord]) -> list[str]:
    """The folders' names, numbered where two folders hold experiments of one name."""
    seen: Counter[str] = Counter()
    names = []
    for experiment in experiments:
        seen[experiment.name] += 1
        again = seen[experiment.name]
        names.append(experiment.name if again == 1 else f"{experiment.name} ({again})")
    return names


def save(figure: Figure, data: Table, folder: Path, name: str) -> list[Path]:
    """Write the figure in every format, and its data, and say which files those are."""
    FigureCanvasAgg(figure)
    written = []
    with paper_style():
        for kind in FORMATS:
            path = folder / f"{name}.{kind}"
            figure.savefig(path, format=kind, dpi=200, metadata=_NO_DATE[kind])
            written.append(path)
    written.append(write_csv(data, folder / f"{name}.csv"))
    return written
