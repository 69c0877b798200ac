"""`sparallel report` on folders that `sparallel smoothness` has filled, alone and with others."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from sparallel.cli.report import report
from sparallel.cli.smoothness import smoothness
from sparallel.errors import SpecError, StoreError
from sparallel.loading import load_spec
from sparallel.session import run_session
from sparallel.smoothness.asking import plan_of
from sparallel.smoothness.finding import holds_smoothness, smoothness_beside
from sparallel.smoothness.prediction import predict
from sparallel.smoothness.reading import load_smoothness
from sparallel.smoothness.running import measure_session
from sparallel.smoothness.why import explain
from sparallel.smoothness.words import answer_sentences, theory_lines

EXPERIMENT = {
    "goal_errors": (0.3,),
    "check_interval": 4,
    "max_steps": 40,
    "batch_sizes": (16, 64),
    "sparsities": (0,),
    "trials": 2,
}
app = typer.Typer()
app.command()(report)


app.command()(smoothness)


def _invoke(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def _run(*words: object) -> Result:
    return _invoke("report", *words)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An experiment's folder and a smoothness folder of its workload."""
    root = tmp_path_factory.mktemp("folders")
    run_session(load_spec("quickstart", EXPERIMENT), root / "experiment", workers=1, device="cpu")
    spec = load_spec("quickstart", {"sparsities": (0, 0.9)})
    plan = plan_of(spec, batch_size=16, steps=12, points=4, examples="100", seeds=1)
    measure_session(plan, root / "smoothness", workers=1, device="cpu")
    return root / "experiment", root / "smoothness"


def test_a_smoothness_folder_is_told_from_an_experiment_and_from_nothing(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    experiment, measured = folders
    assert holds_smoothness(measured)
    assert not holds_smoothness(experiment)
    assert not holds_smoothness(tmp_path)
    assert not holds_smoothness(tmp_path / "missing")
    assert smoothness_beside(experiment) is None


def test_a_smoothness_folder_alone_makes_a_report(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    result = _run(folders[1], "--out", tmp_path)
    assert result.exit_code == 0, result.output
    said = answer_sentences(explain(load_smoothness(folders[1])))
    assert result.stdout.splitlines() == [*said, str(tmp_path / "index.html")]
    assert len(said) == 1
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    figures = sorted((tmp_path / "figures").iterdir())
    assert len(figures) == 3 * 4
    for figure in figures:
        assert f'href="figures/{figure.name}"' in text


def test_the_command_ends_with_the_theory_and_its_json_has_the_predictions(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    experiment, folder = folders
    again = ("smoothness", "quickstart", "--sparsities", "0,0.9", "--batch-size", "16")
    again += ("--steps", "12", "--points", "4", "--examples", "100", "--device", "cpu")
    plain = _invoke(*again, "--out", folder)
    assert plain.exit_code == 0, plain.output
    words = " ".join(plain.stdout.split())
    for line in theory_lines(load_smoothness(folder)):
        assert line in words
    found = json.loads(_invoke(*again, "--out", folder, "--json").stdout)
    (expected,) = predict(load_smoothness(folder))
    assert found["predictions"][0]["predicted"]["value"] == expected.predicted.value
    other = _invoke(
        *again, "--out", tmp_path / "o", "--set", "optimizer=nesterov", "--experiment", experiment
    )
    assert isinstance(other.exception, SpecError)
    assert "another workload" in str(other.exception)


def test_the_folders_are_told_apart_in_any_order(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    experiment, measured = folders
    texts = []
    for order in ((experiment, measured), (measured, experiment, measured)):
        result = _run(*order, "--no-figures", "--out", tmp_path)
        assert result.exit_code == 0, result.output
        texts.append((tmp_path / "index.html").read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    assert "Why does sparsity cost steps?" in texts[0]
    assert "K* ratio at batch size 16" in texts[0]


def test_smoothness_inside_the_experiments_folder_is_found_by_itself(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    home = tmp_path / "experiment"
    shutil.copytree(folders[0], home)
    without = _run(home, "--no-figures", "--out", tmp_path / "out")
    assert "Why does sparsity cost" not in (tmp_path / "out" / "index.html").read_text()
    shutil.copytree(folders[1], home / "smoothness")
    found = _run(home, "--no-figures", "--out", tmp_path / "out")
    assert (without.exit_code, found.exit_code) == (0, 0)
    assert "Why does sparsity cost" in (tmp_path / "out" / "index.html").read_text()
    assert len(found.stdout.splitlines()) > len(without.stdout.splitlines())


def test_a_damaged_smoothness_folder_is_one_sentence(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folders[1], broken)
    store = broken / "sparallel.sqlite"
    content = store.read_bytes()
    store.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    result = _run(broken, "--no-figures", "--out", tmp_path / "out")
    assert isinstance(result.exception, StoreError)
    assert str(broken) in str(result.exception)
    assert not (tmp_path / "out").exists()
