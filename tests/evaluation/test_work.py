"""A look on its way to another process."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.svm import SVC

from cvst.evaluation import OneByOne, Scratch
from cvst.evaluation._keeping import Listener
from cvst.evaluation._rows import RaceData
from cvst.evaluation._work import Work
from cvst.evaluation.losses import resolve_loss
from cvst.evaluation.svm._evaluator import SvmEvaluator
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


def test_workers_keep_distances_with_the_rows():
    """The next look of the race finds them; what belongs to a look goes with it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    model, grid = SVC(), {0: {"C": 1.0, "gamma": 0.5}, 1: {"C": 2.0, "gamma": 0.5}}
    data = pickle.loads(pickle.dumps(RaceData(X=X, y=y, n_samples=60)))
    assert not data.scratch.nests
    found = []
    for test in (np.arange(20), np.arange(20, 40)):
        look = Look(np.setdiff1d(np.arange(60), test), test, 40, np.arange(2))
        work = Work(
            SvmEvaluator(), model, None, resolve_loss("accuracy", model, y), {}, look,
            grid, np.unique(y), Scratch(), False, None, Listener(), None,
        )  # fmt: skip
        travelled = pickle.loads(pickle.dumps(work))
        there, here = travelled([[0, 1]], data), work([[0, 1]], data)
        for one, other in zip(there, here, strict=True):
            np.testing.assert_array_equal(one.losses, other.losses)
        scratch = travelled.task("predict", data).race_rows.scratch
        assert travelled.task("predict", data).race_rows.scratch is scratch
        kind = ("pairs of rows", "squared libsvm")
        found.append((scratch, scratch.get(kind, lambda: None, for_race=True)))
    assert found[0][0] is not found[1][0]
    assert found[0][1] is found[1][1] is not None
    assert data.scratch.get(("race", None, 1.0), lambda: None) is not None
