"""Fits that draw random numbers which no seed fixes.

Two clones of such a transformer differ, so their fits cannot be shared without
changing what a race sees. ``random_state=None`` is the usual sign, but many estimators
have the parameter and use it in rare cases only: those cases are listed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, KernelPCA
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils import get_tags

from cvst._values import is_estimator

__all__ = ["draws_at_random"]

# They add noise to break ties between rows.
NOISY_FUNCTIONS = (mutual_info_classif, mutual_info_regression)

# They put out no more columns than they take in.
KEEP_COLUMNS = (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PCA,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)


def draws_at_random(transformer: Any, X: Any) -> bool:
    """Return whether two clones of a transformer may differ after a fit on X.

    A class of your own counts as deterministic unless it has a parameter
    ``random_state`` left at None or its tag ``non_deterministic`` says otherwise.

    Examples
    --------
    >>> X = np.zeros((2000, 600))
    >>> draws_at_random(PCA(5), X), draws_at_random(PCA(5), X[:, :30])
    (True, False)
    >>> draws_at_random(PCA(5, random_state=0), X)
    False
    """
    if _says_so(transformer):
        return True
    shape = np.shape(X)
    width = shape[1] if len(shape) == 2 else None
    for part, columns in _parts(transformer, width):
        if _is_unseeded(part) and not _needs_no_seed(part, shape[0], columns, X):
            return True
        if any(map(_is_noisy, part.get_params(deep=False).values())):
            return True
    return False


def _says_so(transformer: Any) -> bool:
    if not hasattr(transformer, "__sklearn_tags__"):
        return False
    return bool(get_tags(transformer).non_deterministic)


def _parts(estimator: Any, width: int | None) -> Iterator[tuple[Any, int | None]]:
    """Yield an estimator and all inside it, with the most columns each may see."""
    if not is_estimator(estimator):
        return
    yield estimator, width
    if isinstance(estimator, Pipeline):
        for _, step in estimator.steps:
            yield from _parts(step, width)
            width = width if isinstance(step, KEEP_COLUMNS) else None
    elif isinstance(estimator, FeatureUnion | ColumnTransformer):
        for branch in _branches(estimator):
            yield from _parts(branch, width)
    else:
        values = estimator.get_params(deep=True).values()
        yield from ((value, None) for value in values if is_estimator(value))


def _branches(estimator: Any) -> list[Any]:
    if isinstance(estimator, FeatureUnion):
        return [branch for _, branch in estimator.transformer_list]
    return [branch for _, branch, _ in estimator.transformers] + [estimator.remainder]


def _is_unseeded(part: Any) -> bool:
    params = part.get_params(deep=False)
    # A RandomState is copied by clone and then counts as a seed. "deprecated" is how
    # TargetEncoder says None.
    seed = params.get("random_state", 0)
    return seed is None or isinstance(seed, str)


def _is_noisy(value: Any) -> bool:
    """Judge a parameter that is not an estimator, such as a function or a splitter."""
    if isinstance(value, partial):
        seeded = value.keywords.get("random_state") is not None
        return value.func in NOISY_FUNCTIONS and not seeded
    if callable(value):
        return value in NOISY_FUNCTIONS
    if hasattr(value, "get_params"):
        return False
    return getattr(value, "random_state", 0) is None and getattr(value, "shuffle", True)


def _needs_no_seed(part: Any, n_rows: int, n_columns: int | None, X: Any) -> bool:
    """Judge by the number of rows and an upper bound on that of columns."""
    if type(part) is PCA:
        return not sparse.issparse(X) and _pca_is_exact(part, n_rows, n_columns)
    if type(part) is KernelPCA:
        solver = part.eigen_solver
        # With more rows, scikit-learn may turn to arpack, which starts at random.
        return solver == "dense" or (solver == "auto" and n_rows <= 200)
    rule = SEEDLESS.get(type(part))
    return rule is not None and bool(rule(part, n_rows))


def _pca_is_exact(pca: PCA, n_rows: int, n_columns: int | None) -> bool:
    solver, n_components = pca.svd_solver, pca.n_components
    if solver != "auto":
        return solver in ("full", "covariance_eigh")
    if n_components is None or n_components == "mle" or 0 < n_components < 1:
        return True
    if n_columns is None:
        return False
    # scikit-learn's rule for "auto", but for many components of large inputs: whether
    # they are too many for the randomized solver takes the true number of columns.
    tall = n_columns <= 1_000 and n_rows >= 10 * n_columns
    return tall or max(n_rows, n_columns) <= 500


def _within_subsample(part: Any, n_rows: int) -> bool:
    return part.subsample is None or n_rows <= part.subsample


# Classes that use their random_state only where the rule says False.
SEEDLESS: dict[type, Callable[[Any, int], bool]] = {
    QuantileTransformer: _within_subsample,
    KBinsDiscretizer: _within_subsample,
    LogisticRegression: lambda part, _: (
        part.solver in ("lbfgs", "newton-cg", "newton-cholesky")
    ),
    Lasso: lambda part, _: part.selection == "cyclic",
    ElasticNet: lambda part, _: part.selection == "cyclic",
    Ridge: lambda part, _: part.solver not in ("sag", "saga"),
    RidgeClassifier: lambda part, _: part.solver not in ("sag", "saga"),
    LinearSVC: lambda part, _: part.dual is False,
    SVC: lambda part, _: part.probability is not True,
    NuSVC: lambda part, _: part.probability is not True,
}
