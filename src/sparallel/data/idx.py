"""The IDX files of MNIST and Fashion-MNIST."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sparallel.data.dataset import Examples
from sparallel.data.files import OriginalFile


def idx_files(url: str, checksums: dict[str, str]) -> tuple[OriginalFile, ...]:
    """The four gzipped files of an IDX data set, published side by side."""
    return tuple(OriginalFile(name, sha256, url + name) for name, sha256 in checksums.items())


def _read(path: Path) -> NDArray[np.uint8]:
    """One IDX file: two zero bytes, a type, the number of dimensions, their sizes, the bytes."""
    raw = gzip.decompress(path.read_bytes())
    dimensions = raw[3]
    sizes = np.frombuffer(raw, dtype=">i4", count=dimensions, offset=4)
    return np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * dimensions).reshape(sizes)


def read_idx(folder: Path) -> tuple[Examples, Examples]:
    """Training and test examples; the files have passed their checksums."""

    def examples(prefix: str) -> Examples:
        images = _read(folder / f"{prefix}-images-idx3-ubyte.gz")[..., np.newaxis]
        labels = _read(folder / f"{prefix}-labels-idx1-ubyte.gz").astype(np.int64)
        return Examples(images, labels)

    return examples("train"), examples("t10k")
