"""A look on its way to another process."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from cvst.evaluation import OneByOne, Scratch
from cvst.evaluation._keeping import Listener
from cvst.evaluation._work import Work
from cvst.race import Look

N = 20_000
ROWS = np.random.default_rng(0).permutation(N)
TEST = np.sort(ROWS[: N // 5])
TRAIN = np.sort(ROWS[N // 5 :])


def sent(train, test):
    """Return a look as another process gets it, and the bytes that it took."""
    look = Look(train, test, len(ROWS[train]), np.arange(3), is_fold=True)
    work = Work(
        OneByOne(), None, None, None, {}, look, {0: {}}, None, Scratch(), False, None,
        Listener(), None,
    )  # fmt: skip
    content = pickle.dumps(work)
    return pickle.loads(content).look, len(content)


def assert_same_rows(one, other):
    """Compare rows, slices and types."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("train", "test"),
    [
        (TRAIN, TEST),
        (TRAIN, TEST[::-1].copy()),
        (TRAIN[::-1].copy(), TEST),
        (TRAIN[:100], TEST),
        (TRAIN, TEST[:100]),
        (TRAIN, TEST[:0]),
        (np.repeat(TRAIN, 2), TEST),
        (TRAIN.astype(np.int32), TEST),
        (TRAIN, TEST.astype(np.int32)),
        (np.arange(5), np.arange(5, 9) + 100),
        (slice(0, 100), slice(100, 200)),
        (slice(0, 100), TEST),
    ],
)
def test_rows_of_a_look_arrive_as_they_were(train, test):
    look, _ = sent(train, test)
    for arrived, given in ((look.train, train), (look.test, test)):
        if isinstance(given, slice):
            assert arrived == given
        else:
            assert_same_rows(arrived, given)


def test_a_fold_travels_as_its_test_rows():
    """Two bytes for each of them instead of eight for each row of the race."""
    _, n_bytes = sent(TRAIN, TEST)
    assert n_bytes < 2 * len(TEST) + 2000
