"""Estimators that misbehave, scorers that lie, and a few honest ones."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cvst.evaluation import PointwiseLoss

__all__ = ["HONEST", "LEVELS", "MODELS", "SCORERS"]


class OddError(Exception):
    """Cannot be made again from its text."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}\n\x1b[2J" * 3)


class HiddenError(Exception):
    """Does not even have a text."""

    def __str__(self):
        raise RuntimeError("no words")


# Made anew each time: one that is raised again keeps the frames of all its raises.
ERRORS = {
    "value": lambda: ValueError("bad\nvalue"),
    "key": lambda: KeyError("key"),
    "odd": lambda: OddError(1, 2),
    "hidden": HiddenError,
    "stop": StopIteration,
    "memory": MemoryError,
    "recursion": lambda: RecursionError("deep"),
    "warning": lambda: UserWarning("as an error"),
    "assertion": AssertionError,
    "long": lambda: ArithmeticError("x" * 10_000),
}


class Hostile(BaseEstimator):
    """Predicts the mean or the commonest class, with a twist."""

    def __init__(self, level=0.0, twist="none"):
        self.level = level
        self.twist = twist

    def fit(self, X, y=None, sample_weight=None):
        if self.twist in ERRORS and self.level > 0:
            raise ERRORS[self.twist]()
        if self.twist == "writes":
            _write_into_rows(X)
            try:
                X[:] = 0
                y[:] = 0
            except TypeError:
                pass
        self.mean_ = self._mean(y)
        return None if self.twist == "returns nothing" else self

    def predict(self, X):
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if self.twist == "predict raises" and self.level > 0:
            raise OddError(3, 4)
        if self.twist == "writes":
            _write_into_rows(X)
        values = np.repeat(np.array([self.mean_]), n_rows)
        twisted = {
            "too few": values[:-1],
            "too many": np.append(values, values),
            "nothing": None,
            "list": values.tolist(),
            "column": values[:, None],
            "words": np.full(n_rows, "word"),
            "objects": values.astype(object),
            "dict": {0: 1},
            "scalar": 0,
            "generator": (value for value in values),
        }
        if self.twist in ("not a number", "infinite"):
            number = np.nan if self.twist == "not a number" else np.inf
            return np.full(n_rows, number) if self.level > 0 else values
        return twisted.get(self.twist, values)


def _write_into_rows(X):
    """Write into each row of a nested list, which a copy of the list still shares."""
    for row in X if isinstance(X, list) else ():
        if isinstance(row, list):
            row[:] = [-value for value in row]
        elif isinstance(row, dict):
            row.clear()


class HostileRegressor(RegressorMixin, Hostile):
    """Among numbers."""

    def _mean(self, y):
        return float(np.mean(np.asarray(y, dtype=float))) + self.level


class HostileClassifier(ClassifierMixin, Hostile):
    """Among classes."""

    def _mean(self, y):
        self.classes_, counts = np.unique(np.asarray(y), return_counts=True)
        place = int(np.argsort(counts)[-1 - int(self.level > 0) * (len(counts) > 1)])
        return self.classes_[place]


TWISTS = (
    "none",
    *ERRORS,
    *("writes", "returns nothing", "predict raises", "too few", "too many"),
    *("nothing", "list", "column", "words", "objects", "dict", "scalar", "generator"),
    *("not a number", "infinite"),
)

# The first is the best by far, so that no race may choose another.
LEVELS = [0.0, 10.0, 20.0]

# The estimator, a hyper-parameter and its values; honest ones more than once.
HONEST = {
    "ridge": (Ridge(), "alpha", [0.1, 1.0, 100.0]),
    "tree": (DecisionTreeRegressor(random_state=0), "max_depth", [1, 2, 5]),
    "neighbours": (KNeighborsRegressor(), "n_neighbors", [1, 2, 3]),
    "mean": (DummyRegressor(), "constant", [0.0, 1.0]),
    "scaled ridge": (make_pipeline(StandardScaler(), Ridge()), "ridge__alpha", [1, 9]),
    "logistic": (LogisticRegression(max_iter=50), "C", [0.01, 1.0, 10.0]),
    "tree of classes": (DecisionTreeClassifier(random_state=0), "max_depth", [1, 3]),
    "neighbouring classes": (KNeighborsClassifier(), "n_neighbors", [1, 3]),
    "bayes": (GaussianNB(), "var_smoothing", [1e-9, 1e-3, 1.0]),
    "machine": (SVC(), "C", [0.1, 1.0]),
}
MODELS = {
    **HONEST,
    **{
        f"{kind.__name__} {twist}": (kind(twist=twist), "level", LEVELS)
        for kind in (HostileRegressor, HostileClassifier)
        for twist in TWISTS
    },
}


def _loss(function):
    return PointwiseLoss(function)


def _raise(y_true, y_pred):
    raise OddError(5, 6)


def _scorer(value):
    return lambda estimator, X, y=None: value


SCORERS = {
    "own": None,
    "own again": None,
    "accuracy": "accuracy",
    "mse": "neg_mean_squared_error",
    "mae": "neg_mean_absolute_error",
    "r2": "r2",
    "log loss": "neg_log_loss",
    "auc": "roc_auc",
    "unknown": "nonsense",
    "number": 3,
    "several": ["r2", "neg_mean_squared_error"],
    "scorer of numbers": _scorer(1.0),
    "scorer of nothing": _scorer(None),
    "scorer of words": _scorer("good"),
    "honest loss": _loss(lambda y, p: np.abs(y - p)),
    "short loss": _loss(lambda y, p: np.zeros(len(y) - 1)),
    "wide loss": _loss(lambda y, p: np.zeros((len(y), 2))),
    "scalar loss": _loss(lambda y, p: 0.0),
    "loss of nothing": _loss(lambda y, p: None),
    "loss of words": _loss(lambda y, p: ["a"] * len(y)),
    "loss of NaN": _loss(lambda y, p: np.full(len(y), np.nan)),
    "infinite loss": _loss(lambda y, p: np.full(len(y), np.inf)),
    "negative loss": _loss(lambda y, p: -np.ones(len(y))),
    "complex loss": _loss(lambda y, p: np.ones(len(y)) * 1j),
    "loss of objects": _loss(lambda y, p: np.array([object()] * len(y))),
    "raising loss": _loss(_raise),
}
