"""Small data sets of every kind, and learners that misbehave."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import Ridge

__all__ = [
    "Cliff",
    "Fussy",
    "FussyClassifier",
    "Hungry",
    "blobs",
    "counts",
    "labels",
    "lines",
    "two_targets",
    "wave",
]


def wave(n_rows: int = 300, seed: int = 0) -> tuple[Any, Any]:
    """Return a noisy sine along one of two inputs."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n_rows, 2))
    noise = rng.normal(scale=0.3, size=n_rows)
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + noise


def lines(n_rows: int = 300, n_features: int = 10, seed: int = 1) -> tuple[Any, Any]:
    """Return a linear problem, half of whose inputs do not matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    weights = rng.normal(size=n_features) * (np.arange(n_features) % 2)
    return X, X @ weights + rng.normal(size=n_rows)


def blobs(n_rows: int = 300, n_classes: int = 2, seed: int = 2) -> tuple[Any, Any]:
    """Return overlapping clouds, one or more of each class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    centres = rng.normal(scale=2.0, size=(n_classes, 4))
    X = centres[y] + rng.normal(size=(n_rows, 4))
    return X, y


def counts(n_rows: int = 300, seed: int = 3) -> tuple[Any, Any]:
    """Return counts above zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, 1.0 + rng.poisson(np.exp(0.5 * X[:, 0]))


def two_targets(n_rows: int = 300) -> tuple[Any, Any]:
    """Return a regression problem with two outputs."""
    X, y = wave(n_rows)
    return X, np.column_stack([y, np.cos(X[:, 0])])


def labels(n_rows: int = 300, seed: int = 4) -> tuple[Any, Any]:
    """Return sets of labels: three columns of 0 and 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, (X[:, :3] + rng.normal(scale=0.5, size=(n_rows, 3)) > 0).astype(int)


class Fussy(RegressorMixin, BaseEstimator):
    """Predict the shifted mean, or fail as told."""

    def __init__(self, mood: str = "good", shift: float = 0.0) -> None:
        self.mood = mood
        self.shift = shift

    def fit(self, X: Any, y: Any) -> Fussy:
        """Learn, or fail."""
        if self.mood == "raises" or (self.mood == "late" and len(X) > 100):
            raise ValueError(f"{len(X)} rows are not to my taste")
        self.mean_ = float(np.mean(y)) + self.shift
        return self

    def predict(self, X: Any) -> Any:
        """Predict as the class says."""
        odd = {"nan": np.nan, "inf": np.inf, "huge": 1e200}
        return np.full(len(X), odd.get(self.mood, self.mean_))


class FussyClassifier(ClassifierMixin, BaseEstimator):
    """Predict one class, or probabilities that are NaN."""

    def __init__(self, choice: int = 0, mood: str = "good") -> None:
        self.choice = choice
        self.mood = mood

    def fit(self, X: Any, y: Any) -> FussyClassifier:
        """Learn, or fail."""
        if self.mood == "raises":
            raise ValueError(f"{len(X)} rows are not to my taste")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        """Predict as the class says."""
        return np.full(len(X), self.classes_[self.choice])

    def predict_proba(self, X: Any) -> Any:
        """Return the same shares for every row."""
        shares = np.full((len(X), len(self.classes_)), 0.1 / len(self.classes_))
        shares[:, self.choice] += 0.9
        return shares * (np.nan if self.mood == "nan" else 1.0)


class Hungry(Ridge):
    """Ridge that cannot be fitted on few rows."""

    def __init__(self, alpha: float = 1.0, least: int = 0) -> None:
        super().__init__(alpha=alpha)
        self.least = least

    def fit(self, X: Any, y: Any) -> Hungry:
        """Learn, or fail."""
        if len(X) < self.least:
            raise ValueError(f"{len(X)} rows are too few")
        super().fit(X, y)
        return self


class Cliff(Ridge):
    """Ridge whose best level is 15 on subsets and, beside a cliff, 18 on folds."""

    def __init__(self, level: int = 0) -> None:
        super().__init__()
        self.level = level

    def fit(self, X: Any, y: Any) -> Cliff:
        """Learn, or fail."""
        if self.level > 18 and len(X) > 150:
            raise ValueError("over the cliff")
        self.best_ = 18 if len(X) > 150 else 15
        super().fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Predict as the class says."""
        return super().predict(X) * (1 - abs(self.level - self.best_) / 40)
