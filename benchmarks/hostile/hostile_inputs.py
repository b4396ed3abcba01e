"""Odd and hostile rows, targets, folds and grids, drawn by a seed."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

__all__ = ["CVS", "GRIDS", "PARAMS", "ROWS", "TARGETS"]


def _plain(rng, n):
    return rng.normal(size=(n, int(rng.integers(1, 4))))


def _with(value, share=0.1):
    def made(rng, n):
        X = _plain(rng, n)
        X[rng.random(X.shape) < share] = value
        return X

    return made


def _frame(names):
    def made(rng, n):
        X = rng.normal(size=(n, len(names)))
        labels = pd.Index(names, dtype=object)
        return pd.DataFrame(X, columns=labels, index=rng.permutation(n) - 3)

    return made


# From a generator and a number of rows to X.
ROWS = {
    "plain": _plain,
    "huge": lambda rng, n: _plain(rng, n) * 1e300,
    "tiny": lambda rng, n: _plain(rng, n) * 1e-300,
    "far": lambda rng, n: _plain(rng, n) + 1e12,
    "constant": lambda rng, n: np.ones((n, 2)),
    "duplicates": lambda rng, n: np.repeat(_plain(rng, 1), n, axis=0),
    "gaps": _with(np.nan),
    "infinite": _with(np.inf),
    "whole": lambda rng, n: rng.integers(-3, 4, size=(n, 2)),
    "booleans": lambda rng, n: rng.random((n, 2)) < 0.5,
    "single": lambda rng, n: _plain(rng, n).astype(np.float32),
    "half": lambda rng, n: _plain(rng, n).astype(np.float16),
    "columns first": lambda rng, n: np.asfortranarray(_plain(rng, n)),
    "every other": lambda rng, n: _plain(rng, 2 * n)[::2],
    "list": lambda rng, n: _plain(rng, n).tolist(),
    "ragged": lambda rng, n: [[0.0] * (1 + k % 2) for k in range(n)],
    "words": lambda rng, n: rng.choice(["a", "b"], size=(n, 2)).astype(object),
    "number words": lambda rng, n: _plain(rng, n).astype(str),
    "objects": lambda rng, n: _plain(rng, n).astype(object),
    "dicts": lambda rng, n: [{"a": 1}] * n,
    "frame": _frame(["a", "b"]),
    "frame of odd names": _frame(["\ud800", "\x1b[2J", ""]),
    "frame of same names": _frame(["a", "a"]),
    "frame of numbers": _frame([0, 1]),
    "mixed frame": lambda rng, n: pd.DataFrame(
        {"a": rng.normal(size=n), "b": rng.choice(["x", "y"], size=n)}
    ),
    "csr": lambda rng, n: sparse.csr_matrix(_plain(rng, n)),
    "csc": lambda rng, n: sparse.csc_matrix(_plain(rng, n)),
    "coo": lambda rng, n: sparse.coo_matrix(_plain(rng, n)),
    "one axis": lambda rng, n: rng.normal(size=n),
    "three axes": lambda rng, n: rng.normal(size=(n, 2, 2)),
    "no columns": lambda rng, n: np.empty((n, 0)),
    "no rows": lambda rng, n: np.empty((0, 2)),
    "complex": lambda rng, n: _plain(rng, n) * 1j,
    "dates": lambda rng, n: np.full((n, 1), np.datetime64("2020-01-01")),
    "generator": lambda rng, n: (row for row in _plain(rng, n)),
    "nothing": lambda rng, n: None,
    "text": lambda rng, n: "rows",
    "number": lambda rng, n: 3.0,
}


def _classes(count, kind=int):
    def made(rng, n):
        codes = rng.integers(0, count, size=n)
        return codes if kind is int else np.array([kind(code) for code in codes])

    return made


# From a generator and a number of rows to y.
TARGETS = {
    "numbers": lambda rng, n: rng.normal(size=n),
    "huge": lambda rng, n: rng.normal(size=n) * 1e200,
    "enormous": lambda rng, n: rng.normal(size=n) * 1e307,
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-300,
    "constant": lambda rng, n: np.ones(n),
    "outliers": lambda rng, n: rng.standard_cauchy(size=n) ** 3,
    "two classes": _classes(2),
    "sorted classes": lambda rng, n: np.sort(_classes(2)(rng, n)),
    "rare class": lambda rng, n: (np.arange(n) == n // 2).astype(int),
    "five classes": _classes(5),
    "one class": lambda rng, n: np.zeros(n, dtype=int),
    "all different": lambda rng, n: rng.permutation(n),
    "words": _classes(3, lambda code: "abc"[code]),
    "odd words": _classes(2, lambda code: ["\ud800", "\x1b[2J"][code]),
    "objects": lambda rng, n: _classes(2, lambda c: "xy"[c])(rng, n).astype(object),
    "mixed objects": lambda rng, n: np.array([1, "a"] * n, dtype=object)[:n],
    "truth": _classes(2, bool),
    "float classes": _classes(3, float),
    "bytes": _classes(2, lambda code: [b"x", b"y"][code]),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.2, np.nan, 1.0),
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.2, np.inf, 1.0),
    "column": lambda rng, n: rng.normal(size=(n, 1)),
    "several": lambda rng, n: rng.normal(size=(n, 2)),
    "series": lambda rng, n: pd.Series(_classes(2)(rng, n), index=np.arange(n)[::-1]),
    "categories": lambda rng, n: pd.Series(
        pd.Categorical.from_codes(_classes(2)(rng, n), ["u", "v"])
    ),
    "list": lambda rng, n: _classes(2)(rng, n).tolist(),
    "too short": lambda rng, n: rng.normal(size=n - 1),
    "too long": lambda rng, n: rng.normal(size=n + 1),
    "three axes": lambda rng, n: rng.normal(size=(n, 1, 1)),
    "nothing": lambda rng, n: None,
    "generator": lambda rng, n: (value for value in rng.normal(size=n)),
}


class Lying:
    """A splitter whose folds make no sense."""

    def __init__(self, folds):
        self.folds = folds

    def get_n_splits(self, X=None, y=None, groups=None):
        return 7

    def split(self, X, y=None, groups=None):
        yield from self.folds


class Raising(Lying):
    """A splitter that raises."""

    def split(self, X, y=None, groups=None):
        raise KeyError("folds")


def _pairs(n):
    half = n // 2
    first, second = np.arange(half), np.arange(half, n)
    return [(first, second), (second, first)]


# From a generator and a number of rows to cv.
CVS = {
    "none": lambda rng, n: None,
    "two": lambda rng, n: 2,
    "three": lambda rng, n: 3,
    "five": lambda rng, n: 5,
    "hundred": lambda rng, n: 100,
    "one": lambda rng, n: 1,
    "minus": lambda rng, n: -3,
    "text": lambda rng, n: "five",
    "float": lambda rng, n: 2.5,
    "k-fold": lambda rng, n: KFold(3),
    "shuffled k-fold": lambda rng, n: KFold(3, shuffle=True, random_state=0),
    "stratified": lambda rng, n: StratifiedKFold(3),
    "groups": lambda rng, n: GroupKFold(2),
    "leave one out": lambda rng, n: LeaveOneOut() if n <= 20 else KFold(5),
    "shuffle split": lambda rng, n: ShuffleSplit(3, random_state=0),
    "repeated": lambda rng, n: RepeatedKFold(n_splits=2, n_repeats=2, random_state=0),
    "time": lambda rng, n: TimeSeriesSplit(2),
    "pairs": lambda rng, n: _pairs(n),
    "generated pairs": lambda rng, n: (pair for pair in _pairs(n)),
    "lists": lambda rng, n: [(list(a), list(b)) for a, b in _pairs(n)],
    "masks": lambda rng, n: [(np.arange(n) % 2 == 0, np.arange(n) % 2 == 1)],
    "one fold": lambda rng, n: _pairs(n)[:1],
    "overlap": lambda rng, n: [(np.arange(n), np.arange(n))] * 2,
    "repeated rows": lambda rng, n: [(np.zeros(n, dtype=int), np.arange(n))],
    "beyond": lambda rng, n: [(np.arange(n), np.arange(n) + 5)],
    "empty fold": lambda rng, n: [(np.arange(n), np.array([], dtype=int))],
    "no folds": lambda rng, n: [],
    "not pairs": lambda rng, n: [np.arange(n)] * 3,
    "floats": lambda rng, n: [(np.arange(n) / 1.0, np.arange(n) / 1.0)],
    "lying": lambda rng, n: Lying(_pairs(n)),
    "raising": lambda rng, n: Raising(()),
}


# From the usual values of a hyper-parameter to a grid.
GRIDS = {
    "usual": lambda name, values: {name: values},
    "list of grids": lambda name, values: [{name: values[:1]}, {name: values[1:]}],
    "twice": lambda name, values: {name: [*values, *values]},
    "array": lambda name, values: {name: np.array(values)},
    "one": lambda name, values: {name: values[:1]},
    "default only": lambda name, values: {},
    "none": lambda name, values: [],
    "empty values": lambda name, values: {name: []},
    "no list": lambda name, values: {name: values[0]},
    "text": lambda name, values: {name: "values"},
    "unknown": lambda name, values: {"\ud800 unknown": values},
    "unknown part": lambda name, values: {f"{name}__part": values},
    "numbers as names": lambda name, values: {1: values},
    "odd values": lambda name, values: {
        name: [*values, None, np.nan, 10**400, "x", lambda: 0, Ridge(), [1], object()]
    },
    "many": lambda name, values: {name: [*values, *np.linspace(0.1, 9, 50)]},
}


# From a generator and a number of rows to what ``fit`` gets besides.
PARAMS = {
    "nothing": lambda rng, n: {},
    "groups": lambda rng, n: {"groups": rng.integers(0, 4, size=n)},
    "groups of one": lambda rng, n: {"groups": np.zeros(n)},
    "groups of each": lambda rng, n: {"groups": np.arange(n)},
    "short groups": lambda rng, n: {"groups": np.zeros(n - 1)},
    "groups with gaps": lambda rng, n: {"groups": [None] * n},
    "weights": lambda rng, n: {"sample_weight": rng.random(n)},
    "zero weights": lambda rng, n: {"sample_weight": np.zeros(n)},
    "some zero weights": lambda rng, n: {"sample_weight": np.arange(n) % 2.0},
    "negative weights": lambda rng, n: {"sample_weight": -np.ones(n)},
    "weights as text": lambda rng, n: {"sample_weight": ["a"] * n},
    "unknown": lambda rng, n: {"unknown": 1},
}
