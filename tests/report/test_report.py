"""What the report says, in which order, and that no text from a spec becomes markup."""

from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sparallel.analysis import analyse
from sparallel.records import ExperimentRecord, StudyRecord
from sparallel.report.html import write_report
from tests.generated import Truth, generated_experiment, not_begun

SIZES = (16, 256, 4096)
HOSTILE = '</script><img src=x onerror="alert(1)">&<b>'


class Page(HTMLParser):
    """The page as a browser would take it apart: elements, texts, scripts, tables."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.rows: list[list[str]] = []
        self.words = ""
        self._inside: str | None = None
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = tag
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside is None:
            self.words += data
            if self.rows and self.rows[-1]:
                self.rows[-1][-1] += data


def _page(experiment: ExperimentRecord, folder: Path) -> Page:
    return Page(write_report([experiment], analyse([experiment]), folder))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    experiment = generated_experiment(batch_sizes=SIZES, repeats=3)
    return _page(experiment, tmp_path_factory.mktemp("report"))


def test_the_answer_comes_first_then_the_table_then_the_charts(page: Page) -> None:
    sections = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    order = "answer results curves search borders figures protocol provenance"
    assert sections == order.split()
    analysis = analyse([generated_experiment(batch_sizes=SIZES, repeats=3)])
    for sentence in analysis.answer:
        assert sentence in page.words


def test_the_minimum_and_the_median_of_reruns_are_two_columns(page: Page) -> None:
    header = next(row for row in page.rows if "K* (minimum)" in row)
    at, median = header.index("K* (minimum)"), header.index("Median of reruns")
    study = generated_experiment(batch_sizes=SIZES, repeats=3).studies[0]
    row = page.rows[page.rows.index(header) + 1]
    reruns = sorted(repeat.steps or 0 for repeat in study.repeats)
    assert row[at] == f"{study.steps_to_result:,}"
    assert row[median] == f"{reruns[1]:,}"
    assert row[at] != row[median]


def test_nothing_is_fetched_and_a_policy_forbids_it(page: Page) -> None:
    for tag, attributes in page.elements:
        assert tag not in ("link", "iframe", "img")
        assert "src" not in attributes
        assert not str(attributes.get("href", "#")).startswith(("http", "/", "file"))
        assert not any(name.startswith("on") for name in attributes)
    policy = [a["content"] for tag, a in page.elements if a.get("http-equiv")]
    assert policy
    assert str(policy[0]).startswith("default-src 'none'")


def test_every_trial_is_in_the_page(page: Page) -> None:
    data = json.loads(next(text for text in page.scripts if '"workloads"' in text[:2000]))
    studies = data["workloads"][0]["studies"]
    expected = generated_experiment(batch_sizes=SIZES, repeats=3).studies
    assert [(s["s"], s["b"]) for s in studies] == [(s.sparsity, s.batch_size) for s in expected]
    for packed, study in zip(studies, expected, strict=True):
        assert packed["k"] == [trial.steps for trial in study.trials]
        rates = [trial.metaparameters["learning_rate"] for trial in study.trials]
        assert packed["m"][0] == pytest.approx(rates, rel=1e-5)


def _renamed(study: StudyRecord) -> StudyRecord:
    return dataclasses.replace(study, data=HOSTILE, model=HOSTILE, workload=HOSTILE)


def test_text_from_a_spec_stays_text(tmp_path: Path) -> None:
    plain = generated_experiment(HOSTILE, batch_sizes=SIZES)
    hostile = dataclasses.replace(
        plain,
        folder=HOSTILE,
        studies=tuple(_renamed(study) for study in plain.studies),
        spec={HOSTILE: HOSTILE, "list": [HOSTILE]},
        sessions=({"command": HOSTILE},),
    )
    hostile_page, plain_page = _page(hostile, tmp_path / "a"), _page(plain, tmp_path / "b")
    kinds = [tag for tag, _ in hostile_page.elements]
    assert kinds == [tag for tag, _ in plain_page.elements]
    assert HOSTILE in hostile_page.words
    data = json.loads(next(text for text in hostile_page.scripts if '"workloads"' in text[:2000]))
    assert HOSTILE in data["workloads"][0]["title"]
    charts = next(text for text in hostile_page.scripts if '"ratio-0"' in text)
    names = [trace["name"] for trace in json.loads(charts)["ratio-0"]["data"]]
    assert all("<" not in name for name in names)  # Plotly reads labels as HTML


def test_a_partial_experiment_makes_a_partial_report_that_says_what_is_missing(
    tmp_path: Path,
) -> None:
    whole = generated_experiment(batch_sizes=SIZES)
    partial = dataclasses.replace(whole, studies=(not_begun(whole.studies[0]), *whole.studies[1:]))
    words = _page(partial, tmp_path).words
    assert "partial 5 of 6 studies finished" in words
    assert "What is missing" in words
    for sentence in analyse([partial]).missing:
        assert sentence in words
    assert "What is missing" not in _page(whole, tmp_path).words


def test_an_experiment_without_a_complete_trial_gets_a_report_that_says_so(
    tmp_path: Path,
) -> None:
    page = _page(generated_experiment(truth=Truth(c1=1e9, c2=1e8), batch_sizes=SIZES), tmp_path)
    assert "dense: no trial reached the goal within its budget." in page.words
    assert any("> 40,000" in row for row in page.rows)


def test_an_experiment_that_has_not_begun_gets_a_report_that_says_so(tmp_path: Path) -> None:
    whole = generated_experiment()
    planned = dataclasses.replace(whole, studies=tuple(map(not_begun, whole.studies)))
    page = _page(planned, tmp_path)
    assert "0 of 10 studies finished" in page.words
    assert "No study has finished yet" in page.words
    assert "No trial has run yet." in page.words


def test_figures_are_linked_relative_to_the_report(tmp_path: Path) -> None:
    figure = tmp_path / "figures" / "a figure.png"
    experiment = generated_experiment(batch_sizes=(64,), sparsities=(0.0,))
    path = write_report([experiment], analyse([experiment]), tmp_path, [figure])
    hrefs = [a["href"] for tag, a in Page(path).elements if tag == "a"]
    assert "figures/a%20figure.png" in hrefs


def test_border_verdicts_come_with_the_command_that_searches_further(tmp_path: Path) -> None:
    experiment = generated_experiment(batch_sizes=(4096,), optimizers=["sgd"], trials=40)
    commands = [b.command for b in analyse([experiment]).borders if b.command]
    words = re.sub(r"\s+", " ", _page(experiment, tmp_path).words)
    assert commands
    for command in commands:
        assert words.count(command) == 1
