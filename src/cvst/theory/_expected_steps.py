"""Average number of steps until the open test decides (Wald's ASN, Appendix D)."""

from __future__ import annotations

from math import exp, expm1, log

from scipy.optimize import brentq

from cvst.statistics import WaldTest
from cvst.theory._validation import check_count, check_probability

__all__ = ["expected_steps"]

# Nearer to a fair game than this, the limit for a fair game is the better number.
FAIR_GAME = 1e-7


def expected_steps(
    win_probability: float,
    max_steps: int,
    loser_level: float = 0.1,
    winner_level: float = 0.01,
) -> float:
    r"""Return the expected number of steps until the test calls loser or winner.

    This is Wald's average sample number. It ignores by how much the last step
    oversteps a boundary and is therefore a little too small between the two ends.

    Parameters
    ----------
    win_probability : float
        Probability :math:`\pi` of being top in a step.
    max_steps : int
        Largest number of steps, the paper's :math:`S`.
    loser_level, winner_level : float
        Levels :math:`\beta_l` and :math:`\alpha_l` of the sequential test.

    Returns
    -------
    float
        The safety zone for a constant loser, ``max_steps`` for a constant winner
        (that is how :math:`\pi_1` is chosen), more than either in between: the test
        is open and may outlast the race.

    Examples
    --------
    >>> [round(expected_steps(p, max_steps=10), 2) for p in (0.0, 0.5, 0.9, 1.0)]
    [2.73, 11.41, 13.9, 10.0]
    """
    check_count("max_steps", max_steps)
    check_probability("win_probability", win_probability)
    test = WaldTest(max_steps, loser_level, winner_level)
    gain = log(test.winner_probability / test.loser_probability)
    loss = log((1 - test.winner_probability) / (1 - test.loser_probability))
    upper = log((1 - loser_level) / winner_level)
    lower = log(loser_level / (1 - winner_level))
    drift = win_probability * gain + (1 - win_probability) * loss
    if abs(drift) < FAIR_GAME * gain:
        variance = win_probability * gain**2 + (1 - win_probability) * loss**2
        return -upper * lower / variance
    loses = _loser_probability(win_probability, gain, loss, upper, lower)
    return (loses * lower + (1 - loses) * upper) / drift


def _loser_probability(
    win_probability: float, gain: float, loss: float, upper: float, lower: float
) -> float:
    """Return the probability of ending at the lower boundary (operating curve)."""
    if win_probability in (0, 1):
        return 1.0 - win_probability
    log_win, log_lose = log(win_probability), log(1 - win_probability)

    def excess(h: float) -> float:
        return exp(log_win + h * gain) + exp(log_lose + h * loss) - 1

    # Wald's h solves E[ratio ** h] = 1. The left side is convex in h and 1 at h = 0;
    # the other root lies beyond the minimum, and before one term alone reaches 1.
    lowest = (log_lose + log(-loss) - log_win - log(gain)) / (gain - loss)
    beyond = -log_win / gain if lowest > 0 else -log_lose / loss
    h = brentq(excess, lowest, beyond, xtol=1e-14)
    # (A^h - 1) / (A^h - B^h), divided by the larger power so that none overflows.
    if h > 0:
        return expm1(-h * upper) / expm1(h * (lower - upper))
    return (exp(h * (upper - lower)) - exp(-h * lower)) / expm1(h * (upper - lower))
