"""How long a configuration stays in a race, given how likely it wins a step.

The number of wins is a Markov chain with one absorbing region, at and below the loser
boundary, so the probability of being alive after each step is a sum over few states:
exact up to rounding, for the open and the closed test alike.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from cvst._typing import FloatArray
from cvst.exceptions import InvalidInputError

__all__ = [
    "SequentialTest",
    "drop_probabilities",
    "first_drop",
    "loser_boundaries",
    "survival_probabilities",
]


class SequentialTest(Protocol):
    """What theory needs of an open or a closed sequential test."""

    @property
    def max_steps(self) -> int:
        """Largest number of steps."""
        ...

    def loser_boundary(self, step: int, /) -> float | FloatArray:
        """Return the number of wins at or below which a trace is a loser's."""
        ...


def loser_boundaries(test: SequentialTest) -> FloatArray:
    """Return the loser boundary in steps 1, 2, ..., ``max_steps``."""
    # One by one: the protocol promises the boundary of a single step only.
    steps = range(1, test.max_steps + 1)
    return np.array([test.loser_boundary(step) for step in steps], dtype=np.float64)


def first_drop(test: SequentialTest) -> int:
    """Return the first step after which the test can drop a configuration.

    All configurations are still evaluated *in* this step. A constant loser stands at
    zero wins and falls once the boundary reaches zero; ``max_steps + 1`` says that the
    test never drops.

    Examples
    --------
    >>> from cvst.statistics import WaldTest
    >>> first_drop(WaldTest(10)), first_drop(WaldTest(20))
    (3, 8)
    """
    can_drop = np.flatnonzero(loser_boundaries(test) >= 0)
    return int(can_drop[0]) + 1 if len(can_drop) else test.max_steps + 1


def survival_probabilities(
    test: SequentialTest, win_probability: npt.ArrayLike
) -> FloatArray:
    """Return the probability of still being in the race after each step.

    Parameters
    ----------
    test : WaldTest or SpicerTest
        The sequential test of the race.
    win_probability : float or array-like of shape (max_steps,)
        Probability of being top, the same in all steps or one for each.

    Returns
    -------
    ndarray of shape (max_steps,)
        Probability of not having been dropped in the steps up to and including this
        one.

    Examples
    --------
    >>> from cvst.statistics import WaldTest
    >>> survival_probabilities(WaldTest(10), 0.5).round(3)
    array([1.   , 1.   , 0.875, 0.875, 0.781, 0.641, 0.641, 0.566, 0.463,
           0.463])
    """
    # Summing up the dropped keeps those with nothing to fear at exactly 1.
    return 1 - np.cumsum(drop_probabilities(test, win_probability))


def drop_probabilities(
    test: SequentialTest, win_probability: npt.ArrayLike
) -> FloatArray:
    """Return the probability of being dropped in each step; see above."""
    wins = np.asarray(win_probability, dtype=np.float64)
    if wins.ndim and wins.shape != (test.max_steps,):
        raise InvalidInputError(
            f"win_probability has shape {wins.shape}; it must be a single number or "
            f"hold one for each of the {test.max_steps} steps."
        )
    if not np.all((wins >= 0) & (wins <= 1)):
        raise InvalidInputError(
            f"win_probability={win_probability!r} must lie between 0 and 1."
        )
    wins = np.broadcast_to(wins, (test.max_steps,))
    n_wins = np.arange(test.max_steps + 1)
    mass = np.zeros(test.max_steps + 1)
    mass[0] = 1.0
    dropped = np.empty(test.max_steps)
    for index, boundary in enumerate(loser_boundaries(test)):
        # Before the mass is scaled below. Its last entry is empty until the last step.
        won = wins[index] * mass[:-1]
        mass *= 1 - wins[index]
        mass[1:] += won
        lost = n_wins <= boundary
        dropped[index] = mass[lost].sum()
        mass[lost] = 0.0
    return dropped
