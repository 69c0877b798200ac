"""Every figure the data allow is written, whole, and drawn from the table beside it."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from sparallel.analysis import analyse
from sparallel.figures import draw_all
from sparallel.figures.draw import Plan, plan_figures
from sparallel.records import ExperimentRecord
from tests.generated import Truth, generated_experiment, not_begun

SIZES = (16, 64, 256, 1024)
WORKLOAD = "mnist-simple-cnn-momentum-constant-goal-0.02"


def _draw(experiments: Sequence[ExperimentRecord], folder: Path) -> dict[str, Path]:
    return {p.name: p for p in draw_all(experiments, analyse(experiments), folder)}


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    experiments = [
        generated_experiment("one", batch_sizes=SIZES),
        generated_experiment("two", batch_sizes=SIZES, optimizers=["sgd"]),
    ]
    return _draw(experiments, tmp_path_factory.mktemp("figures"))


def test_every_figure_comes_in_three_formats_with_its_data(drawn: dict[str, Path]) -> None:
    stems = {path.stem for path in drawn.values()}
    assert len(drawn) == 4 * len(stems)
    assert stems == {
        f"scaling-{WORKLOAD}",
        "scaling-mnist-simple-cnn-sgd-constant-goal-0.02",
        "optimizers-mnist-simple-cnn-constant-goal-0.02",
        "ratio",
        f"trial-map-one-{WORKLOAD}",
        f"learning-rate-one-{WORKLOAD}",
        f"momentum-one-{WORKLOAD}",
        "learning-rate-two-mnist-simple-cnn-sgd-constant-goal-0.02",
    }
    starts = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}
    for path in drawn.values():
        assert path.read_bytes().startswith(starts.get(path.suffix, b""))
        assert path.stat().st_size > 500


def test_the_scaling_figures_data_are_the_studies_results(drawn: dict[str, Path]) -> None:
    measured = {
        (float(row["sparsity"]), int(row["batch_size"])): int(row["steps"])
        for row in _rows(drawn[f"scaling-{WORKLOAD}.csv"])
        if row["kind"] == "measured"
    }
    assert measured == {
        (study.sparsity, study.batch_size): study.steps_to_result
        for study in generated_experiment("one", batch_sizes=SIZES).studies
    }


def test_a_scaling_figure_has_a_panel_a_sparsity_and_names_the_critical_batch_size(
    drawn: dict[str, Path],
) -> None:
    text = drawn[f"scaling-{WORKLOAD}.svg"].read_text(encoding="utf-8")
    critical = analyse([generated_experiment("one", batch_sizes=SIZES)]).curves[0].critical[0]
    for words in ("dense", "90% sparse", "all sparsities", "all, normalised", "ideal scaling"):
        assert f">{words}<" in text
    assert critical.in_words() in text


def test_fourteen_batch_sizes_fill_two_pages(tmp_path: Path) -> None:
    experiment = generated_experiment(
        batch_sizes=[2**r for r in range(1, 15)], sparsities=(0.0,), trials=4
    )
    plans = plan_figures([experiment], analyse([experiment]))
    pages = {p.name: p.data for p in plans if p.name.startswith("trial-map-")}
    assert list(pages) == [f"trial-map-{WORKLOAD}-1", f"trial-map-{WORKLOAD}-2"]
    sizes = [sorted(set(data.column("batch_size"))) for data in pages.values()]
    assert sizes == [[2**r for r in range(1, 8)], [2**r for r in range(8, 15)]]
    assert not list(tmp_path.iterdir())


def test_two_folders_with_experiments_of_one_name_keep_their_own_figures() -> None:
    experiment = generated_experiment("twin", batch_sizes=(64,), sparsities=(0.0,))
    twins = [experiment, dataclasses.replace(experiment, folder="elsewhere")]
    names = [plan.name for plan in plan_figures(twins, analyse(twins))]
    assert f"trial-map-twin-{WORKLOAD}" in names
    assert f"trial-map-twin-2-{WORKLOAD}" in names
    assert len(names) == len(set(names))


def test_the_same_results_give_the_same_files_for_any_number_of_workers(tmp_path: Path) -> None:
    experiment = generated_experiment(batch_sizes=(64,), sparsities=(0.0,), optimizers=["sgd"])
    analysis = analyse([experiment])
    told: list[str] = []
    first = draw_all([experiment], analysis, tmp_path / "first", told.append)
    second = draw_all([experiment], analysis, tmp_path / "second", workers=2)
    assert told == list(dict.fromkeys(path.stem for path in first))
    assert [path.name for path in first] == [path.name for path in second]
    for path, again in zip(first, second, strict=True):
        assert path.read_bytes() == again.read_bytes()


def test_an_experiment_without_a_complete_trial_is_drawn_and_says_so(tmp_path: Path) -> None:
    hopeless = generated_experiment(truth=Truth(c1=1e9, c2=1e8), batch_sizes=(16,))
    drawn = _draw([hopeless], tmp_path)
    assert "no study reached the goal" in drawn[f"scaling-{WORKLOAD}.svg"].read_text()
    assert "B = 16, dense: none complete" in drawn[f"trial-map-{WORKLOAD}.svg"].read_text()
    assert "ratio.svg" not in drawn


def test_a_study_that_has_not_begun_is_named_and_moves_no_axis() -> None:
    whole = generated_experiment(batch_sizes=(16, 64), sparsities=(0.0,))
    partial = dataclasses.replace(whole, studies=(whole.studies[0], not_begun(whole.studies[1])))
    # Alone it has nothing to draw; beside a finished one on its page it has an empty panel.
    assert not list(_search_plans(dataclasses.replace(whole, studies=partial.studies[1:])))
    (plan,) = [p for p in _search_plans(partial) if p.name.startswith("learning-rate")]
    figure = plan.draw()
    assert [ax.get_title() for ax in figure.axes] == ["B = 16, dense"]
    assert figure.axes[0].get_ylim()[0] > 100


def _search_plans(experiment: ExperimentRecord) -> list[Plan]:
    plans = plan_figures([experiment], analyse([experiment]))
    return [plan for plan in plans if not plan.name.startswith(("scaling", "ratio"))]


FEW = (16, 256, 4096)
CASES = {
    "four sparsities": generated_experiment(
        batch_sizes=FEW, sparsities=(0.0, 0.5, 0.7, 0.9), trials=8
    ),
    "one batch size": generated_experiment(batch_sizes=(64,), sparsities=(0.0,)),
    "one sparsity, decaying": generated_experiment(
        batch_sizes=FEW, sparsities=(0.9,), schedule="linear"
    ),
    "a race of two optimizers": generated_experiment(
        batch_sizes=FEW, strategy="race", optimizers=("sgd", "nesterov")
    ),
    "nothing complete": generated_experiment(batch_sizes=FEW, truth=Truth(c1=1e9, c2=1e8)),
    "long names": generated_experiment(
        batch_sizes=FEW,
        optimizers=("sgd", "nesterov"),
        data="a-data-set-with-a-long-name",
        model="a-model-with-a-long-name",
    ),
    "long names in a narrow figure": generated_experiment(
        batch_sizes=(64,),
        sparsities=(0.0,),
        data="a-data-set-with-a-long-name",
        model="a-model-with-a-long-name",
    ),
}


@pytest.mark.parametrize("experiment", CASES.values(), ids=CASES.keys())
def test_no_label_is_cut_by_the_edge_of_its_figure(experiment: ExperimentRecord) -> None:
    for plan in plan_figures([experiment], analyse([experiment])):
        figure = plan.draw()
        renderer = FigureCanvasAgg(figure).get_renderer()
        figure.draw(renderer)
        page = figure.bbox
        hidden = {
            text
            for ax in figure.axes
            for axis in (ax.xaxis, ax.yaxis)
            if not axis.get_visible()
            for text in axis.findobj(Text)
        }
        for text in figure.findobj(Text):
            if text in hidden or not (text.get_visible() and text.get_text().strip()):
                continue
            box = text.get_window_extent(renderer)
            across = page.x0 <= box.x0 and box.x1 <= page.x1 + 1
            up = page.y0 <= box.y0 and box.y1 <= page.y1 + 1
            assert (across, up) == (True, True), f"{plan.name}: {text.get_text()!r} is cut"
