"""CIFAR-10: 60,000 small colour photographs (Krizhevsky)."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np

from sparallel.data.dataset import Examples
from sparallel.data.files import OriginalFile
from sparallel.data.source import DataSource

URL = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
ARCHIVE_SHA256 = "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"
TRAIN = {
    "data_batch_1": "54636561a3ce25bd3e19253c6b0d8538147b0ae398331ac4a2d86c6d987368cd",
    "data_batch_2": "766b2cef9fbc745cf056b3152224f7cf77163b330ea9a15f9392beb8b89bc5a8",
    "data_batch_3": "0f00d98ebfb30b3ec0ad19f9756dc2630b89003e10525f5e148445e82aa6a1f9",
    "data_batch_4": "3f7bb240661948b8f4d53e36ec720d8306f5668bd0071dcb4e6c947f78e9682b",
    "data_batch_5": "d91802434d8376bbaeeadf58a737e3a1b12ac839077e931237e0dcd43adcb154",
}
TEST = {"test_batch": "f53d8d457504f7cff4ea9e021afcf0e0ad8e24a91f3fc42091b8adef61157831"}
FOLDER = "cifar-10-batches-py"


def _read(folder: Path, names: list[str]) -> Examples:
    batches = []
    for name in names:
        # The published batches are pickles; each has passed its checksum before this line.
        batches.append(pickle.loads((folder / FOLDER / name).read_bytes(), encoding="bytes"))
    planes = np.concatenate([batch[b"data"] for batch in batches]).reshape(-1, 3, 32, 32)
    labels = np.concatenate([batch[b"labels"] for batch in batches]).astype(np.int64)
    return Examples(np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), labels)


def _read_both(folder: Path) -> tuple[Examples, Examples]:
    return _read(folder, list(TRAIN)), _read(folder, list(TEST))


CIFAR_10 = DataSource(
    name="cifar-10",
    shape=(3, 32, 32),
    classes=10,
    original_train_size=50_000,
    test_size=10_000,
    channels_apart=True,
    files=tuple(
        OriginalFile(f"{FOLDER}/{name}", sha256, URL, ARCHIVE_SHA256)
        for name, sha256 in {**TRAIN, **TEST}.items()
    ),
    read=_read_both,
)
