"""The initialization every trial draws anew: truncated normal weights, zero biases."""

from __future__ import annotations

import numpy as np
import torch
from scipy.special import ndtr, ndtri
from torch import nn

TRUNCATION = 2.0
"""In standard deviations of the untruncated normal."""

TRUNCATED_DEVIATION = 0.87962566103423978
"""Standard deviation of a unit normal truncated at two sigma: dividing by it restores 1."""


def initialize(model: nn.Module, seed: int, trial: int) -> None:
    """Draw every weight from a truncated normal of variance 1/fan_in; set every bias to zero.

    The experiment's seed and the trial's index fix the draw. NumPy's generator mixes both into
    its whole state (torch's keeps only 32 bits of a seed) and gives the same on every device.
    """
    random = np.random.default_rng([seed, trial])
    low, high = ndtr(-TRUNCATION), ndtr(TRUNCATION)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim < 2:
                parameter.zero_()
                continue
            fan_in = parameter[0].numel()
            unit = ndtri(random.uniform(low, high, size=tuple(parameter.shape)))
            values = unit / TRUNCATED_DEVIATION / np.sqrt(fan_in)
            parameter.copy_(torch.from_numpy(values.astype(np.float32)))
