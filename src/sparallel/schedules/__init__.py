"""The learning-rate schedules."""

from sparallel.registry import Registry
from sparallel.schedules.base import Schedule

SCHEDULES: Registry[Schedule] = Registry(
    "schedule",
    {
        "constant": "sparallel.schedules.constant:CONSTANT",
        "linear": "sparallel.schedules.linear:LINEAR",
    },
    needs=("learning_rate", "metaparameters"),
)
