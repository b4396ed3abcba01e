"""Races for clusters: small, with fits that die or wait on purpose."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV

# Long enough for any machine; nothing waits that long unless a test fails.
PATIENCE = 300.0


def at_path(flag: str) -> Path:
    """Return the folder or file of a test, by its name."""
    return Path(flag)


class Mortal(DecisionTreeClassifier):
    """A tree. The first fit of all ends its process; the next ones do not."""

    def __init__(self, max_depth=None, min_samples_leaf=1, random_state=None, flag=""):
        super().__init__(
            max_depth=max_depth,
            min_samples_leaf=min_samples_leaf,
            random_state=random_state,
        )
        self.flag = flag

    def fit(self, X, y):
        if self.flag:
            try:
                os.close(os.open(self.flag, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return super().fit(X, y)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


class Patient(Mortal):
    """A tree whose fits wait until two processes have begun one."""

    def fit(self, X, y):
        folder = at_path(self.flag)
        (folder / str(os.getpid())).touch()
        end = time.monotonic() + PATIENCE
        while len(list(folder.iterdir())) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        return DecisionTreeClassifier.fit(self, X, y)


@pytest.fixture(scope="session")
def trees():
    """Return the odd trees by name, ready to travel to any process."""
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    return {"mortal": Mortal, "patient": Patient}


@pytest.fixture(scope="session")
def rows():
    """Return inputs and targets."""
    return make_classification(600, 6, n_informative=4, flip_y=0.1, random_state=0)


GRID = {"max_depth": [1, 2, 3, 5, 8], "min_samples_leaf": [1, 10]}


@pytest.fixture(scope="session")
def race_of():
    """Return a function that makes a race of an estimator."""

    def make(estimator, grid=None, **options):
        return RaceGridSearchCV(estimator, grid or GRID, random_state=0, **options)

    return make


@pytest.fixture(scope="session")
def serial(rows, race_of):
    """Return the race of plain trees in this process."""
    return race_of(DecisionTreeClassifier()).fit(*rows)


@pytest.fixture(scope="session")
def assert_same():
    """Return a function that compares two searches to the last bit."""

    def compare(one, other):
        assert one.best_index_ == other.best_index_
        assert set(one.cv_results_) == set(other.cv_results_)
        for name, values in one.cv_results_.items():
            others = other.cv_results_[name]
            if name.endswith("_time") or name in ("params", "param_flag"):
                continue
            if np.asarray(values).dtype.kind == "f":
                np.testing.assert_array_equal(values, others, err_msg=name)
            else:
                assert list(map(str, values)) == list(map(str, others)), name

    return compare
