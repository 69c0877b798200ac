"""An export holds every study and trial, in a form its tools open, and never replaces another."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from pathlib import Path

import optuna
import pyarrow.parquet
import pytest

from sparallel.errors import SpecError, StoreError
from sparallel.export import ExportFormat, export_experiment
from sparallel.records import ExperimentRecord, Status
from tests.generated import generated_experiment


@pytest.fixture(scope="module")
def experiment() -> ExperimentRecord:
    return generated_experiment(
        batch_sizes=(64, 1024), sparsities=(0.0,), trials=24, optimizers=("sgd", "momentum")
    )


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_csv_has_a_row_a_study_and_a_row_a_trial(
    experiment: ExperimentRecord, tmp_path: Path
) -> None:
    studies, trials = export_experiment(experiment, ExportFormat.CSV, tmp_path / "out")
    assert [path.name for path in (studies, trials)] == ["studies.csv", "trials.csv"]
    by_study = _rows(studies)
    assert [int(row["steps_to_result"]) for row in by_study] == [
        study.steps_to_result for study in experiment.studies
    ]
    assert by_study[0]["best_momentum"] == ""  # SGD has none
    assert float(by_study[2]["best_momentum"]) == pytest.approx(
        (experiment.studies[2].best_metaparameters or {})["momentum"]
    )
    for row, study in zip(by_study, experiment.studies, strict=True):
        assert [int(row[status.value]) for status in Status] == [study.count(s) for s in Status]
    assert [(int(row["trial"]), row["status"], int(row["steps"])) for row in _rows(trials)] == [
        (trial.trial, trial.status.value, trial.steps)
        for study in experiment.studies
        for trial in study.trials
    ]


def test_parquet_holds_the_same_tables_with_types(
    experiment: ExperimentRecord, tmp_path: Path
) -> None:
    export_experiment(experiment, ExportFormat.CSV, tmp_path)
    for path in export_experiment(experiment, ExportFormat.PARQUET, tmp_path):
        table = pyarrow.parquet.read_table(path)
        rows = _rows(path.with_suffix(".csv"))
        assert table.num_rows == len(rows)
        assert table.column_names == list(rows[0])
    assert str(table.schema.field("steps").type) == "int64"
    assert str(table.schema.field("learning_rate").type) == "double"
    assert [str(value) for value in table["steps"].to_pylist()] == [row["steps"] for row in rows]


@pytest.mark.parametrize("strategy", ["race", "exhaustive"])
def test_optuna_opens_a_study_a_study_with_states_values_and_scales(
    tmp_path: Path, strategy: str
) -> None:
    source = generated_experiment(batch_sizes=(64,), trials=24, strategy=strategy)
    (path,) = export_experiment(source, ExportFormat.OPTUNA, tmp_path)
    storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
    names = [summary.study_name for summary in optuna.get_all_study_summaries(storage)]
    assert names == [
        f"mnist/simple-cnn/momentum/constant goal=0.02 B=64 sparsity={s:g} seed=0" for s in (0, 0.9)
    ]
    states = {
        Status.COMPLETE: optuna.trial.TrialState.COMPLETE,
        Status.BEATEN: optuna.trial.TrialState.PRUNED,
        Status.INCOMPLETE: optuna.trial.TrialState.PRUNED,
        Status.INFEASIBLE: optuna.trial.TrialState.FAIL,
    }
    for name, record in zip(names, source.studies, strict=True):
        study = optuna.load_study(study_name=name, storage=storage)
        assert study.best_value == record.steps_to_result
        assert study.best_trial.user_attrs["trial"] == record.best_trial
        for exported, trial in zip(study.trials, record.trials, strict=True):
            assert exported.state is states[trial.status]
            assert exported.user_attrs == {"trial": trial.trial, "status": trial.status.value}
            assert exported.params["learning_rate"] == trial.metaparameters["learning_rate"]
            momentum = 1 - exported.params["one_minus_momentum"]
            assert momentum == pytest.approx(trial.metaparameters["momentum"], rel=1e-12)
            assert all(d.log for d in exported.distributions.values())  # type: ignore[attr-defined]
            if exported.state is optuna.trial.TrialState.PRUNED:
                assert exported.last_step == trial.steps
                assert exported.value == trial.steps  # below its K, as the paper's figures draw it
    storage.engine.dispose()


def test_optuna_shows_the_objectives_name_and_whole_numbers_as_such(tmp_path: Path) -> None:
    source = generated_experiment(batch_sizes=(64,), sparsities=(0.0,), schedule="linear", trials=4)
    whole = [
        replace(t, metaparameters={**t.metaparameters, "decay_steps": 30_000.0 + t.trial})
        for t in source.studies[0].trials
    ]
    source = replace(source, studies=(replace(source.studies[0], trials=tuple(whole)),))
    (path,) = export_experiment(source, ExportFormat.OPTUNA, tmp_path)
    storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
    study = optuna.load_study(study_name=None, storage=storage)
    assert study.metric_names == ["steps_to_result"]
    assert [repr(t.params["decay_steps"]) for t in study.trials] == [
        "30000",
        "30001",
        "30002",
        "30003",
    ]
    assert isinstance(study.trials[0].params["end_factor"], float)
    storage.engine.dispose()


def test_optunas_own_plots_draw_an_export(experiment: ExperimentRecord, tmp_path: Path) -> None:
    (path,) = export_experiment(experiment, ExportFormat.OPTUNA, tmp_path)
    storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
    name = next(
        s.study_name for s in optuna.get_all_study_summaries(storage) if "mom" in s.study_name
    )
    study = optuna.load_study(study_name=name, storage=storage)
    complete = sum(t.state is optuna.trial.TrialState.COMPLETE for t in study.trials)
    slices = optuna.visualization.plot_slice(study)
    assert [len(trace.x) for trace in slices.data] == [complete, complete]
    assert slices.layout.xaxis.type == "log"
    history = optuna.visualization.plot_optimization_history(study)
    assert min(history.data[0].y) == study.best_value
    storage.engine.dispose()


@pytest.mark.parametrize("to", list(ExportFormat))
def test_an_export_is_never_replaced(
    experiment: ExperimentRecord, tmp_path: Path, to: ExportFormat
) -> None:
    written = export_experiment(experiment, to, tmp_path)
    before = [path.read_bytes() for path in written]
    with pytest.raises(StoreError, match=r"already exists and an export never overwrites.*--out"):
        export_experiment(experiment, to, tmp_path)
    assert [path.read_bytes() for path in written] == before
    assert sorted(tmp_path.iterdir()) == sorted(written)


@pytest.mark.parametrize(("to", "module"), [("parquet", "pyarrow"), ("optuna", "optuna")])
def test_a_missing_extra_is_named_with_the_way_to_install_it(
    experiment: ExperimentRecord,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    to: str,
    module: str,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SpecError, match=rf"pip install 'sparallel\[{to}\]'"):
        export_experiment(experiment, ExportFormat(to), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_folders_place_is_a_plain_sentence(
    experiment: ExperimentRecord, tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a note")
    with pytest.raises(StoreError, match="is a file: name a folder for the export with --out"):
        export_experiment(experiment, ExportFormat.CSV, taken)
