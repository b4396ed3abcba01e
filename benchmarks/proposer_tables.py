"""Tables of cross-validated losses, from which `proposers.py` makes objectives.

    python benchmarks/proposer_tables.py tables.npz      # all pairs
    python benchmarks/proposer_tables.py tables.npz 4    # the first four

Twelve pairs of a data set and a model, at 300 random configurations each: the loss in
each of five folds and the seconds of a fit. One process takes about a minute of
processor time for each pair; what is there is not computed again.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.base import is_classifier
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    make_classification,
    make_friedman1,
)
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.metrics import log_loss, mean_squared_error, zero_one_loss
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR

N_CONFIGURATIONS = 300


def log_between(low: float, high: float) -> Callable[[float], float]:
    return lambda share: float(low * (high / low) ** share)


def log_integer(low: int, high: int) -> Callable[[float], int]:
    return lambda share: round(low * (high / low) ** share)


def between(low: float, high: float) -> Callable[[float], float]:
    return lambda share: low + (high - low) * share


# Each parameter is a map from [0, 1], or a list of choices.
SPACES: dict[str, dict[str, Any]] = {
    "lightgbm": {
        "learning_rate": log_between(0.005, 0.5),
        "n_estimators": log_integer(10, 150),
        "num_leaves": log_integer(3, 63),
        "min_child_samples": log_integer(2, 100),
        "subsample": between(0.4, 1.0),
        "colsample_bytree": between(0.3, 1.0),
        "reg_lambda": log_between(1e-3, 100),
    },
    "histogram": {
        "learning_rate": log_between(0.01, 0.8),
        "max_iter": log_integer(5, 60),
        "max_leaf_nodes": log_integer(3, 31),
        "min_samples_leaf": log_integer(2, 60),
        "l2_regularization": log_between(1e-4, 100),
        "max_features": between(0.2, 1.0),
    },
    "svm": {
        "C": log_between(1e-2, 1e3),
        "gamma": log_between(1e-4, 10),
        "kernel": ["rbf", "poly", "sigmoid"],
        "scale": ["standard", "range"],
        "components": between(0.1, 1.0),
    },
    "svr": {
        "C": log_between(1e-2, 1e3),
        "gamma": log_between(1e-4, 10),
        "epsilon": log_between(1e-3, 1),
        "kernel": ["rbf", "poly", "sigmoid"],
    },
    "net": {
        "hidden": log_integer(4, 48),
        "alpha": log_between(1e-6, 10),
        "learning_rate_init": log_between(1e-4, 0.1),
        "batch_size": log_integer(16, 200),
        "max_iter": log_integer(4, 20),
        "activation": ["relu", "tanh", "logistic"],
    },
    "forest": {
        "n_estimators": log_integer(5, 30),
        "max_features": between(0.05, 1.0),
        "min_samples_leaf": log_integer(1, 30),
        "max_depth": log_integer(2, 20),
        "criterion": ["gini", "entropy"],
    },
}


def california_like(n_rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    place = rng.normal(size=(n_rows, 2))
    income = rng.lognormal(1.2, 0.5, n_rows)
    others = rng.lognormal(0, 0.7, (n_rows, 5))
    coast = np.exp(-((place[:, 0] - 0.5 * place[:, 1]) ** 2))
    value = 0.5 * income + 2 * coast + 0.3 * np.log(others[:, 0]) * income
    value = value + 0.5 * np.sin(3 * place[:, 1]) + rng.normal(0, 0.5, n_rows)
    return np.column_stack([income, place, others]), np.minimum(value, 6)


def covertype_like(n_rows: int) -> tuple[Any, Any]:
    return make_classification(
        n_rows,
        16,
        n_informative=8,
        n_redundant=4,
        n_classes=4,
        n_clusters_per_class=3,
        class_sep=1.2,
        flip_y=0.05,
        random_state=2,
    )


DATA: dict[str, Callable[[], tuple[Any, Any]]] = {
    "digits": lambda: tuple(part[:400] for part in load_digits(return_X_y=True)),
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "cancer": lambda: load_breast_cancer(return_X_y=True),
    "housing": lambda: california_like(600),
    "friedman": lambda: make_friedman1(400, noise=1.0, random_state=3),
    "cover": lambda: covertype_like(500),
}

PAIRS = [
    ("digits", "svm"),
    ("diabetes", "lightgbm"),
    ("cancer", "histogram"),
    ("friedman", "svr"),
    ("cover", "forest"),
    ("digits", "net"),
    ("housing", "lightgbm"),
    ("cancer", "lightgbm"),
    ("friedman", "net"),
    ("housing", "histogram"),
    ("cover", "svm"),
    ("diabetes", "svr"),
]


def n_choices_of(model: str) -> tuple[int, ...]:
    return tuple(
        len(value) if isinstance(value, list) else 0 for value in SPACES[model].values()
    )


def estimator_for(model: str, is_class: bool, point: np.ndarray) -> Any:
    """Build the model of a point: shares of [0, 1], and codes of choices."""
    values = {
        name: choice[int(x)] if isinstance(choice, list) else choice(x)
        for (name, choice), x in zip(SPACES[model].items(), point, strict=True)
    }
    if model == "lightgbm":
        kind = LGBMClassifier if is_class else LGBMRegressor
        return kind(**values, subsample_freq=1, verbosity=-1, n_jobs=1, random_state=0)
    if model == "histogram":
        kind = (
            HistGradientBoostingClassifier
            if is_class
            else HistGradientBoostingRegressor
        )
        return kind(**values, early_stopping=False, random_state=0)
    if model == "forest":
        return RandomForestClassifier(**values, random_state=0)
    if model == "net":
        kind = MLPClassifier if is_class else MLPRegressor
        hidden = (values.pop("hidden"),)
        net = kind(hidden_layer_sizes=hidden, **values, random_state=0)
        return make_pipeline(StandardScaler(), net)
    if model == "svr":
        return make_pipeline(StandardScaler(), SVR(**values, max_iter=5000))
    scaler = {"standard": StandardScaler(), "range": MinMaxScaler()}[
        values.pop("scale")
    ]
    share = min(values.pop("components"), 0.999)
    return make_pipeline(
        scaler, PCA(share, svd_solver="full"), SVC(**values, max_iter=5000)
    )


def loss_of(estimator: Any, X: Any, y: Any, classes: Any) -> float:
    if not is_classifier(estimator):
        return float(mean_squared_error(y, np.clip(estimator.predict(X), -1e6, 1e6)))
    if hasattr(estimator, "predict_proba"):
        return float(log_loss(y, estimator.predict_proba(X), labels=classes))
    return float(zero_one_loss(y, estimator.predict(X)))


def random_points(model: str, count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    columns = [
        rng.integers(k, size=count) if k else rng.random(count)
        for k in n_choices_of(model)
    ]
    return np.column_stack(columns).astype(float)


def table_of(data: str, model: str) -> dict[str, np.ndarray]:
    X, y = DATA[data]()
    is_class = data in {"digits", "cancer", "cover"}
    if not is_class:
        y = (y - y.mean()) / y.std()
    splitter = (StratifiedKFold if is_class else KFold)(5, shuffle=True, random_state=0)
    folds = list(splitter.split(X, y))
    points = random_points(model, N_CONFIGURATIONS, seed=0)
    losses = np.full((len(points), 5), np.nan)
    seconds = np.zeros(len(points))
    classes = np.unique(y) if is_class else None
    for i, point in enumerate(points):
        start = perf_counter()
        for j, (train, test) in enumerate(folds):
            estimator = estimator_for(model, is_class, point).fit(X[train], y[train])
            losses[i, j] = loss_of(estimator, X[test], y[test], classes)
        seconds[i] = (perf_counter() - start) / 5
    return {"points": points, "losses": losses, "seconds": seconds}


def main() -> None:
    path = Path(sys.argv[1])
    n_pairs = int(sys.argv[2]) if len(sys.argv) > 2 else len(PAIRS)
    warnings.simplefilter("ignore")
    arrays = dict(np.load(path)) if path.exists() else {}
    for data, model in PAIRS[:n_pairs]:
        name = f"{data}-{model}"
        if f"{name}/points" in arrays:
            continue
        table = table_of(data, model)
        arrays |= {f"{name}/{key}": value for key, value in table.items()}
        np.savez_compressed(path, **arrays)
        mean = table["losses"].mean(axis=1)
        quantiles = np.quantile(mean, [0, 0.01, 0.1, 0.5, 0.9]).round(4)
        print(name, quantiles, f"{table['seconds'].mean() * 1e3:.0f} ms", flush=True)


if __name__ == "__main__":
    main()
