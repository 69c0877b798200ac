"""The data order: without replacement, reshuffled, and a function of position alone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sparallel.training.order import DataOrder


@given(st.integers(1, 50), st.integers(0, 3), st.lists(st.integers(1, 120), max_size=6))
def test_any_cut_of_the_walk_gives_the_same_walk(n: int, seed: int, counts: list[int]) -> None:
    whole = DataOrder(n, seed).indices(0, sum(counts) + 1)
    start = 0
    for count in counts:
        piece = DataOrder(n, seed).indices(start, count)
        assert (piece == whole[start : start + count]).all()
        start += count


def test_an_epoch_sees_every_example_once_in_its_own_order() -> None:
    walk = DataOrder(100, 0).indices(0, 300).reshape(3, 100)
    assert (np.sort(walk, axis=1) == np.arange(100)).all()
    assert len({row.tobytes() for row in walk}) == 3


def test_the_seed_moves_the_order() -> None:
    assert (DataOrder(100, 0).indices(0, 100) != DataOrder(100, 1).indices(0, 100)).any()
