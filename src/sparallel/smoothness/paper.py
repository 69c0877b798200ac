"""What the paper printed, to stand beside ours (its figure 4 and appendix C).

Its means go over 40,000 steps (Simple-CNN) and 100,000 (ResNet-8); ours go over as many steps as
were run, so that ratios compare and single values do so only roughly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class PaperValues:
    """One model of the paper."""

    steps: int  # its means go over
    lipschitz: Mapping[float, float]  # mean L by sparsity
    delta: Mapping[float, float] = field(default_factory=dict)
    beta: Mapping[float, float] = field(default_factory=dict)
    c1_ratio: Mapping[float, float] = field(default_factory=dict)  # sparse over dense


PAPER: Mapping[tuple[str, str], PaperValues] = {
    ("mnist", "simple-cnn"): PaperValues(
        steps=40_000,
        lipschitz={0.0: 0.57, 0.5: 0.72, 0.7: 0.81, 0.9: 1.76},
        delta={0.0: 4.66, 0.9: 4.68},
        beta={0.0: 197.06, 0.9: 107.39},
        c1_ratio={0.9: 1.67},
    ),
    ("cifar-10", "resnet-8"): PaperValues(
        steps=100_000, lipschitz={0.0: 3.87, 0.5: 8.74, 0.7: 9.54, 0.9: 11.18}
    ),
}


def paper_values(data: str, model: str) -> PaperValues | None:
    """The paper's values for a data set and model, or None where it has none."""
    return PAPER.get((data, model))
