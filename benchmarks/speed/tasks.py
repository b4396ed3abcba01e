"""The tasks of the speed tables: data, grid and estimator of each.

The four kernel learners use the paper's grids of 610 configurations with N = 1000; the
others are grids as people write them. Every repetition draws its own data, and fresh
rows for the error of the winner come from the same draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_friedman1, make_regression
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LassoCV, Ridge, RidgeCV
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC, NuSVR

from cvst.datasets import make_noisy_sinc, make_noisy_sine
from cvst.learners import KernelLogisticRegression

SQUARED, ACCURACY = "neg_mean_squared_error", "accuracy"
LOG_LOSS = "neg_log_loss"
N_TEST = 5000

WIDTHS = 10.0 ** np.linspace(-3, 3, 61)
NUS = 0.05 * np.arange(1, 11)
LINEAR_ALPHAS = np.logspace(-3, 3, 50)


@dataclass(frozen=True)
class Task:
    """Something to search, and how much faster than others we want to be.

    Attributes
    ----------
    draw : callable
        Called with a number of rows and a seed; returns X and y.
    grid : callable
        Called with the number of training rows; returns the grid.
    own_cv : callable or None
        Called with the grid; returns scikit-learn's own estimator for this search.
    over_grid, over_halving : float or None
        Wanted ratios over GridSearchCV at cv=10 and over HalvingGridSearchCV.
    """

    title: str
    estimator: Any
    grid: Callable[[int], dict[str, Any]]
    draw: Callable[[int, int], tuple[Any, Any]]
    scoring: str
    n_samples: int
    over_grid: float | None = None
    over_halving: float | None = None
    own_cv: Callable[[dict[str, Any]], Any] | None = None

    def n_configurations(self) -> int:
        """Return the size of the grid."""
        return len(ParameterGrid(self.grid(self.n_samples)))


def penalties(n_samples: int) -> dict[str, Any]:
    return {"gamma": WIDTHS, "alpha": n_samples * 10.0 ** np.arange(-7, 3)}


def shares(n_samples: int) -> dict[str, Any]:
    del n_samples
    return {"gamma": WIDTHS, "nu": NUS}


def fixed(**values: Any) -> Callable[[int], dict[str, Any]]:
    return lambda n_samples: values  # noqa: ARG005 - only kernel grids depend on it


def sinc(n: int, seed: int) -> tuple[Any, Any]:
    return make_noisy_sinc(n, dimension=2, random_state=seed)


def sine(n: int, seed: int) -> tuple[Any, Any]:
    return make_noisy_sine(n, dimension=5, random_state=seed)


def classes(n_features: int) -> Callable[[int, int], tuple[Any, Any]]:
    def draw(n: int, seed: int) -> tuple[Any, Any]:
        X, y = make_classification(
            n, n_features, n_informative=5, flip_y=0.1, random_state=seed
        )
        return X, y

    return draw


def standardised(
    draw: Callable[[int, int], tuple[Any, Any]],
) -> Callable[[int, int], tuple[Any, Any]]:
    def scaled(n: int, seed: int) -> tuple[Any, Any]:
        X, y = draw(n, seed)
        return StandardScaler().fit_transform(X), y

    return scaled


def numbers(n: int, seed: int) -> tuple[Any, Any]:
    X, y = make_regression(n, 100, n_informative=10, noise=50.0, random_state=seed)
    return X, y


def curves(n: int, seed: int) -> tuple[Any, Any]:
    X, y = make_friedman1(n, noise=1.0, random_state=seed)
    return X, y


TENTHS = list(range(10, 101, 10))
BOOSTING_GRID = fixed(
    learning_rate=[0.02, 0.05, 0.1, 0.2, 0.5],
    max_leaf_nodes=[7, 15, 31, 63],
    max_iter=TENTHS,
)
KERNEL_TASKS = {
    "krr": Task(
        "KernelRidge, noisy sinc d=2",
        KernelRidge(kernel="rbf"),
        penalties,
        sinc,
        SQUARED,
        1000,
        250,
        19,
    ),
    "nusvr": Task(
        "NuSVR (C = 1 at N), noisy sinc d=2",
        NuSVR(),
        shares,
        sinc,
        SQUARED,
        1000,
        40,
        4,
    ),
    "nusvc": Task(
        "NuSVC, noisy sine d=5", NuSVC(), shares, sine, ACCURACY, 1000, 40, 4
    ),
    "klr": Task(
        "KernelLogisticRegression, noisy sine d=5",
        KernelLogisticRegression(),
        penalties,
        sine,
        ACCURACY,
        1000,
        100,
        8,
    ),
}
EVERYDAY_TASKS = {
    "boosting": Task(
        "HistGradientBoostingRegressor, 5 learning rates x 4 leaf sizes x 10 "
        "iteration counts",
        HistGradientBoostingRegressor(early_stopping=False, random_state=0),
        BOOSTING_GRID,
        curves,
        SQUARED,
        20_000,
        20,
    ),
    "boosting_classes": Task(
        "HistGradientBoostingClassifier, the same grid",
        HistGradientBoostingClassifier(early_stopping=False, random_state=0),
        BOOSTING_GRID,
        classes(20),
        ACCURACY,
        20_000,
        20,
    ),
    "boosting_log_loss": Task(
        "HistGradientBoostingClassifier, the same grid by log loss",
        HistGradientBoostingClassifier(early_stopping=False, random_state=0),
        BOOSTING_GRID,
        classes(20),
        LOG_LOSS,
        20_000,
        20,
    ),
    "pipeline": Task(
        "StandardScaler + SVC, 10 C x 10 gamma",
        make_pipeline(StandardScaler(), SVC()),
        fixed(svc__C=np.logspace(-2, 3, 10), svc__gamma=np.logspace(-4, 1, 10)),
        classes(10),
        ACCURACY,
        2_000,
        20,
    ),
    "svc": Task(
        "SVC alone on scaled rows, 10 C x 10 gamma",
        SVC(),
        fixed(C=np.logspace(-2, 3, 10), gamma=np.logspace(-4, 1, 10)),
        standardised(classes(10)),
        ACCURACY,
        2_000,
    ),
    "neighbours": Task(
        "KNeighborsClassifier, 30 k x 2 weights x 2 p",
        KNeighborsClassifier(),
        fixed(
            n_neighbors=list(range(1, 60, 2)),
            weights=["uniform", "distance"],
            p=[1, 2],
        ),
        classes(10),
        ACCURACY,
        5_000,
        20,
    ),
    "forest": Task(
        "RandomForestClassifier, 10 sizes x 5 depths",
        RandomForestClassifier(random_state=0),
        fixed(n_estimators=TENTHS, max_depth=[2, 4, 8, 16, None]),
        classes(20),
        ACCURACY,
        5_000,
        20,
    ),
    "ridge": Task(
        "Ridge, 50 alphas, 100 features",
        Ridge(),
        fixed(alpha=LINEAR_ALPHAS),
        numbers,
        SQUARED,
        20_000,
        own_cv=lambda grid: RidgeCV(alphas=grid["alpha"], scoring=SQUARED),
    ),
    "lasso": Task(
        "Lasso, 50 alphas, 100 features",
        Lasso(),
        fixed(alpha=np.logspace(-2, 2, 50)),
        numbers,
        SQUARED,
        5_000,
        own_cv=lambda grid: LassoCV(alphas=grid["alpha"], cv=10),
    ),
}
MEMORY_TASKS = {
    "memory": Task(
        "Memory: KernelRidge, noisy sinc d=2, at most 2 GB",
        KernelRidge(kernel="rbf"),
        penalties,
        sinc,
        SQUARED,
        5_000,
    )
}
TASKS = {**KERNEL_TASKS, **EVERYDAY_TASKS, **MEMORY_TASKS}
