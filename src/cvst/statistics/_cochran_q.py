"""Cochran's Q test for binary outcomes of paired configurations (Appendix C).

Rows are configurations and columns are data points, as in the paper; statsmodels
expects the transpose. Successes and failures may be swapped without effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from cvst.exceptions import InvalidInputError
from cvst.statistics._cochran_q_exact import exact_tail
from cvst.statistics._result import (
    NO_EVIDENCE,
    Significance,
    chi_square_significance,
)
from cvst.statistics._tables import as_outcomes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvst._typing import IntArray

__all__ = ["Exactness", "cochran_q_prefixes", "cochran_q_test"]

Exactness: TypeAlias = Literal["auto"] | bool

# Up to this many entries (discordant points times configurations) the p-value comes
# from the exact permutation distribution, above from chi-square: Tate and Brown's rule
# as the authors' R package applies it. The package draws 1000 random permutations,
# which cannot show the small p-values that Bonferroni asks for; we count all of them.
LARGEST_EXACT_TABLE = 24


def cochran_q_test(
    outcomes: npt.ArrayLike, *, exact: Exactness = "auto"
) -> Significance:
    """Test whether all configurations succeed on the same points.

    Parameters
    ----------
    outcomes : array-like of shape (n_configurations, n_points)
        Booleans, or numbers that are 0 or 1. NaN is refused.
    exact : {"auto", True, False}, default="auto"
        Where the p-value comes from: chi-square (False), the permutation distribution
        (True; tables of any size up to a few hundred thousand states), or the latter
        only for tables of at most 24 entries, counting points with disagreement.

    Returns
    -------
    Significance
        0 and 1 if at most one point shows any disagreement, as in the R package: any
        permutation of a single point gives the same Q.

    Examples
    --------
    >>> outcomes = [[1, 1, 1, 1], [0, 0, 0, 1], [0, 0, 0, 1]]
    >>> cochran_q_test(outcomes)
    Significance(statistic=6.0, p_value=0.1111111111111111)
    >>> round(cochran_q_test(outcomes, exact=False).p_value, 3)
    0.05
    """
    _check_exactness(exact)
    table = as_outcomes(outcomes)
    # 64 bits on every platform: the squares of totals are too large for 32.
    totals = table.sum(axis=1, dtype=np.int64)
    successes = table.sum(axis=0, dtype=np.int64)
    squared_totals = int(np.sum(totals**2))
    return _significance(squared_totals, successes, len(table), exact)


def cochran_q_prefixes(
    outcomes: npt.ArrayLike, *, exact: Exactness = "auto"
) -> Iterator[Significance]:
    """Test the first 2, 3, ..., K configurations, one after the other.

    Adding a configuration costs O(n_points), however many there are already.

    Parameters
    ----------
    outcomes : array-like of shape (n_configurations, n_points)
        Configurations in the order in which they join, usually by mean loss.
    exact : {"auto", True, False}, default="auto"
        As in `cochran_q_test`, decided for each prefix on its own.

    Returns
    -------
    iterator of Significance
        ``cochran_q_test(outcomes[:k])`` for k = 2, 3, ..., K.

    Examples
    --------
    >>> outcomes = [[1, 1, 1, 1], [0, 0, 0, 1], [0, 0, 0, 1]]
    >>> [round(prefix.p_value, 3) for prefix in cochran_q_prefixes(outcomes)]
    [0.25, 0.111]
    """
    _check_exactness(exact)
    table = as_outcomes(outcomes)

    # A generator of its own: a bad table raises at the call, not at a prefix.
    def walk() -> Iterator[Significance]:
        successes = np.zeros(table.shape[1], dtype=np.int64)
        squared_totals = 0
        for k, row in enumerate(table, start=1):
            successes += row
            squared_totals += int(np.count_nonzero(row)) ** 2
            if k > 1:
                yield _significance(squared_totals, successes, k, exact)

    return walk()


def _check_exactness(exact: object) -> None:
    if exact != "auto" and not isinstance(exact, bool):
        raise InvalidInputError(f"exact={exact!r} must be 'auto', True or False.")


def _significance(
    squared_totals: int, successes: IntArray, n_configurations: int, exact: Exactness
) -> Significance:
    """Return the test for the sum of squared row totals and the column totals."""
    total = int(successes.sum())
    disagreement = successes * (n_configurations - successes)
    discordant = disagreement > 0
    n_discordant = int(np.count_nonzero(discordant))
    if n_discordant <= 1:
        return NO_EVIDENCE
    # K times the paper's sum of squares about the mean M / K, which is an integer.
    spread = n_configurations * squared_totals - total**2
    statistic = (n_configurations - 1) * spread / int(disagreement.sum())
    if exact == "auto":
        exact = n_discordant * n_configurations <= LARGEST_EXACT_TABLE
    if not exact:
        return chi_square_significance(statistic, n_configurations)
    informative = successes[discordant]
    # Points on which all succeed add the same number to each row: they change the sum
    # of squares but not the spread, from which the sum without them is recovered.
    squares = (spread + int(informative.sum()) ** 2) // n_configurations
    columns = tuple(sorted(informative.tolist()))
    return Significance(statistic, exact_tail(n_configurations, columns, squares))
