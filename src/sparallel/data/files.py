"""Original files: found, checked against their published checksums, and fetched."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from sparallel.errors import DataError


@dataclass(frozen=True)
class OriginalFile:
    """A file as its authors published it: by itself, or inside a tar archive."""

    path: str  # below the data set's folder
    sha256: str
    url: str
    archive_sha256: str | None = None  # set where `url` is a tar archive that holds the file


def sha256_of(path: Path) -> str:
    """The checksum of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def verify(path: Path, file: OriginalFile, data_set: str) -> None:
    """Raise DataError unless the file is there and is the published one to the byte."""
    if not path.is_file():
        raise DataError(
            f"The data set {data_set} needs {path}, which is not there: run 'sparallel data fetch "
            f"{data_set}', or put the file there yourself (it is published at {file.url}), "
            "or name another folder with --data-dir or SPARALLEL_DATA."
        )
    try:
        found = sha256_of(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    if found != file.sha256:
        raise DataError(
            f"{path} is not the original file of {data_set}: its SHA-256 is {found}, "
            f"the original's is {file.sha256}; delete it and run 'sparallel data fetch {data_set}'."
        )
