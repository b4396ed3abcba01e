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
from families import family_of
from lightgbm import LGBMClassifier, LGBMRegressor
from scipy.special import ndtr
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

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

    def response(self, model: Any, X: Any) -> Any:
        """Return what the score needs of a model: labels, numbers or probabilities."""
        if self.scoring == "neg_log_loss":
            return model.predict_proba(X)[:, 1]
        if self.scoring == "roc_auc":
            margins = hasattr(model, "decision_function")
            return (
                model.decision_function(X) if margins else model.predict_proba(X)[:, 1]
            )
        return model.predict(X)

    def losses(self, said: Any, y: Any) -> Any:
        """Return a loss for each row; every score but ROC AUC is made from its mean."""
        if self.scoring == "neg_log_loss":
            said = _inside(said)
            return -np.where(y == 1, np.log(said), np.log(1 - said))
        if self.classifies:
            return np.asarray((said > 0.5) != y, dtype=float)
        if self.scoring == "neg_mean_absolute_error":
            return np.abs(y - said)
        return (y - said) ** 2

    def expected_losses(self, said: Any, best: Any) -> Any:
        """Return mean losses over all targets that the rows may have.

        Of two classes each has its own, of numbers there is one.
        """
        if not self.classifies:
            return (float(np.mean(self._expected(said - best))),)
        apart = [self.losses(said, label) for label in (0, 1)]
        return (
            float(apart[0] @ (1 - best) / np.sum(1 - best)),
            float(apart[1] @ best / np.sum(best)),
        )

    def _expected(self, gap: Any) -> Any:
        """Return the expected loss of predictions that are off by so much."""
        if self.scoring != "neg_mean_absolute_error":
            return self.noise**2 + gap**2
        assert not self.tails
        far = gap / self.noise
        return self.noise * (
            np.sqrt(2 / np.pi) * np.exp(-(far**2) / 2) + far * (1 - 2 * ndtr(-far))
        )

    def expected_score(self, said: Any, best: Any) -> float:
        """Return the score over all targets that the rows may have."""
        if self.scoring == "roc_auc":
            labels = np.repeat([1, 0], len(best))
            weights = np.concatenate([best, 1 - best])
            return float(roc_auc_score(labels, np.tile(said, 2), sample_weight=weights))
        losses = self.expected_losses(said, best)
        if self.classifies:
            share = float(np.mean(best))
            if self.scoring == "balanced_accuracy":
                share = 0.5
            loss = (1 - share) * losses[0] + share * losses[1]
            return -loss if self.scoring == "neg_log_loss" else 1 - loss
        loss = losses[0]
        if self.scoring == "r2":
            return 1 - loss / self.variance
        return -np.sqrt(loss) if "root" in self.scoring else -loss

    @property
    def share(self) -> float:
        """The share of the second class."""
        return float(_best(self).mean())

    @property
    def variance(self) -> float:
        """The variance of the targets."""
        return float(self.noise**2 + _best(self).var())

    @property
    def truth(self) -> float:
        """The true score of the best model."""
        return _truth(self)

    @property
    def expected_losses_of_best(self) -> Any:
        """Mean losses of the best model."""
        return _losses_of_best(self)


def _inside(probabilities: Any) -> Any:
    # As scikit-learn's log loss does.
    tiny = np.finfo(float).eps
    return np.clip(probabilities, tiny, 1 - tiny)


@cache
def _best(problem: Problem) -> Any:
    return problem.draw(N_TRUTH, np.random.default_rng(0))[2]


@cache
def _truth(problem: Problem) -> float:
    return problem.expected_score(_best(problem), _best(problem))


@cache
def _losses_of_best(problem: Problem) -> Any:
    return problem.expected_losses(_best(problem), _best(problem))


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
        "ridge": ALPHAS,
        "lasso": SPARSE,
        "logistic": STRENGTHS,
        "kernel_ridge": KERNEL,
        "svc": MARGIN,
        "lgbm": TREES,
        "lgbm_classes": TREES,
    }
    problems = []
    for model, n_rows, n_columns, signal, noise, scoring, *tails in rows:
        family, grid = family_of(model), grids[model]
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
