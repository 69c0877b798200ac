"""The data sets: tensors in memory, from their original files, split once and for all."""

from sparallel.data.source import DataSource
from sparallel.registry import Registry

DATA_SETS: Registry[DataSource] = Registry(
    "data set",
    {
        "mnist": "sparallel.data.mnist:MNIST",
        "fashion-mnist": "sparallel.data.fashion_mnist:FASHION_MNIST",
        "cifar-10": "sparallel.data.cifar10:CIFAR_10",
        "mnist-5k": "sparallel.data.mnist_5k:MNIST_5K",
    },
    needs=("load", "train_size", "shape"),
)
