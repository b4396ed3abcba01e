"""Wald's open sequential test on top/flop traces (Algorithm 3, Appendix D)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor, isinf, log, log2
from typing import NamedTuple

from cvst.exceptions import InvalidInputError, TooFewStepsError
from cvst.statistics._boundaries import ParallelBoundaries

__all__ = ["WaldLines", "WaldTest", "minimal_steps", "wald_lines", "winner_probability"]

# A loser wins half of its steps: the paper's pi_0, from Eq. (2).
LOSER_PROBABILITY = 0.5


class WaldLines(NamedTuple):
    """Slope and distances from the origin of Wald's two parallel lines."""

    slope: float
    intercept: float
    winner_intercept: float


def minimal_steps(loser_level: float, winner_level: float) -> int:
    """Return the smallest number of steps for which the sequential test exists.

    Examples
    --------
    >>> minimal_steps(loser_level=0.1, winner_level=0.01)
    7
    """
    _check_levels(loser_level, winner_level)
    # The paper's ceil(log((1 - beta) / alpha) / log 2), except that a ratio of exactly
    # 2, 4, 8, ... needs one step more: there Eq. (2) would give a probability of 1.
    return max(1, floor(log2((1 - loser_level) / winner_level)) + 1)


def winner_probability(
    max_steps: int, loser_level: float, winner_level: float
) -> float:
    r"""Return :math:`\pi_1` of Eq. (2), or say why the test does not exist.

    Examples
    --------
    >>> round(winner_probability(10, loser_level=0.1, winner_level=0.01), 3)
    0.784
    """
    needed = minimal_steps(loser_level, winner_level)
    if max_steps < needed:
        raise TooFewStepsError(
            f"max_steps={max_steps} is too few for loser_level={loser_level} and "
            f"winner_level={winner_level}: the sequential test needs at least "
            f"{needed} steps. Raise max_steps or winner_level."
        )
    ratio = (1 - loser_level) / winner_level
    probability = LOSER_PROBABILITY * float(ratio ** (1 / max_steps))
    if probability == LOSER_PROBABILITY:
        raise InvalidInputError(
            f"max_steps={max_steps} is too many: winners would not differ from losers. "
            "Lower it; the paper's choice is 10."
        )
    return probability


def wald_lines(
    loser_probability: float,
    winner_probability: float,
    loser_level: float,
    winner_level: float,
) -> WaldLines:
    """Return the lines of Wald's test of two success probabilities (Appendix D).

    Parameters
    ----------
    loser_probability, winner_probability : float
        The hypotheses, with the smaller probability first.
    loser_level, winner_level : float
        Chance that a winner is called a loser, and that a loser is called a winner.

    Examples
    --------
    >>> lines = wald_lines(0.5, 0.9, loser_level=0.1, winner_level=0.01)
    >>> [round(number, 3) for number in lines]
    [0.732, 1.043, 2.048]
    """
    log_win = log(winner_probability / loser_probability)
    log_loss = log((1 - winner_probability) / (1 - loser_probability))
    gap = log_win - log_loss
    return WaldLines(
        slope=-log_loss / gap,
        intercept=-log(loser_level / (1 - winner_level)) / gap,
        winner_intercept=log((1 - loser_level) / winner_level) / gap,
    )


@dataclass(frozen=True)
class WaldTest(ParallelBoundaries):
    r"""Sequential test of "wins as often as it loses" against "wins more often".

    The probabilities are those of Eq. (2): a configuration that wins every step is
    accepted as a winner in the last one, and as many losers as possible fall before.

    Parameters
    ----------
    max_steps : int
        Largest number of steps, the paper's :math:`S`.
    loser_level, winner_level : float
        Levels :math:`\beta_l` and :math:`\alpha_l` of the two decisions.

    Attributes
    ----------
    loser_probability, winner_probability : float
        :math:`\pi_0 = 1/2` and :math:`\pi_1`.
    intercept, winner_intercept, slope : float
        The loser boundary is ``slope * step - intercept``, the winner boundary
        ``slope * step + winner_intercept``.
    safety_zone : float
        Nothing can be dropped at or before this step (Lemma 1, with its denominator
        read as :math:`\log(2 - \text{root})`).

    Examples
    --------
    >>> import numpy as np
    >>> test = WaldTest(max_steps=10, loser_level=0.1, winner_level=0.01)
    >>> round(test.safety_zone, 2)
    2.73
    >>> test.is_loser(np.array([[False, False, False], [False, True, False]]))
    array([ True, False])
    """

    max_steps: int
    loser_level: float = 0.1
    winner_level: float = 0.01
    loser_probability: float = field(init=False, default=LOSER_PROBABILITY)
    winner_probability: float = field(init=False)
    intercept: float = field(init=False)
    winner_intercept: float = field(init=False)
    slope: float = field(init=False)

    def __post_init__(self) -> None:
        levels = self.loser_level, self.winner_level
        probability = winner_probability(self.max_steps, *levels)
        lines = wald_lines(self.loser_probability, probability, *levels)
        derived = lines._asdict() | {"winner_probability": probability}
        for name, value in derived.items():
            object.__setattr__(self, name, value)  # the way into a frozen dataclass


def _check_levels(loser_level: float, winner_level: float) -> None:
    for name, level in ("loser_level", loser_level), ("winner_level", winner_level):
        if not 0 < level < 1:
            raise InvalidInputError(
                f"{name}={level!r} must lie strictly between 0 and 1; "
                "0.1 and 0.01 are the paper's choices."
            )
    if isinf((1 - loser_level) / winner_level):
        raise InvalidInputError(
            f"winner_level={winner_level} is too small to compute with. Raise it; 0.01 "
            "is the paper's choice."
        )
    if loser_level + winner_level >= 1:
        raise InvalidInputError(
            f"loser_level={loser_level} and winner_level={winner_level} "
            "must add up to less than 1. Lower one of them."
        )
