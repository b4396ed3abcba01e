"""The tasks of the study: a data set, its training rows, a learner and a space.

    python benchmarks/default/tasks.py        # list them

``grid`` is a full grid of numbers, ``random`` are draws from distributions, and
``categories`` is a grid with texts, switches or estimators among its values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from data_sets import CLASSES, GENERATORS
from lightgbm import LGBMClassifier, LGBMRegressor
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectPercentile
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    PolynomialFeatures,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

__all__ = ["EXPONENTS", "N_DRAWS", "TASKS", "Task"]

# Configurations of a space of distributions.
N_DRAWS = 40

# The cost of a fit grows with this power of its rows.
EXPONENTS = {"boosting": 1, "forest": 1, "linear": 1, "net": 1, "svm": 2, "knn": 1}

ERROR, LOG_LOSS = "accuracy", "neg_log_loss"
SQUARED, ABSOLUTE = "neg_mean_squared_error", "neg_mean_absolute_error"


def _powers(low: float, high: float, count: int) -> list[float]:
    return np.logspace(low, high, count).tolist()


def _scaled(model: BaseEstimator, *steps: tuple[str, Any]) -> Pipeline:
    return Pipeline([("scale", StandardScaler()), *steps, ("model", model)])


def _scales() -> list[Any]:
    normal = QuantileTransformer(
        n_quantiles=100, output_distribution="normal", random_state=0
    )
    return [StandardScaler(), MinMaxScaler(), normal]


def _boosting(classes: bool, space: str) -> tuple[Any, dict[str, Any]]:
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    model = kind(early_stopping=False, random_state=0)
    if space == "grid":
        return model, {
            "learning_rate": [0.03, 0.1, 0.3],
            "max_leaf_nodes": [4, 8, 16, 31],
            "max_iter": [8, 16, 32, 64],
        }
    return model, {
        "learning_rate": loguniform(0.02, 0.5),
        "max_leaf_nodes": randint(3, 32),
        "max_iter": [8, 16, 32, 64],
        "min_samples_leaf": randint(2, 60),
        "l2_regularization": loguniform(1e-3, 30),
    }


def _lightgbm(classes: bool, space: str) -> tuple[Any, dict[str, Any]]:
    kind = LGBMClassifier if classes else LGBMRegressor
    model = kind(n_jobs=1, random_state=0, verbose=-1, subsample_freq=1)
    if space == "grid":
        return model, {
            "learning_rate": [0.03, 0.1, 0.3],
            "num_leaves": [4, 8, 16, 31],
            "n_estimators": [10, 20, 40, 80],
        }
    return model, {
        "learning_rate": loguniform(0.02, 0.5),
        "num_leaves": randint(3, 32),
        "n_estimators": [10, 20, 40, 80],
        "min_child_samples": randint(2, 60),
        "colsample_bytree": uniform(0.3, 0.7),
        "subsample": uniform(0.5, 0.5),
    }


def _forest(classes: bool, space: str) -> tuple[Any, dict[str, Any]]:
    model = (RandomForestClassifier if classes else RandomForestRegressor)(
        n_estimators=20, n_jobs=1, random_state=0
    )
    if space == "grid":
        return model, {
            "max_features": [0.1, 0.2, 0.4, 0.7],
            "min_samples_leaf": [1, 3, 9, 27],
            "max_depth": [4, 8, None],
        }
    if space == "random":
        return model, {
            "max_features": uniform(0.1, 0.9),
            "min_samples_leaf": randint(1, 30),
            "max_samples": uniform(0.3, 0.7),
        }
    criteria = ["gini", "entropy"] if classes else ["squared_error", "poisson"]
    return model, {
        "criterion": criteria,
        "max_features": ["sqrt", "log2", 0.5, None],
        "bootstrap": [True, False],
        "min_samples_leaf": [1, 3, 10],
    }


def _extra_trees(_: bool, space: str) -> tuple[Any, dict[str, Any]]:
    assert space == "categories"
    return ExtraTreesClassifier(n_estimators=20, random_state=0), {
        "criterion": ["gini", "entropy"],
        "class_weight": [None, "balanced"],
        "max_features": ["sqrt", 0.3, 0.6, None],
        "min_samples_leaf": [1, 3, 10],
    }


def _tree(_: bool, space: str) -> tuple[Any, dict[str, Any]]:
    assert space == "random"
    return DecisionTreeClassifier(random_state=0), {
        "ccp_alpha": loguniform(1e-6, 1e-2),
        "min_samples_leaf": randint(1, 60),
        "max_features": uniform(0.3, 0.7),
        "criterion": ["gini", "entropy"],
    }


def _logistic(_: bool, space: str) -> tuple[Any, dict[str, Any]]:
    model = LogisticRegression(max_iter=200)
    if space == "grid":
        return _scaled(model), {"model__C": _powers(-4, 2, 31)}
    if space == "random":
        return _scaled(model, ("select", SelectPercentile())), {
            "select__percentile": randint(10, 101),
            "model__C": loguniform(1e-4, 100),
        }
    return _scaled(model), {
        "scale": _scales(),
        "model__class_weight": [None, "balanced"],
        "model__C": _powers(-3, 2, 6),
    }


def _elastic_net(_: bool, space: str) -> tuple[Any, dict[str, Any]]:
    model = ElasticNet(max_iter=2000, random_state=0)
    if space == "grid":
        return _scaled(model), {
            "model__alpha": _powers(-4, 0, 13),
            "model__l1_ratio": [0.1, 0.3, 0.5, 0.7, 0.9, 1.0],
        }
    return _scaled(model), {
        "model__alpha": loguniform(1e-4, 1),
        "model__l1_ratio": uniform(0.05, 0.95),
    }


def _ridge(_: bool, space: str) -> tuple[Any, dict[str, Any]]:
    if space == "grid":
        return _scaled(Ridge(), ("expand", PolynomialFeatures(include_bias=False))), {
            "expand__degree": [1, 2],
            "model__alpha": _powers(-2, 5, 22),
        }
    splines = [SplineTransformer(n_knots=n, include_bias=False) for n in (4, 8)]
    return _scaled(Ridge(), ("expand", "passthrough")), {
        "scale": _scales(),
        "expand": ["passthrough", *splines],
        "model__alpha": _powers(-3, 4, 8),
    }


def _svm(classes: bool, space: str) -> tuple[Any, dict[str, Any]]:
    # Some corners of a space would keep libsvm busy for hours.
    machine = (SVC if classes else SVR)(max_iter=50_000)
    if space == "grid":
        return _scaled(machine), {
            "model__C": _powers(-1, 3, 7),
            "model__gamma": _powers(-4, 0, 7),
        }
    if space == "random":
        drawn = {"model__C": loguniform(0.1, 100), "model__gamma": loguniform(1e-4, 1)}
        if not classes:
            drawn["model__epsilon"] = loguniform(0.01, 0.5)
        return _scaled(machine), drawn
    return _scaled(machine), {
        "scale": [StandardScaler(), MinMaxScaler()],
        "model__kernel": ["rbf", "poly", "sigmoid"],
        "model__C": _powers(-1, 2, 3),
        "model__gamma": _powers(-3, 0, 3),
    }


def _net(classes: bool, space: str) -> tuple[Any, dict[str, Any]]:
    net = (MLPClassifier if classes else MLPRegressor)(max_iter=25, random_state=0)
    if space == "random":
        return _scaled(net), {
            "model__hidden_layer_sizes": [(16,), (32,), (64,)],
            "model__alpha": loguniform(1e-6, 10),
            "model__learning_rate_init": loguniform(3e-4, 3e-2),
            "model__batch_size": [32, 64, 128],
        }
    return _scaled(net), {
        "model__hidden_layer_sizes": [(16,), (64,)],
        "model__activation": ["relu", "tanh"],
        "model__alpha": _powers(-5, 1, 3),
        "model__learning_rate_init": [1e-3, 3e-3, 1e-2],
    }


def _knn(classes: bool, space: str) -> tuple[Any, dict[str, Any]]:
    assert space == "grid"
    nearest = (KNeighborsClassifier if classes else KNeighborsRegressor)()
    return _scaled(nearest), {
        "model__n_neighbors": list(range(1, 31)),
        "model__weights": ["uniform", "distance"],
    }


# The family of each learner, and how to make it.
LEARNERS: dict[str, tuple[str, Callable[[bool, str], tuple[Any, dict[str, Any]]]]] = {
    "hist": ("boosting", _boosting),
    "lightgbm": ("boosting", _lightgbm),
    "forest": ("forest", _forest),
    "extra trees": ("forest", _extra_trees),
    "tree": ("forest", _tree),
    "logistic": ("linear", _logistic),
    "elastic net": ("linear", _elastic_net),
    "ridge": ("linear", _ridge),
    "svm": ("svm", _svm),
    "net": ("net", _net),
    "knn": ("knn", _knn),
}


@dataclass(frozen=True)
class Task:
    """A data set, its training rows, a learner, a space and a score."""

    data: str
    n_train: int
    learner: str
    space: str
    scoring: str

    @property
    def name(self) -> str:
        """Data set and learner."""
        return f"{self.data} {self.learner}"

    @property
    def family(self) -> str:
        """Family of the learner."""
        return LEARNERS[self.learner][0]

    @property
    def generated(self) -> bool:
        """Whether the rows come from a generator."""
        return self.data in GENERATORS

    def model(self) -> tuple[Any, dict[str, Any]]:
        """Return the estimator and its space."""
        return LEARNERS[self.learner][1](self.data in CLASSES, self.space)

    def configurations(self, seed: int) -> list[dict[str, Any]]:
        """Return the configurations of a seed, the same for all methods."""
        space = self.model()[1]
        if self.space == "random":
            return list(ParameterSampler(space, N_DRAWS, random_state=seed))
        return list(ParameterGrid(space))


_ALL = (
    # boosting
    Task("page_blocks", 3_000, "hist", "random", LOG_LOSS),
    Task("loans", 3_000, "hist", "random", SQUARED),
    Task("taxi", 4_000, "hist", "grid", ERROR),
    Task("car_prices", 500, "hist", "random", SQUARED),
    Task("fertility", 20_000, "lightgbm", "random", LOG_LOSS),
    Task("visits", 8_000, "lightgbm", "random", ABSOLUTE),
    Task("nlswork", 6_000, "lightgbm", "grid", SQUARED),
    Task("lending", 4_000, "lightgbm", "random", LOG_LOSS),
    Task("friedman3", 1_000, "lightgbm", "grid", SQUARED),
    # forests and trees
    Task("satimage", 1_500, "forest", "categories", LOG_LOSS),
    Task("movies", 1_500, "forest", "random", SQUARED),
    Task("college", 500, "forest", "grid", SQUARED),
    Task("stackoverflow", 2_000, "forest", "random", ERROR),
    Task("email", 2_000, "extra trees", "categories", LOG_LOSS),
    Task("star", 2_500, "forest", "random", ABSOLUTE),
    Task("storms", 12_000, "tree", "random", ERROR),
    Task("hastie", 2_000, "forest", "grid", ERROR),
    # linear models
    Task("diabetes", 300, "elastic net", "grid", SQUARED),
    Task("marketing", 3_000, "logistic", "categories", LOG_LOSS),
    Task("flights", 15_000, "logistic", "grid", ERROR),
    Task("wages", 12_000, "ridge", "categories", SQUARED),
    Task("hmda", 1_600, "logistic", "categories", ERROR),
    Task("caravan", 3_000, "logistic", "grid", LOG_LOSS),
    Task("attrition", 1_000, "logistic", "random", LOG_LOSS),
    Task("ridership", 3_000, "elastic net", "random", SQUARED),
    Task("flchain", 4_000, "logistic", "random", ERROR),
    Task("doctor_visits", 3_000, "ridge", "grid", SQUARED),
    Task("sparse", 400, "elastic net", "grid", SQUARED),
    # support vector machines
    Task("breast_cancer", 380, "svm", "grid", ERROR),
    Task("penbased", 1_500, "svm", "random", ERROR),
    Task("orange_juice", 700, "svm", "categories", ERROR),
    Task("slid", 1_200, "svm", "random", ABSOLUTE),
    Task("quantiles", 1_000, "svm", "grid", ERROR),
    Task("friedman2", 800, "svm", "random", SQUARED),
    # nets
    Task("texture", 1_000, "net", "random", LOG_LOSS),
    Task("clusters", 1_000, "net", "categories", ERROR),
    # k-NN, apart: there the race is full cross-validation
    Task("penbased", 4_000, "knn", "grid", ERROR),
    Task("movies", 4_000, "knn", "grid", SQUARED),
    Task("orange_juice", 700, "knn", "grid", ERROR),
)

TASKS = {task.name: task for task in _ALL}


def main() -> None:
    """List the tasks."""
    for task in TASKS.values():
        count = len(task.configurations(0))
        print(
            f"{task.name:<24} {task.family:<9} {task.space:<11} {count:3} "
            f"configurations, {task.n_train:6,} rows, {task.scoring}"
        )


if __name__ == "__main__":
    main()
