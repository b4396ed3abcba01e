"""What ``forecasts.py`` races: estimators, grids and rows.

``TUNED`` are the cases on which the forecasts were tuned. ``HELD_OUT`` are others, with
other data: a third of all, never run before the code was final.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from scipy.stats import loguniform, randint
from sklearn.datasets import (
    make_classification,
    make_friedman1,
    make_gaussian_quantiles,
    make_regression,
)
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LogisticRegression,
    Ridge,
    SGDClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBClassifier, XGBRegressor

ROWS = 1_000, 10_000, 100_000
N_COLUMNS = 20
RATES = [0.03, 0.1, 0.3]

TUNED: dict[str, tuple[Any, Any]] = {
    "LogisticRegression": (
        LogisticRegression(max_iter=300),
        {"C": np.logspace(-4, 4, 12).tolist()},
    ),
    "SGDClassifier": (SGDClassifier(), {"alpha": np.logspace(-6, -1, 12).tolist()}),
    "Ridge": (Ridge(), {"alpha": np.logspace(-4, 4, 20).tolist()}),
    "ElasticNet": (
        ElasticNet(),
        {"alpha": np.logspace(-3, 1, 6).tolist(), "l1_ratio": [0.2, 0.5, 0.9]},
    ),
    "LinearSVC": (LinearSVC(), {"C": np.logspace(-3, 2, 8).tolist()}),
    "GaussianNB": (GaussianNB(), {"var_smoothing": np.logspace(-10, -1, 10).tolist()}),
    "KNeighbors": (
        KNeighborsClassifier(),
        {"n_neighbors": [1, 5, 15, 40], "weights": ["uniform", "distance"]},
    ),
    "DecisionTree": (
        DecisionTreeClassifier(),
        {"max_depth": [2, 4, 8, 16, None], "min_samples_leaf": [1, 3, 10, 30]},
    ),
    "RandomForest": (
        RandomForestClassifier(n_jobs=1),
        {"n_estimators": [30, 100], "min_samples_leaf": [1, 5], "max_features": [2, 8]},
    ),
    "ExtraTrees": (
        ExtraTreesRegressor(n_estimators=50, n_jobs=1),
        {"min_samples_leaf": [1, 5, 20], "max_features": [0.3, 1.0]},
    ),
    "AdaBoost": (
        AdaBoostClassifier(),
        {"n_estimators": [20, 60], "learning_rate": [0.1, 0.5, 1.0]},
    ),
    "GradientBoosting": (
        GradientBoostingClassifier(n_estimators=40),
        {"learning_rate": RATES, "max_depth": [2, 4]},
    ),
    "HistGradientBoosting": (
        HistGradientBoostingClassifier(max_iter=60),
        {"learning_rate": RATES, "max_leaf_nodes": [7, 31]},
    ),
    "HistGradientBoosting regression": (
        HistGradientBoostingRegressor(max_iter=60),
        {"learning_rate": RATES, "max_leaf_nodes": [7, 31]},
    ),
    "LightGBM": (
        LGBMClassifier(n_jobs=1, verbose=-1),
        {"n_estimators": [30, 100], "learning_rate": RATES, "num_leaves": [7, 31]},
    ),
    "LightGBM, random draws": (
        LGBMRegressor(n_jobs=1, verbose=-1, n_estimators=60),
        {"num_leaves": randint(4, 64), "learning_rate": loguniform(0.01, 0.5)},
    ),
    "XGBoost": (
        XGBClassifier(n_jobs=1, n_estimators=60),
        {"learning_rate": RATES, "max_depth": [3, 6]},
    ),
    "MLP": (
        MLPClassifier(max_iter=30),
        {"hidden_layer_sizes": [(20,), (80,)], "alpha": [1e-4, 1e-2]},
    ),
    "SVC": (
        SVC(),
        {"C": [0.1, 1.0, 10.0], "gamma": np.logspace(-3, 0, 4).tolist()},
    ),
    "KernelRidge": (
        KernelRidge(kernel="rbf"),
        {
            "alpha": np.logspace(-4, 1, 6).tolist(),
            "gamma": np.logspace(-3, 0, 4).tolist(),
        },
    ),
    "pipeline": (
        make_pipeline(StandardScaler(), PolynomialFeatures(), LogisticRegression()),
        {
            "polynomialfeatures__degree": [1, 2],
            "logisticregression__C": [0.01, 0.1, 1.0],
        },
    ),
}

HELD_OUT: dict[str, tuple[Any, Any]] = {
    "Lasso": (Lasso(), {"alpha": np.logspace(-3, 1, 15).tolist()}),
    "LinearDiscriminantAnalysis": (
        LinearDiscriminantAnalysis(solver="lsqr"),
        {"shrinkage": np.linspace(0, 1, 9).tolist()},
    ),
    "LinearSVR": (LinearSVR(), {"C": np.logspace(-3, 2, 8).tolist()}),
    "KNeighbors regression": (
        KNeighborsRegressor(),
        {"n_neighbors": [2, 5, 10, 20, 40, 80], "p": [1, 2]},
    ),
    "DecisionTree regression, 40": (
        DecisionTreeRegressor(),
        {
            "max_depth": [2, 4, 6, 8, 12, 16, 24, None],
            "min_samples_leaf": [1, 2, 5, 10, 20],
        },
    ),
    "RandomForest regression": (
        RandomForestRegressor(n_estimators=30, n_jobs=1),
        {"min_samples_leaf": [1, 3, 10, 30], "max_features": [0.3, 0.7]},
    ),
    "Bagging": (
        BaggingClassifier(n_jobs=1),
        {"max_samples": [0.1, 0.3, 1.0], "max_features": [0.3, 0.6, 1.0]},
    ),
    "XGBoost regression": (
        XGBRegressor(n_jobs=1, n_estimators=50),
        {"max_depth": [2, 4, 6, 8], "subsample": [0.5, 1.0], "eta": [0.1, 0.3]},
    ),
    "HistGradientBoosting, random draws": (
        HistGradientBoostingClassifier(max_iter=30),
        {
            "max_leaf_nodes": randint(4, 64),
            "learning_rate": loguniform(0.01, 0.5),
            "l2_regularization": loguniform(1e-3, 10),
        },
    ),
    "MLP regression": (
        MLPRegressor(max_iter=20),
        {
            "hidden_layer_sizes": [(16,), (64,)],
            "learning_rate_init": [1e-3, 1e-2, 1e-1],
        },
    ),
}

CASES = TUNED | HELD_OUT

# On 100,000 rows these are smaller, so that a race ends in a minute or two.
LARGE: dict[str, tuple[Any, Any]] = {
    "RandomForest": (
        RandomForestClassifier(n_jobs=1),
        {"n_estimators": [4, 12], "min_samples_leaf": [1, 5]},
    ),
    "ExtraTrees": (
        ExtraTreesRegressor(n_estimators=8, n_jobs=1),
        {"min_samples_leaf": [1, 5, 20]},
    ),
    "AdaBoost": (
        AdaBoostClassifier(),
        {"n_estimators": [5, 15], "learning_rate": [0.1, 1.0]},
    ),
    "GradientBoosting": (
        GradientBoostingClassifier(n_estimators=6),
        {"learning_rate": [0.1, 0.3], "max_depth": [2, 4]},
    ),
    "MLP": (
        MLPClassifier(max_iter=5),
        {"hidden_layer_sizes": [(20,), (80,)], "alpha": [1e-4, 1e-2]},
    ),
    "RandomForest regression": (
        RandomForestRegressor(n_estimators=4, n_jobs=1),
        {"min_samples_leaf": [1, 3, 10, 30]},
    ),
    "Bagging": (
        BaggingClassifier(n_estimators=3, n_jobs=1),
        {"max_samples": [0.1, 0.3, 1.0], "max_features": [0.6, 1.0]},
    ),
    "MLP regression": (
        MLPRegressor(max_iter=5),
        {"hidden_layer_sizes": [(16,), (64,)], "learning_rate_init": [1e-3, 1e-1]},
    ),
}

REGRESSION = {
    "Ridge",
    "ElasticNet",
    "ExtraTrees",
    "HistGradientBoosting regression",
    "LightGBM, random draws",
    "KernelRidge",
    "Lasso",
    "LinearSVR",
    "KNeighbors regression",
    "DecisionTree regression, 40",
    "RandomForest regression",
    "XGBoost regression",
    "MLP regression",
}

# Kernel matrices and pairs of more rows than that take too much of a small machine.
MOST_PAIRS = 10_000
PAIRS = {"SVC", "KernelRidge", "KNeighbors", "KNeighbors regression"}

# How many random draws.
N_DRAWS = 40


def case_for(name: str, n_rows: int) -> tuple[Any, Any]:
    """Return the estimator and its grid or distributions."""
    if n_rows >= max(ROWS) and name in LARGE:
        return LARGE[name]
    return CASES[name]


def data_for(name: str, n_rows: int) -> tuple[Any, Any]:
    """Return rows and targets."""
    held_out = name in HELD_OUT
    if held_out and name in REGRESSION:
        return make_friedman1(n_rows, N_COLUMNS, noise=2.0, random_state=0)
    if held_out:
        return make_gaussian_quantiles(
            n_samples=n_rows, n_features=N_COLUMNS, n_classes=3, random_state=0
        )
    if name in REGRESSION:
        X, y = make_regression(
            n_rows, N_COLUMNS, n_informative=10, noise=20.0, random_state=0
        )
        return X, y
    return make_classification(
        n_rows, N_COLUMNS, n_informative=10, flip_y=0.1, random_state=0
    )
