"""Whole searches against runs of the authors' R package, fits included."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import NuSVR

from cvst import CVST, RaceGridSearchCV
from cvst.learners import KernelLogisticRegression

RUNS = Path(__file__).parent.parent / "reference" / "runs"


def load(path):
    with gzip.open(path) as file:
        return json.load(file)


def runs():
    """Return all runs but those of nu-SVC, whose labels depend on the solver."""
    return [path for path in sorted(RUNS.glob("*.json.gz")) if "nusvc" not in path.name]


def expected_result(run):
    kinds = ["result_mse_order"] if run["setup"]["outlier_similarity"] else ["result"]
    kinds = [f"{kinds[0]}_exact_permutation", *kinds]
    return next(run[kind] for kind in kinds if kind in run)


def search_for(run):
    """Return the search that the run stands for: lambda is alpha / N, R's C is C N."""
    grid, n_samples = run["grid"], run["N"]
    if run["learner"] == "krr":
        estimator, name = KernelRidge(kernel="rbf"), "alpha"
    elif run["learner"] == "klr":
        estimator = KernelLogisticRegression(
            kernel="rbf", tol=grid["tol"], max_iter=grid["maxiter"]
        )
        name = "alpha"
    else:
        estimator = NuSVR(C=grid["C"] / n_samples)
        name = "nu"
    values = grid["nu"] if name == "nu" else n_samples * np.array(grid["lambda"])
    configurations = [
        {"gamma": [gamma], name: [value]}
        for gamma, value in zip(grid["gamma"], values, strict=True)
    ]
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
    return RaceGridSearchCV(
        estimator, configurations, strategy=strategy, ordering="given", refit=False
    )


def inputs_of(part):
    X = np.array(part["x"], dtype=float)
    return X.reshape(len(part["y"]), -1), np.array(part["y"])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Singular matrix")
@pytest.mark.parametrize("path", runs(), ids=lambda path: path.name[:-8])
def test_search_repeats_the_run_of_the_r_package(path):
    """Traces, drops, last step and winner are those of R with exact p-values."""
    run = load(path)
    expected = expected_result(run)
    X, y = inputs_of(run["train"])
    if run["test"]:
        X_val, y_val = inputs_of(run["test"])
        search = search_for(run).fit(X, y, X_val=X_val, y_val=y_val)
    else:
        search = search_for(run).fit(X, y)

    state = search.race_
    assert search.n_steps_ == expected["steps_run"]
    sizes = expected["model_sizes"][: search.n_steps_]
    assert state.subset_sizes.tolist() == sizes
    for step in range(search.n_steps_):
        traces = "".join(str(int(top)) for top in state.traces[:, step])
        assert traces == expected["traces"][step]
        means = np.array(expected["mean_error"][step], dtype=float)
        rtol = 5e-3 if run["learner"] == "nusvr" else 1e-6
        np.testing.assert_allclose(state.mean_losses[:, step], means, rtol=rtol)
    active = "".join(str(int(mark)) for mark in state.active)
    assert active == expected["active_after"][-1]
    stopped_early = search.stop_reason_ == "similar_performance"
    assert stopped_early == expected["stopped_early"]
    assert search.best_index_ in expected["tied_winners"]
