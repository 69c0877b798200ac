"""Where a data set comes from: its original files, their checksums, and how to read them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sparallel.caches import cache_folder
from sparallel.data.dataset import VALIDATION_SHARE, DataSet, Examples, split
from sparallel.data.files import OriginalFile, verify
from sparallel.errors import DataError


@dataclass(frozen=True)
class DataSource:
    """One data set: what it is, which files hold it, and how they are read."""

    name: str
    shape: tuple[int, int, int]  # channels, height, width
    classes: int
    original_train_size: int
    test_size: int
    channels_apart: bool  # normalised channel by channel, or by one scalar
    files: tuple[OriginalFile, ...]  # none where the data comes with an installed package
    read: Callable[[Path], tuple[Examples, Examples]]

    @property
    def validation_size(self) -> int:
        """How many examples are held out of the original training set."""
        return self.original_train_size // VALIDATION_SHARE

    @property
    def train_size(self) -> int:
        """How many examples are left to train on."""
        return self.original_train_size - self.validation_size

    def folder(self, data_dir: Path) -> Path:
        """Where this data set's files lie below the data folder."""
        return data_dir / self.name

    def verify(self, data_dir: Path) -> None:
        """Raise DataError, naming the file, unless every original file is there and whole."""
        for file in self.files:
            self.verify_file(file, data_dir)

    def verify_file(self, file: OriginalFile, data_dir: Path) -> None:
        """Raise DataError unless this file is there and whole."""
        verify(self.folder(data_dir) / file.path, file, self.name)

    def load(self, data_dir: Path) -> DataSet:
        """Read the verified files and split off the validation set."""
        self.verify(data_dir)
        train, test = self.read(self.folder(data_dir))
        sizes = (len(train), len(test), train.images.shape[1:])
        height_width_channels = (*self.shape[1:], self.shape[0])
        if sizes != (self.original_train_size, self.test_size, height_width_channels):
            raise DataError(
                f"The data set {self.name} should hold {self.original_train_size} training and "
                f"{self.test_size} test images of {height_width_channels}, but holds {sizes}."
            )
        return split(
            train,
            test,
            channels_apart=self.channels_apart,
            validation_size=self.validation_size,
        )


def data_folder(data_dir: Path | None) -> Path:
    """The data folder: the one asked for, else SPARALLEL_DATA, else the user's own cache."""
    if data_dir is not None:
        return data_dir
    if from_environment := os.environ.get("SPARALLEL_DATA"):
        return Path(from_environment)
    return cache_folder() / "data"
