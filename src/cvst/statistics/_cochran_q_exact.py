"""Exact p-values of Cochran's Q for small tables.

If all configurations are alike, the outcomes on a point may be handed to them in any
order. The p-value is the share of all such tables whose Q is at least the observed one.
Q grows with the sum of squared row totals and nothing else varies, so the tables are
counted point by point, kept apart only by their sorted row totals: exact integers, no
random numbers, no enumeration.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import product
from math import comb, prod
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from cvst.exceptions import InvalidInputError
from cvst.statistics._tables import as_outcomes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["cochran_q_exact_p_value", "exact_tail"]

# A table is refused beyond this many different sets of row totals (about a minute).
LARGEST_STATE_COUNT = 200_000

# The row totals that occur, each with the number of configurations that have it.
_Totals: TypeAlias = tuple[tuple[int, int], ...]


def cochran_q_exact_p_value(outcomes: npt.ArrayLike) -> float:
    """Return the exact p-value of Cochran's Q over all within-point permutations.

    Parameters
    ----------
    outcomes : array-like of shape (n_configurations, n_points)
        Binary outcomes. Points on which all configurations agree contribute nothing.

    Returns
    -------
    float
        1 if there is at most one point on which the configurations disagree.

    Raises
    ------
    InvalidInputError
        If the table is too large to count.

    Examples
    --------
    Three points on which only the first of two configurations succeeds: all eight
    tables are equally likely, and two of them are as one-sided as this one.

    >>> cochran_q_exact_p_value([[1, 1, 1], [0, 0, 0]])
    0.25
    """
    table = as_outcomes(outcomes)
    n_configurations = len(table)
    if n_configurations < 2:
        return 1.0
    successes = table.sum(axis=0)
    discordant = (successes > 0) & (successes < n_configurations)
    totals = table[:, discordant].sum(axis=1)
    return exact_tail(
        n_configurations,
        tuple(sorted(successes[discordant].tolist())),
        int(np.sum(totals**2)),
    )


def exact_tail(
    n_configurations: int, successes: tuple[int, ...], squared_totals: int
) -> float:
    """Return the chance that row totals have at least the given sum of squares.

    Parameters
    ----------
    n_configurations : int
    successes : tuple of int
        For each discordant point the number of configurations that succeed there.
    squared_totals : int
        Observed sum of squared row totals over those points.

    Examples
    --------
    >>> exact_tail(2, (1, 1, 1), 9)
    0.25
    """
    # As many sets of totals at most: each is from 0 to the number of points.
    n_states = comb(n_configurations + len(successes), n_configurations)
    if n_states > LARGEST_STATE_COUNT:
        raise InvalidInputError(
            f"A table of {n_configurations} configurations that disagree on "
            f"{len(successes)} points is too large for an exact p-value (it may need "
            f"{n_states:.2g} > {LARGEST_STATE_COUNT} states). Use the chi-square one."
        )
    counts = _table_counts(n_configurations, successes)
    as_large = sum(n for squares, n in counts.items() if squares >= squared_totals)
    # Both are exact integers; their quotient is the correctly rounded p-value.
    return as_large / sum(counts.values())


# Margins recur, and the table that was observed only says where its tail begins.
@lru_cache(maxsize=1024)
def _table_counts(
    n_configurations: int, successes: tuple[int, ...]
) -> Mapping[int, int]:
    """Count the tables with the given column totals by their sum of squared rows."""
    tables: Counter[_Totals] = Counter({((0, n_configurations),): 1})
    for n_successes in successes:
        longer: Counter[_Totals] = Counter()
        for totals, n_tables in tables.items():
            for next_totals, n_ways in _add_point(totals, n_successes):
                longer[next_totals] += n_tables * n_ways
        tables = longer
    squares: Counter[int] = Counter()
    for totals, n_tables in tables.items():
        squares[sum(n * total**2 for total, n in totals)] += n_tables
    return MappingProxyType(squares)


def _add_point(totals: _Totals, n_successes: int) -> Iterator[tuple[_Totals, int]]:
    """Yield the totals after one more point, and the number of ways to get there.

    Configurations with equal totals are interchangeable, so it only matters how many
    of each such group succeed.
    """
    sizes = [n for _, n in totals]
    for winners in product(*(range(min(n, n_successes) + 1) for n in sizes)):
        if sum(winners) != n_successes:
            continue
        grown: Counter[int] = Counter()
        for (total, n), n_winners in zip(totals, winners, strict=True):
            grown[total] += n - n_winners
            grown[total + 1] += n_winners
        # The plus drops totals that no row has, so that equal states are equal keys.
        yield tuple(sorted((+grown).items())), prod(map(comb, sizes, winners))
