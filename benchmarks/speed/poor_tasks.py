"""Grids on which the race was slow: real data, grids as people write them.

The files are those of ``benchmarks/everyday``; every repetition shuffles the rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from poor_table import GRIDS
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tasks import ACCURACY, LOG_LOSS, Task, fixed

# Last, since that folder has tasks of its own.
sys.path.append(str(Path(__file__).parents[1] / "everyday"))

from data_sets import load  # the folder above

__all__ = ["FIRST", "POOR_TASKS"]

FIRST = "first_svc"

WANTED = 20
NEIGHBOURS = fixed(
    n_neighbors=list(range(1, 60, 2)), weights=["uniform", "distance"], p=[1, 2]
)


def rows_of(name: str) -> Callable[[int, int], tuple[Any, Any]]:
    """Return a drawer of rows of a data set of whole or real numbers."""

    def draw(n: int, seed: int) -> tuple[Any, Any]:
        X, y = load(name)
        chosen = np.random.default_rng(seed).permutation(len(y))[:n]
        return X.to_numpy(dtype=float)[chosen], y[chosen]

    return draw


def logistic(**values: Any) -> tuple[Any, Callable[[int], dict[str, Any]]]:
    """Return the pipeline and its grid over C and what else is named."""
    grid = {"C": np.logspace(-4, 4, 20), **values}
    named = {f"logisticregression__{name}": value for name, value in grid.items()}
    return make_pipeline(StandardScaler(), LogisticRegression()), fixed(**named)


POOR_TASKS = {
    "whole_brute": Task(
        GRIDS["whole_brute"],
        KNeighborsClassifier(),
        NEIGHBOURS,
        rows_of("optdigits"),
        ACCURACY,
        5_000,
        WANTED,
    ),
    "whole_tree": Task(
        GRIDS["whole_tree"],
        KNeighborsClassifier(),
        NEIGHBOURS,
        rows_of("marketing"),
        ACCURACY,
        5_000,
        WANTED,
    ),
    "logistic_two": Task(
        GRIDS["logistic_two"],
        *logistic(),
        rows_of("spambase"),
        ACCURACY,
        4_500,
        WANTED,
    ),
    "logistic_many": Task(
        GRIDS["logistic_many"],
        *logistic(class_weight=[None, "balanced"]),
        rows_of("satimage"),
        ACCURACY,
        5_000,
        WANTED,
    ),
    "forest": Task(
        GRIDS["forest"],
        RandomForestClassifier(random_state=0),
        fixed(
            n_estimators=[20, 50, 100],
            max_features=["sqrt", 0.1, 0.3, 0.5],
            min_samples_leaf=[1, 2, 5, 10],
        ),
        rows_of("satimage"),
        ACCURACY,
        2_000,
        WANTED,
    ),
    "boosting": Task(
        GRIDS["boosting"],
        HistGradientBoostingClassifier(
            max_iter=50, early_stopping=False, random_state=0
        ),
        fixed(
            learning_rate=[0.03, 0.1, 0.2, 0.4],
            max_leaf_nodes=[7, 15, 31, 63],
            l2_regularization=[0.0, 1.0, 10.0],
        ),
        rows_of("spambase"),
        LOG_LOSS,
        2_000,
        WANTED,
    ),
    FIRST: Task(
        "`StandardScaler` + `SVC`, 10 C x 10 gamma, compiler not yet run (spambase)",
        make_pipeline(StandardScaler(), SVC()),
        fixed(svc__C=np.logspace(-2, 3, 10), svc__gamma=np.logspace(-5, 0, 10)),
        rows_of("spambase"),
        ACCURACY,
        4_500,
        WANTED,
    ),
}
