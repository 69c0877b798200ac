"""Fetching original files from their public homes, with checksums."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from sparallel.data.files import OriginalFile
from sparallel.data.source import DataSource
from sparallel.errors import DataError

Advance = Callable[[str, int, int], None]
"""Told the file's name, the bytes there are and the bytes there will be."""


class _Bar:
    """What pooch wants of a progress bar."""

    def __init__(self, name: str, advance: Advance) -> None:
        self.name, self.advance, self.done = name, advance, 0
        self.total = 0

    def update(self, more: int) -> None:
        self.done += more
        self.advance(self.name, self.done, self.total)

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        self.advance(self.name, self.done, self.total)


def missing(source: DataSource, data_dir: Path) -> list[OriginalFile]:
    """The files that are not there, or are not the originals."""
    found = []
    for file in source.files:
        try:
            source.verify_file(file, data_dir)
        except DataError:
            found.append(file)
    return found


def fetch(source: DataSource, data_dir: Path, advance: Advance) -> int:
    """Fetch what is missing; returns how many files that were."""
    wanted = missing(source, data_dir)
    folder = source.folder(data_dir)
    for url in dict.fromkeys(file.url for file in wanted):
        _fetch(url, [file for file in wanted if file.url == url], folder, source.name, advance)
    source.verify(data_dir)
    return len(wanted)


def _fetch(
    url: str, files: list[OriginalFile], folder: Path, data_set: str, advance: Advance
) -> None:
    import pooch
    import requests

    archive = files[0].archive_sha256
    name = url.rpartition("/")[2]
    downloader = pooch.HTTPDownloader(progressbar=_Bar(name, advance))
    try:
        if archive is None:
            pooch.retrieve(url, files[0].sha256, files[0].path, folder, downloader=downloader)
            return
        unpack = pooch.Untar(members=[file.path for file in files], extract_dir="unpacked")
        unpacked = pooch.retrieve(
            url, archive, name, folder, processor=unpack, downloader=downloader
        )
    except (requests.RequestException, OSError, ValueError) as error:
        wanted = ", ".join(str(folder / file.path) for file in files)
        raise DataError(
            f"{url} cannot be fetched ({_short(error)}); when offline, get {data_set} elsewhere "
            f"and put it here: {wanted}."
        ) from error
    for path in map(Path, unpacked):
        target = folder / path.relative_to(folder / "unpacked")
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
    shutil.rmtree(folder / "unpacked", ignore_errors=True)
    (folder / name).unlink(missing_ok=True)


def _short(error: Exception) -> str:
    """The kind of trouble, without a library's whole story."""
    import requests

    if isinstance(error, requests.ConnectionError):
        return "no connection"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    return str(error).splitlines()[0][:200]
