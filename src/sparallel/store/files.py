"""Files beside the store: written whole or not at all, read only with the right checksum."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from sparallel.errors import DamagedStoreError


def write_file(path: Path, content: bytes) -> str:
    """Put a file in place in one step, on disk before it counts; returns its checksum."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".part")
    with aside.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    aside.replace(path)
    return hashlib.sha256(content).hexdigest()


def read_file(path: Path, sha256: str, remedy: str) -> bytes | None:
    """The content of a file, None where it is not there; refused where its checksum differs."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise DamagedStoreError(
            f"{path} is damaged: its SHA-256 is {found}, but {sha256} was recorded; {remedy}."
        )
    return content
