"""MNIST: 70,000 handwritten digits (LeCun, Cortes, Burges)."""

from sparallel.data.idx import idx_files, read_idx
from sparallel.data.source import DataSource

MNIST = DataSource(
    name="mnist",
    shape=(1, 28, 28),
    classes=10,
    original_train_size=60_000,
    test_size=10_000,
    channels_apart=False,
    files=idx_files(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        {
            "train-images-idx3-ubyte.gz": (
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
            ),
            "train-labels-idx1-ubyte.gz": (
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"
            ),
            "t10k-images-idx3-ubyte.gz": (
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
            ),
            "t10k-labels-idx1-ubyte.gz": (
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
            ),
        },
    ),
    read=read_idx,
)
