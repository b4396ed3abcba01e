"""Are time budgets kept, and used? Several estimators, budgets and numbers of workers.

    python benchmarks/budget.py
    python benchmarks/budget.py --budgets 3 10 30 --jobs 2

Prints the time taken as a share of the budget; above 100 % it was overrun. Times are
only worth reading on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import warnings
from time import perf_counter

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV
from cvst.exceptions import BudgetTooSmallError

CASES = {
    "kernel ridge": (
        KernelRidge(kernel="rbf"),
        {"alpha": np.logspace(-5, 3, 9), "gamma": np.logspace(-3, 1, 9)},
    ),
    "SVM": (SVC(), {"C": np.logspace(-2, 3, 6), "gamma": np.logspace(-3, 1, 6)}),
    "tree": (
        DecisionTreeClassifier(),
        {"max_depth": list(range(1, 21)), "min_samples_leaf": [1, 2, 5, 10]},
    ),
    "boosting": (
        GradientBoostingClassifier(),
        {"n_estimators": [20, 50, 100], "max_depth": [1, 2, 3]},
    ),
    "neighbours": (KNeighborsClassifier(), {"n_neighbors": list(range(1, 60, 2))}),
    "logistic": (LogisticRegression(max_iter=500), {"C": np.logspace(-4, 4, 30)}),
}


def measure(name: str, budget: float, n_jobs: int, n_samples: int) -> str:
    X, y = make_classification(
        n_samples, 15, n_informative=8, flip_y=0.1, random_state=0
    )
    estimator, grid = CASES[name]
    search = RaceGridSearchCV(
        estimator, grid, time_budget=budget, n_jobs=n_jobs, random_state=0
    )
    start = perf_counter()
    try:
        search.fit(X, y)
    except BudgetTooSmallError as error:
        share = (perf_counter() - start) / budget
        return f"{share:6.0%}  refused: {str(error).split(': ', 1)[1]}"
    share = (perf_counter() - start) / budget
    return (
        f"{share:6.0%}  {search.stop_reason_:<20} {search.n_looks_:2d} looks up to "
        f"{search.race_.subset_sizes[-1]:5d} rows, {search.strategy_}, refit "
        f"{search.refit_time_:.2f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--budgets", type=float, nargs="+", default=[2.0, 5.0, 15.0])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'estimator':<13} jobs budget   used  how it ended")
    for name in options.cases:
        for n_jobs in options.jobs:
            for budget in options.budgets:
                line = measure(name, budget, n_jobs, options.rows)
                print(f"{name:<13} {n_jobs:4d} {budget:5.0f}s {line}", flush=True)


if __name__ == "__main__":
    main()
