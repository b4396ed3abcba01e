"""The cases: rows by learners, a grid of ten thousand, ladders for the overhead."""

from __future__ import annotations

import logging
import resource
import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import RidgeClassifier, SGDClassifier

from cvst import RaceGridSearchCV

N_COLUMNS = 20

LEARNERS = "sgd", "hgb", "lightgbm"
CASES = {
    "rows": [f"{name} {n}" for n in (10**7, 10**6) for name in LEARNERS],
    "grid": ["grid 10000"],
    "overhead": [
        *(f"trivial {n} 200" for n in (2_000, 20_000, 200_000, 2_000_000)),
        *(f"trivial 2000 {k}" for k in (100, 1_000, 10_000)),
    ],
}


class ByOneColumn(ClassifierMixin, BaseEstimator):
    """Decides by one column: a fit that takes no time, so that only the race does.

    ``cut`` is where it decides.
    """

    def __init__(self, cut: float = 0.0) -> None:
        self.cut = cut

    def fit(self, X: Any, y: Any) -> ByOneColumn:
        """Learn nothing."""
        del X, y
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> Any:
        """Compare one column with the cut."""
        start = time.process_time()
        answer = (X[:, 0] > self.cut).astype(int)
        Spent.seconds += time.process_time() - start
        return answer


class Spent:
    """CPU seconds inside fits and predictions."""

    seconds = 0.0


def timed(estimator: Any) -> Any:
    """Return the estimator as one of a class that counts its own CPU seconds."""
    base = type(estimator)

    class Timed(base):
        def fit(self, *args: Any, **kwargs: Any) -> Any:
            start = time.process_time()
            try:
                return super().fit(*args, **kwargs)
            finally:
                Spent.seconds += time.process_time() - start

        def predict(self, *args: Any, **kwargs: Any) -> Any:
            start = time.process_time()
            try:
                return super().predict(*args, **kwargs)
            finally:
                Spent.seconds += time.process_time() - start

    Timed.__name__ = Timed.__qualname__ = base.__name__
    return Timed(**estimator.get_params())


def make_rows(n_rows: int) -> tuple[Any, Any]:
    """Return rows of two classes, made block by block so that nothing else is large."""
    rng = np.random.default_rng(0)
    X = np.empty((n_rows, N_COLUMNS))
    y = np.empty(n_rows, dtype=np.int64)
    block = 100_000
    for start in range(0, n_rows, block):
        rows = X[start : start + block]
        rng.standard_normal(out=rows)
        signal = rows[:, 0] + rows[:, 1] * rows[:, 2] + np.abs(rows[:, 3])
        y[start : start + block] = signal + rng.standard_normal(len(rows)) > 0.8
    return X, y


def learner(name: str) -> tuple[Any, dict[str, Any]]:
    """Return an estimator and fifty configurations."""
    if name == "sgd":
        grid = {"alpha": np.logspace(-7, -1, 25), "loss": ["hinge", "log_loss"]}
        return SGDClassifier(max_iter=2, tol=None), grid
    if name == "hgb":
        rates = np.logspace(-2, 0, 10)
        grid = {"learning_rate": rates, "max_leaf_nodes": [4, 8, 16, 31, 63]}
        return HistGradientBoostingClassifier(max_iter=10, early_stopping=False), grid
    from lightgbm import LGBMClassifier

    rates = np.logspace(-2, 0, 10)
    grid = {"learning_rate": rates, "num_leaves": [4, 8, 16, 31, 63]}
    return LGBMClassifier(n_estimators=10, n_jobs=1, verbose=-1), grid


def case(name: str) -> tuple[Any, dict[str, Any], int]:
    """Return estimator, grid and number of rows of a case."""
    kind, *numbers = name.split()
    if kind == "grid":
        grid: dict[str, Any] = {"alpha": np.logspace(-6, 6, int(numbers[0]))}
        return RidgeClassifier(), grid, 2_000
    if kind == "trivial":
        n_rows, n_configurations = map(int, numbers)
        return ByOneColumn(), {"cut": np.linspace(-2, 2, n_configurations)}, n_rows
    estimator, grid = learner(kind)
    return timed(estimator), grid, int(numbers[0])


def peak_bytes() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run_case(name: str) -> dict[str, Any]:
    """Race once, and return what it took."""
    estimator, grid, n_rows = case(name)
    X, y = make_rows(n_rows)
    warnings.simplefilter("ignore")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    data = X.nbytes + y.nbytes
    before, clock, cpu = peak_bytes(), time.perf_counter(), time.process_time()
    search = RaceGridSearchCV(estimator, grid, random_state=0, scoring="accuracy")
    search.fit(X, y)
    total = time.process_time() - cpu
    return {
        "case": name,
        "rows": n_rows,
        "configurations": len(search.cv_results_["params"]),
        "raced_rows": search.race_.problem.n_samples,
        "looks": [
            [seen.look.stage, seen.look.n_train, seen.look.n_test]
            for seen in search.race_.observations
        ],
        "fits": int(search.race_.present.sum()),
        "seconds": round(time.perf_counter() - clock, 2),
        "cpu_seconds": round(total, 3),
        "model_cpu_seconds": round(Spent.seconds, 3),
        "refit_seconds": round(search.refit_time_, 2),
        "data_mb": round(data / 1e6),
        "before_mb": round(before / 1e6),
        "peak_mb": round(peak_bytes() / 1e6),
        "best_params": {
            k: float(v) if isinstance(v, float) else v
            for k, v in search.best_params_.items()
        },
        "best_score": round(search.best_score_, 5),
    }
