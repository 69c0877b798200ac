"""Figures 4 and 6, the gradient's noise and 1/L: drawn from the table beside them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from sparallel.analysis import analyse
from sparallel.figures import draw_all
from sparallel.figures.along_training import is_log_spaced
from sparallel.figures.draw import Plan, plan_figures
from sparallel.records import ExperimentRecord
from sparallel.smoothness.records import SmoothnessRecord
from sparallel.smoothness.why import explain
from tests.generated import generated_experiment
from tests.smoothness.known import LIPSCHITZ, STEPS, known_path, known_point, known_record

WORKLOAD = "mnist-simple-cnn-momentum-constant"


def _plans(
    *records: SmoothnessRecord, experiments: tuple[ExperimentRecord, ...] = ()
) -> dict[str, Plan]:
    analysis = analyse(experiments)
    why = [explain(record, analysis) for record in records]
    return {plan.name: plan for plan in plan_figures(experiments, analysis, why)}


def test_every_smoothness_figure_comes_in_three_formats_with_its_data(tmp_path: Path) -> None:
    why = [explain(known_record())]
    files = draw_all([], analyse([]), tmp_path, why=why)
    kinds = ("lipschitz", "training-logs", "gradient-noise")
    endings = ("png", "svg", "pdf", "csv")
    assert [f.name for f in files] == [f"{k}-{WORKLOAD}.{end}" for k in kinds for end in endings]
    assert all(file.stat().st_size > 500 for file in files)


def test_the_lipschitz_figures_legend_prints_the_mean_along_training(tmp_path: Path) -> None:
    flat = known_record(lipschitz=lambda sparsity, seed, _: LIPSCHITZ[sparsity] + 0.1 * (seed - 1))
    (plan,) = [p for p in _plans(flat).values() if p.name.startswith("lipschitz")]
    labels = [text.get_text() for text in plan.draw().legends[0].get_texts()]
    assert labels[:4] == [
        "dense: mean 0.50",
        "50% sparse: mean 0.75",
        "70% sparse: mean 1.00",
        "90% sparse: mean 1.50",
    ]


def test_the_lipschitz_table_has_every_run_and_the_range_over_seeds() -> None:
    table = _plans(known_record())[f"lipschitz-{WORKLOAD}"].data
    rows = list(table.records())
    assert sum(row["kind"] == "run" for row in rows) == 4 * 3 * len(STEPS)
    first = next(r for r in rows if (r["kind"], r["sparsity"], r["step"]) == ("seeds", 0.9, 0))
    assert first["low"] == pytest.approx(1.5 * 1.6 * 0.95)
    assert first["mean"] == pytest.approx(1.5 * 1.6)
    assert first["high"] == pytest.approx(1.5 * 1.6 * 1.05)


def test_a_point_whose_step_was_zero_has_no_mark() -> None:
    points = [known_point(0, lipschitz=None), known_point(5, lipschitz=2.0)]
    record = known_record([known_path(0.0, 0, points)])
    rows = list(_plans(record)[f"lipschitz-{WORKLOAD}"].data.records())
    assert [row["step"] for row in rows if row["kind"] == "seeds"] == [5]


def test_log_spaced_points_get_a_log_axis_beside_the_papers() -> None:
    spaced = _plans(known_record())[f"lipschitz-{WORKLOAD}"].draw()
    even = _plans(known_record(steps=range(0, 1000, 100)))[f"lipschitz-{WORKLOAD}"].draw()
    assert [ax.get_xscale() for ax in spaced.axes] == ["linear", "symlog"]
    assert [ax.get_xscale() for ax in even.axes] == ["linear"]
    assert not is_log_spaced([0, 100, 200, 300, 399])


def test_training_logs_show_loss_and_validation_error_with_the_goal() -> None:
    plan = _plans(known_record())[f"training-logs-{WORKLOAD}"]
    quantities = set(plan.data.column("quantity"))
    assert quantities == {"training loss", "training error", "validation loss", "validation error"}
    figure = plan.draw()
    assert [ax.get_ylabel() for ax in figure.axes] == ["Training loss", "Validation error"]
    levels = [line.get_ydata()[0] for line in figure.axes[1].lines if line.get_label()[0] == "g"]
    assert levels == [0.02]


def test_the_noise_scale_is_called_a_proxy_and_stands_beside_what_was_measured() -> None:
    experiment = generated_experiment(noise=0.05)
    plans = _plans(known_record(), experiments=(experiment,))
    plan = plans[f"gradient-noise-{WORKLOAD}"]
    measured = {
        row["sparsity"]: row["noise_scale"]
        for row in plan.data.records()
        if row["kind"] == "critical batch size"
    }
    curves = analyse([experiment]).curves
    assert measured == {curve.sparsity: curve.critical[0].value for curve in curves}
    figure = plan.draw()
    assert "a proxy" in figure.axes[2].get_title()
    assert "measured critical batch size c1/c2" in [
        text.get_text() for text in figure.legends[0].get_texts()
    ]


def test_one_over_l_stands_in_the_learning_rate_panels_of_its_own_sparsity() -> None:
    experiment = generated_experiment(batch_sizes=(16, 256))
    record = known_record(lipschitz=lambda sparsity, *_: 4.0 if sparsity else 2.0)
    plans = _plans(record, experiments=(experiment,))
    plan = plans[f"learning-rate-{WORKLOAD}-goal-0.02"]
    limits = {row["sparsity"]: row["one_over_l"] for row in plan.data.records()}
    assert limits == pytest.approx({0.0: 0.5, 0.9: 0.25})
    upright = [
        [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
        for ax in plan.draw().axes
    ]
    assert upright == [[pytest.approx(0.5)], [pytest.approx(0.25)]] * 2
    assert "one_over_l" not in plans[f"momentum-{WORKLOAD}-goal-0.02"].data.columns


def test_one_over_l_beyond_the_searched_range_is_still_on_the_axis() -> None:
    experiment = generated_experiment(batch_sizes=(16,))
    record = known_record(lipschitz=lambda *_: 0.1)
    figure = _plans(record, experiments=(experiment,))[f"learning-rate-{WORKLOAD}-goal-0.02"].draw()
    assert figure.axes[0].get_xlim()[1] > 10


def test_smoothness_of_another_workload_leaves_the_panels_alone() -> None:
    experiment = generated_experiment(batch_sizes=(16,))
    record = known_record(optimizer="sgd")
    plan = _plans(record, experiments=(experiment,))[f"learning-rate-{WORKLOAD}-goal-0.02"]
    assert "one_over_l" not in plan.data.columns


def test_two_folders_of_one_name_keep_their_own_figures() -> None:
    names = list(_plans(known_record(), known_record()))
    assert f"lipschitz-known-{WORKLOAD}" in names
    assert f"lipschitz-known-2-{WORKLOAD}" in names


def test_a_folder_without_points_has_no_figures() -> None:
    assert not _plans(known_record([known_path(0.0, 0, finished=False)]))


CASES = {
    "four sparsities": known_record(),
    "one sparsity, one seed": known_record(sparsities=(0.9,), seeds=1, error=None),
    "evenly spaced": known_record(steps=range(0, 40_000, 4000)),
    "L over three decades": known_record(lipschitz=lambda s, _, k: (0.1 + s) * (1 + k)),
    "long names": dataclasses.replace(
        known_record(), data="a-data-set-with-a-long-name", model="a-model-with-a-long-name"
    ),
    "one point": known_record([known_path(0.0, 0, [known_point(0)])]),
}


@pytest.mark.parametrize("record", CASES.values(), ids=CASES.keys())
def test_no_label_is_cut_by_the_edge_of_its_figure(record: SmoothnessRecord) -> None:
    plans = _plans(record, experiments=(generated_experiment(),))
    for plan in plans.values():
        if not plan.name.startswith(("lipschitz", "training", "gradient", "learning")):
            continue
        figure = plan.draw()
        renderer = FigureCanvasAgg(figure).get_renderer()
        figure.draw(renderer)
        hidden = {
            text
            for ax in figure.axes
            for axis in (ax.xaxis, ax.yaxis)
            if not axis.get_visible()
            for text in axis.findobj(Text)
        }
        shown = {
            text
            for text in figure.findobj(Text)
            if text.get_visible() and text.get_text().strip() and text not in hidden
        }
        outside = _ticks_outside(figure)
        for text in shown - outside:
            box = text.get_window_extent(renderer)
            across = figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 + 1
            up = figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1 + 1
            assert (across, up) == (True, True), f"{plan.name}: {text.get_text()!r} is cut"


def _ticks_outside(figure: object) -> set[Text]:
    """Labels of ticks beyond the axis' limits, which are never drawn."""
    found = set()
    for ax in figure.axes:  # type: ignore[attr-defined]
        for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
            for tick in axis.get_major_ticks() + axis.get_minor_ticks():
                if not min(limits) <= tick.get_loc() <= max(limits):
                    found |= {tick.label1, tick.label2}
    return found
