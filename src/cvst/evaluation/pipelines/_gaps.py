"""Imputers of numbers: only columns with gaps are learned from and filled.

The medians of an imputer take longer than most models on a wide table, and so does the
check of a hundred thousand columns one by one. Where no value is missing the medians
are not used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.impute import SimpleImputer

from cvst._sklearn_compat import CARRIED
from cvst._typing import BoolArray, FloatArray

__all__ = ["imputed"]

# Other strategies leave whole numbers as they are.
OF_NUMBERS = ("mean", "median")

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def imputed(
    imputer: Any, X_train: Any, X_test: Any
) -> tuple[FloatArray, FloatArray] | None:
    """Return what an imputer makes of plain numbers.

    Parameters
    ----------
    imputer : estimator
        Unfitted, and not fitted here.
    X_train, X_test : array-like
        What it would be fitted on, and what it would transform besides.

    Returns
    -------
    tuple of ndarray or None
        Both, as copies, to the last bit as the imputer returns them. None if only a fit
        can tell: for other estimators and containers, and for anything that the imputer
        might refuse or warn of.

    Examples
    --------
    >>> train, test = np.array([[1.0, 3.0], [2.0, 5.0]]), np.array([[np.nan, 7.0]])
    >>> imputed(SimpleImputer(strategy="median"), train, test)[1]
    array([[1.5, 7. ]])
    """
    if not _is_plain(imputer):
        return None
    train, test = _numbers(X_train), _numbers(X_test)
    if train is None or test is None or train.dtype != test.dtype:
        return None
    # Infinite values are refused by the imputer, in words of its own.
    if np.isinf(train).any() or np.isinf(test).any():
        return None
    empty = np.isnan(train)
    gaps = empty.any(axis=0) | np.isnan(test).any(axis=0)
    if gaps.any():
        # The sums of a mean are rounded otherwise where fewer columns stand side by
        # side; each column has its median for itself.
        if imputer.strategy != "median" or imputer.add_indicator:
            return None
        if empty.all(axis=0).any():
            return None
        imputer = clone(imputer).fit(train[:, gaps])
    return _filled(imputer, train, gaps), _filled(imputer, test, gaps)


def _filled(imputer: Any, values: FloatArray, gaps: BoolArray) -> FloatArray:
    # To put marks of gaps beside the rows, even none, an imputer lays them out anew.
    # Models can round otherwise where the order in memory is another.
    filled = np.array(values, order="C" if imputer.add_indicator else "K")
    if gaps.any():
        filled[:, gaps] = imputer.transform(values[:, gaps])
    return filled


def _is_plain(imputer: Any) -> bool:
    if type(imputer) is not SimpleImputer or set(CARRIED) & vars(imputer).keys():
        return False
    if get_config()["transform_output"] != "default":
        return False
    flags = imputer.add_indicator, imputer.keep_empty_features
    return (
        imputer.copy is True
        and imputer.strategy in OF_NUMBERS
        and imputer.fill_value is None
        and isinstance(imputer.missing_values, float)
        and np.isnan(imputer.missing_values)
        and all(isinstance(flag, bool) for flag in flags)
    )


def _numbers(X: Any) -> Any:
    """Return rows as an array of floats, or None if they are not plain numbers."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        X = _values(X)
    if type(X) is not np.ndarray or X.dtype not in FLOATS:
        return None
    return X if X.ndim == 2 and X.size else None


def _values(frame: Any) -> Any:
    kinds = set(frame.dtypes)
    if not all(isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in kinds):
        return None
    names = frame.columns
    if not kinds or not names.is_unique or names.inferred_type != "string":
        return None
    joined = np.result_type(*kinds)
    return frame.to_numpy(dtype=joined if joined.kind == "f" else np.float64)
