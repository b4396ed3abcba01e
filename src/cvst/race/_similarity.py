"""Step 1 of the race: top or flop (Algorithm 2 and the variants of Section 7.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from cvst._typing import FloatArray
from cvst.exceptions import InvalidInputError
from cvst.race._look import LookLosses
from cvst.race._rounding import gaps, without_rounding
from cvst.race._rules import Comparison
from cvst.statistics import (
    Significance,
    cochran_q_prefixes,
    friedman_prefixes,
    kruskal_wallis_prefixes,
    outlier_outcomes,
    paired_excess_test,
    scan_prefixes,
    wilson_prefixes,
)

__all__ = ["SIMILARITY_TESTS", "OutlierSimilarity", "PrefixSimilarity"]

PrefixTest = Callable[[FloatArray], Iterator[Significance]]

SIMILARITY_TESTS: dict[str, PrefixTest] = {
    "friedman": lambda losses: friedman_prefixes(without_rounding(losses)),
    "kruskal_wallis": lambda losses: kruskal_wallis_prefixes(
        without_rounding(losses, pooled=True)
    ),
    "cochran": lambda losses: cochran_q_prefixes(losses != 0),
    "wilson": lambda losses: wilson_prefixes(losses != 0),
}


@dataclass(frozen=True, slots=True)
class PrefixSimilarity:
    """Grow the set of best configurations until a test sees a difference.

    Parameters
    ----------
    level : float
        Significance level, divided by the number of tests (Bonferroni).
    test : {"auto", "friedman", "cochran", "kruskal_wallis", "wilson"}
        ``"auto"`` takes Cochran's test for losses of 0 and 1, else Friedman's; for a
        score of all rows together, paired tests against the leader.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> losses = rng.random((3, 200)) + np.array([[0.0], [0.0], [0.5]])
    >>> seen = LookLosses(losses, losses.mean(axis=1), np.zeros(3), np.zeros(3))
    >>> PrefixSimilarity(level=0.05).compare(seen).top
    array([ True,  True, False])
    """

    level: float
    test: str = "auto"

    def compare(self, seen: LookLosses) -> Comparison:
        """Walk through the configurations by mean loss until one makes a difference."""
        binary = ("cochran", "wilson")
        name = self.test
        if not seen.rankable:
            return self._by_means(seen)
        is_binary = name in (*binary, "auto") and _is_binary(seen.losses)
        if name == "auto":
            name = "cochran" if is_binary else "friedman"
        if name in binary and not is_binary:
            raise InvalidInputError(
                f"similarity={name!r} compares losses of 0 and 1, but the losses take "
                "other values. Use similarity='friedman' or 'kruskal_wallis'."
            )
        return _compare(seen, seen.losses, SIMILARITY_TESTS[name], self.level)

    def _by_means(self, seen: LookLosses) -> Comparison:
        """Test each configuration against the leader, where rows have no ranks."""
        if self.test != "auto":
            raise InvalidInputError(
                f"similarity={self.test!r} ranks or counts the losses of single rows, "
                "but the score is one of all rows together. Use similarity='auto'."
            )
        return _compare(seen, seen.losses, _against_the_first, self.level)


@dataclass(frozen=True, slots=True)
class OutlierSimilarity:
    """Compare configurations by the points where their residuals are outliers.

    Parameters
    ----------
    level : float
        Significance level of the test and of the normal quantile beyond which a
        residual is an outlier.
    """

    level: float

    def compare(self, seen: LookLosses) -> Comparison:
        """Call outliers, then compare them; the order stays that of mean losses."""
        if seen.residuals is None:
            raise InvalidInputError(
                "similarity='outliers' needs signed residuals, which exist only for "
                "regression with one output. Use similarity='auto'."
            )
        # The R package orders by the mean signed residual, which picks the corner of
        # the grid; the paper orders by the mean squared error, and so do we.
        outliers = outlier_outcomes(seen.residuals, self.level)
        return _compare(seen, outliers, cochran_q_prefixes, self.level)


# Rows of a table that are put in order before all others.
FIRST_ROWS = 64


def _against_the_first(losses: FloatArray) -> Iterator[Significance]:
    """Yield the test of each further configuration against the first."""
    for p_value in paired_excess_test(gaps(losses[1:], losses[0])).tolist():
        yield Significance(statistic=float("nan"), p_value=p_value)


def _is_binary(losses: FloatArray) -> bool:
    def binary(values: FloatArray) -> bool:
        return bool(np.all((values == 0) | (values == 1) | np.isnan(values)))

    # A few columns tell most tables that are not.
    return binary(losses[:, :1]) and binary(losses)


def _compare(
    seen: LookLosses,
    table: np.ndarray,
    prefixes: Callable[..., Iterator[Significance]],
    level: float,
) -> Comparison:
    top = np.zeros(len(table), dtype=bool)
    p_values = np.full(len(table), np.nan)
    # Ascending loss, ties in grid order, failed fits last, as in the R package.
    order = np.flatnonzero(~np.isnan(seen.mean_losses))
    means = without_rounding(seen.mean_losses[order][:, None])[:, 0]
    order = order[np.argsort(means, kind="stable")]
    # Failed fits are never tested, so the correction counts the others only, as the
    # paper has it; the R package counts them too.
    level /= max(1, len(order) - 1)
    # Most walks end early: a few rows in order come first, and rarely all of them.
    scan = scan_prefixes(prefixes(table[order[:FIRST_ROWS]]), level)
    if scan.n_similar == FIRST_ROWS < len(order):
        scan = scan_prefixes(prefixes(table[order]), level)
    # When nothing rejects, all are top; Algorithm 2 as printed would lose the last.
    top[order[: scan.n_similar]] = True
    p_values[order[1 : 1 + len(scan.p_values)]] = scan.p_values
    return Comparison(top=top, p_values=p_values)
