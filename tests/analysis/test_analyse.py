"""From records to the answer, whole experiments at a time, and what is said when data lack."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparallel.analysis import FROM_FIT, FROM_POINTS, Analysis, analyse
from sparallel.analysis.synthetic_experiment import SPACE, experiment_with_truth
from sparallel.records import ExperimentRecord, StudyRecord

SIZES = [4, 16, 64, 256, 1024, 4096]
TRUTH = {0.0: (1e5, 200.0), 0.9: (3e5, 400.0)}
EXPERIMENT = experiment_with_truth(TRUTH, SIZES, sigma=0.05)


def with_studies(studies: list[StudyRecord]) -> ExperimentRecord:
    return replace(EXPERIMENT, studies=tuple(studies))


def unreached(study: StudyRecord) -> StudyRecord:
    return replace(study, steps_to_result=None, best_trial=None)


@pytest.fixture(scope="module")
def whole() -> Analysis:
    return analyse([EXPERIMENT])


def test_one_curve_a_sparsity_in_order_of_batch_size(whole: Analysis) -> None:
    assert [curve.sparsity for curve in whole.curves] == [0.0, 0.9]
    assert all([p.batch_size for p in curve.points] == SIZES for curve in whole.curves)


def test_points_carry_examples_seconds_ideal_and_normalised_values(whole: Analysis) -> None:
    first, *_, last = whole.curves[0].points
    assert first.steps is not None
    assert last.steps is not None
    assert last.examples == last.steps * 4096
    assert last.ideal_steps == pytest.approx(first.steps * 4 / 4096)
    assert last.above_ideal == pytest.approx(last.steps / (first.steps * 4 / 4096))
    assert last.normalised == pytest.approx(last.steps / first.steps)
    assert last.seconds_to_result == pytest.approx(last.examples / 2000)
    assert last.study_seconds > last.seconds_to_result
    assert first.above_ideal == first.normalised == 1


def test_right_censored_study_is_a_point_beyond_its_budget(whole: Analysis) -> None:
    point = whole.curves[1].points[0]
    assert point.steps is None
    assert point.is_censored
    assert point.interval is not None
    assert (point.interval.low, point.interval.high) == (40_000, None)
    fit = whole.curves[1].fit
    assert fit is not None
    assert fit.censored_points == 1


def test_both_definitions_are_named_and_near_the_truth(whole: Analysis) -> None:
    for curve, (c1, c2) in zip(whole.curves, TRUTH.values(), strict=True):
        assert [c.definition for c in curve.critical] == [FROM_FIT, FROM_POINTS]
        assert curve.critical[0].value == pytest.approx(c1 / c2, rel=0.35)


def test_answer_is_in_words_with_intervals(whole: Analysis) -> None:
    dense, sparse, cost = whole.answer
    assert dense.startswith("dense: critical batch size ")
    assert "(c1/c2)" in dense
    assert "(20% above ideal scaling)" in dense
    assert sparse.startswith("90% sparse: critical batch size ")
    assert cost.startswith("90% sparse costs 2.")
    assert "x the steps [" in cost


def test_ratio_by_batch_size_covers_the_truth(whole: Analysis) -> None:
    (ratio,) = whole.ratios
    assert [p.batch_size for p in ratio.points] == SIZES
    assert ratio.points[0].ratio is None
    assert ratio.points[0].interval.low is not None
    assert ratio.points[0].interval.high is None
    for point in ratio.points[1:]:
        truth = (3e5 / point.batch_size + 400) / (1e5 / point.batch_size + 200)
        assert truth in point.interval
        assert point.ratio in point.interval
    assert ratio.mean in ratio.mean_interval


def test_every_finished_study_has_a_border_verdict_and_a_subset_curve(whole: Analysis) -> None:
    assert len(whole.borders) == 12
    assert len(whole.subsets) == 11  # one study has no complete trial


def test_same_records_give_the_same_analysis() -> None:
    assert analyse([EXPERIMENT]) == analyse([EXPERIMENT])


def test_unfinished_studies_are_left_out_and_said() -> None:
    studies = list(EXPERIMENT.studies)
    studies[2] = replace(studies[2], finished=False)
    found = analyse([with_studies(studies)])
    assert [p.batch_size for p in found.curves[0].points] == [4, 16, 256, 1024, 4096]
    assert len(found.missing) == 1
    assert "dense: not finished and left out: batch size 64." in found.missing[0]


def test_nothing_finished_is_no_answer() -> None:
    found = analyse([with_studies([replace(s, finished=False) for s in EXPERIMENT.studies])])
    assert found.answer == ("No study has finished yet, so there is no answer.",)
    assert len(found.missing) == 2
    assert not found.borders


def test_no_experiment_is_no_answer() -> None:
    assert analyse([]).answer == ("No study has finished yet, so there is no answer.",)
    assert analyse([]).curves == ()


def test_experiment_without_a_complete_trial_says_so() -> None:
    found = analyse([with_studies([unreached(s) for s in EXPERIMENT.studies])])
    assert "dense: no trial reached the goal within its budget." in found.answer
    assert any("No study reached the goal within its budget" in w for w in found.warnings)
    assert found.curves[0].fit is None
    assert found.curves[0].critical == ()
    assert found.ratios[0].mean is None


def test_one_batch_size_only_is_a_ratio_and_no_curve() -> None:
    found = analyse([with_studies([s for s in EXPERIMENT.studies if s.batch_size == 64])])
    assert found.curves[0].fit is None
    assert any("one batch size only (64)" in w for w in found.warnings)
    assert any("the ratios have no interval" in w for w in found.warnings)
    assert found.ratios[0].points[0].interval.is_unbounded
    assert found.curves[0].points[0].interval is None
    assert "at batch size 64" in found.answer[-1]


def test_reruns_alone_tell_the_noise_of_a_single_batch_size() -> None:
    found = analyse([experiment_with_truth(TRUTH, [64], sigma=0.1, repeats=6)])
    assert found.curves[0].fit is None
    assert found.curves[0].noise is not None
    assert found.curves[0].noise.degrees_of_freedom == 5
    interval = found.ratios[0].points[0].interval
    assert interval.low is not None
    assert interval.high is not None
    assert (3e5 / 64 + 400) / (1e5 / 64 + 200) in interval


def test_critical_batch_size_beyond_the_range_is_warned_of() -> None:
    small = experiment_with_truth({0.0: (1e5, 20.0)}, [4, 8, 16, 32], sigma=0.05)
    found = analyse([small])
    assert any("do not bracket the critical one" in w for w in found.warnings)
    assert "outside the batch sizes tried" in found.answer[0]


def test_curve_that_is_flat_throughout_has_already_passed_it() -> None:
    flat = experiment_with_truth({0.0: (1.0, 300.0)}, [1024, 2048, 4096, 8192], sigma=0.0)
    found = analyse([flat])
    assert "already passed" in found.answer[0] or "outside the batch sizes" in found.answer[0]
    assert any("below the smallest measured (1024)" in w for w in found.warnings)


def test_first_batch_size_past_linear_scaling_is_warned_of() -> None:
    late = experiment_with_truth({0.0: (1e5, 200.0)}, [512, 1024, 2048, 4096, 8192], sigma=0.02)
    assert any("already past linear scaling" in w for w in analyse([late]).warnings)


def test_experiments_combine_into_one_curve() -> None:
    studies = EXPERIMENT.studies[:6]
    halves = [with_studies(list(studies[::2])), with_studies(list(studies[1::2]))]
    assert analyse(halves).curves == analyse([with_studies(list(studies))]).curves


def test_pruning_methods_are_curves_of_their_own_and_named() -> None:
    other = replace(EXPERIMENT, spec={"pruning": "magnitude"}, folder="other")
    found = analyse([EXPERIMENT, other])
    labels = [curve.label.rsplit(", ", 1)[1] for curve in found.curves]
    assert labels == ["dense", "90% sparse (magnitude)", "90% sparse"]
    assert len(found.ratios) == 2


def test_budget_that_is_no_multiple_of_the_check_interval_ends_at_the_last_check() -> None:
    study = replace(unreached(EXPERIMENT.studies[0]), max_steps=40_007)
    point = analyse([with_studies([study])]).curves[0].points[0]
    assert (point.crossed_after, point.budget) == (40_000, 40_007)


def test_border_command_follows_the_recorded_one() -> None:
    trial = {"learning_rate": 0.99, "momentum": 0.99}
    study = EXPERIMENT.studies[0]
    edge = replace(study, trials=tuple(replace(t, metaparameters=trial) for t in study.trials))
    sessions = ({"command": ["/bin/sparallel", "run", "mine.toml", "--seed", "3"]},)
    (verdict,) = analyse([replace(with_studies([edge]), sessions=sessions)]).borders
    assert verdict.command is not None
    assert verdict.command.startswith("sparallel run mine.toml --seed 3 --set space.learning_rate")


def test_same_folder_twice_changes_nothing() -> None:
    assert analyse([EXPERIMENT, EXPERIMENT]) == analyse([EXPERIMENT])


def test_wider_search_of_a_study_replaces_a_higher_k() -> None:
    study = EXPERIMENT.studies[2]
    assert study.steps_to_result is not None
    wider = (replace(SPACE[0], high=10.0), SPACE[1])
    better = replace(study, steps_to_result=study.steps_to_result - 160, space=wider)
    found = analyse([EXPERIMENT, replace(with_studies([better]), folder="wider")])
    point = found.curves[0].points[2]
    assert (point.steps, point.folder) == (better.steps_to_result, "wider")
    assert any("different spaces" in w for w in found.warnings)
    assert any("searched more than once" in w for w in found.warnings)


def test_other_seeds_are_points_of_their_own_and_tell_the_noise() -> None:
    other = experiment_with_truth(TRUTH, SIZES, sigma=0.05, seed=1)
    other = replace(other, studies=tuple(replace(s, seed=1) for s in other.studies))
    both, one = analyse([EXPERIMENT, other]).curves[0], analyse([EXPERIMENT]).curves[0]
    assert len(both.points) == 12
    assert both.fit is not None
    assert one.fit is not None
    assert both.fit.degrees_of_freedom == one.fit.degrees_of_freedom + 6


def test_ratio_over_several_seeds_is_their_geometric_mean() -> None:
    twice = [replace(s, seed=1, steps_to_result=4 * (s.steps_to_result or 0))
             for s in EXPERIMENT.studies if s.sparsity == 0.9 and s.steps_to_result]  # fmt: skip
    once, more = (
        analyse([with_studies([*EXPERIMENT.studies, *extra])]).ratios[0] for extra in ([], twice)
    )
    assert once.points[3].ratio is not None
    assert more.points[3].ratio == pytest.approx(2 * once.points[3].ratio)


def test_unequal_numbers_of_trials_are_warned_of() -> None:
    studies = list(EXPERIMENT.studies)
    studies[0] = replace(studies[0], trials=studies[0].trials[:8])
    assert any("unequal numbers of trials" in w for w in analyse([with_studies(studies)]).warnings)


def test_rerun_median_stands_beside_the_minimum_and_never_in_it() -> None:
    with_reruns = experiment_with_truth(TRUTH, SIZES, sigma=0.1, repeats=5)
    stripped = replace(
        with_reruns, studies=tuple(replace(s, repeats=()) for s in with_reruns.studies)
    )
    reruns, bare = analyse([with_reruns]).curves[0], analyse([stripped]).curves[0]
    assert [p.steps for p in reruns.points] == [p.steps for p in bare.points]
    assert all(p.rerun_median is not None and p.reruns == 5 for p in reruns.points)
    assert all(p.rerun_median is None for p in bare.points)
    assert reruns.fit is not None
    assert bare.fit is not None
    assert reruns.fit.sigma_from_reruns
    assert reruns.fit.degrees_of_freedom == bare.fit.degrees_of_freedom + 4 * 6
    assert analyse([with_reruns]).ratios[0].points[2].rerun_ratio is not None


def test_exhaustive_search_gives_a_second_interval() -> None:
    exhaustive = analyse([experiment_with_truth(TRUTH, SIZES, exhaustive=True, trials=20)])
    point = exhaustive.curves[0].points[2]
    assert point.subsample_interval is not None
    assert point.subsample_interval.low == point.steps
    assert analyse([EXPERIMENT]).curves[0].points[2].subsample_interval is None


def test_several_goals_are_curves_of_their_own_and_named() -> None:
    easier = [replace(s, goal_error=0.03) for s in EXPERIMENT.studies]
    found = analyse([with_studies([*EXPERIMENT.studies, *easier])])
    assert len(found.curves) == 4
    assert all(s.startswith("mnist · simple-cnn") for s in found.answer)


def test_curves_without_a_shared_batch_size_have_no_ratio() -> None:
    dense = [s for s in EXPERIMENT.studies if s.sparsity == 0 and s.batch_size < 100]
    sparse = [s for s in EXPERIMENT.studies if s.sparsity != 0 and s.batch_size > 100]
    found = analyse([with_studies([*dense, *sparse])])
    assert found.ratios[0].points == ()
    assert found.ratios[0].mean is None
    assert len(found.answer) == 2
