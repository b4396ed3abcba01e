"""Workers that take too long to start for a short budget."""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
from scipy.stats import randint
from sklearn.tree import DecisionTreeRegressor

from cvst import RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV
from cvst.exceptions import FallbackWarning
from cvst.parallel import run_chunks, wake_workers

GRID = {"max_depth": [1, 2, 4, 8], "min_samples_leaf": [1, 3, 10]}
DRAWN = {"max_depth": randint(1, 20), "min_samples_leaf": randint(1, 50)}

SEARCHES = {
    "grid": lambda **k: RaceGridSearchCV(DecisionTreeRegressor(), GRID, **k),
    "paper": lambda **k: RaceGridSearchCV(
        DecisionTreeRegressor(), GRID, strategy="cvst", **k
    ),
    "random": lambda **k: RaceRandomSearchCV(
        DecisionTreeRegressor(), DRAWN, n_iter=12, **k
    ),
    "proposals": lambda **k: RaceSearchCV(DecisionTreeRegressor(), DRAWN, **k),
}


def sleep_long():
    """Begin a worker as on a machine that is busy with other things."""
    time.sleep(600)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    return X, X[:, 0] + rng.normal(scale=0.5, size=300)


def of_workers(said):
    """Leave out what a busy machine adds: that the budget is short."""
    return [one for one in said if "no worker process had started" in str(one.message)]


@pytest.mark.parametrize("kind", SEARCHES)
def test_a_budget_is_not_refused_because_workers_do_not_start(kind, rows):
    """One process is enough for something useful, and one warning says so."""
    search = SEARCHES[kind](time_budget=3, n_jobs=2, random_state=0)
    with (
        joblib.parallel_config("loky", initializer=sleep_long),
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        search.fit(*rows)
    told = of_workers(said)
    assert [one.category for one in told] == [FallbackWarning]
    assert told[0].filename == __file__
    assert search.predict(rows[0]).shape == (300,)


@pytest.mark.parametrize("kind", SEARCHES)
def test_a_budget_that_was_over_before_the_race_is_not_refused(kind, rows, monkeypatch):
    """A machine that stands still while workers start does not make a race too long."""
    lost = []

    def stand_still(options, setup, started):
        lost.append(4.0)
        return setup

    monkeypatch.setattr("cvst.search._base.with_workers", stand_still)
    monkeypatch.setattr(
        "cvst.search._base.BaseRaceSearch._clock",
        staticmethod(lambda: time.perf_counter() + sum(lost)),
    )
    search = SEARCHES[kind](time_budget=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(*rows)
    assert search.predict(rows[0]).shape == (300,)


def test_a_plan_waits_for_workers_no_longer_than_a_fit(rows):
    """Without them it is that of one process, and the same warning says so."""
    search = SEARCHES["grid"](time_budget=3, n_jobs=2, random_state=0)
    with (
        joblib.parallel_config("loky", initializer=sleep_long),
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        plan = search.plan(*rows)
    assert [one.category for one in of_workers(said)] == [FallbackWarning]
    assert plan.n_configurations > 1


class Signed(DecisionTreeRegressor):
    """Leaves the number of its process in a folder."""

    def __init__(self, folder="", max_depth=None, random_state=None):
        super().__init__(max_depth=max_depth, random_state=random_state)
        self.folder = folder

    def fit(self, X, y):
        """Sign, and fit."""
        (Path(self.folder) / str(os.getpid())).touch()
        return super().fit(X, y)


def test_workers_that_start_are_used_and_nothing_is_said(rows, tmp_path):
    model, depths = Signed(str(tmp_path)), {"max_depth": [1, 2, 4, 8]}
    search = RaceGridSearchCV(model, depths, time_budget=600, n_jobs=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        search.fit(*rows)
    assert {int(one.name) for one in tmp_path.iterdir()} - {os.getpid()}


def nothing():
    """Do nothing."""


def fail():
    """Begin badly."""
    raise ValueError("not today")


def test_workers_are_waited_for_no_longer_than_allowed():
    with joblib.parallel_config("loky", initializer=sleep_long):
        assert not wake_workers(nothing, 2, "processes", 0.2)
    assert wake_workers(nothing, 2, "processes", 600)
    # The next ones are not those that were given up.
    assert list(run_chunks(len, [[[0]], [[1]]], 2, "processes")) == [1, 1]


@pytest.mark.parametrize(("n_jobs", "prefer"), [(1, "processes"), (2, "threads")])
def test_workers_that_need_no_start_are_ready(n_jobs, prefer):
    assert wake_workers(nothing, n_jobs, prefer, 0.0)


@pytest.mark.filterwarnings("ignore:.*worker stopped")
def test_workers_that_cannot_start_are_told_by_their_first_chunk():
    """To wait for them would be no use, and the error is known there."""
    with joblib.parallel_config("loky", initializer=fail):
        assert wake_workers(nothing, 2, "processes", 600)
