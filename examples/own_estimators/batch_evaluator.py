"""An estimator of one's own, and an evaluator that shares its work.

Principal component regression: least squares on the first few principal components.
The singular value decomposition does not depend on how many of them are used, so one
serves all configurations.

>>> from cvst import RaceGridSearchCV
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(600, 20)) * np.arange(20, 0, -1)
>>> y = X[:, :5].sum(axis=1) + rng.normal(size=600)
>>> grid = {"n_components": list(range(1, 21))}
>>> search = RaceGridSearchCV(PrincipalComponentRegression(), grid, random_state=0)
>>> search.fit(X, y).best_params_["n_components"] >= 5
True
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from cvst.evaluation import OneByOne, Outcome, Task, batch_evaluator_for


class PrincipalComponentRegression(RegressorMixin, BaseEstimator):
    """Least squares on the first principal components."""

    def __init__(self, n_components: int = 1) -> None:
        self.n_components = n_components

    def fit(self, X: Any, y: Any) -> PrincipalComponentRegression:
        """Decompose the rows and regress on the first components."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        if not 1 <= self.n_components <= min(X.shape):
            raise ValueError(
                f"n_components={self.n_components} must be between 1 and "
                f"{min(X.shape)}, the number of components of these rows."
            )
        self.mean_, self.intercept_ = X.mean(axis=0), y.mean()
        U, s, Vt = np.linalg.svd(X - self.mean_, full_matrices=False)
        k = self.n_components
        self.coef_ = Vt[:k].T @ (U[:, :k].T @ (y - self.intercept_) / s[:k])
        return self

    def predict(self, X: Any) -> Any:
        """Predict targets."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return (X - self.mean_) @ self.coef_ + self.intercept_


def is_plain(values: Any) -> bool:
    """Return whether numbers need no validation."""
    numbers = isinstance(values, np.ndarray) and values.dtype == float
    return numbers and bool(np.isfinite(values).all())


# [evaluator]
class AllComponents:
    """One decomposition for every number of components."""

    prefer = "threads"  # LAPACK releases the GIL

    def groups(self, estimator: Any, configurations: Any) -> list[list[int]]:
        """Let all configurations share; keys are their numbers."""
        del estimator
        return [list(configurations)]

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Add up components and stop at every number asked for."""
        start = perf_counter()
        X, y, X_test = task.X_train, task.y_train, task.X_test
        default = {"n_components": task.estimator.n_components}
        grid = {i: {**default, **one} for i, one in task.configurations.items()}
        sizes = {i: one.pop("n_components") for i, one in grid.items()}
        valid = [type(k) is int and 1 <= k <= min(X.shape) for k in sizes.values()]
        if (
            any(grid.values())  # other parameters are set
            or not all(map(is_plain, (X, y, X_test)))
            or not all(valid)
            or task.fit_params
            or task.response != "predict"
        ):
            yield from OneByOne().evaluate(task)
            return
        mean, intercept = X.mean(axis=0), y.mean()
        U, s, Vt = np.linalg.svd(X - mean, full_matrices=False)
        parts = (X_test - mean) @ Vt.T * (U.T @ (y - intercept) / s)
        predictions = intercept + parts.cumsum(axis=1)
        seconds = (perf_counter() - start) / len(sizes)
        for number, k in sizes.items():
            yield Outcome(number, predictions[:, k - 1], fit_seconds=seconds)


batch_evaluator_for.register(PrincipalComponentRegression, lambda _: AllComponents())
# [end]
