"""Workload, study and experiment: what is to be measured, validated."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from sparallel.data import DATA_SETS
from sparallel.models import MODELS
from sparallel.optimizers import OPTIMIZERS
from sparallel.pruning import PRUNING_METHODS
from sparallel.registry import unknown
from sparallel.schedules import SCHEDULES
from sparallel.search import PAPER_SPACE, Dimension, Space


def _distinct(values: tuple[float, ...]) -> tuple[float, ...]:
    if len(set(values)) != len(values):
        raise ValueError("names a value twice")
    return values


def _on_paper_space(given: object) -> object:
    """A range that gives only some of its keys takes the others from the paper's range."""
    if not isinstance(given, dict):
        return given
    return {
        name: {**PAPER_SPACE[name].model_dump(), **keys}
        if name in PAPER_SPACE and isinstance(keys, dict)
        else keys
        for name, keys in given.items()
    }


Goal = Annotated[float, Field(ge=0, lt=1)]
Sparsity = Annotated[float, Field(ge=0, lt=1)]
BatchSize = Annotated[int, Field(ge=1)]


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Expected(_Value):
    """What earlier runs of this workload gave, for estimates of cost; never used in results."""

    c1: float = Field(gt=0)  # dense K* is about c1 / B + c2
    c2: float = Field(gt=0)
    sparse_factor: float = Field(default=2.5, ge=1)  # K* at 90% over dense


class RaceOptions(_Value):
    """How a race is run."""

    finishers: int = Field(default=1, ge=1)
    """The race goes on until this many trials have reached the goal."""


class Experiment(_Value):
    """A workload and the studies to make of it."""

    # what is measured: another value is another experiment
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    description: str = ""
    data: Annotated[str, AfterValidator(DATA_SETS.check)]
    model: Annotated[str, AfterValidator(MODELS.check)]
    optimizer: Annotated[str, AfterValidator(OPTIMIZERS.check)]
    schedule: Annotated[str, AfterValidator(SCHEDULES.check)] = "constant"
    pruning: Annotated[str, AfterValidator(PRUNING_METHODS.check)] = "snip"
    goal_errors: Annotated[tuple[Goal, ...], Field(min_length=1), AfterValidator(_distinct)]
    check_interval: int = Field(ge=1)
    space: Annotated[dict[str, Dimension], BeforeValidator(_on_paper_space)] = Field(
        default_factory=dict
    )
    seed: int = Field(default=0, ge=0, lt=2**31)

    # how far it goes: may grow in the same folder
    batch_sizes: Annotated[tuple[BatchSize, ...], Field(min_length=1), AfterValidator(_distinct)]
    sparsities: Annotated[tuple[Sparsity, ...], Field(min_length=1), AfterValidator(_distinct)]
    trials: int = Field(ge=1, le=2**16)
    max_steps: int = Field(ge=1)
    strategy: Literal["race", "exhaustive"] = "race"
    race: RaceOptions = RaceOptions()
    repeats: int = Field(default=0, ge=0)
    """Reruns of every study's winner with this many more seeds."""

    expected: Expected | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Experiment:
        train_size = DATA_SETS.get(self.data).train_size
        largest = max(self.batch_sizes)
        if largest > train_size:
            raise ValueError(
                f"batch size {largest} is above the {train_size} training examples of {self.data}"
            )
        if self.max_steps < self.check_interval:
            raise ValueError(
                f"max_steps {self.max_steps} is below check_interval {self.check_interval}, "
                "so no trial would ever be checked"
            )
        needed = self.metaparameters
        for name in self.space:
            if name not in needed:
                raise unknown("metaparameter of this optimizer and schedule", name, needed)
        for name in needed:
            if name not in self.space and name not in PAPER_SPACE:
                raise ValueError(f"the space gives no range for the metaparameter {name}")
        return self

    @property
    def metaparameters(self) -> tuple[str, ...]:
        """The names of the searched metaparameters, in the order of the Sobol dimensions."""
        optimizer, schedule = OPTIMIZERS.get(self.optimizer), SCHEDULES.get(self.schedule)
        return (*optimizer.metaparameters, *schedule.metaparameters)

    @property
    def search_space(self) -> Space:
        """The paper's ranges, with those the experiment gives in their place."""
        known = {**PAPER_SPACE, **self.space}
        return Space(dimensions={name: known[name] for name in self.metaparameters})

    @property
    def last_check(self) -> int:
        """The last step at which a trial is checked; training further could change nothing."""
        return self.max_steps // self.check_interval * self.check_interval

    @property
    def studies(self) -> tuple[Study, ...]:
        """Every (batch size, sparsity), smaller batches and sparsities first."""
        return tuple(
            Study(batch_size=batch_size, sparsity=sparsity)
            for batch_size in sorted(self.batch_sizes)
            for sparsity in sorted(self.sparsities)
        )


class Study(_Value):
    """One batch size and sparsity of a workload."""

    batch_size: int
    sparsity: float

    @property
    def label(self) -> str:
        """How a study is written in folders and on screen."""
        return f"b{self.batch_size}-s{written(self.sparsity)}"


def written(value: float) -> str:
    """A number in a file's name: every digit it has, so that no two share a name."""
    return repr(value).removesuffix(".0")
