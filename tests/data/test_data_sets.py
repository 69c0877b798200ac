"""Every registered data set: what the protocol says of it holds of the real files."""

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from sparallel.data import DATA_SETS
from sparallel.data.dataset import DataSet
from sparallel.data.source import data_folder
from sparallel.errors import DataError

SETS = [
    pytest.param(name, marks=pytest.mark.data(name) if DATA_SETS.get(name).files else ())
    for name in DATA_SETS.names()
]

SPLITS = {  # of the validation labels: the split must never change between versions
    "mnist": "78210a7c885af705",
    "fashion-mnist": "b9e14d33cf731e95",
    "cifar-10": "312260b3cf6df579",
    "mnist-5k": "70c3c4568e597dbd",
}


def load(name: str) -> DataSet:
    return DATA_SETS.get(name).load(data_folder(None))


@pytest.mark.parametrize("name", SETS)
def test_sizes_and_types_are_as_published(name: str) -> None:
    source, data = DATA_SETS.get(name), load(name)
    assert len(data.train) == source.train_size == source.original_train_size * 9 // 10
    assert len(data.validation) == source.validation_size == source.original_train_size // 10
    assert len(data.test) == source.test_size
    for part in (data.train, data.validation, data.test):
        assert part.images.dtype == np.uint8
        assert part.images.shape[1:] == (*source.shape[1:], source.shape[0])
        assert set(np.unique(part.labels)) == set(range(source.classes))


@pytest.mark.parametrize("name", SETS)
def test_original_training_images_normalise_to_mean_0_and_deviation_1(name: str) -> None:
    source, data = DATA_SETS.get(name), load(name)
    assert len(data.mean) == (source.shape[0] if source.channels_apart else 1)
    images = np.concatenate([data.train.images, data.validation.images])[::5] / np.float32(255)
    normal = (images - data.mean) / data.std
    assert abs(normal.mean()) < 0.01
    assert abs(normal.std() - 1) < 0.01


@pytest.mark.parametrize("name", SETS)
def test_the_split_never_changes(name: str) -> None:
    labels = load(name).validation.labels
    assert hashlib.sha256(labels.tobytes()).hexdigest()[:16] == SPLITS[name]


def test_no_validation_image_is_trained_on() -> None:
    data = load("mnist-5k")
    train = {image.tobytes() for image in data.train.images}
    assert not any(image.tobytes() in train for image in data.validation.images)
    assert not any(image.tobytes() in train for image in data.test.images)


@pytest.fixture
def copy_of_mnist(tmp_path: Path) -> Path:
    shutil.copytree(data_folder(None) / "mnist", tmp_path / "mnist")
    for path in (tmp_path / "mnist").iterdir():
        path.chmod(0o644)
    return tmp_path


@pytest.mark.data("mnist")
def test_a_truncated_file_is_named_with_both_checksums(copy_of_mnist: Path) -> None:
    path = copy_of_mnist / "mnist" / "train-images-idx3-ubyte.gz"
    path.write_bytes(path.read_bytes()[:1000])
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(DataError) as error:
        DATA_SETS.get("mnist").load(copy_of_mnist)
    assert str(path) in str(error.value)
    assert found in str(error.value)
    assert DATA_SETS.get("mnist").files[0].sha256 in str(error.value)


@pytest.mark.data("mnist")
def test_a_missing_file_is_named_with_the_command_that_fetches_it(copy_of_mnist: Path) -> None:
    path = copy_of_mnist / "mnist" / "t10k-labels-idx1-ubyte.gz"
    path.unlink()
    with pytest.raises(DataError, match="sparallel data fetch mnist") as error:
        DATA_SETS.get("mnist").load(copy_of_mnist)
    assert str(path) in str(error.value)
