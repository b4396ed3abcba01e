"""One small search for every evaluator, search and strategy, and digests of results.

The tests run it in their own process; as a script it runs in another one, with another
hash seed, other workers or without a compiler, and prints what came out:

    python tests/search/same_result.py 2
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from dataclasses import fields
from importlib.util import find_spec

import numpy as np
from scipy.stats import randint
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LogisticRegression, Ridge, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

from cvst import (
    CVST,
    CrossValidation,
    RaceGridSearchCV,
    RaceRandomSearchCV,
    RaceSearchCV,
    TrackAndConfirm,
)
from cvst.learners import KernelLogisticRegression
from cvst.race.machinery import BitTable

TIMES = {"seconds", "elapsed", "fit_seconds", "score_seconds"}

PAPER = CVST(max_steps=7)
TRACK = TrackAndConfirm(min_rows=20, direct_below=0, n_folds=2, final_folds=2)
FOLDS = CrossValidation(2)
PENALTIES = [0.01, 1.0, 100.0]

# Estimator, grid and strategy, by what is shown with them; classifiers get classes.
GRIDS = {
    "one by one": (DecisionTreeRegressor(), {"max_depth": [1, 2, 4]}, TRACK),
    "kernel ridge": (
        KernelRidge(kernel="rbf"),
        {"alpha": PENALTIES, "gamma": [0.1, 1.0]},
        PAPER,
    ),
    "kernel logistic": (
        KernelLogisticRegression(),
        {"alpha": [0.01, 1.0], "gamma": [0.1, 1.0]},
        FOLDS,
    ),
    "logistic regression": (LogisticRegression(), {"C": PENALTIES}, TRACK),
    "support vectors": (SVC(), {"C": PENALTIES, "gamma": [0.1, 1.0]}, PAPER),
    "support vectors of numbers": (SVR(), {"C": PENALTIES, "gamma": [0.1]}, TRACK),
    "ridge": (Ridge(), {"alpha": PENALTIES}, TRACK),
    "lasso": (Lasso(), {"alpha": PENALTIES}, FOLDS),
    "neighbours": (
        KNeighborsClassifier(),
        {"n_neighbors": [1, 3, 9], "weights": ["uniform", "distance"]},
        PAPER,
    ),
    "forest": (
        RandomForestClassifier(),
        {"n_estimators": [2, 4], "max_depth": [1, 3]},
        TRACK,
    ),
    "bagging": (BaggingClassifier(), {"n_estimators": [2, 4]}, FOLDS),
    "boosting": (
        GradientBoostingRegressor(subsample=0.7),
        {"n_estimators": [2, 5], "max_depth": [1, 2]},
        PAPER,
    ),
    "histogram boosting": (
        HistGradientBoostingRegressor(min_samples_leaf=3),
        {"max_iter": [2, 5], "learning_rate": [0.1, 0.3]},
        TRACK,
    ),
    "adaboost": (AdaBoostRegressor(), {"n_estimators": [2, 4]}, FOLDS),
    "pipeline": (
        make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")),
        {"kernelridge__alpha": PENALTIES, "standardscaler__with_mean": [True, False]},
        FOLDS,
    ),
    "transformed target": (
        TransformedTargetRegressor(Ridge(), transformer=StandardScaler()),
        {"regressor__alpha": PENALTIES},
        PAPER,
    ),
}
if find_spec("lightgbm"):
    from lightgbm import LGBMRegressor

    model = LGBMRegressor(min_child_samples=3, n_jobs=1, verbose=-1)
    GRIDS["lightgbm"] = model, {"n_estimators": [2, 5]}, FOLDS
if find_spec("xgboost"):
    from xgboost import XGBRegressor

    GRIDS["xgboost"] = XGBRegressor(n_jobs=1), {"n_estimators": [2, 5]}, FOLDS
if find_spec("catboost"):
    from catboost import CatBoostRegressor

    model = CatBoostRegressor(thread_count=1, verbose=False, allow_writing_files=False)
    GRIDS["catboost"] = model, {"iterations": [2, 5]}, FOLDS

DRAWN = {"max_depth": randint(1, 9), "min_samples_leaf": randint(1, 20)}


def _grid(estimator, grid, strategy):
    def make(**options):
        options = {"strategy": strategy, "return_pointwise": True, **options}
        return RaceGridSearchCV(estimator, grid, random_state=0, **options)

    return make


# From options to a search.
SEARCHES = {
    **{name: _grid(*parts) for name, parts in GRIDS.items()},
    "default strategy": lambda **options: RaceGridSearchCV(
        SVC(), {"C": PENALTIES}, random_state=0, **options
    ),
    "several scores": lambda **options: RaceGridSearchCV(
        Ridge(),
        {"alpha": PENALTIES},
        scoring=["r2", "neg_mean_absolute_error"],
        refit="r2",
        random_state=0,
        **options,
    ),
    "goes on learning": lambda **options: RaceGridSearchCV(
        SGDClassifier(),
        {"alpha": [1e-4, 1e-2], "penalty": ["l1", "l2"]},
        strategy=PAPER,
        incremental=True,
        random_state=0,
        **options,
    ),
    "random": lambda **options: RaceRandomSearchCV(
        DecisionTreeRegressor(),
        DRAWN,
        n_iter=6,
        strategy=TRACK,
        random_state=0,
        **options,
    ),
    "proposals": lambda **options: RaceSearchCV(
        DecisionTreeRegressor(), DRAWN, n_iter=6, random_state=0, **options
    ),
}


def rows_for(search):
    """Return rows, and classes or numbers as the search asks for."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(scale=0.5, size=90)
    if search.estimator.__sklearn_tags__().estimator_type == "classifier":
        return X, np.digitize(y, [-0.5, 0.5])
    return X, y


def fitted(name, **options):
    """Return a search and its rows, fitted without a word."""
    search = SEARCHES[name](**options)
    X, y = rows_for(search)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return search.fit(X, y), X


def digest(search, X):
    """Return a text that differs if anything but the times differs in one bit."""
    results = {k: v for k, v in search.cv_results_.items() if "_time" not in k}
    told = [
        _plain(results),
        [_plain(vars_of(seen)) for seen in search.race_.observations],
        _plain(list(search.race_.configurations)),
        _plain([search.best_index_, search.best_score_, search.stop_reason_]),
        _plain(search.surviving_params_),
        _plain(search.predict(X)),
        _plain(getattr(search, "pointwise_losses_", [])),
    ]
    text = json.dumps(told, default=repr, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def vars_of(seen):
    """Return what an observation and its look hold, without times."""
    values = {one.name: getattr(seen, one.name) for one in fields(seen)}
    look = values.pop("look")
    values |= {f"look {one.name}": getattr(look, one.name) for one in fields(look)}
    return {name: value for name, value in values.items() if name not in TIMES}


def _plain(value):
    if isinstance(value, BitTable):
        value = np.asarray(value)
    if isinstance(value, np.ma.MaskedArray):
        return [_plain(value.filled(0)), _plain(value.mask)]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return [value.dtype.str, value.shape, value.tobytes().hex()]
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return repr(value)


def digests(**options):
    """Return the digest of each search."""
    return {name: digest(*fitted(name, **options)) for name in SEARCHES}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(digests(n_jobs=int(sys.argv[1]))))
