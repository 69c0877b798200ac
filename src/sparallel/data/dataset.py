"""A data set in memory: training, validation and test examples, and how to normalise them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SPLIT_SEED = 2021
"""Fixes the train/validation split of every experiment, whatever its own seed."""

VALIDATION_SHARE = 10
"""One example in ten of the original training set is held out for validation."""


@dataclass(frozen=True)
class Examples:
    """Images as they were published (uint8; example, height, width, channel) and their labels.

    Kept as bytes: four times smaller than floats, and normalised batch by batch as they are used.
    """

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class DataSet:
    """A data set, split; `mean` and `std` are those of the original training images in [0, 1]."""

    train: Examples
    validation: Examples
    test: Examples
    mean: NDArray[np.float32]
    std: NDArray[np.float32]


def moments(
    images: NDArray[np.uint8], *, channels_apart: bool
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Mean and standard deviation in [0, 1], exactly: from how often each byte occurs."""
    planes = np.moveaxis(images, -1, 0) if channels_apart else [images]
    counts = np.stack([_byte_counts(plane) for plane in planes])
    shares, levels = counts / counts.sum(axis=1, keepdims=True), np.arange(256) / 255
    mean = shares @ levels
    std = np.sqrt(shares @ levels**2 - mean**2)
    return mean.astype(np.float32), std.astype(np.float32)


def _byte_counts(plane: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How often each byte occurs; in parts, because counting takes eight bytes for each one."""
    counts = np.zeros(256, dtype=np.int64)
    for part in np.array_split(plane, max(1, plane.size // 2**20)):
        counts += np.bincount(part.ravel(), minlength=256)
    return counts


def split(
    train: Examples, test: Examples, *, channels_apart: bool, validation_size: int
) -> DataSet:
    """Hold out a fixed random part for validation, and measure mean and deviation before that."""
    mean, std = moments(train.images, channels_apart=channels_apart)
    order = np.random.default_rng(SPLIT_SEED).permutation(len(train))
    held_out, kept = np.sort(order[:validation_size]), np.sort(order[validation_size:])
    return DataSet(
        train=Examples(train.images[kept], train.labels[kept]),
        validation=Examples(train.images[held_out], train.labels[held_out]),
        test=test,
        mean=mean,
        std=std,
    )
