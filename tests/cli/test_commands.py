"""The commands, run as a user runs them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from sparallel.presets import preset_names
from tests.experiments import printed, small_file, sparallel

FIELDS = (
    "workload data model optimizer schedule batch_size sparsity goal_error check_interval seed "
    "strategy trials complete incomplete infeasible beaten failed steps_to_result best_trial ties "
    "best_metaparameters test_error examples_trained examples_checked seconds"
).split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, scratch_cache: Path) -> Path:
    """A finished run."""
    home = tmp_path_factory.mktemp("run")
    done = sparallel("run", small_file(home), "--out", home / "out", "--sparsities", "0")
    assert done.returncode == 0, done.stderr
    assert "K*=" in done.stderr
    assert done.stdout == ""
    return home / "out"


def test_results_as_json_have_the_promised_fields(folder: Path) -> None:
    rows = printed(sparallel("results", folder, "--json"))
    assert isinstance(rows, list)
    assert [row["goal_error"] for row in rows] == [0.12, 0.3]
    for row in rows:
        assert set(FIELDS) <= set(row)
        counts = [row[k] for k in ("complete", "incomplete", "infeasible", "beaten", "failed")]
        assert sum(counts) == row["trials"] == 8
        assert row["steps_to_result"] % row["check_interval"] == 0
        assert set(row["best_metaparameters"]) == {"learning_rate", "momentum"}
        assert 0 < row["test_error"] < 0.5
        assert row["examples_trained"] >= row["steps_to_result"] * row["batch_size"]


def test_results_as_csv_are_the_same_table(folder: Path) -> None:
    rows = printed(sparallel("results", folder, "--json"))
    table = list(csv.DictReader(io.StringIO(sparallel("results", folder, "--csv").stdout)))
    assert isinstance(rows, list)
    assert [row["steps_to_result"] for row in table] == [str(r["steps_to_result"]) for r in rows]
    assert json.loads(table[0]["best_metaparameters"]) == rows[0]["best_metaparameters"]


def test_results_on_screen_name_the_winner(folder: Path) -> None:
    rows = printed(sparallel("results", folder, "--json"))
    shown = sparallel("results", folder)
    assert shown.returncode == 0, shown.stderr
    assert isinstance(rows, list)
    assert f"{rows[0]['steps_to_result']}" in shown.stdout
    assert "Answer" in shown.stdout


def test_status_tells_where_it_stands_and_what_computed_it(folder: Path) -> None:
    status = printed(sparallel("status", folder, "--json"))
    assert isinstance(status, dict)
    assert (status["studies"], status["studies_finished"], status["running"]) == (1, 1, False)
    (session,) = status["sessions"]
    assert session["outcome"] == "done"
    assert session["versions"]["torch"].startswith("2.13")
    assert session["spec"]["trials"] == 8
    assert session["machine"]["cpu"]


def test_list_names_every_preset() -> None:
    parts = printed(sparallel("list", "--json"))
    assert isinstance(parts, dict)
    assert set(parts["presets"]) == set(preset_names())
    assert parts["optimizers"] == ["momentum", "nesterov", "sgd"]


def test_estimate_knows_the_quickstart_and_gives_a_ceiling_for_the_unknown(tmp_path: Path) -> None:
    known = printed(sparallel("estimate", "quickstart", "--workers", "1", "--json"))
    assert isinstance(known, dict)
    assert 0 < known["seconds"] < known["seconds_at_most"]
    unknown = tmp_path / "unknown.toml"
    unknown.write_text(
        'name = "unknown"\ndata = "mnist-5k"\nmodel = "simple-cnn"\noptimizer = "sgd"\n'
        "goal_errors = [0.1]\ncheck_interval = 4\nmax_steps = 100\nbatch_sizes = [8]\n"
        "sparsities = [0]\ntrials = 2\n"
    )
    guess = printed(sparallel("estimate", unknown, "--workers", "1", "--json"))
    assert isinstance(guess, dict)
    assert guess["seconds"] is None
    assert guess["seconds_at_most"] > 0


def test_data_list_and_verify_the_embedded_set() -> None:
    rows = printed(sparallel("data", "list", "--json"))
    assert isinstance(rows, list)
    assert {"mnist", "fashion-mnist", "cifar-10", "mnist-5k"} == {row["name"] for row in rows}
    assert "mnist-5k: whole" in sparallel("data", "verify", "mnist-5k").stdout


@pytest.mark.parametrize("words", [[], ["run"], ["results"], ["data"], ["estimate"], ["status"]])
def test_every_command_explains_itself(words: list[str]) -> None:
    shown = sparallel(*words, "--help")
    assert shown.returncode == 0
    assert "Usage: " in shown.stdout
