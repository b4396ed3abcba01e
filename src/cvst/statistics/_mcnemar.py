"""McNemar's exact test of a configuration that errs more often than the leader.

The one-sided contrast of two rows of the table that Cochran's Q judges as a whole.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import betainc

from cvst._typing import FloatArray
from cvst.exceptions import InvalidInputError
from cvst.statistics._tables import as_outcomes

__all__ = ["mcnemar_exact"]


def mcnemar_exact(errors: npt.ArrayLike, leader_errors: npt.ArrayLike) -> FloatArray:
    """Test for each configuration whether it errs on more points than the leader.

    Only points on which just one of the two errs are informative; if both were equally
    good, each such point would be a fair coin.

    Parameters
    ----------
    errors : array-like of shape (n_configurations, n_points)
        Booleans, or numbers that are 0 or 1; True is an error. NaN is refused.
    leader_errors : array-like of shape (n_points,)
        Errors of the leader on the same points.

    Returns
    -------
    ndarray of shape (n_configurations,)
        One-sided exact p-values; 1 for a configuration that never errs alone, such as
        the leader itself.

    Examples
    --------
    Wrong on four points where the leader is right, and right on none of its errors:

    >>> mcnemar_exact([[1, 1, 1, 1, 0, 1], [0, 0, 0, 0, 0, 1]], [0, 0, 0, 0, 0, 1])
    array([0.0625, 1.    ])
    """
    table = as_outcomes(errors)
    leader = as_outcomes(np.asarray(leader_errors)[np.newaxis])[0]
    if table.shape[1:] != leader.shape:
        raise InvalidInputError(
            f"Errors on {table.shape[1]} points cannot be compared with the leader's "
            f"on {len(leader)}. Pass the same points for both."
        )
    n_worse = np.count_nonzero(table & ~leader, axis=1)
    n_better = np.count_nonzero(~table & leader, axis=1)
    # The binomial tail as an incomplete beta function, which keeps its digits down to
    # the smallest p-values; its first parameter must be positive.
    tail = betainc(np.maximum(n_worse, 1), n_better + 1, 0.5)
    p_values: FloatArray = np.where(n_worse > 0, tail, 1.0)
    return p_values
