"""Fashion-MNIST: 70,000 pictures of clothes (Xiao, Rasul, Vollgraf)."""

from sparallel.data.idx import idx_files, read_idx
from sparallel.data.source import DataSource

FASHION_MNIST = DataSource(
    name="fashion-mnist",
    shape=(1, 28, 28),
    classes=10,
    original_train_size=60_000,
    test_size=10_000,
    channels_apart=False,
    files=idx_files(
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        {
            "train-images-idx3-ubyte.gz": (
                "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"
            ),
            "train-labels-idx1-ubyte.gz": (
                "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"
            ),
            "t10k-images-idx3-ubyte.gz": (
                "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"
            ),
            "t10k-labels-idx1-ubyte.gz": (
                "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"
            ),
        },
    ),
    read=read_idx,
)
