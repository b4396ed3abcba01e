"""Each evaluator against one fit per configuration, on one look, in one thread.

Usage: ``python benchmarks/speed/evaluators_micro.py [name ...]`` with names of the
tasks below; none means all. The look is the third of a race with ten steps: 3/11 of
the rows train, the others test. Seconds are of processor time, which other work on
the machine disturbs least.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from time import process_time
from typing import Any

import numpy as np
from sklearn import ensemble, linear_model, neighbors
from sklearn.datasets import make_classification, make_regression
from threadpoolctl import threadpool_limits

from cvst.evaluation import OneByOne, Task, batch_evaluator_for


def grid(**values: list[Any]) -> list[dict[str, Any]]:
    return [dict(zip(values, row, strict=True)) for row in product(*values.values())]


def classes(n: int, n_features: int) -> tuple[Any, Any]:
    return make_classification(
        n, n_features, n_informative=5, flip_y=0.1, random_state=0
    )


def numbers(n: int, n_features: int) -> tuple[Any, Any]:
    return make_regression(n, n_features, n_informative=10, noise=5.0, random_state=0)


def counts(n: int, largest: int) -> list[int]:
    return np.linspace(largest / n, largest, n).astype(int).tolist()


def lightgbm_task() -> tuple[Any, list[dict[str, Any]], tuple[Any, Any]]:
    import lightgbm

    model = lightgbm.LGBMClassifier(n_jobs=1, random_state=0, verbose=-1)
    sizes = grid(learning_rate=[0.05, 0.2], n_estimators=counts(10, 100))
    return model, sizes, classes(20_000, 20)


def xgboost_task() -> tuple[Any, list[dict[str, Any]], tuple[Any, Any]]:
    import xgboost

    model = xgboost.XGBClassifier(n_jobs=1, random_state=0)
    sizes = grid(learning_rate=[0.05, 0.2], n_estimators=counts(10, 100))
    return model, sizes, classes(20_000, 20)


TASKS: dict[str, Callable[[], tuple[Any, list[dict[str, Any]], tuple[Any, Any]]]] = {
    "hist-boosting 5 x 4 x 10, N = 20,000": lambda: (
        ensemble.HistGradientBoostingClassifier(early_stopping=False, random_state=0),
        grid(
            learning_rate=[0.02, 0.05, 0.1, 0.2, 0.5],
            max_leaf_nodes=[7, 15, 31, 63],
            max_iter=counts(10, 100),
        ),
        classes(20_000, 20),
    ),
    "boosting 2 x 10, N = 2,000": lambda: (
        ensemble.GradientBoostingClassifier(random_state=0),
        grid(learning_rate=[0.05, 0.2], n_estimators=counts(10, 100)),
        classes(2_000, 20),
    ),
    "neighbours 30 k x 2 weights x 2 p, N = 5,000": lambda: (
        neighbors.KNeighborsClassifier(),
        grid(
            n_neighbors=list(range(1, 60, 2)),
            weights=["uniform", "distance"],
            p=[1, 2],
        ),
        classes(5_000, 10),
    ),
    "neighbours, 20 features (brute force)": lambda: (
        neighbors.KNeighborsClassifier(),
        grid(
            n_neighbors=list(range(1, 60, 2)),
            weights=["uniform", "distance"],
            p=[1, 2],
        ),
        classes(5_000, 20),
    ),
    "neighbours, regression, whole numbers": lambda: (
        neighbors.KNeighborsRegressor(),
        grid(n_neighbors=list(range(1, 60, 2)), weights=["uniform", "distance"]),
        (lambda rows: (np.rint(rows[0]), rows[1]))(numbers(5_000, 4)),
    ),
    "forest 10 sizes x 5 depths, N = 5,000": lambda: (
        ensemble.RandomForestClassifier(random_state=0),
        grid(n_estimators=counts(10, 100), max_depth=[2, 4, 8, 16, None]),
        classes(5_000, 20),
    ),
    "extra trees 10 sizes, N = 5,000": lambda: (
        ensemble.ExtraTreesRegressor(random_state=0),
        grid(n_estimators=counts(10, 100)),
        numbers(5_000, 20),
    ),
    "bagging 10 sizes, N = 5,000": lambda: (
        ensemble.BaggingClassifier(random_state=0),
        grid(n_estimators=counts(10, 50)),
        classes(5_000, 20),
    ),
    "AdaBoost classifier 10 sizes, N = 5,000": lambda: (
        ensemble.AdaBoostClassifier(random_state=0),
        grid(n_estimators=counts(10, 100)),
        classes(5_000, 20),
    ),
    "AdaBoost regressor 10 sizes, N = 5,000": lambda: (
        ensemble.AdaBoostRegressor(random_state=0),
        grid(n_estimators=counts(10, 50)),
        numbers(5_000, 20),
    ),
    "ridge 50 alphas, N = 1,000 x 100": lambda: (
        linear_model.Ridge(),
        grid(alpha=np.logspace(-3, 3, 50).tolist()),
        numbers(1_000, 100),
    ),
    "ridge 50 alphas, N = 20,000 x 100": lambda: (
        linear_model.Ridge(),
        grid(alpha=np.logspace(-3, 3, 50).tolist()),
        numbers(20_000, 100),
    ),
    "ridge 50 alphas, N = 2,000 x 1,000": lambda: (
        linear_model.Ridge(),
        grid(alpha=np.logspace(-3, 3, 50).tolist()),
        numbers(2_000, 1_000),
    ),
    "ridge classifier 50 alphas, N = 5,000 x 50": lambda: (
        linear_model.RidgeClassifier(),
        grid(alpha=np.logspace(-3, 3, 50).tolist()),
        classes(5_000, 50),
    ),
    "lasso 50 alphas, N = 5,000 x 50": lambda: (
        linear_model.Lasso(),
        grid(alpha=np.logspace(-2, 1, 50).tolist()),
        numbers(5_000, 50),
    ),
    "elastic net 5 x 20, N = 20,000 x 100": lambda: (
        linear_model.ElasticNet(),
        grid(l1_ratio=[0.1, 0.3, 0.5, 0.7, 0.9], alpha=np.logspace(-2, 1, 20).tolist()),
        numbers(20_000, 100),
    ),
    "LightGBM 2 x 10, N = 20,000": lightgbm_task,
    "XGBoost 2 x 10, N = 20,000": xgboost_task,
}


def measure(name: str) -> str:
    estimator, configurations, (X, y) = TASKS[name]()
    n_train = 3 * len(X) // 11
    task = Task(
        estimator,
        dict(enumerate(configurations)),
        X[:n_train],
        y[:n_train],
        X[n_train:],
    )
    evaluator = batch_evaluator_for(estimator)
    seconds = []
    outcomes = []
    for worker in (evaluator, OneByOne()):
        start = process_time()
        found = sorted(worker.evaluate(task), key=lambda outcome: outcome.configuration)
        seconds.append(process_time() - start)
        outcomes.append(found)
    different = sum(
        not np.allclose(a.prediction, b.prediction, rtol=1e-9, atol=1e-9)
        for a, b in zip(*outcomes, strict=True)
    )
    return (
        f"| {name} | {len(configurations)} | {seconds[1]:.2f} | {seconds[0]:.3f} "
        f"| {seconds[1] / seconds[0]:.1f} | {different} |"
    )


def main() -> None:
    wanted = sys.argv[1:]
    print("| task | configurations | one by one, s | shared, s | factor | different |")
    print("|---|---|---|---|---|---|")
    for name in TASKS:
        if not wanted or any(name.startswith(prefix) for prefix in wanted):
            try:
                with threadpool_limits(1):
                    print(measure(name), flush=True)
            except ImportError as missing:
                print(f"| {name} | {missing} |")


if __name__ == "__main__":
    main()
