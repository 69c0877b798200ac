"""Scores on disk, so that every batch size, sparsity and optimizer reuses one pass of SNIP.

Only a cache: an entry that is missing, unreadable or does not pass its checksum is computed again,
and a folder that cannot be written is no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sparallel.caches import cache_folder

Floats = NDArray[np.float32]
DIGEST_BYTES = 32


def cached_scores(key: str, size: int, compute: Callable[[], Floats]) -> Floats:
    """The scores known under `key`, computed and kept where they are not known yet."""
    path = cache_folder() / "scores" / hashlib.sha256(key.encode()).hexdigest()[:32]
    with contextlib.suppress(OSError):
        scores = _decode(path.read_bytes(), size)
        if scores is not None:
            return scores
    scores = compute()
    with contextlib.suppress(OSError):
        _write(path, scores)
    return scores


def _decode(raw: bytes, size: int) -> Floats | None:
    digest, body = raw[:DIGEST_BYTES], raw[DIGEST_BYTES:]
    if len(body) != 4 * size or hashlib.sha256(body).digest() != digest:
        return None
    return np.frombuffer(body, dtype="<f4").astype(np.float32)


def _write(path: Path, scores: Floats) -> None:
    body = scores.astype("<f4").tobytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    # Written aside and renamed: two workers, or a kill, never leave half an entry.
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as stream:
        stream.write(hashlib.sha256(body).digest() + body)
    Path(stream.name).replace(path)
