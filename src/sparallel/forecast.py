"""How many steps, and so how much time, is still to come: guesses that improve as studies end."""

from __future__ import annotations

from collections.abc import Mapping

from sparallel.spec import Expected, Experiment, Study

TYPICAL = Expected(c1=512.0, c2=1.0)
"""The shape assumed of an unknown curve: a critical batch size of 512."""

SPARSE_POWER = 3
"""Most of the cost of sparsity comes late: half of 90% sparsity costs little of what 90% costs."""


def curve(expected: Expected, study: Study) -> float:
    """The expected K* of a study."""
    dense = expected.c1 / study.batch_size + expected.c2
    return dense * (1 + (expected.sparse_factor - 1) * (study.sparsity / 0.9) ** SPARSE_POWER)


def expected_steps(
    experiment: Experiment, study: Study, known: Mapping[Study, int]
) -> float | None:
    """The likely K* of a study, from the known one most like it; None where nothing is known."""
    shape = experiment.expected or TYPICAL
    if known:
        nearest = min(
            known,
            key=lambda other: (
                abs(other.sparsity - study.sparsity),
                abs(other.batch_size.bit_length() - study.batch_size.bit_length()),
            ),
        )
        steps = known[nearest] * curve(shape, study) / curve(shape, nearest)
    elif experiment.expected is not None:
        steps = curve(shape, study)
    else:
        return None
    return min(max(steps, experiment.check_interval), experiment.last_check)
