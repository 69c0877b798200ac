"""The strategy an experiment asks for."""

from __future__ import annotations

from sparallel.spec import Experiment
from sparallel.strategies import Strategy
from sparallel.strategies.exhaustive import Exhaustive
from sparallel.strategies.race import Race


def strategy_of(experiment: Experiment) -> Strategy:
    """Race, with its finishers, or exhaustive."""
    if experiment.strategy == "exhaustive":
        return Exhaustive()
    return Race(experiment.race.finishers)
