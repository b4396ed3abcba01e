"""Races with options of the searches: looks, refit, rescaling, workers, odd grids."""

from __future__ import annotations

from typing import Any

import numpy as np
from problems import blobs, lines, wave
from race_definition import Race, each_strategy, grid_race, quick
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["OPTIONS"]

DEPTHS = {"max_depth": [1, 2, 4, 8], "min_samples_leaf": [1, 5, 20]}
COSTS = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}


def simplest(results: dict[str, Any]) -> int:
    return int(np.argmin(results["param_max_depth"]))


def last(results: dict[str, Any]) -> int:
    return len(results["params"]) - 1


def beyond(results: dict[str, Any]) -> int:
    return len(results["params"])


def half(results: dict[str, Any]) -> float:
    return len(results["params"]) / 2


def halved(params: dict[str, Any], n_train: int, n_samples: int) -> dict[str, Any]:
    return {"alpha": params["alpha"] * n_train / n_samples}


def _ends() -> list[Race]:
    tree, data = DecisionTreeRegressor(), wave()
    return [
        *(race for n_looks in (1, 2, 4)
          for race in each_strategy(f"max_looks/{n_looks}", tree, DEPTHS, data,
              max_looks=n_looks)),
        *(grid_race(f"refit/{choose.__name__}", tree, DEPTHS, data, refit=choose,
            strategy=quick()) for choose in (simplest, last, beyond, half)),
        grid_race("refit/not", tree, DEPTHS, data, refit=False, strategy="cvst"),
        grid_race("refit/unseeded", RandomForestClassifier(5),
            {"max_depth": [1, 3]}, blobs(), random_state=3, strategy="cvst"),
        *each_strategy("pointwise/numbers", tree, DEPTHS, data, return_pointwise=True),
        *each_strategy("pointwise/classes", DecisionTreeClassifier(), DEPTHS, blobs(),
            return_pointwise=True),
        grid_race("pointwise/weights", tree, DEPTHS, data, return_pointwise=True,
            fit={"sample_weight": np.arange(300) % 3}, strategy="cvst"),
        grid_race("pointwise/held_out", tree, DEPTHS, data, return_pointwise=True,
            fit=dict(zip(("X_val", "y_val"), wave(50, seed=8), strict=True)),
            strategy="cvst"),
        grid_race("unused/both", tree, DEPTHS, data, pre_dispatch=2,
            return_train_score=True, strategy="cvst"),
        grid_race("unused/one", tree, DEPTHS, data, pre_dispatch="n_jobs",
            strategy="cvst"),
    ]  # fmt: skip


def _scales() -> list[Race]:
    ridge, grid = KernelRidge(kernel="rbf", gamma=1.0), {"alpha": [0.001, 0.1, 10.0]}
    machine = {"C": [0.1, 1.0, 30.0]}
    return [
        grid_race("rescale/none", ridge, grid, wave(), rescale=None, strategy="cvst"),
        grid_race("rescale/dict", ridge, grid, wave(), rescale={"alpha": 0.5},
            strategy="cvst"),
        grid_race("rescale/callable", ridge, grid, wave(), rescale=halved,
            strategy="cvst"),
        grid_race("rescale/track", ridge, grid, wave(), rescale={"alpha": 1.0},
            strategy=quick(few=0)),
        grid_race("rescale/svm", SVC(), machine, blobs(), strategy="cvst",
            rescale={"C": -1.0}),
        grid_race("rescale/svr_none", SVR(), machine, wave(200), strategy="cvst",
            rescale=None),
        grid_race("rescale/logistic", LogisticRegression(), machine, blobs(),
            strategy="cvst"),
    ]  # fmt: skip


def _grids() -> list[Race]:
    tree, data = DecisionTreeRegressor(), wave()
    several = [
        {"max_depth": [1, 2, 4], "criterion": ["squared_error"]},
        {"min_samples_leaf": [1, 5, 20]},
        {"max_depth": [3], "splitter": ["random", "best"]},
    ]
    twice = {"max_depth": [2, 2, 4, 4, 8, 8], "min_samples_leaf": [1, 1, 5]}
    inner = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=3)
    return [
        *each_strategy("grid/several", tree, several, data),
        *each_strategy("grid/twice", tree, twice, data),
        *each_strategy("grid/twice_shared", KNeighborsClassifier(),
            {"n_neighbors": [1, 3, 3, 1, 8]}, blobs()),
        *each_strategy("grid/one", tree, {"max_depth": [3]}, data),
        *each_strategy("grid/two", tree, {"max_depth": [1, 5]}, data),
        grid_race("grid/empty_dict", tree, {}, data),
        grid_race("grid/same_results", tree, {"max_depth": [30, 40, 50, 60]}, data,
            strategy="cvst"),
        grid_race("grid/numpy", tree, {"max_depth": np.arange(1, 9)}, data,
            strategy="cvst"),
        grid_race("grid/mixed", tree, {"max_features": [1, 0.5, "sqrt", None]}, data,
            strategy="cvst"),
        grid_race("grid/flags", LogisticRegression(),
            {"fit_intercept": [True, False], "C": [0.01, 1.0]}, blobs(),
            strategy=quick(few=0)),
        grid_race("grid/inner_search", inner,
            {"estimator__fit_intercept": [True, False]}, lines(), strategy="cvst"),
        grid_race("grid/large", tree,
            {"max_depth": range(1, 13), "min_samples_leaf": range(1, 13)}, data,
            strategy=quick(max_survivors=10)),
        grid_race("grid/large_cvst", KNeighborsClassifier(),
            {"n_neighbors": list(range(1, 81))}, blobs(400), strategy="cvst"),
    ]  # fmt: skip


def _workers() -> list[Race]:
    data = wave()
    return [
        *each_strategy("workers/trees", DecisionTreeRegressor(), DEPTHS, data,
            n_jobs=2),
        grid_race("workers/svm", SVC(), COSTS, blobs(), n_jobs=2, strategy="cvst"),
        grid_race("workers/kernel_ridge", KernelRidge(kernel="rbf"),
            {"alpha": [0.01, 1.0], "gamma": [0.1, 1.0]}, data, n_jobs=2,
            strategy="cvst"),
        grid_race("workers/forest", RandomForestClassifier(),
            {"n_estimators": [2, 5], "max_features": [1, 2]}, blobs(200), n_jobs=2,
            strategy=quick(few=0)),
        grid_race("workers/failing", SVR(), {"C": [-1.0, 1.0, 10.0]}, data, n_jobs=2,
            strategy="cvst"),
        grid_race("workers/pointwise", DecisionTreeRegressor(), DEPTHS, data, n_jobs=2,
            return_pointwise=True, strategy="cvst"),
    ]  # fmt: skip


OPTIONS = [*_ends(), *_scales(), *_grids(), *_workers()]
