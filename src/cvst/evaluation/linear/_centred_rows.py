"""What linear models have in common: centred rows, and products for all at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.extmath import row_norms

from cvst._typing import FloatArray
from cvst.evaluation.sharing import NotSharedError

__all__ = ["CentredRows", "checked_weights", "is_certain_number", "predict_all"]

# Relative to the largest prediction.
PRODUCT_TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True)
class CentredRows:
    """Training rows after the steps that scikit-learn's linear models begin with.

    Attributes
    ----------
    X : ndarray of shape (n_train, n_features)
        Centred if there is an intercept, then scaled by the roots of the weights.
    y : ndarray of shape (n_train, n_targets)
        Likewise.
    X_offset : ndarray of shape (n_features,)
        Weighted means, zero without an intercept.
    y_offset : ndarray of shape (n_targets,)
        Likewise.
    """

    X: Any
    y: Any
    X_offset: Any
    y_offset: Any

    @classmethod
    def of(cls, X: Any, y: Any, weights: Any, fit_intercept: bool) -> CentredRows:
        """Centre and scale validated arrays; the very operations of a plain fit."""
        # A copy, since unlike X it is changed in place below.
        y = np.array(y, dtype=X.dtype).reshape(len(y), -1)
        X_offset = np.zeros(X.shape[1], dtype=X.dtype)
        y_offset = np.zeros(y.shape[1], dtype=X.dtype)
        if fit_intercept:
            X_offset = np.average(X, axis=0, weights=weights).astype(
                X.dtype, copy=False
            )
            y_offset = np.average(y, axis=0, weights=weights)
            X = X - X_offset
            y -= y_offset
        if weights is not None:
            roots = np.sqrt(weights)[:, None]
            X = X * roots
            y *= roots
        return cls(X, y, X_offset, y_offset)

    def intercept(self, coefficients: Any) -> Any:
        """Return what to add to products with coefficients (n_targets, n_features)."""
        return self.y_offset - self.X_offset @ coefficients.T


def checked_weights(weights: Any, X: Any) -> Any:
    """Return weights as an array of X's type; an error if they are unusual."""
    if weights is None:
        return None
    values = np.asarray(weights, dtype=X.dtype)
    if values.shape != (len(X),) or not np.all(np.isfinite(values) & (values >= 0)):
        raise NotSharedError("the weights are negative, not finite or misshapen")
    return values


def is_certain_number(values: FloatArray, bound: float) -> bool:
    """Return whether an error up to the bound is negligible for all values."""
    return bool(bound <= PRODUCT_TOLERANCE * np.abs(values).max(initial=0.0))


def predict_all(
    rows: CentredRows,
    X: Any,
    solved: dict[int, FloatArray],
    is_certain: Callable[[FloatArray, float], bool] = is_certain_number,
) -> dict[int, FloatArray]:
    """Predict with the coefficients of all members in one matrix product.

    Parameters
    ----------
    rows : CentredRows
        They hold the intercepts.
    X : ndarray of shape (n_test, n_features)
        Test rows.
    solved : dict of int to ndarray of shape (n_targets, n_features)
        Coefficients of each member; at least one.
    is_certain : callable
        Whether values (n_test, n_targets) with an error up to a bound suffice. Where
        they do not, the product is formed again as a plain model does.

    Returns
    -------
    dict of int to ndarray of shape (n_test, n_targets)
        Predictions of each member.
    """
    # Bounds what the order of summation may change in a product.
    rounding = 2 * X.shape[1] * np.finfo(rows.X.dtype).eps
    rounding *= np.sqrt(row_norms(X, squared=True).max())
    stacked = X @ np.concatenate(list(solved.values())).T
    parts = np.split(stacked, len(solved), axis=1)
    found = {}
    for (index, coefficients), product in zip(solved.items(), parts, strict=True):
        intercept = rows.intercept(coefficients)
        values = product + intercept
        if not is_certain(values, rounding * np.linalg.norm(coefficients)):
            is_vector = len(coefficients) == 1
            own = X @ (coefficients[0] if is_vector else coefficients.T)
            values = own.reshape(values.shape) + intercept
        found[index] = values
    return found
