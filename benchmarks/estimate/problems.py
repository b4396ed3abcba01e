"""Problems with a known truth: generators, grids, and what a perfect model scores.

Every generator draws inputs and knows what a model could know at best: the mean of a
number, or the probability of a class. So the score of that best model is known on any
rows and, by many of them, in truth. The difference is pure chance, shared by every
good model that is scored on the same rows, and is taken off to measure a bias closely.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.svm import SVC

FAMILIES = "linear", "kernel", "boosting"

# Rows behind the true score of the best model.
N_TRUTH = 400_000


def linear(X: Any) -> Any:
    """Return few strong effects and many weak ones."""
    return X @ (1.0 / np.arange(1, X.shape[1] + 1))


def dense(X: Any) -> Any:
    """Return many effects of one size."""
    signs = np.where(np.arange(X.shape[1]) % 2, 1.0, -1.0)
    return X @ signs / np.sqrt(X.shape[1])


def waves(X: Any) -> Any:
    """Return a sum of sines."""
    return np.sin(2.0 * X[:, 0]) + np.sin(3.0 * X[:, 1]) + 0.5 * X[:, 2]


def bump(X: Any) -> Any:
    """Return a ridge along one direction."""
    z = X[:, :3].sum(axis=1)
    return 2.0 * np.sinc(z / 1.5)


def steps(X: Any) -> Any:
    """Return a small tree."""
    return np.where(X[:, 0] > 0, np.where(X[:, 1] > 0.5, 2.0, 0.5), -1.0) + np.where(
        X[:, 2] > 0, 0.5, -0.5
    )


def product(X: Any) -> Any:
    """Return two effects that turn each other round."""
    return 1.5 * X[:, 0] * X[:, 1] + 0.5 * X[:, 2]


@dataclass(frozen=True)
class Problem:
    """One problem: rows, models and a score.

    ``noise`` is the standard deviation of a regression's noise, or the inverse slope of
    a classification; ``tails`` the degrees of freedom of Student's noise (0: normal).
    """

    name: str
    family: str
    n_rows: int
    n_columns: int
    signal: Callable[[Any], Any]
    noise: float
    scoring: str
    model: str
    grid: dict[str, list[Any]] = field(default_factory=dict)
    tails: int = 0

    def __hash__(self) -> int:
        """Go by the name: a grid is a dictionary, which has no hash."""
        return hash(self.name)

    @property
    def classifies(self) -> bool:
        """Whether the targets are classes."""
        return self.model in ("logistic", "svc", "lgbm_classes")

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
        """Return rows, targets, and what the best model says of them."""
        X = rng.normal(size=(n_rows, self.n_columns))
        best = self.signal(X)
        if self.classifies:
            best = 1.0 / (1.0 + np.exp(-best / self.noise))
            return X, (rng.random(n_rows) < best).astype(int), best
        if self.tails:
            scale = np.sqrt(self.tails / (self.tails - 2))
            error = rng.standard_t(self.tails, n_rows) / scale
        else:
            error = rng.normal(size=n_rows)
        return X, best + self.noise * error, best

    def estimator(self) -> Any:
        """Return the model of the search."""
        quiet = {"n_jobs": 1, "verbose": -1, "min_child_samples": 10}
        return {
            "ridge": Ridge,
            "lasso": Lasso,
            "logistic": LogisticRegression,
            "kernel_ridge": lambda: KernelRidge(kernel="rbf"),
            "svc": SVC,
            "lgbm": lambda: LGBMRegressor(**quiet),
            "lgbm_classes": lambda: LGBMClassifier(**quiet),
        }[self.model]()

    def chance(self, y: Any, best: Any) -> float:
        """Return how much luckier than usual the best model is on some rows."""
        return self._best_score(y, best) - self.truth

    @property
    def truth(self) -> float:
        """The true score of the best model, on the scale of :meth:`chance`."""
        return _truth(self)

    def _best_score(self, y: Any, best: Any) -> float:
        if self.scoring == "accuracy":
            return float(np.mean((best > 0.5) == y))
        if self.scoring == "balanced_accuracy":
            right = (best > 0.5) == y
            return float((right[y == 0].mean() + right[y == 1].mean()) / 2)
        if self.scoring == "neg_log_loss":
            return -float(log_loss(y, best, labels=[0, 1]))
        if self.scoring == "roc_auc":
            return float(roc_auc_score(y, best))
        if self.scoring == "neg_mean_absolute_error":
            return -float(np.mean(np.abs(y - best)))
        # In the units of the score, and linear, so that its mean is exactly zero.
        error = float(np.mean((y - best) ** 2))
        if self.scoring == "r2":
            return -error / (self.noise**2 + _signal_variance(self))
        if self.scoring == "neg_root_mean_squared_error":
            return -error / (2 * self.noise)
        return -error


@cache
def _truth(problem: Problem) -> float:
    _, y, best = problem.draw(N_TRUTH, np.random.default_rng(0))
    return problem._best_score(y, best)


@cache
def _signal_variance(problem: Problem) -> float:
    return float(problem.draw(N_TRUTH // 10, np.random.default_rng(1))[2].var())


ALPHAS = {"alpha": np.logspace(-3, 4, 22).tolist()}
SPARSE = {"alpha": np.logspace(-3, 0.3, 20).tolist()}
STRENGTHS = {"C": np.logspace(-4, 1, 9).tolist()}
KERNEL = {
    "alpha": np.logspace(-2, 1.5, 7).tolist(),
    "gamma": np.logspace(-3, 0.5, 6).tolist(),
}
MARGIN = {
    "C": np.logspace(-1, 3, 5).tolist(),
    "gamma": np.logspace(-3, 0.5, 5).tolist(),
}
TREES = {
    "num_leaves": [3, 7, 15],
    "learning_rate": [0.1, 0.3],
    "n_estimators": [5, 10, 20, 40],
}


def _all(rows: list[tuple[Any, ...]]) -> list[Problem]:
    grids = {
        "ridge": ("linear", ALPHAS),
        "lasso": ("linear", SPARSE),
        "logistic": ("linear", STRENGTHS),
        "kernel_ridge": ("kernel", KERNEL),
        "svc": ("kernel", MARGIN),
        "lgbm": ("boosting", TREES),
        "lgbm_classes": ("boosting", TREES),
    }
    problems = []
    for model, n_rows, n_columns, signal, noise, scoring, *tails in rows:
        family, grid = grids[model]
        name = f"{model} {signal.__name__} {n_rows}x{n_columns} {noise:g} {scoring}"
        problems.append(
            Problem(
                *(name, family, n_rows, n_columns, signal, noise, scoring, model, grid),
                *tails,
            )
        )
    return problems


# The rule of the interval was chosen on these.
TUNING = _all(
    [
        ("ridge", 200, 40, dense, 2.0, "neg_mean_squared_error"),
        ("lasso", 300, 30, linear, 3.0, "r2"),
        ("logistic", 200, 20, dense, 1.0, "accuracy"),
        ("logistic", 500, 30, linear, 2.0, "roc_auc"),
        ("kernel_ridge", 200, 5, waves, 1.5, "neg_mean_squared_error"),
        ("kernel_ridge", 500, 4, bump, 1.5, "r2"),
        ("svc", 200, 5, product, 1.5, "accuracy"),
        ("svc", 300, 4, waves, 1.0, "balanced_accuracy"),
        ("lgbm", 200, 5, steps, 1.5, "neg_mean_absolute_error"),
        ("lgbm", 500, 6, product, 2.0, "r2", 5),
        ("lgbm_classes", 200, 5, steps, 1.5, "accuracy"),
        ("lgbm_classes", 500, 5, product, 1.5, "neg_log_loss"),
    ]
)

# And these had the last word.
HELD_OUT = _all(
    [
        ("ridge", 200, 20, linear, 3.0, "r2"),
        ("ridge", 250, 60, dense, 2.5, "neg_root_mean_squared_error"),
        ("ridge", 1000, 100, linear, 4.0, "neg_mean_squared_error", 5),
        ("ridge", 5000, 50, dense, 4.0, "neg_mean_absolute_error"),
        ("lasso", 200, 50, linear, 2.0, "neg_mean_squared_error"),
        ("lasso", 400, 40, dense, 3.0, "r2"),
        ("logistic", 200, 10, linear, 2.0, "accuracy"),
        ("logistic", 300, 40, dense, 1.0, "accuracy"),
        ("logistic", 500, 20, linear, 2.0, "neg_log_loss"),
        ("logistic", 5000, 20, linear, 3.0, "balanced_accuracy"),
        ("kernel_ridge", 200, 3, bump, 1.0, "neg_mean_squared_error"),
        ("kernel_ridge", 200, 8, product, 2.0, "r2"),
        ("kernel_ridge", 300, 4, waves, 2.0, "neg_mean_absolute_error"),
        ("kernel_ridge", 400, 5, steps, 2.0, "neg_root_mean_squared_error"),
        ("kernel_ridge", 600, 4, product, 2.0, "neg_mean_squared_error", 5),
        ("svc", 200, 4, waves, 1.5, "accuracy"),
        ("svc", 200, 8, dense, 1.0, "balanced_accuracy"),
        ("svc", 250, 3, bump, 1.0, "roc_auc"),
        ("svc", 300, 5, steps, 1.5, "accuracy"),
        ("svc", 400, 4, product, 1.0, "accuracy"),
        ("lgbm", 200, 4, waves, 1.5, "neg_mean_squared_error"),
        ("lgbm", 200, 8, linear, 2.0, "r2"),
        ("lgbm", 300, 5, steps, 3.0, "neg_mean_absolute_error"),
        ("lgbm", 500, 5, bump, 1.5, "neg_root_mean_squared_error"),
        ("lgbm", 2000, 5, waves, 3.0, "neg_mean_squared_error", 5),
        ("lgbm_classes", 200, 4, product, 1.0, "accuracy"),
        ("lgbm_classes", 250, 6, linear, 2.0, "neg_log_loss"),
        ("lgbm_classes", 300, 5, waves, 1.5, "roc_auc"),
        ("lgbm_classes", 500, 4, steps, 1.0, "accuracy"),
        ("lgbm_classes", 1000, 5, product, 1.5, "balanced_accuracy"),
    ]
)
