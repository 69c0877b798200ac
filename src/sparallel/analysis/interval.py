"""An interval that may be open on either side, and says so in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

LEVEL = 0.95  # every interval of the analysis, unless it names another


def rounded(value: float) -> str:
    """Three significant digits, as people write them: 0.0123, 2.41, 703, 41200."""
    if value == 0:
        return "0"
    text = f"{float(f'{value:.3g}'):.10f}".rstrip("0").rstrip(".")
    return text if float(text) != 0 else f"{value:.2e}"


@dataclass(frozen=True)
class Interval:
    """A range for a positive number; an end that the data do not limit is None."""

    low: float | None
    high: float | None
    level: float = LEVEL

    @property
    def is_unbounded(self) -> bool:
        """Neither end is limited by the data."""
        return self.low is None and self.high is None

    @property
    def is_one_sided(self) -> bool:
        """Exactly one end is limited by the data."""
        return (self.low is None) != (self.high is None)

    def __contains__(self, value: float) -> bool:
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)

    def scaled(self, factor: float) -> Interval:
        """The interval of the quantity times a positive factor."""
        return Interval(
            None if self.low is None else self.low * factor,
            None if self.high is None else self.high * factor,
            self.level,
        )

    def brackets(self, write: Callable[[float], str] = rounded) -> str:
        """The short form: [520, 950], [520, no upper limit]."""
        if self.is_unbounded:
            return "[interval not known]"
        low = "no lower limit" if self.low is None else write(self.low)
        high = "no upper limit" if self.high is None else write(self.high)
        return f"[{low}, {high}]"

    def short(self, write: Callable[[float], str] = rounded) -> str:
        """The narrow form, for tables: 520–950, ≥ 520, ≤ 950."""
        if self.low is not None and self.high is not None:
            return f"{write(self.low)}–{write(self.high)}"
        if self.low is not None:
            return f"≥ {write(self.low)}"
        return "not known" if self.high is None else f"≤ {write(self.high)}"

    def in_words(self, write: Callable[[float], str] = rounded) -> str:
        """The long form: between 520 and 950; at least 520, no upper limit."""
        if self.low is not None and self.high is not None:
            return f"between {write(self.low)} and {write(self.high)}"
        if self.low is not None:
            return f"at least {write(self.low)}, no upper limit"
        if self.high is not None:
            return f"at most {write(self.high)}, no lower limit"
        return "interval not limited by these data"
