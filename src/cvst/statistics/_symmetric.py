"""Paired test of an excess in mean loss that is exact for any tails.

Student's t needs tails that are not too heavy, the more so at the small levels of a
race. If the differences are symmetric, as they are between two configurations that are
equally good in the same way, none of that is needed: given their sizes the signs are
fair coins, so that the sum over the root of the sum of squares is a weighted sum of
coins with unit variance. Its tail is at most a constant times that of the normal
distribution, whatever the weights (Bentkus and Dzindzalieta, Bernoulli 21, 2015).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from cvst._typing import FloatArray
from cvst.statistics._paired import in_units_of_the_largest
from cvst.statistics._tables import as_losses

__all__ = ["symmetric_excess_test"]

# No smaller constant will do: two equal weights reach sqrt(2) with probability 1/4.
TAIL_FACTOR = 0.25 / float(ndtr(-np.sqrt(2.0)))


def symmetric_excess_test(differences: npt.ArrayLike) -> FloatArray:
    """Test for each configuration whether its losses exceed the leader's.

    The p-values hold for any number of points and any tails, if the differences are
    independent and symmetric about a common centre that is not above zero.

    Parameters
    ----------
    differences : array-like of shape (n_configurations, n_points)
        Loss minus the leader's loss on the same point. Their unit does not matter. An
        infinite difference counts as much as the largest finite one of its row; NaN is
        refused.

    Returns
    -------
    ndarray of shape (n_configurations,)
        One-sided p-values; 1 if there is no excess.

    Examples
    --------
    Ten rows that all agree: the chance of ten heads in a row is 0.001, and the bound
    is not far above it.

    >>> symmetric_excess_test(np.ones((1, 10))).round(4)
    array([0.0025])
    """
    table = in_units_of_the_largest(as_losses(differences))
    total = table.sum(axis=1)
    p_values = np.ones(len(table))
    excess = total > 0
    ratio = total[excess] / np.sqrt(np.sum(table[excess] ** 2, axis=1))
    # The factor is above 3, so that a small ratio would give more than 1.
    p_values[excess] = np.minimum(1.0, TAIL_FACTOR * ndtr(-ratio))
    return p_values
