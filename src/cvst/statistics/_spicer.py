"""Spicer's closed sequential test on top/flop traces (Section 7.2): gambler's ruin.

A configuration plays against an opponent. It wins 1 from him in a step where it is top
and loses a stake where it is a flop. Ruined, it is a loser; if it ruins the opponent,
it is a winner; after ``max_steps`` games they part.

The paper gives the game but not the numbers. Here the hypotheses and the stake are
those of the open test, so the two differ only in the fortunes, which are as small as
the levels allow *within the steps there are*. Wald's lines, made for a game without
end, keep far below the levels in a short race. That makes the closed test the quicker
and the less forgiving one, as Section 7.2 finds; read literally (ruin at a success
probability of one half at most at the winner level), it would need seven flops in a
row at the default levels, where the open test of ten steps needs three.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

import numpy as np

from cvst._typing import FloatArray
from cvst.exceptions import InvalidInputError
from cvst.statistics._boundaries import ParallelBoundaries
from cvst.statistics._wald import LOSER_PROBABILITY, wald_lines, winner_probability

__all__ = ["Ruin", "SpicerTest", "ruin_probabilities"]


class Ruin(NamedTuple):
    """Chances that the game ends after exactly 1, 2, ... games, and how.

    Attributes
    ----------
    own, opponent : ndarray of shape (n_games,)
        The player is ruined; the player ruins the opponent.
    """

    own: FloatArray
    opponent: FloatArray


def ruin_probabilities(
    n_games: int,
    win_probability: float,
    fortune: float,
    opponent_fortune: float,
    stake: float,
) -> Ruin:
    r"""Return how the game of Section 7.2 ends, game by game.

    Parameters
    ----------
    n_games : int
        Number of games after which the players part in any case.
    win_probability : float
        Probability :math:`\pi` to win a game, and with it 1 from the opponent.
    fortune, opponent_fortune : float
        :math:`F_a` and :math:`F_b`; a fortune of 0 or less is a ruin.
    stake : float
        :math:`b`, what a lost game costs.

    Returns
    -------
    Ruin
        ``opponent[n - 1]`` is the paper's :math:`f(n, \pi, F_a, F_b)`.

    Examples
    --------
    Heads or tails for one coin, with two coins each: over after two games or later.

    >>> game = ruin_probabilities(4, 0.5, fortune=2, opponent_fortune=2, stake=1)
    >>> game.opponent
    array([0.   , 0.25 , 0.   , 0.125])
    """
    for name, value in ("fortune", fortune), ("opponent_fortune", opponent_fortune):
        if not value > 0:
            raise InvalidInputError(f"{name}={value!r} must be positive to play.")
    if not 0 <= win_probability <= 1 or not stake > 0:
        raise InvalidInputError(
            f"win_probability={win_probability!r} must lie between 0 and 1 and "
            f"stake={stake!r} must be positive."
        )
    n_wins = np.arange(n_games + 1)
    playing = np.zeros(n_games + 1)
    playing[0] = 1.0
    own, opponent = np.zeros(n_games), np.zeros(n_games)
    # Numbers of wins from first to last are still playing; the others are out.
    first, last = 0, 0
    for game in range(1, n_games + 1):
        last += 1
        won = win_probability * playing[first:last]
        here = playing[first : last + 1]
        here *= 1 - win_probability
        here[1:] += won
        # The paper prints F_b - b after a win. Its own text ("win 1 from his opponent")
        # and its stopping lines want F_b - 1.
        gain = n_wins[first : last + 1] - stake * (game - n_wins[first : last + 1])
        n_ruined = int(np.searchsorted(gain, -fortune, side="right"))
        n_in_game = int(np.searchsorted(gain, opponent_fortune, side="left"))
        own[game - 1] = here[:n_ruined].sum()
        opponent[game - 1] = here[n_in_game:].sum()
        here[:n_ruined] = here[n_in_game:] = 0.0
        first, last = first + n_ruined, first + n_in_game - 1
        if first > last:
            break
    return Ruin(own, opponent)


@dataclass(frozen=True)
class SpicerTest(ParallelBoundaries):
    r"""Closed sequential test of "wins as often as it loses" against "wins more often".

    Within ``max_steps`` steps, a configuration that wins with :math:`\pi_1` of Eq. (2)
    crosses the loser boundary with a probability of at most ``loser_level``, and one
    that wins every other step reaches the winner boundary with a probability of at most
    ``winner_level``. No smaller fortunes have these properties.

    Parameters
    ----------
    max_steps : int
        Number of steps after which the test ends, the paper's :math:`S`.
    loser_level, winner_level : float
        Levels :math:`\beta_l` and :math:`\alpha_l` of the two decisions.

    Attributes
    ----------
    loser_probability, winner_probability : float
        :math:`\pi_0 = 1/2` and :math:`\pi_1`, as in the open test.
    stake : float
        :math:`b`, what a flop costs; being top brings 1.
    fortune, opponent_fortune : float
        :math:`F_a` and :math:`F_b`, what the configuration and its opponent start with.
    slope, intercept, winner_intercept : float
        The same as lines: :math:`b / (1 + b)`, :math:`F_a / (1 + b)` and
        :math:`F_b / (1 + b)`.
    safety_zone : float
        Nothing can be dropped at or before this step. Unlike that of the open test it
        cannot be set by a formula.

    Examples
    --------
    >>> import numpy as np
    >>> test = SpicerTest(max_steps=10, loser_level=0.1, winner_level=0.01)
    >>> round(test.safety_zone, 2)
    1.96
    >>> test.is_loser(np.array([[False, False, False], [False, True, True]]))
    array([ True, False])
    """

    max_steps: int
    loser_level: float = 0.1
    winner_level: float = 0.01
    loser_probability: float = field(init=False, default=LOSER_PROBABILITY)
    winner_probability: float = field(init=False)
    stake: float = field(init=False)
    fortune: float = field(init=False)
    opponent_fortune: float = field(init=False)
    slope: float = field(init=False)
    intercept: float = field(init=False)
    winner_intercept: float = field(init=False)

    def __post_init__(self) -> None:
        n_games, levels = self.max_steps, (self.loser_level, self.winner_level)
        probability = winner_probability(n_games, *levels)
        slope = wald_lines(self.loser_probability, probability, *levels).slope
        stake = slope / (1 - slope)

        def drops_winner(fortune: float) -> float:
            # A race never declares a winner early, so the opponent is never ruined.
            game = ruin_probabilities(n_games, probability, fortune, inf, stake)
            return float(game.own.sum())

        def accepts_loser(opponent_fortune: float) -> float:
            game = ruin_probabilities(
                n_games, self.loser_probability, fortune, opponent_fortune, stake
            )
            return float(game.opponent.sum())

        losses, wins = np.indices((n_games + 1, n_games + 1))
        gains = (wins - stake * losses)[losses + wins <= n_games]
        fortune = _smallest_fortune(-gains, drops_winner, self.loser_level)
        opponent_fortune = _smallest_fortune(gains, accepts_loser, self.winner_level)
        derived = {
            "winner_probability": probability,
            "stake": stake,
            "fortune": fortune,
            "opponent_fortune": opponent_fortune,
            "slope": slope,
            "intercept": fortune / (1 + stake),
            "winner_intercept": opponent_fortune / (1 + stake),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)  # the way into a frozen dataclass


def _smallest_fortune(
    amounts: FloatArray, ruin_probability: Callable[[float], float], level: float
) -> float:
    """Return the smallest fortune whose ruin is at most as likely as the level.

    Only fortunes between two amounts that can be lost make a difference. The one
    returned lies half-way, where rounding cannot turn a decision.
    """
    # Amounts are sums of few numbers; what differs by less than this is the same one.
    steps = np.unique(np.round(np.append(amounts[amounts > 0], 0.0), decimals=9))
    fortunes = np.append((steps[1:] + steps[:-1]) / 2, steps[-1] + 0.5)
    # The last one cannot be lost, so there is always an answer.
    first, last = 0, len(fortunes) - 1
    while first < last:
        middle = (first + last) // 2
        if ruin_probability(float(fortunes[middle])) <= level:
            last = middle
        else:
            first = middle + 1
    return float(fortunes[first])
