"""Specs: inheritance, overrides, and one clear sentence for everything that is wrong."""

from pathlib import Path

import pytest

from sparallel.errors import SpecError
from sparallel.loading import load_spec


def write(folder: Path, text: str, name: str = "mine.toml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_a_file_extends_a_preset_and_another_file(tmp_path: Path) -> None:
    write(tmp_path, 'extends = "mnist-momentum"\nname = "base"\ntrials = 7\n', "base.toml")
    spec = load_spec(write(tmp_path, 'extends = "base.toml"\n[space.learning_rate]\nhigh = 10\n'))
    assert (spec.name, spec.trials, spec.data) == ("base", 7, "mnist")
    learning_rate = spec.search_space.dimensions["learning_rate"]
    assert (learning_rate.low, learning_rate.high, learning_rate.scale) == (1e-4, 10, "log")


def test_settings_go_anywhere_in_the_table() -> None:
    spec = load_spec("mnist-sgd", {"trials": 3}, ["race.finishers=2", "goal_errors=[0.1, 0.05]"])
    assert (spec.trials, spec.race.finishers, spec.goal_errors) == (3, 2, (0.1, 0.05))


def test_the_last_check_is_the_last_multiple_of_the_interval() -> None:
    assert load_spec("mnist-sgd", {"max_steps": 100}).last_check == 96


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("data=mnits", "There is no data set 'mnits'.*Did you mean 'mnist'"),
        ("model=resnet", "There is no model 'resnet'.*Did you mean 'resnet-8'"),
        ("optimizer=adam", "There is no optimizer 'adam': choose from momentum, nesterov, sgd"),
        ("model=nowhere.nets:tiny", "cannot be imported"),
        ("model=.relative:x", "cannot be imported"),
        ("optimizer=math:pi", "'math:pi' is no optimizer: it has no update"),
        ("data=math:pi", "'math:pi' is no data set"),
        ("schedule=os:path", "'os:path' is no schedule"),
        ("model=math:pi", "'math:pi' is no model"),
        ("trials=5000000000", "trials = 5000000000"),
        ("model=sparallel.models.resnet8:Nine", "has no attribute 'Nine'"),
        ("batch_sizes=[0]", r"batch_sizes.0 = 0: input should be greater than or equal to 1"),
        ("batch_sizes=[60000]", "batch size 60000 is above the 54000 training examples of mnist"),
        ("batch_sizes=[]", "batch_sizes = \\[\\]"),
        ("batch_sizes=[4, 4]", "batch_sizes names a value twice"),
        ("sparsities=[-0.1]", r"sparsities.0 = -0.1: input should be greater than or equal to 0"),
        ("sparsities=[1.0]", r"sparsities.0 = 1.0: input should be less than 1"),
        ("sparsities=[nan]", "finite"),
        ("goal_errors=[inf]", "finite"),
        ("trials=0", "trials = 0: input should be greater than or equal to 1"),
        ("trials=2.5", "trials = 2.5"),
        ("max_steps=3", "max_steps 3 is below check_interval 16"),
        ("strategy=luck", "strategy = 'luck'"),
        ("colour=red", "there is no key 'colour'"),
        ("space.momentum.low=0.5", "There is no metaparameter .* 'momentum': .*learning_rate"),
        ("space.learning_rate={low=1, high=0.1}", "low 1 is not below high 0.1"),
        ("space.learning_rate.low=0", "a log scale needs low above 0"),
        ("name=../escape", "name = '../escape'"),
        ("trials", "--set takes key=value"),
        ("trials.more=1", "trials is a value"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(setting: str, sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence) as error:
        load_spec("mnist-sgd", {}, [setting])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("mnist-momentun", "There is no preset 'mnist-momentun'.*Did you mean 'mnist-momentum'"),
        ("nowhere.toml", "There is no file 'nowhere.toml'"),
    ],
)
def test_an_unknown_source_is_named(source: str, sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        load_spec(source)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("trials = = 3", "is not valid TOML"),
        ("extends = 3", "must be a preset's name or a file's"),
        ('extends = "mine.toml"', "extends itself"),
        ("trials = 3", "name is missing"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        load_spec(write(tmp_path, text))
