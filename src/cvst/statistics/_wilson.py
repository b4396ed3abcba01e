"""Comparison of proportions: Cochran's Q without the pairing.

The unpaired variant of Section 6.2. The paper names no formula, only Wilson (1927),
which is the reference that R gives for `prop.test`: Pearson's chi-square of success
counts against one common proportion, with Yates' continuity correction for two
configurations and none for more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from cvst.statistics._result import (
    NO_EVIDENCE,
    Significance,
    chi_square_significance,
)
from cvst.statistics._tables import as_outcomes

__all__ = ["wilson_prefixes", "wilson_test"]


def wilson_test(outcomes: npt.ArrayLike, *, correction: bool = True) -> Significance:
    """Test whether all configurations succeed equally often.

    Parameters
    ----------
    outcomes : array-like of shape (n_configurations, n_points)
        Booleans, or numbers that are 0 or 1. NaN is refused.
    correction : bool, default=True
        Correct for continuity if there are two configurations, as R does.

    Returns
    -------
    Significance
        0 and 1 if there is nothing to compare: fewer than two configurations, no point,
        or the same outcome everywhere.

    Examples
    --------
    >>> outcomes = [[1, 1, 1, 1, 0], [1, 0, 0, 0, 0], [1, 1, 0, 0, 0]]
    >>> round(wilson_test(outcomes).p_value, 3)
    0.153
    """
    table = as_outcomes(outcomes)
    totals = np.count_nonzero(table, axis=1).tolist()
    squared_totals = sum(total**2 for total in totals)
    return _significance(sum(totals), squared_totals, table.shape, correction)


def wilson_prefixes(
    outcomes: npt.ArrayLike, *, correction: bool = True
) -> Iterator[Significance]:
    """Test the first 2, 3, ..., K configurations, one after the other.

    Adding a configuration costs O(n_points), for counting its successes.

    Parameters
    ----------
    outcomes : array-like of shape (n_configurations, n_points)
        Configurations in the order in which they join, usually by mean loss.
    correction : bool, default=True
        Correct the prefix of two configurations for continuity.

    Returns
    -------
    iterator of Significance
        ``wilson_test(outcomes[:k])`` for k = 2, 3, ..., K.

    Examples
    --------
    >>> outcomes = [[1, 1, 1, 1, 0], [1, 0, 0, 0, 0], [1, 1, 0, 0, 0]]
    >>> [round(prefix.p_value, 3) for prefix in wilson_prefixes(outcomes)]
    [0.206, 0.153]
    """
    table = as_outcomes(outcomes)

    # Checked above, outside the generator: a bad table raises at the call.
    def walk() -> Iterator[Significance]:
        total = squared_totals = 0
        for k, row in enumerate(table, start=1):
            n_successes = int(np.count_nonzero(row))
            total += n_successes
            squared_totals += n_successes**2
            if k > 1:
                shape = (k, table.shape[1])
                yield _significance(total, squared_totals, shape, correction)

    return walk()


def _significance(
    total: int, squared_totals: int, shape: tuple[int, ...], correction: bool
) -> Significance:
    n_configurations, n_points = shape
    n_failures = n_configurations * n_points - total
    if n_configurations < 2 or total == 0 or n_failures == 0:
        return NO_EVIDENCE
    # K times the sum of squares about the mean, which is an integer.
    spread: float = n_configurations * squared_totals - total**2
    if correction and n_configurations == 2:
        # Both counts are sqrt(spread) / 2 off their mean; Yates takes 1/2 from that.
        spread = max(0.0, spread**0.5 - 1) ** 2
    statistic = n_configurations * n_points * spread / (total * n_failures)
    return chi_square_significance(statistic, n_configurations)
