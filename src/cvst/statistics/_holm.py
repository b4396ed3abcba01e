"""Holm's correction for many tests at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cvst._typing import BoolArray
from cvst.exceptions import InvalidInputError

__all__ = ["holm"]


def holm(p_values: npt.ArrayLike, level: float) -> BoolArray:
    """Say which hypotheses to reject so that any false rejection has chance `level`.

    The smallest of m p-values is held against ``level / m``, the next against
    ``level / (m - 1)``, and so on up to the first that fails. Never rejects less than
    Bonferroni, and needs no assumption on how the tests depend on each other.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        Leave out hypotheses that were not tested (NaN is refused): each one counts.
    level : float
        Chance of at least one false rejection.

    Returns
    -------
    ndarray of shape (n_tests,), bool
        True where the hypothesis is rejected.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.02, 0.9], level=0.05)
    array([ True, False, False, False])
    >>> holm([0.01, 0.02, 0.9], level=0.05)
    array([ True,  True, False])
    """
    if not 0 <= level <= 1:
        raise InvalidInputError(f"level={level!r} must lie between 0 and 1.")
    tested = np.asarray(p_values, dtype=np.float64)
    if tested.ndim != 1 or not np.all((tested >= 0) & (tested <= 1)):
        raise InvalidInputError(
            f"p_values of shape {tested.shape} must be a list of numbers between 0 and "
            "1. Leave out configurations that were not tested."
        )
    order = np.argsort(tested, kind="stable")
    thresholds = level / np.arange(len(tested), 0, -1)
    rejected = np.zeros(len(tested), dtype=np.bool_)
    rejected[order] = np.logical_and.accumulate(tested[order] <= thresholds)
    return rejected
