"""`sparallel smoothness`: what it prints, and what it refuses without writing anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sparallel.loading import load_spec
from sparallel.smoothness.asking import plan_of
from sparallel.smoothness.reading import load_smoothness
from tests.experiments import printed, run_here, small, small_file, sparallel

TINY = ("--steps", 4, "--points", 2, "--examples", 64, "--batch-size", 8)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--sparsities", ""], "sparsities = (): tuple should have at least 1 item"),
        (["--sparsities", "0,1"], "input should be less than 1"),
        (["--examples", "0"], "--examples takes 2 to 3600, the training examples of mnist-5k"),
        (["--examples", "3601"], "or all, not '3601'"),
        (["--examples", "many"], "or all, not 'many'"),
        (["--every", "10", "--points", "5"], "--every and --points exclude each other"),
        (["--every", "0"], "--every takes 1 or more, not 0"),
        (["--points", "1"], "--points takes 2 or more, not 1"),
        (["--steps", "0"], "--steps takes 1 or more, not 0"),
        (["--seeds", "0"], "--seeds takes 1 or more, not 0"),
        (["--batch-size", "0"], "--batch-size takes 1 to 3600"),
        (["--batch-size", "3601"], "--batch-size takes 1 to 3600"),
        (["--workers", "0"], "--workers takes 1 or more"),
        (["--metaparameters", "momentun=0.9"], "Did you mean 'momentum'?"),
        (["--metaparameters", "decay_steps=5"], "There is no metaparameter"),
        (["--metaparameters", "lr"], "takes name=number with commas between them"),
        (["--metaparameters", "lr=fast"], "not 'lr=fast'"),
        (["--metaparameters", "lr=nan"], "learning_rate must be above 0, not nan"),
        (["--metaparameters", "lr=inf"], "learning_rate must be above 0"),
        (["--metaparameters", "lr=0"], "learning_rate must be above 0, not 0"),
        (["--metaparameters", "momentum=1"], "momentum must be 0 or more and below 1, not 1"),
        (["--experiment", "nowhere"], "There is no experiment in nowhere"),
        (["--device", "tpu"], "--device takes auto, cpu or cuda"),
    ],
)
def test_smoothness_refuses(words: list[str], sentence: str, tmp_path: Path) -> None:
    done = sparallel("smoothness", "quickstart", "--out", "out", *words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert not list(tmp_path.iterdir())


def test_metaparameters_without_a_default_must_be_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    metaparameters = ('learning_rate', 'sharpness')\n"
        "    slots = 0\n"
        "    def update(self, *given): ...\n"
        "MINE = Mine()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    file = tmp_path / "mine.toml"
    file.write_text(
        'extends = "mnist-sgd"\ndata = "mnist-5k"\nbatch_sizes = [8]\n'
        'optimizer = "mine:MINE"\n[space]\n'
        "learning_rate = {low = 1e-4, high = 1}\nsharpness = {low = 0, high = 1}\n"
    )
    done = sparallel("smoothness", file, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "--metaparameters must give sharpness" in done.stderr, done.stderr
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, scratch_cache: Path) -> tuple[Path, Path]:
    """A measured experiment's folder and a smoothness folder."""
    del scratch_cache
    base = tmp_path_factory.mktemp("folders")
    run_here(small(base, trials=4, batch_sizes=(32,)), base / "run")
    done = sparallel("smoothness", small_file(base), "--out", base / "smoothness", *TINY)
    assert done.returncode == 0, done.stderr
    assert "L / dense" in done.stdout
    assert "± " not in done.stdout  # one seed has no spread
    assert "measured; 4 of 4 points" in done.stderr
    return base / "run", base / "smoothness"


def test_json_is_one_document_with_every_point_and_the_summary(
    folders: tuple[Path, Path],
) -> None:
    _, out = folders
    words = ("smoothness", out.parent / "small.toml", "--out", out, *TINY, "--json")
    document = printed(sparallel(*words))
    assert isinstance(document, dict)
    assert document["metaparameters"] == pytest.approx({"learning_rate": 0.005, "momentum": 0.9})
    assert [len(path["points"]) for path in document["paths"]] == [2, 2]
    assert [row["sparsity"] for row in document["summary"]] == [0, 0.9]
    dense, sparse = document["summary"]
    assert dense["lipschitz_ratio"] == 1
    assert sparse["lipschitz_ratio"] == pytest.approx(sparse["lipschitz"] / dense["lipschitz"])
    # Measured at steps 0 and 3, so the mean is that of two points.
    points = document["paths"][0]["points"]
    assert dense["lipschitz"] == pytest.approx(sum(point["lipschitz"] for point in points) / 2)
    assert len(document["sessions"]) >= 2


def test_the_folders_of_runs_and_of_smoothness_are_never_confused(
    folders: tuple[Path, Path],
) -> None:
    run, out = folders
    file = run.parent / "small.toml"
    before = [(path / "sparallel.sqlite").read_bytes() for path in folders]
    for words in (
        ("run", file, "--out", out),
        ("results", out),
        ("status", out),
        ("smoothness", file, "--out", run),
        ("smoothness", file, "--out", out.parent / "new", "--experiment", out),
    ):
        done = sparallel(*words)
        assert done.returncode == 2, words
        assert "holds" in done.stderr
        assert "choose another folder" in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
    assert [(path / "sparallel.sqlite").read_bytes() for path in folders] == before


def test_another_plan_is_refused_by_name(folders: tuple[Path, Path]) -> None:
    _, out = folders
    words = ("smoothness", out.parent / "small.toml", "--out", out, *TINY)
    done = sparallel(*words, "--metaparameters", "lr=0.5")
    assert done.returncode == 2
    assert "metaparameters is" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize("content", [b"not a database at all, but long enough" * 99, None])
def test_a_damaged_store_is_refused_and_left_as_it_is(
    folders: tuple[Path, Path], tmp_path: Path, content: bytes | None
) -> None:
    _, out = folders
    whole = (out / "sparallel.sqlite").read_bytes()
    path = tmp_path / "sparallel.sqlite"
    path.write_bytes(content or whole[: len(whole) // 2])
    before = path.read_bytes()
    done = sparallel("smoothness", out.parent / "small.toml", "--out", tmp_path, *TINY)
    assert done.returncode == 2
    assert str(tmp_path) in done.stderr
    assert "Traceback" not in done.stderr
    assert path.read_bytes() == before


def test_with_an_experiment_its_best_dense_trial_is_followed(folders: tuple[Path, Path]) -> None:
    run, _ = folders
    experiment = load_spec(str(run.parent / "small.toml"))
    from sparallel.store.reading import load_experiment

    (hardest, *_) = sorted(
        (study for study in load_experiment(run).studies if study.sparsity == 0),
        key=lambda study: study.goal_error,
    )
    assert hardest.best_metaparameters
    found = plan_of(experiment, batch_size=32, measured=run)
    assert found.metaparameters == hardest.best_metaparameters
    mixed = plan_of(experiment, batch_size=32, measured=run, metaparameters="lr=0.25")
    assert mixed.metaparameters == {**hardest.best_metaparameters, "learning_rate": 0.25}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--set", "optimizer=nesterov"], "optimizer is 'momentum' there and 'nesterov' here"),
        (["--batch-size", "8"], "no trial that reached its goal at batch size 8"),
    ],
)
def test_an_experiment_that_does_not_fit_is_refused(
    folders: tuple[Path, Path], tmp_path: Path, words: list[str], sentence: str
) -> None:
    run, _ = folders
    file = tmp_path / "plain.toml"
    file.write_text('extends = "quickstart"\nname = "plain"\n')
    done = sparallel("smoothness", file, "--out", tmp_path / "out", "--experiment", run, *words)
    assert done.returncode == 2
    assert sentence in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "out").exists()


def test_a_diverged_run_is_said_to_be_infeasible(tmp_path: Path) -> None:
    words = ("--sparsities", "0", "--metaparameters", "lr=1e30")
    done = sparallel("smoothness", "quickstart", "--out", tmp_path / "out", *TINY, *words)
    assert done.returncode == 0, done.stderr
    assert "infeasible" in done.stderr
    assert "1 of 1 runs diverged" in done.stdout.replace("\n", " ")
    assert "nan" not in done.stdout
    assert load_smoothness(tmp_path / "out").paths[0].infeasible_at is not None


def test_a_folder_is_read_without_torch(folders: tuple[Path, Path]) -> None:
    _, out = folders
    script = (
        "import sys; from pathlib import Path\n"
        "from sparallel.smoothness.reading import load_smoothness\n"
        "from sparallel.smoothness.summary import summarise\n"
        f"assert summarise(load_smoothness(Path({str(out)!r})))[0].lipschitz.mean > 0\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
