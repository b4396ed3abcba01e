"""Binary outcomes from residuals: the robust variant for regression (Section 7.1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from cvst._typing import BoolArray
from cvst.exceptions import InvalidInputError

__all__ = ["outlier_outcomes"]


def outlier_outcomes(residuals: npt.ArrayLike, level: float = 0.05) -> BoolArray:
    """Say which residuals are outliers among those of their configuration.

    The residuals of a configuration are taken as normal around zero; one is an outlier
    if it lies outside the central interval of probability ``1 - level``. The table of
    outliers is then compared by Cochran's test, while the order of the configurations
    stays that of their mean *squared* residuals.

    Parameters
    ----------
    residuals : array-like of shape (n_configurations, n_points)
        Signed residuals. Infinite ones are outliers and do not count for the standard
        deviation of the others; NaN, of a failed configuration, is not an outlier, and
        its row has no place in the test that follows.
    level : float, default=0.05
        Share of outliers expected of normal residuals.

    Returns
    -------
    ndarray of shape (n_configurations, n_points), bool
        A single finite residual has no spread to stand out from: it is not an outlier.

    Examples
    --------
    >>> outlier_outcomes([[0.1, -0.1, 0.2, -0.2, 0.1, 3.0], [1, -1, 1, -1, 1, -1]])
    array([[False, False, False, False, False,  True],
           [False, False, False, False, False, False]])
    """
    if not 0 < level < 1:
        raise InvalidInputError(
            f"level={level!r} must lie strictly between 0 and 1; 0.05 is usual."
        )
    table = np.asarray(residuals, dtype=np.float64)
    if table.ndim != 2:
        raise InvalidInputError(
            f"Residuals of shape {table.shape} must have two axes, configurations and "
            "points. Reshape a single configuration to (1, n_points)."
        )
    finite = np.isfinite(table)
    n_finite = finite.sum(axis=1, keepdims=True)
    known = np.where(finite, table, 0.0)
    mean = known.sum(axis=1, keepdims=True) / np.maximum(n_finite, 1)
    deviations = np.where(finite, known - mean, 0.0)
    squares = np.sum(deviations**2, axis=1, keepdims=True)
    # The spread is taken about the sample mean but the cut about zero, as in the R
    # package; the paper takes both about zero.
    spread = np.sqrt(squares / np.maximum(n_finite - 1, 1))
    cut = np.where(n_finite > 1, ndtri(1 - level / 2) * spread, np.inf)
    outlying: BoolArray = (np.abs(known) > cut) | np.isinf(table)
    return outlying
