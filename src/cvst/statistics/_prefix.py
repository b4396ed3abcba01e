"""The prefix contract: walk along growing prefixes until one is significant.

A prefix form of a test is an iterator of `Significance`, one for the first 2, 3, ..., K
configurations, that computes no more than is asked for. Algorithm 2 of the paper finds
the top configurations of a look by walking along it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvst.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cvst.statistics._result import Significance

__all__ = ["PrefixScan", "scan_prefixes"]


@dataclass(frozen=True, slots=True)
class PrefixScan:
    """How far a walk along prefixes got.

    Attributes
    ----------
    n_similar : int
        Size of the longest prefix reached without a significant difference; at least
        1, since a single configuration has nothing to differ from.
    p_values : tuple of float
        P-values of the prefixes of 2, 3, ... configurations that were tested; the last
        one is the significant one, if any was.
    """

    n_similar: int
    p_values: tuple[float, ...]


def scan_prefixes(prefixes: Iterable[Significance], level: float) -> PrefixScan:
    """Walk along prefixes and stop at the first whose p-value is at most `level`.

    Parameters
    ----------
    prefixes : iterable of Significance
        Prefix form of a test; nothing is taken from it beyond the first significant
        prefix.
    level : float
        Significance level of a single test, already divided by their number where a
        Bonferroni correction is wanted. 0 stops only at a p-value of exactly 0.

    Returns
    -------
    PrefixScan

    Examples
    --------
    >>> from cvst.statistics import friedman_prefixes
    >>> losses = [[1, 2, 1, 2, 1, 2], [2, 1, 2, 1, 2, 1], [3, 3, 3, 3, 3, 3]]
    >>> scan = scan_prefixes(friedman_prefixes(losses), level=0.05)
    >>> scan.n_similar, [round(p_value, 3) for p_value in scan.p_values]
    (2, [1.0, 0.011])
    """
    if not 0 <= level <= 1:
        raise InvalidInputError(
            f"level={level!r} must lie between 0 and 1; 0.05 divided by the number of "
            "tests is the usual choice."
        )
    p_values = []
    n_similar = 1
    for prefix in prefixes:
        p_values.append(prefix.p_value)
        if prefix.p_value <= level:
            break
        n_similar += 1
    return PrefixScan(n_similar, tuple(p_values))
