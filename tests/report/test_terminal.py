"""What a terminal shows: the table, the answer, the plot, and no markup from specs."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console

from sparallel.analysis import analyse
from sparallel.analysis.synthetic_experiment import experiment_with_truth
from sparallel.records import ExperimentRecord
from sparallel.report.terminal import print_analysis
from sparallel.report.textplot import Series, text_plot

TRUTH = {0.0: (1e5, 200.0), 0.9: (3e5, 400.0)}


def shown(experiment: ExperimentRecord, width: int = 120) -> str:
    console = Console(width=width)
    with console.capture() as capture:
        print_analysis(analyse([experiment]), console)
    return capture.get()


def test_table_answer_and_plot_are_shown() -> None:
    experiment = experiment_with_truth(TRUTH, [4, 16, 64, 256, 1024], repeats=3)
    text = shown(experiment)
    for study in experiment.studies:
        expected = ">40000" if study.steps_to_result is None else str(study.steps_to_result)
        assert expected in text
    assert "rerun median" in text
    assert "critical batch size, c1/c2 from the fit (steps are twice the minimum)" in text
    assert "critical batch size, 20% above ideal scaling, from the measured points" in text
    assert "x the steps" in text
    assert "steps-to-result K* (log)" in text
    assert "o dense" in text
    assert "x 90% sparse" in text


def test_text_from_specs_is_not_markup() -> None:
    experiment = experiment_with_truth({0.0: (1e5, 200.0)}, [4, 16, 64, 256])
    odd = tuple(replace(s, data="[bold]data[/bold]") for s in experiment.studies)
    assert "[bold]data[/bold]" in shown(replace(experiment, studies=odd))


def test_border_command_is_shown_whole() -> None:
    experiment = experiment_with_truth({0.0: (1e5, 200.0)}, [4, 16, 64, 256])
    edge = {"learning_rate": 0.99, "momentum": 0.99}
    studies = tuple(
        replace(s, trials=tuple(replace(t, metaparameters=edge) for t in s.trials))
        for s in experiment.studies
    )
    text = " ".join(shown(replace(experiment, studies=studies)).split())
    assert "sparallel run synthetic --set space.learning_rate.high=10 --out" in text


def test_empty_experiment_says_there_is_no_answer() -> None:
    experiment = experiment_with_truth({0.0: (1e5, 200.0)}, [4])
    text = shown(replace(experiment, studies=()))
    assert "No study has finished yet" in text


def test_unfinished_studies_are_named() -> None:
    experiment = experiment_with_truth({0.0: (1e5, 200.0)}, [4, 16])
    studies = tuple(replace(s, finished=False) for s in experiment.studies)
    assert "batch sizes 4, 16" in shown(replace(experiment, studies=studies))


def test_ideal_scaling_is_a_straight_diagonal_of_marks() -> None:
    sizes = [2**i for i in range(8)]
    lines = text_plot([Series("dense", [(b, 10_000 / b) for b in sizes])], width=40, height=15)
    rows = [line.split("│")[-1].split("┤")[-1] for line in lines[1:16]]
    columns = [row.index("o") for row in rows if "o" in row]
    assert sum(row.count("o") for row in rows) == len(sizes)
    assert columns == sorted(columns)
    assert len(set(columns)) == len(sizes)


def test_one_point_can_be_plotted_and_none_gives_nothing() -> None:
    assert any("o" in line for line in text_plot([Series("dense", [(8, 320)])])[1:17])
    assert text_plot([]) == []


def test_narrow_terminal_cuts_no_number() -> None:
    experiment = experiment_with_truth(
        TRUTH, [4, 16, 64, 256, 1024], repeats=3, exhaustive=True, trials=12
    )
    text = shown(experiment, width=80)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "…" not in text
