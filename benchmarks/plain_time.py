"""Compare the estimated time of a plain search with that of a real one.

    python benchmarks/plain_time.py            # measure and write the table

``TimeConsumptionDisplay`` and ``cvst demo`` say how long a plain search would take
(``cvst.race.plain_search_seconds``). Here both run: the race, whose times the estimate
is made of, and ``GridSearchCV(cv=10)``, in one process with one thread, by the clock,
as the race measures: run it on a calm machine. The table goes to
``benchmarks/results/plain_time.md``.
"""

from __future__ import annotations

import platform
import sys
import warnings
from datetime import date
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "everyday"))

# isort: off
import one_thread  # noqa: F401 - before NumPy

# isort: on
import numpy as np
import sklearn
from sklearn.base import is_classifier
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from cvst import RaceGridSearchCV
from cvst.displays import TimeConsumptionDisplay

N_FOLDS = 10
RESULTS = Path(__file__).parent / "results" / "plain_time.md"
POWERS = np.logspace(-3, 3, 6).tolist()

# Estimator, grid, rows, strategy.
SEARCHES: dict[str, tuple[Any, dict[str, Any], int, str]] = {
    "KernelRidge": (
        KernelRidge(kernel="rbf"),
        {"alpha": POWERS, "gamma": POWERS},
        150,
        "track_and_confirm",
    ),
    "KernelRidge, the paper's race": (
        KernelRidge(kernel="rbf"),
        {"alpha": POWERS, "gamma": POWERS},
        150,
        "cvst",
    ),
    "SVC": (
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": POWERS[2:], "svc__gamma": POWERS[:4]},
        300,
        "track_and_confirm",
    ),
    "LogisticRegression": (
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": np.logspace(-3, 3, 12).tolist()},
        1_000,
        "track_and_confirm",
    ),
    "Ridge": (
        Ridge(),
        {"alpha": np.logspace(-3, 3, 40).tolist()},
        5_000,
        "track_and_confirm",
    ),
    "DecisionTreeRegressor": (
        DecisionTreeRegressor(random_state=0),
        {"max_depth": [2, 4, 6, 8, None], "min_samples_leaf": [1, 2, 4, 8, 16, 32]},
        1_500,
        "track_and_confirm",
    ),
    "KNeighborsClassifier": (
        KNeighborsClassifier(),
        {"n_neighbors": list(range(1, 31, 6)), "p": [1, 2]},
        1_000,
        "track_and_confirm",
    ),
    "RandomForestClassifier, depths": (
        RandomForestClassifier(10, random_state=0),
        {"max_depth": [2, 4, 8, None], "max_features": [0.2, 0.5, 1.0]},
        300,
        "track_and_confirm",
    ),
    "RandomForestClassifier, sizes": (
        RandomForestClassifier(random_state=0),
        {"n_estimators": [5, 10, 20, 40], "max_depth": [4, None]},
        300,
        "track_and_confirm",
    ),
    "HistGradientBoosting": (
        HistGradientBoostingClassifier(max_iter=10, random_state=0),
        {"learning_rate": [0.05, 0.1, 0.3], "max_leaf_nodes": [7, 15, 31]},
        800,
        "track_and_confirm",
    ),
}


def rows(estimator: Any, n: int) -> tuple[Any, Any]:
    """Return data for an estimator."""
    if is_classifier(estimator):
        return make_classification(n, 15, n_informative=6, flip_y=0.1, random_state=0)
    X, y = make_regression(n, 15, noise=30.0, random_state=0)
    return X / 3, y


def main() -> None:
    """Measure, print and write."""
    warnings.simplefilter("ignore")
    lines = ["| search | real | estimated | ratio |", "|---|---|---|---|"]
    ratios = []
    for name, (estimator, grid, n, strategy) in SEARCHES.items():
        X, y = rows(estimator, n)
        search = RaceGridSearchCV(estimator, grid, strategy=strategy).fit(X, y)
        display = TimeConsumptionDisplay.from_search(search, n_folds=N_FOLDS)
        estimated = display.cross_validation_seconds
        start = perf_counter()
        GridSearchCV(estimator, grid, cv=N_FOLDS, refit=False).fit(X, y)
        real = perf_counter() - start
        ratios.append(estimated / real)
        lines.append(
            f"| {name} | {real:.2f} s | {estimated:.2f} s | {ratios[-1]:.2f} |"
        )
        print(lines[-1], flush=True)
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    RESULTS.write_text(
        "# Estimated time of a plain search\n\n`TimeConsumptionDisplay.from_search`"
        f" (the estimator of `cvst demo` too) against `GridSearchCV(cv={N_FOLDS})`, "
        "seconds of the clock, one thread "
        f"(`benchmarks/plain_time.py`, {date.today()}, {platform.machine()}, "
        f"scikit-learn {sklearn.__version__}).\n\n"
        + "\n".join(lines)
        + f"\n\nRatios from {spread}, geometric mean "
        f"{np.exp(np.mean(np.log(ratios))):.2f}.\n"
    )


if __name__ == "__main__":
    main()
