"""`sparallel report` and `sparallel export` on folders that a real run, or nobody, has filled."""

from __future__ import annotations

import csv
import sqlite3
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from sparallel.analysis import analyse
from sparallel.cli.export import export
from sparallel.cli.report import report
from sparallel.errors import StoreError
from sparallel.loading import load_spec
from sparallel.session import run_session
from sparallel.store.reading import load_experiment

EXPERIMENT = """
extends = "quickstart"
name = "tiny"
description = "a <b>tiny</b> net"
goal_errors = [0.3]
check_interval = 4
max_steps = 40
batch_sizes = [16, 64]
sparsities = [0]
trials = 4
"""
app = typer.Typer()
app.command()(report)
app.command()(export)


def _run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("experiment")
    file = folder / "tiny.toml"
    file.write_text(EXPERIMENT)
    run_session(load_spec(str(file)), folder / "out", workers=1, device="cpu")
    return folder / "out"


def test_report_writes_the_page_and_the_figures_and_prints_the_answer(folder: Path) -> None:
    result = _run("report", folder)
    assert result.exit_code == 0, result.output
    page = folder / "report" / "index.html"
    assert result.stdout.splitlines() == [*analyse([load_experiment(folder)]).answer, str(page)]
    text = page.read_text(encoding="utf-8")
    assert "<h1>tiny</h1>" in text
    assert "a &lt;b&gt;tiny&lt;/b&gt; net" in text
    for figure in (folder / "report" / "figures").iterdir():
        assert f'href="figures/{figure.name}"' in text
    assert (folder / "report" / "figures").is_dir()


def test_reporting_again_replaces_the_report(folder: Path, tmp_path: Path) -> None:
    first = _run("report", folder, folder, "--no-figures", "--out", tmp_path)
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    second = _run("report", folder, "--no-figures", "--out", tmp_path)
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == text
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_export_writes_every_trial_once_and_refuses_to_write_again(folder: Path) -> None:
    result = _run("export", folder, "--to", "csv")
    assert result.exit_code == 0, result.output
    path = Path(result.stdout.splitlines()[1])
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["batch_size"], row["trial"]) for row in rows] == [
        (size, str(trial)) for size in ("16", "64") for trial in range(4)
    ]
    again = _run("export", folder, "--to", "csv")
    assert isinstance(again.exception, StoreError)


@pytest.mark.parametrize("words", [("report",), ("export", "--to", "csv")])
@pytest.mark.parametrize("kind", ["empty", "missing", "another tool's", "damaged"])
def test_a_folder_without_results_is_one_sentence_and_nothing_is_written(
    tmp_path: Path, words: tuple[str, ...], kind: str
) -> None:
    folder = tmp_path / "folder"
    if kind != "missing":
        folder.mkdir()
    store = folder / "sparallel.sqlite"
    if kind == "another tool's":
        with sqlite3.connect(store) as connection:
            connection.execute("CREATE TABLE runs (id)")
        connection.close()
    elif kind == "damaged":
        store.write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    before = sorted(tmp_path.rglob("*"))
    result = _run(words[0], folder, *words[1:])
    assert isinstance(result.exception, StoreError)
    assert str(folder) in str(result.exception)
    assert sorted(tmp_path.rglob("*")) == before
