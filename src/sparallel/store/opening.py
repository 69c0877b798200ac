"""Opening a store safely: whose is it, is it whole, may it be written, is someone writing?"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from sparallel.errors import DamagedStoreError, FolderBusyError, StoreError
from sparallel.store.schema import EXPERIMENT, KINDS, Schema

FILE, LOCK = "sparallel.sqlite", "lock"
PATIENCE_SECONDS = 30.0


@contextlib.contextmanager
def told_plainly(folder: Path) -> Iterator[None]:
    """Turn what SQLite and the file system say into one sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "full" in str(error):
            raise StoreError(
                f"There is no space left to write in {folder}; free some and run the same command "
                "again: nothing that was reported done is lost."
            ) from error
        raise StoreError(f"The store in {folder} cannot be used: {error}.") from error
    except sqlite3.DatabaseError as error:
        raise DamagedStoreError(
            f"The store {folder / FILE} is damaged ({error}); restore it from a copy, "
            "or run into another folder with --out."
        ) from error
    except OSError as error:
        raise StoreError(
            f"{error.filename or folder} cannot be written or read: {error.strerror}; run the same "
            "command again when that is mended: nothing that was reported done is lost."
        ) from error


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    address = f"{path.resolve().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    connection = sqlite3.connect(address, uri=True, timeout=PATIENCE_SECONDS, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _check_owner(connection: sqlite3.Connection, path: Path, schema: Schema) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != schema.application_id:
        other = KINDS.get(application)
        what = (
            f"holds {other.holds}, not {schema.holds}" if other else "was not written by sparallel"
        )
        raise StoreError(f"{path} {what}; choose another folder.")
    if version > schema.version:
        raise StoreError(
            f"{path} was written by a newer sparallel (store version {version}, this one knows "
            f"{schema.version}): upgrade sparallel, or choose another folder with --out."
        )
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(verdict)


def open_for_reading(folder: Path, schema: Schema = EXPERIMENT) -> sqlite3.Connection:
    """A connection that can only read; works while a run is writing."""
    path = folder / FILE
    if not path.is_file():
        raise StoreError(
            f"There is no {schema.holds.removeprefix('an ')} in {folder}: "
            f"'{schema.command} --out {folder}' makes one."
        )
    with told_plainly(folder):
        try:
            return _checked(path, schema, read_only=True)
        except sqlite3.OperationalError:
            if is_locked(folder):
                raise
            # A run killed inside a commit leaves a journal that only a writer can roll back.
            _checked(path, schema, read_only=False).close()
            return _checked(path, schema, read_only=True)


def _checked(path: Path, schema: Schema, *, read_only: bool) -> sqlite3.Connection:
    connection = _connect(path, read_only=read_only)
    _check_owner(connection, path, schema)
    return connection


def open_for_writing(folder: Path, schema: Schema = EXPERIMENT) -> sqlite3.Connection:
    """A connection of the folder's one writer, who holds its lock; makes the store if need be."""
    path = folder / FILE
    with told_plainly(folder):
        new = not path.exists() or path.stat().st_size == 0
        connection = _connect(path, read_only=False)
        if not new:
            _check_owner(connection, path, schema)
        schema.migrate(connection)
    return connection


def lock(folder: Path) -> IO[str]:
    """Hold the folder for this process; the kernel lets go of it when the process ends."""
    with told_plainly(folder):
        folder.mkdir(parents=True, exist_ok=True)
        stream = (folder / LOCK).open("a+")
        if not _held(stream, fcntl.LOCK_EX):
            stream.seek(0)
            holder = stream.read().strip() or "another process"
            stream.close()
            raise FolderBusyError(
                f"Another run ({holder}) is writing to {folder}: wait for it to end, stop it, "
                "or choose another folder with --out."
            )
        stream.truncate(0)
        stream.write(f"process {os.getpid()}")
        stream.flush()
    return stream


def _held(stream: IO[str], kind: int) -> bool:
    """Try for a lock; a second look, since `is_locked` may hold it for an instant."""
    for _ in range(2):
        try:
            fcntl.flock(stream, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.2)
        else:
            return True
    return False


def is_locked(folder: Path) -> bool:
    """Whether a run is writing to the folder now."""
    try:
        with (folder / LOCK).open() as stream:
            return not _held(stream, fcntl.LOCK_SH)
    except OSError:
        return False
