"""Numbers as the report writes them."""

from __future__ import annotations

from collections.abc import Mapping

from sparallel.analysis import Interval

NOTHING = "–"


def whole(value: float | None) -> str:
    """12,345, or a dash."""
    return NOTHING if value is None else f"{value:,.0f}"


def significant(value: float | None) -> str:
    """Three digits that matter, without an exponent where a reader needs none."""
    if value is None:
        return NOTHING
    if value == 0 or 1e-3 <= abs(value) < 1e9:
        return f"{float(f'{value:.3g}'):,.10g}"
    return f"{value:.2e}"


def between(interval: Interval | None) -> str:
    """[520, 950], with an open end named."""
    return NOTHING if interval is None else interval.brackets(whole)


def duration(seconds: float | None) -> str:
    """Seconds, minutes, hours or days, whichever reads best."""
    if seconds is None:
        return NOTHING
    for size, unit in ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"


def metaparameters_in_words(metaparameters: Mapping[str, float] | None) -> str:
    """learning rate 0.0123, momentum 0.95."""
    if not metaparameters:
        return NOTHING
    return ", ".join(f"{readable(n)} {precise(n, v)}" for n, v in metaparameters.items())


def readable(name: str) -> str:
    """A metaparameter's name in words."""
    return name.replace("_", " ")


def precise(name: str, value: float) -> str:
    """Momentum lives next to 1, where three digits are too few."""
    return f"{value:.6g}" if name == "momentum" else significant(value)
