"""Bad input: exit status 2, one sentence on standard error, nothing written."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.experiments import command, small_file, sparallel


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["mnist-momentun"], "Did you mean 'mnist-momentum'?"),
        (["quickstart", "--batch-sizes", "0"], "batch_sizes.0 = 0"),
        (["quickstart", "--batch-sizes", "4000"], "above the 3600 training examples"),
        (["quickstart", "--batch-sizes", "a,b"], "--batch-sizes takes whole numbers"),
        (["quickstart", "--sparsities", "1"], "input should be less than 1"),
        (["quickstart", "--sparsities", "nan"], "finite"),
        (["quickstart", "--trials", "0"], "trials = 0"),
        (["quickstart", "--workers", "0"], "--workers takes 1 or more, not 0"),
        (["quickstart", "--strategy", "luck"], "strategy = 'luck'"),
        (["quickstart", "--device", "tpu"], "--device takes auto, cpu or cuda"),
        (["quickstart", "--set", "data=imagenet"], "There is no data set 'imagenet'"),
        (["quickstart", "--set", "model=vgg"], "There is no model 'vgg'"),
        (["mnist-sgd", "--data-dir", "nowhere"], "sparallel data fetch mnist"),
    ],
)
def test_run_refuses(words: list[str], sentence: str, tmp_path: Path) -> None:
    done = sparallel("run", *words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = sparallel("run", "quickstart", "--out", tmp_path / "file")
    assert done.returncode == 2
    assert str(tmp_path / "file") in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert (tmp_path / "file").read_text() == "in the way"


def test_no_space_left_is_said_and_what_was_done_is_kept(tmp_path: Path) -> None:
    """A real full disk: a small file system of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=900k", "tmpfs", str(disk)], check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system needs root")
    try:
        done = sparallel("run", small_file(tmp_path), "--out", disk / "out")
        assert done.returncode == 2, done.stderr
        assert "space" in done.stderr
        assert "Traceback" not in done.stderr
        assert sparallel("results", disk / "out", "--json").returncode == 0
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_second_run_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    file, out = small_file(tmp_path), tmp_path / "out"
    first = subprocess.Popen(command("run", file, "--out", out), stderr=subprocess.DEVNULL)
    try:
        while not (out / "sparallel.sqlite").exists() and first.poll() is None:
            time.sleep(0.1)
        second = sparallel("run", file, "--out", out)
        assert second.returncode == 2, second.stderr
        assert f"Another run (process {first.pid}) is writing to {out}" in second.stderr
        assert '"running": true' in sparallel("status", out, "--json").stdout
    finally:
        first.kill()
        first.wait()


@pytest.mark.parametrize("name", ["results", "status"])
def test_a_folder_without_an_experiment_is_refused(name: str, tmp_path: Path) -> None:
    done = sparallel(name, tmp_path)
    assert done.returncode == 2
    assert f"There is no experiment in {tmp_path}" in done.stderr


def test_the_environment_is_left_alone() -> None:
    """Workers get their own thread settings; the caller's are not touched."""
    from sparallel.executors.local import LocalExecutor

    before = dict(os.environ)
    LocalExecutor(1).close()
    assert dict(os.environ) == before
