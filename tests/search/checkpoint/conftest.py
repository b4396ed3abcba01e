"""A learner that tells of its fits, and results in a form that compares exactly."""

from __future__ import annotations

import shutil
from dataclasses import fields

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from cvst.race.machinery import BitTable
from cvst.search.checkpoint import _pace

TIMES = {"seconds", "elapsed", "fit_seconds", "score_seconds"}


class Told(DecisionTreeRegressor):
    """A tree whose fits are heard of; leaves of seven rows are refused."""

    heard = None

    def fit(self, X, y, sample_weight=None):
        if Told.heard is not None:
            Told.heard()
        if self.min_samples_leaf == 7:
            raise ValueError("seven")
        return super().fit(X, y, sample_weight)


class Fits:
    """Counts fits, and can do something at some of them."""

    def __init__(self):
        self.count = 0
        self.at = {}

    def __call__(self):
        self.count += 1
        if self.count in self.at:
            self.at[self.count]()


@pytest.fixture
def fits(monkeypatch):
    heard = Fits()
    monkeypatch.setattr(Told, "heard", heard)
    return heard


@pytest.fixture(autouse=True)
def _every_group_is_saved(monkeypatch):
    """Trees on a few rows take less time than a disk."""
    monkeypatch.setattr(_pace, "SHARE", np.inf)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(scale=0.5, size=240)


def exact(value):
    """Return a value in a form that compares to the last bit."""
    if isinstance(value, BitTable):
        return exact(np.asarray(value))
    if isinstance(value, np.ma.MaskedArray):
        return exact(value.filled(0)), exact(value.mask)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.ndarray | list | tuple):
        return [exact(one) for one in value]
    if isinstance(value, dict):
        return {str(key): exact(one) for key, one in value.items()}
    return repr(value)


def exact_looks(state):
    """Return the looks of a race without their times."""
    looks = []
    for seen in state.observations:
        values = {one.name: getattr(seen, one.name) for one in fields(seen)}
        look = values.pop("look")
        values |= {f"look {one.name}": getattr(look, one.name) for one in fields(look)}
        looks.append({k: exact(v) for k, v in values.items() if k not in TIMES})
    return looks


def exact_result(search, X):
    """Return all of a fitted search that must not depend on breaks."""
    results = search.cv_results_
    return {
        "results": {k: exact(v) for k, v in results.items() if "_time" not in k},
        "looks": exact_looks(search.race_),
        "configurations": exact(list(search.race_.configurations)),
        "winner": exact([search.best_index_, search.best_params_, search.best_score_]),
        "survivors": exact(search.surviving_params_),
        "reason": search.stop_reason_,
        "predictions": exact(search.predict(X)),
        "pointwise": exact(getattr(search, "pointwise_losses_", [])),
    }


@pytest.fixture
def snapshots(fits, tmp_path):
    """Return a function that keeps what is on disk when a fit begins."""

    def take(path, at):
        taken = {}
        for number in at:
            copy = tmp_path / f"{path.name}.{number}"

            def save(copy=copy, number=number):
                shutil.copy(path, copy)
                taken[number] = copy

            fits.at[number] = save
        return taken

    return take
