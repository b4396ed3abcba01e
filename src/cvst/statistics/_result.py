"""What a significance test returns, and the chi-square tail behind most of them."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import chdtrc

__all__ = ["NO_EVIDENCE", "Significance", "chi_square_significance"]


@dataclass(frozen=True, slots=True)
class Significance:
    """Outcome of one test of "all configurations are equally good".

    Attributes
    ----------
    statistic : float
        Test statistic; the larger, the more the configurations differ.
    p_value : float
        Probability of a statistic at least as large if they do not differ. Always in
        [0, 1], never NaN.

    Examples
    --------
    >>> Significance(statistic=0.0, p_value=1.0).p_value
    1.0
    """

    statistic: float
    p_value: float


# The answer wherever nothing can be compared: fewer than two configurations, no data
# point, or no point on which two configurations differ. R and SciPy say NaN (0 / 0).
NO_EVIDENCE = Significance(statistic=0.0, p_value=1.0)


def chi_square_significance(statistic: float, n_configurations: int) -> Significance:
    """Refer a statistic to chi-square with one degree less than configurations.

    Examples
    --------
    >>> round(chi_square_significance(3.0, n_configurations=2).p_value, 3)
    0.083
    """
    # The special function, not `scipy.stats.chi2.sf`: same numbers, a hundred times
    # less overhead, which counts when hundreds of prefixes are tested in a row.
    tail = float(chdtrc(n_configurations - 1, statistic))
    return Significance(statistic=float(statistic), p_value=tail)
