"""Metaparameter search: one Sobol table for a workload, the same points for every study."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Scale = Literal["log", "reverse-log", "linear"]


class Dimension(BaseModel):
    """The range of one metaparameter and the scale on which it is searched.

    `reverse-log` is for values below 1 whose distance from 1 matters: 1 - value is log-uniform,
    and the unit interval's 0 is the upper end (0.9999), its 1 the lower (0.9).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    low: float
    high: float
    scale: Scale = "linear"
    integer: bool = False

    @model_validator(mode="after")
    def _is_a_range(self) -> Dimension:
        if not self.low < self.high:
            raise ValueError(f"low {self.low:g} is not below high {self.high:g}")
        if self.scale == "log" and self.low <= 0:
            raise ValueError(f"a log scale needs low above 0, not {self.low:g}")
        if self.scale == "reverse-log" and self.high >= 1:
            raise ValueError(f"a reverse-log scale needs high below 1, not {self.high:g}")
        return self

    def value(self, unit: float) -> float:
        """The metaparameter at a point of the unit interval."""
        if self.scale == "log":
            found = math.exp(_between(math.log(self.low), math.log(self.high), unit))
        elif self.scale == "reverse-log":
            found = 1 - math.exp(_between(math.log1p(-self.high), math.log1p(-self.low), unit))
        else:
            found = _between(self.low, self.high, unit)
        return float(round(found)) if self.integer else found


def _between(start: float, end: float, share: float) -> float:
    return start + (end - start) * share


PAPER_SPACE: Mapping[str, Dimension] = {
    "learning_rate": Dimension(low=1e-4, high=1, scale="log"),
    "momentum": Dimension(low=0.9, high=0.9999, scale="reverse-log"),
    "decay_steps": Dimension(low=30_000, high=60_000, scale="linear", integer=True),
    "decay_factor": Dimension(low=1e-4, high=0.1, scale="log"),
}
"""The ranges of the study we reproduce, by metaparameter."""


class Space(BaseModel):
    """The searched metaparameters, in the order of the Sobol dimensions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dimensions: Mapping[str, Dimension] = Field(min_length=1)

    def points(self, trials: int) -> list[dict[str, float]]:
        """The metaparameters of trials 0, 1, ...; more trials only add to the list.

        Unscrambled Sobol points without the first, the origin, so that trial 0 is the centre.
        In dimensions 1 and 2 they equal those of the study we reproduce; from 3 on SciPy's
        direction numbers differ, so its four-dimensional searches try other points.
        """
        from scipy.stats import qmc

        sobol = qmc.Sobol(len(self.dimensions), scramble=False)
        sobol.fast_forward(1)
        table = sobol.random(trials)
        return [
            {
                name: dimension.value(float(unit))
                for (name, dimension), unit in zip(self.dimensions.items(), row, strict=True)
            }
            for row in table
        ]
