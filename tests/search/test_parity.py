"""Whole searches against runs of the authors' R package.

Fits are included for kernel ridge regression only, whose solver is direct. The runs of
the other classifiers are repeated from their stored errors, those of nu-SVR in the
tests of the race.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, is_regressor
from sklearn.kernel_ridge import KernelRidge

from cvst import CVST, RaceGridSearchCV

RUNS = Path(__file__).parent.parent / "reference" / "runs"


class Remembered(ClassifierMixin, BaseEstimator):
    """A model of the R package, known by its stored errors.

    The only feature is the number of the row.
    """

    def __init__(self, run=None, configuration=0):
        self.run = run
        self.configuration = configuration

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.n_train_ = len(X)
        return self

    def predict(self, X):
        rows = X[:, 0].astype(int)
        errors = self.run.errors(self.n_train_, self.configuration)
        return np.abs(self.run.labels[rows] - errors[rows - self.n_train_])


class StoredRun:
    """Labels and errors of a run, shared by all clones."""

    def __init__(self, run):
        self.labels = np.array(run["train"]["y"])
        sizes = run["result"]["model_sizes"]
        self.steps = dict(zip(sizes, run["pointwise_errors"], strict=False))

    def __deepcopy__(self, memo):
        return self

    def errors(self, n_train, configuration):
        return np.array([int(digit) for digit in self.steps[n_train][configuration]])


def load(path):
    with gzip.open(path) as file:
        return json.load(file)


def runs(learners):
    paths = sorted(RUNS.glob("*.json.gz"))
    return [path for path in paths if path.name.startswith(learners)]


def expected_result(run):
    kinds = ["result_mse_order"] if run["setup"]["outlier_similarity"] else ["result"]
    kinds = [f"{kinds[0]}_exact_permutation", *kinds]
    return next(run[kind] for kind in kinds if kind in run)


def ridge_search(run):
    """Return the search that the run stands for, with fits: lambda is alpha / N."""
    grid = run["grid"]
    alphas = run["N"] * np.array(grid["lambda"])
    configurations = [
        {"gamma": [gamma], "alpha": [alpha]}
        for gamma, alpha in zip(grid["gamma"], alphas, strict=True)
    ]
    return search_for(run, KernelRidge(kernel="rbf"), configurations)


def remembered_search(run):
    """Return the search that the run stands for, on its stored errors."""
    grid = {"configuration": range(run["n_configs"])}
    return search_for(run, Remembered(StoredRun(run)), grid)


def search_for(run, estimator, grid):
    setup = run["setup"]
    strategy = CVST(
        max_steps=setup["steps"],
        stopping_window=setup["early_stopping_window"],
        similarity_level=setup["similarity_significance"],
        stopping_level=setup["early_stopping_significance"],
        loser_level=setup["beta"],
        winner_level=setup["alpha"],
        similarity="outliers" if setup["outlier_similarity"] else "auto",
    )
    # R compares the squared errors of numbers as they are.
    scoring = "neg_mean_squared_error" if is_regressor(estimator) else None
    return RaceGridSearchCV(
        estimator,
        grid,
        scoring=scoring,
        strategy=strategy,
        ordering="given",
        refit=False,
    )


def inputs_of(part):
    X = np.array(part["x"], dtype=float)
    return X.reshape(len(part["y"]), -1), np.array(part["y"])


def assert_same_race(search, expected):
    """Traces, drops, last step and winner are those of R with exact p-values."""
    state = search.race_
    assert search.n_looks_ == expected["steps_run"]
    sizes = expected["model_sizes"][: search.n_looks_]
    assert state.subset_sizes.tolist() == sizes
    for step in range(search.n_looks_):
        traces = "".join(str(int(top)) for top in state.traces[:, step])
        assert traces == expected["traces"][step]
        means = np.array(expected["mean_error"][step], dtype=float)
        np.testing.assert_allclose(state.mean_losses[:, step], means, rtol=1e-7)
    active = "".join(str(int(mark)) for mark in state.active)
    assert active == expected["active_after"][-1]
    stopped_early = search.stop_reason_ == "similar_performance"
    assert stopped_early == expected["stopped_early"]
    assert search.best_index_ in expected["tied_winners"]


@pytest.mark.parametrize("path", runs("krr"), ids=lambda path: path.name[:-8])
def test_search_with_ridge_repeats_the_run_of_the_r_package(path):
    """A direct solver is exact enough for that; the others are not.

    Rounding may turn a few ranks, but no p-value is within 4 % of its level.
    """
    run = load(path)
    margins = np.array(expected_result(run)["log10_margin"], dtype=float)
    assert np.nanmin(np.abs(margins)) > np.log10(1.04)
    X, y = inputs_of(run["train"])
    search = ridge_search(run)
    if run["test"]:
        X_val, y_val = inputs_of(run["test"])
        search.fit(X, y, X_val=X_val, y_val=y_val)
    else:
        search.fit(X, y)

    assert_same_race(search, expected_result(run))


@pytest.mark.parametrize(
    "path", runs(("klr", "nusvc")), ids=lambda path: path.name[:-8]
)
def test_search_on_stored_errors_repeats_the_run_of_the_r_package(path):
    """No fits: the labels of these learners depend on where their solvers stop."""
    run = load(path)
    _, y = inputs_of(run["train"])

    search = remembered_search(run).fit(np.arange(len(y))[:, np.newaxis], y)

    assert_same_race(search, expected_result(run))
