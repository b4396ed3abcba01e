"""The models of everyday tuning: an estimator as people write it, and its space.

Spaces are scipy distributions and lists. Integers on a log scale are a
``LogIntegers``: a list for those who only know lists, with its ends for the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from scipy.stats import loguniform, randint, uniform
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectPercentile, f_classif, f_regression
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    OneHotEncoder,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from xgboost import XGBClassifier, XGBRegressor

__all__ = ["KINDS", "OWN_PREPARATION", "LogIntegers", "Space", "model"]

Space = dict[str, Any]


class LogIntegers(list):
    """Integers from low to high, about evenly spaced on a log scale.

    Parameters
    ----------
    low, high : int
        The ends, both included.
    """

    def __init__(self, low: int, high: int) -> None:
        steps = np.geomspace(low, high, 40).round().astype(int)
        super().__init__(int(value) for value in np.unique(steps))
        self.low, self.high = low, high


def _between(low: float, high: float) -> Any:
    return uniform(low, high - low)


def _lightgbm(classes: bool, **settings: Any) -> tuple[Any, Space]:
    chosen = LGBMClassifier if classes else LGBMRegressor
    settings = {"subsample_freq": 1, "verbose": -1, **settings}
    return chosen(n_jobs=1, random_state=0, **settings), {
        "n_estimators": LogIntegers(20, 600),
        "learning_rate": loguniform(0.01, 0.5),
        "num_leaves": LogIntegers(4, 128),
        "min_child_samples": LogIntegers(2, 100),
        "colsample_bytree": _between(0.3, 1),
        "subsample": _between(0.4, 1),
        "reg_lambda": loguniform(1e-3, 100),
    }


def _xgboost(classes: bool, **settings: Any) -> tuple[Any, Space]:
    chosen = XGBClassifier if classes else XGBRegressor
    return chosen(n_jobs=1, random_state=0, **settings), {
        "n_estimators": LogIntegers(20, 600),
        "learning_rate": loguniform(0.01, 0.5),
        "max_depth": randint(2, 11),
        "min_child_weight": loguniform(0.5, 50),
        "colsample_bytree": _between(0.3, 1),
        "subsample": _between(0.4, 1),
        "reg_lambda": loguniform(1e-3, 100),
    }


def _hist(classes: bool, **settings: Any) -> tuple[Any, Space]:
    chosen = (
        HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    )
    return chosen(early_stopping=False, random_state=0, **settings), {
        "max_iter": LogIntegers(20, 600),
        "learning_rate": loguniform(0.01, 0.5),
        "max_leaf_nodes": LogIntegers(4, 128),
        "min_samples_leaf": LogIntegers(2, 100),
        "max_features": _between(0.3, 1),
        "l2_regularization": loguniform(1e-4, 100),
    }


def _forest(classes: bool, **settings: Any) -> tuple[Any, Space]:
    chosen = RandomForestClassifier if classes else RandomForestRegressor
    if settings.pop("extra", False):
        chosen = ExtraTreesClassifier if classes else ExtraTreesRegressor
    space: Space = {
        "n_estimators": LogIntegers(20, 300),
        "max_features": _between(0.1, 1),
        "min_samples_leaf": LogIntegers(1, 50),
        "max_depth": [None, 5, 10, 15, 20, 30],
        "bootstrap": [True, False],
    }
    if classes:
        space["criterion"] = ["gini", "entropy"]
    return chosen(n_jobs=1, random_state=0, **settings), space


def _numbers(*more: tuple[str, Any]) -> Pipeline:
    steps = [("fill", SimpleImputer(strategy="median")), ("scale", StandardScaler())]
    return Pipeline([*steps, *more])


def _prepared(X: Any, *steps: tuple[str, Any], expand: bool = False) -> Any:
    """Return a pipeline and the prefix of the parameters of its numbers."""
    more = [("expand", "passthrough")] if expand else []
    numbers = _numbers(*more)
    if not isinstance(X, pd.DataFrame):
        return Pipeline([("numbers", numbers), *steps]), "numbers"
    texts = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=20, sparse_output=False
    )
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (texts, make_column_selector(dtype_exclude="number")),
    )
    return Pipeline([("prepare", columns), *steps]), "prepare__pipeline"


def _scales(prefix: str) -> Space:
    normal = QuantileTransformer(
        n_quantiles=200, output_distribution="normal", random_state=0
    )
    return {f"{prefix}__scale": [StandardScaler(), MinMaxScaler(), normal]}


def _svm(classes: bool, X: Any) -> tuple[Any, Space]:
    # Some corners of the space would keep libsvm busy for hours.
    machine = (SVC if classes else SVR)(cache_size=500, max_iter=100_000)
    pipeline, prefix = _prepared(X, ("model", machine))
    space = {
        "model__C": loguniform(1e-2, 1e3),
        "model__gamma": loguniform(1e-4, 1),
        "model__kernel": ["rbf", "poly"],
        "model__degree": [2, 3],
        "model__coef0": _between(0, 2),
        **_scales(prefix),
    }
    if not classes:
        space["model__epsilon"] = loguniform(1e-2, 1)
    return pipeline, space


def _mlp(classes: bool, X: Any) -> tuple[Any, Space]:
    net = (MLPClassifier if classes else MLPRegressor)(max_iter=30, random_state=0)
    pipeline, prefix = _prepared(X, ("model", net))
    return pipeline, {
        "model__hidden_layer_sizes": [(16,), (64,), (128,), (32, 32), (64, 64)],
        "model__alpha": loguniform(1e-6, 10),
        "model__learning_rate_init": loguniform(1e-4, 3e-2),
        "model__batch_size": [32, 64, 128, 256],
        "model__activation": ["relu", "tanh"],
        "model__max_iter": LogIntegers(5, 60),
        **_scales(prefix),
    }


def _linear(classes: bool, X: Any) -> tuple[Any, Space]:
    select = SelectPercentile(f_classif if classes else f_regression, percentile=100)
    last = (
        LogisticRegression(max_iter=300)
        if classes
        else ElasticNet(alpha=0.01, max_iter=2000, random_state=0)
    )
    pipeline, prefix = _prepared(X, ("select", select), ("model", last), expand=True)
    splines = [SplineTransformer(n_knots=n, include_bias=False) for n in (3, 6)]
    space = {
        f"{prefix}__expand": ["passthrough", *splines],
        "select__percentile": randint(10, 101),
        **_scales(prefix),
    }
    if classes:
        space["model__C"] = loguniform(1e-4, 100)
        space["model__class_weight"] = [None, "balanced"]
    else:
        space["model__alpha"] = loguniform(1e-5, 1)
        space["model__l1_ratio"] = _between(0.01, 1)
    return pipeline, space


def _neighbours(classes: bool, X: Any) -> tuple[Any, Space]:
    nearest = (KNeighborsClassifier if classes else KNeighborsRegressor)()
    pipeline, prefix = _prepared(
        X, ("reduce", PCA(n_components=0.99)), ("model", nearest)
    )
    return pipeline, {
        "reduce__n_components": _between(0.5, 0.999),
        "reduce__whiten": [False, True],
        "model__n_neighbors": LogIntegers(1, 60),
        "model__weights": ["uniform", "distance"],
        "model__p": [1, 2],
        **_scales(prefix),
    }


def _kernel_ridge(_: bool, X: Any) -> tuple[Any, Space]:
    pipeline, prefix = _prepared(X, ("model", KernelRidge(kernel="rbf")))
    return pipeline, {
        "model__alpha": loguniform(1e-4, 10),
        "model__gamma": loguniform(1e-4, 1),
        "model__kernel": ["rbf", "laplacian", "poly"],
        "model__degree": [2, 3],
        "model__coef0": _between(0, 2),
        **_scales(prefix),
    }


_TREES: dict[str, Callable[..., tuple[Any, Space]]] = {
    "lightgbm": _lightgbm,
    "xgboost": _xgboost,
    "hist": _hist,
    "forest": _forest,
}
_PIPELINES: dict[str, Callable[[bool, Any], tuple[Any, Space]]] = {
    "svm": _svm,
    "mlp": _mlp,
    "linear": _linear,
    "neighbours": _neighbours,
    "kernel_ridge": _kernel_ridge,
}

KINDS = (*_TREES, *_PIPELINES)

# These take texts as codes and gaps as they are; the others prepare in a pipeline.
OWN_PREPARATION = frozenset(_TREES)


def model(kind: str, classes: bool, X: Any, **settings: Any) -> tuple[Any, Space]:
    """Return an estimator of a kind and its space for inputs such as these."""
    if kind in _TREES:
        return _TREES[kind](classes, **settings)
    return _PIPELINES[kind](classes, X)
