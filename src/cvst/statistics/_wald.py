"""Wald's open sequential test on top/flop traces (Algorithm 3, Appendix D)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, inf, log

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.exceptions import InvalidInputError, TooFewStepsError

__all__ = ["WaldTest", "minimal_steps"]


def minimal_steps(loser_level: float, winner_level: float) -> int:
    """Return the smallest number of steps for which the sequential test exists.

    Examples
    --------
    >>> minimal_steps(loser_level=0.1, winner_level=0.01)
    7
    """
    return max(1, ceil(log((1 - loser_level) / winner_level) / log(2)))


@dataclass(frozen=True)
class WaldTest:
    """Sequential test of "wins as often as it loses" against "wins more often".

    The probabilities are those of Eq. (2): a configuration that wins every step is
    accepted as a winner in the last one, and as many losers as possible fall before.

    Parameters
    ----------
    max_steps : int
        Largest number of steps, the paper's :math:`S`.
    loser_level, winner_level : float
        Levels :math:`\\beta_l` and :math:`\\alpha_l` of the two decisions.

    Attributes
    ----------
    loser_probability, winner_probability : float
        :math:`\\pi_0 = 1/2` and :math:`\\pi_1`.
    intercept, winner_intercept, slope : float
        The loser boundary is ``slope * step - intercept``, the winner boundary
        ``slope * step + winner_intercept``.
    safety_zone : float
        Nothing can be dropped at or before this step (Lemma 1).

    Examples
    --------
    >>> test = WaldTest(max_steps=10, loser_level=0.1, winner_level=0.01)
    >>> round(test.safety_zone, 2)
    2.73
    >>> test.is_loser(np.array([[False, False, False], [False, True, False]]))
    array([ True, False])
    """

    max_steps: int
    loser_level: float = 0.1
    winner_level: float = 0.01
    loser_probability: float = field(init=False, default=0.5)
    winner_probability: float = field(init=False)
    intercept: float = field(init=False)
    winner_intercept: float = field(init=False)
    slope: float = field(init=False)

    def __post_init__(self) -> None:
        for name in ("loser_level", "winner_level"):
            level = getattr(self, name)
            if not 0 < level < 1:
                raise InvalidInputError(
                    f"{name}={level!r} must lie strictly between 0 and 1; "
                    "0.1 and 0.01 are the paper's choices."
                )
        if self.loser_level + self.winner_level >= 1:
            raise InvalidInputError(
                f"loser_level={self.loser_level} and winner_level={self.winner_level} "
                "must add up to less than 1. Lower one of them."
            )
        needed = minimal_steps(self.loser_level, self.winner_level)
        ratio = (1 - self.loser_level) / self.winner_level
        winner_probability = 0.5 * ratio ** (1 / self.max_steps)
        if winner_probability >= 1:
            raise TooFewStepsError(
                f"max_steps={self.max_steps} is too few for "
                f"loser_level={self.loser_level} and winner_level={self.winner_level}: "
                f"the sequential test needs at least {needed} steps. "
                "Raise max_steps or winner_level."
            )
        log_win = log(winner_probability / 0.5)
        log_loss = log((1 - winner_probability) / 0.5)
        set_ = object.__setattr__
        set_(self, "winner_probability", winner_probability)
        gap = log_win - log_loss
        set_(self, "intercept", -log(self.loser_level / (1 - self.winner_level)) / gap)
        set_(self, "winner_intercept", log(ratio) / gap)
        set_(self, "slope", -log_loss / gap)

    @property
    def safety_zone(self) -> float:
        """Lemma 1, with the denominator read as log(2 - root)."""
        return self.intercept / self.slope

    def loser_boundary(self, step: float | IntArray) -> float | FloatArray:
        """Return :math:`L_0`: at or below it a configuration is a loser."""
        return self.slope * step - self.intercept

    def winner_boundary(self, step: float | IntArray) -> float | FloatArray:
        """Return :math:`L_1`: at or above it a configuration is a winner."""
        return self.slope * step + self.winner_intercept

    def is_loser(self, traces: BoolArray) -> BoolArray:
        """Say for each trace whether it ends at or below the loser boundary.

        Parameters
        ----------
        traces : ndarray of shape (n_configurations, n_steps), bool
        """
        n_steps = traces.shape[1]
        boundary = self.loser_boundary(n_steps) if n_steps else -inf
        return np.asarray(traces.sum(axis=1) <= boundary)
