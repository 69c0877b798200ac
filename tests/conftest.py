"""Shared fixtures: real data, one scratch cache, and a workbench to train on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparallel.data import DATA_SETS
from sparallel.data.source import data_folder
from sparallel.training.workbench import Workbench, workbench


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "data(name): needs the original files of this data set")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("data"):
        source, folder = DATA_SETS.get(mark.args[0]), data_folder(None)
        if not all((source.folder(folder) / file.path).is_file() for file in source.files):
            pytest.skip(f"{mark.args[0]} is not in {folder}: set SPARALLEL_DATA, or fetch it")


@pytest.fixture(scope="session", autouse=True)
def scratch_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of the tests' own; the data folder stays where it was."""
    os.environ["SPARALLEL_DATA"] = str(data_folder(None))
    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("SPARALLEL_CACHE")
    os.environ["SPARALLEL_CACHE"] = str(folder)
    yield folder
    if before is None:
        del os.environ["SPARALLEL_CACHE"]
    else:
        os.environ["SPARALLEL_CACHE"] = before


@pytest.fixture(scope="session")
def bench(scratch_cache: Path) -> Workbench:
    """Simple-CNN on mnist-5k."""
    return workbench("mnist-5k", "simple-cnn", scratch_cache, "cpu")
