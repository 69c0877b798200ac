"""Fetching, from a real server on this machine."""

import dataclasses
import functools
import hashlib
import http.server
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparallel.data.fetching import fetch
from sparallel.data.files import OriginalFile
from sparallel.data.mnist_5k import MNIST_5K
from sparallel.data.source import DataSource
from sparallel.errors import DataError

CONTENT = {"a.bin": b"first file" * 1000, "b.bin": b"second file" * 1000}


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Serves CONTENT, and an archive of it, on the loopback."""
    home = tmp_path / "home"
    home.mkdir()
    for name, content in CONTENT.items():
        (home / name).write_bytes(content)
    with tarfile.open(home / "all.tar.gz", "w:gz") as archive:
        for name in CONTENT:
            archive.add(home / name, arcname=f"inside/{name}")
    handler = functools.partial(Silent, directory=str(home))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}/"
        serving.shutdown()
        thread.join()


def source_at(url: str) -> DataSource:
    files = tuple(
        OriginalFile(name, hashlib.sha256(content).hexdigest(), url + name)
        for name, content in CONTENT.items()
    )
    return dataclasses.replace(MNIST_5K, name="served", files=files)


def test_fetch_brings_every_file_and_tells_its_progress(server: str, tmp_path: Path) -> None:
    told: dict[str, tuple[int, int]] = {}
    source = source_at(server)
    count = fetch(
        source, tmp_path / "data", lambda name, done, total: told.update({name: (done, total)})
    )
    assert count == 2
    assert (tmp_path / "data/served/a.bin").read_bytes() == CONTENT["a.bin"]
    assert told == {name: (len(content), len(content)) for name, content in CONTENT.items()}


def test_fetch_replaces_only_what_is_missing_or_damaged(server: str, tmp_path: Path) -> None:
    source = source_at(server)
    fetch(source, tmp_path, lambda *_: None)
    (tmp_path / "served/b.bin").write_bytes(b"damaged")
    assert fetch(source, tmp_path, lambda *_: None) == 1
    assert (tmp_path / "served/b.bin").read_bytes() == CONTENT["b.bin"]
    assert fetch(source, tmp_path, lambda *_: None) == 0


def test_files_of_an_archive_are_unpacked_and_the_archive_removed(
    server: str, tmp_path: Path
) -> None:
    archive = tmp_path / "home/all.tar.gz"
    files = tuple(
        OriginalFile(
            f"inside/{name}",
            hashlib.sha256(content).hexdigest(),
            server + "all.tar.gz",
            hashlib.sha256(archive.read_bytes()).hexdigest(),
        )
        for name, content in CONTENT.items()
    )
    source = dataclasses.replace(MNIST_5K, name="packed", files=files)
    assert fetch(source, tmp_path / "data", lambda *_: None) == 2
    left = {str(p.relative_to(tmp_path / "data")) for p in (tmp_path / "data").rglob("*.*")}
    assert left == {"packed/inside/a.bin", "packed/inside/b.bin"}


def test_what_was_served_wrong_is_refused_and_not_kept(server: str, tmp_path: Path) -> None:
    source = source_at(server)
    wrong = dataclasses.replace(source.files[0], sha256="0" * 64)
    with pytest.raises(DataError, match="cannot be fetched"):
        fetch(dataclasses.replace(source, files=(wrong,)), tmp_path, lambda *_: None)
    assert not (tmp_path / "served/a.bin").exists()


def test_offline_the_sentence_says_where_to_put_the_files(tmp_path: Path) -> None:
    source = source_at("http://127.0.0.1:1/")
    with pytest.raises(DataError, match="no connection") as error:
        fetch(source, tmp_path, lambda *_: None)
    assert str(tmp_path / "served/a.bin") in str(error.value)
