"""Find out how the libsvm of this machine rounds, by solving the same as it does."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial
from typing import Any

import numpy as np

from cvst._sklearn_compat import LibsvmModel, libsvm_fit
from cvst._typing import FloatArray
from cvst.evaluation.svm._solutions import SvmSolution
from cvst.evaluation.svm.compiled._ends import half_share
from cvst.evaluation.svm.compiled._kernel import PreparedKernel
from cvst.evaluation.svm.compiled._machines import (
    C_SVC,
    EPSILON_SVR,
    NU_SVC,
    NU_SVR,
    Rounding,
    fit,
)

__all__ = ["is_same", "rounding_for"]

# Blocks in which compilers may take long sums; 1 rounds every product, 0 none.
BLOCKS = (1, 0, 2, 4, 8)

# A long sum is taken like one of this length and a rest.
LONG = 64

N_ROWS = 60
N_DRAWS = 500


def rounding_for(n_train: int) -> Rounding | None:
    """Return how libsvm rounds with this many rows; None if no known way fits."""
    pairs = _pairs()
    if pairs is None:
        return None
    n_like = n_train % LONG + LONG * (n_train >= LONG)
    return Rounding(pairs, partial(_block, pairs, n_like))


def is_same(ours: SvmSolution | None, theirs: LibsvmModel) -> bool:
    """Return whether two machines for two classes are the same to the last bit."""
    if ours is None:
        return False
    expected = SvmSolution.of(theirs, ours.coefficients.shape[1], n_classes=2)
    parts: Iterable[tuple[Any, Any]] = zip(ours, expected, strict=True)
    return all(np.array_equal(one, other, equal_nan=True) for one, other in parts)


@cache
def _pairs() -> int | None:
    """Solve a problem of each kind in all known ways; return the one that fits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 2))
    classes = (X[:, 0] + rng.normal(size=N_ROWS) > 0).astype(float)
    curve = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=N_ROWS)
    problems = [
        (_rbf(X, gamma), targets, _settings(svm_type, **values))
        for gamma in (0.3, 3.0)
        for svm_type, targets, values in (
            (C_SVC, classes, {"C": 3.0}),
            (NU_SVC, classes, {"nu": 0.5}),
            (EPSILON_SVR, curve, {"C": 3.0, "epsilon": 0.1}),
            (NU_SVR, curve, {"C": 2.0, "nu": 0.5}),
        )
    ]
    for pairs in range(3):
        # The shares of these problems are sums of halves and ones, exact in any order:
        # the block does not matter yet.
        rounding = Rounding(pairs, lambda: 1)
        if all(_agrees(rounding, *problem) for problem in problems):
            return pairs
    return None


@cache
def _block(pairs: int, n_train: int) -> int | None:
    """Return the one block that explains all sums which tell the blocks apart."""
    rng = np.random.default_rng(n_train)
    ways = [Rounding(pairs, partial(int, block)) for block in BLOCKS]
    # Blocks that round as many products give the same sums with this many rows.
    left = {way.n_plain(n_train): way for way in ways}
    for _ in range(N_DRAWS):
        if len(left) < 2:
            break
        # The last rows weigh most, so that their rounding is not lost in the sum.
        weights = rng.uniform(0.5, 2, size=n_train)
        weights[: -max(BLOCKS)] *= 1e-4
        C, nu = rng.uniform(0.1, 3), rng.uniform(0.1, 0.9)
        sums = {half_share(C * weights, nu, n_plain) for n_plain in left}
        if len(sums) > 1:
            problem = _sum_problem(weights, C, nu)
            left = {
                n_plain: way for n_plain, way in left.items() if _agrees(way, *problem)
            }
    return left.popitem()[1].find_block() if len(left) == 1 else None


def _sum_problem(
    weights: FloatArray, C: float, nu: float
) -> tuple[FloatArray, FloatArray, dict[str, Any]]:
    """Return a problem whose first step shows how the share of bounds was summed up.

    The kernel knows nothing but single rows. The row where the shares end has the only
    target, so that one of its two variables moves, and the other one shows the rest.
    """
    bounds = C * weights
    filled = np.cumsum(bounds) < bounds.sum() * nu / 2
    targets = np.zeros(len(weights))
    targets[filled.sum()] = 10 * C
    settings = _settings(NU_SVR, C=C, nu=nu, max_iter=1, sample_weight=weights)
    return np.eye(len(weights)), targets, settings


def _agrees(
    rounding: Rounding,
    matrix: FloatArray,
    targets: FloatArray,
    settings: dict[str, Any],
) -> bool:
    settings.setdefault("sample_weight", np.ones(len(targets)))
    theirs = libsvm_fit(matrix, targets, **settings)
    labels = (
        targets.astype(np.intp) if settings["svm_type"] in (C_SVC, NU_SVC) else None
    )
    kernel = PreparedKernel.of(matrix, labels)
    return kernel is not None and is_same(
        fit(kernel, targets, rounding, **settings), theirs
    )


def _settings(svm_type: int, **values: Any) -> dict[str, Any]:
    return {
        "svm_type": svm_type,
        "class_weight": np.empty(0),
        "tol": 1e-3,
        "C": 0.0,
        "nu": 0.0,
        "epsilon": 0.0,
        "shrinking": 1,
        "max_iter": -1,
        "cache_size": 100.0,
        **values,
    }


def _rbf(X: FloatArray, gamma: float) -> FloatArray:
    squares = ((X[:, None] - X[None, :]) ** 2).sum(axis=2)
    return np.asarray(np.exp(-gamma * squares))
