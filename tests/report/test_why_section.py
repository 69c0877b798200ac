"""The report's "Why" section: what it says, alone and beside an experiment, and its safety."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from sparallel.analysis import analyse
from sparallel.records import ExperimentRecord
from sparallel.report.html import write_report
from sparallel.smoothness.records import SmoothnessRecord
from sparallel.smoothness.why import explain
from tests.generated import generated_experiment
from tests.report.test_report import HOSTILE, Page
from tests.smoothness.known import known_path, known_point, known_record


def _page(
    folder: Path, record: SmoothnessRecord, experiments: tuple[ExperimentRecord, ...] = ()
) -> Page:
    analysis = analyse(experiments)
    return Page(write_report(experiments, analysis, folder, (), [explain(record, analysis)]))


def _table(page: Page, column: str) -> tuple[list[str], dict[str, list[str]]]:
    """The table with this column: its header, and its rows by their first cell."""
    at = next(at for at, row in enumerate(page.rows) if column in row)
    header, rows = page.rows[at], {}
    for row in page.rows[at + 1 :]:
        if len(row) != len(header) or row[0] == header[0]:
            break
        rows[row[0]] = row
    return header, rows


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder = tmp_path_factory.mktemp("report")
    return _page(folder, known_record(), (generated_experiment(noise=0.05),))


def test_the_section_follows_the_experiments_and_the_navigation_names_it(page: Page) -> None:
    sections = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    order = "answer results curves search borders why figures protocol provenance"
    assert sections == order.split()
    assert "#why" in [attributes.get("href") for tag, attributes in page.elements if tag == "a"]


def test_l_delta_and_beta_stand_beside_the_papers(page: Page) -> None:
    header, rows = _table(page, "L, mean along training")
    assert list(rows) == ["dense", "50% sparse", "70% sparse", "90% sparse"]
    summary = explain(known_record()).sparsities[-1].summary
    assert summary.lipschitz is not None
    assert rows["90% sparse"][1].startswith(f"{summary.lipschitz.mean:.3g} ± ")
    paper = [rows[name][header.index("L in the paper")] for name in rows]
    assert paper == ["0.57", "0.72", "0.81", "1.76"]
    assert "The paper's means go over 40,000 steps" in page.words


def test_the_paper_is_not_quoted_for_a_workload_it_did_not_measure(tmp_path: Path) -> None:
    page = _page(tmp_path, known_record(data="mnist-5k"))
    assert "in the paper" not in page.words
    assert "The paper's means" not in page.words


def test_the_prediction_stands_beside_the_fit(page: Page) -> None:
    analysis = analyse([generated_experiment(noise=0.05)])
    prediction = explain(known_record(), analysis).predictions[-1]
    header, rows = _table(page, "c1 ratio, predicted")
    row = rows["90% sparse"]
    fitted = prediction.measured[0].c1
    assert fitted is not None
    assert row[header.index("c1 ratio, predicted")].startswith(
        f"{prediction.predicted.value:.3g} ["
    )
    assert row[header.index("c1 ratio, fitted")].startswith(f"{fitted.value:.3g} [")
    assert rows["50% sparse"][header.index("c1 ratio, fitted")] == "not measured"
    assert "3 seeds and the standard error of L" in page.words


def test_the_noise_scale_is_a_proxy_beside_the_critical_batch_size(page: Page) -> None:
    header, rows = _table(page, "Gradient noise scale (proxy)")
    critical = analyse([generated_experiment(noise=0.05)]).curves[0].critical[0]
    assert rows["dense"][header.index("c1/c2, goal 0.02")] == critical.in_words()
    assert page.words.count("proxy") >= 3


def test_assumptions_and_the_learning_rate_check_are_stated(page: Page) -> None:
    assert "What the theory assumes" in page.words
    for name in ("dense", "50% sparse", "70% sparse", "90% sparse"):
        assert f"{name}: the assumption eta <= 1/L holds" in page.words


def test_the_charts_hold_the_measured_points(page: Page) -> None:
    charts = json.loads(next(text for text in page.scripts if '"lipschitz-0"' in text))
    lines = [t for t in charts["lipschitz-0"]["data"] if t["mode"] == "lines+markers"]
    assert [line["name"] for line in lines] == ["dense", "50% sparse", "70% sparse", "90% sparse"]
    assert lines[3]["y"][0] == pytest.approx(1.5 * 1.6)
    assert "noise-0" in charts


def test_smoothness_alone_makes_a_report_without_the_experiments_sections(tmp_path: Path) -> None:
    page = _page(tmp_path, known_record())
    sections = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    assert sections == "answer why figures protocol provenance".split()
    hrefs = [str(a.get("href")) for tag, a in page.elements if tag == "a"]
    assert {href[1:] for href in hrefs if href != "#main"} == set(sections)
    assert "complete 12 of 12 smoothness runs finished" in page.words
    assert "so the theory predicts c1 to be" in page.words
    assert "not measured" in page.words


def test_unfinished_runs_make_a_partial_report_that_says_what_is_missing(tmp_path: Path) -> None:
    begun = known_path(0.0, 0, [known_point(0), known_point(3)], finished=False)
    planned = known_path(0.9, 0, finished=False)
    page = _page(tmp_path, known_record([begun, planned]))
    assert "partial 0 of 2 smoothness runs finished" in page.words
    assert "2 of 2 smoothness runs are not finished" in page.words
    assert "Too little is measured to say why." in page.words


def test_a_diverged_run_is_named_and_no_cell_is_not_a_number(tmp_path: Path) -> None:
    lost = known_path(0.9, 0, [known_point(0)], infeasible_at=7)
    fine = known_path(0.0, 0, [known_point(0), known_point(9)])
    page = _page(tmp_path, known_record([fine, lost]))
    assert "sparsity 0.9, seed 0, diverged (infeasible, seen at step 7)" in page.words
    assert "nan" not in {cell for row in page.rows for cell in row}


def test_text_from_a_smoothness_plan_stays_text(tmp_path: Path) -> None:
    plain = known_record(data="mnist-5k")
    hostile = dataclasses.replace(
        plain,
        name=HOSTILE,
        folder=HOSTILE,
        data=HOSTILE,
        model=HOSTILE,
        optimizer=HOSTILE,
        spec={HOSTILE: HOSTILE},
        sessions=({"command": HOSTILE},),
    )
    hostile_page, plain_page = _page(tmp_path / "a", hostile), _page(tmp_path / "b", plain)
    assert [tag for tag, _ in hostile_page.elements] == [tag for tag, _ in plain_page.elements]
    assert HOSTILE in hostile_page.words
