"""Proposals that learn nothing: random points, and points far from those known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cvst._text import ShortRepr
from cvst._typing import FloatArray
from cvst.proposals._history import History
from cvst.proposals._space import as_choices, uniform_points

__all__ = ["RandomProposer", "SpreadProposer"]


@dataclass(frozen=True)
class RandomProposer:
    """Propose points at random, whatever was observed: the one to compare with."""

    def propose(
        self,
        n_choices: Sequence[int],
        history: History,
        count: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Propose ``count`` points; see :class:`Proposer`."""
        choices = as_choices(n_choices, history.points.shape[1], count)
        return uniform_points(choices, count, rng)


@dataclass(frozen=True, repr=False)
class SpreadProposer(ShortRepr):
    """Propose points far from all known ones, so that the first few fill the space.

    Of several random points the one with the largest distance to its nearest known
    point is taken (Mitchell's best-candidate sampling). Other than a low-discrepancy
    sequence it goes on from any history, also one that began with given points.

    Parameters
    ----------
    n_draws : int, default=32
        Random points to choose from.
    """

    n_draws: int = 32

    def propose(
        self,
        n_choices: Sequence[int],
        history: History,
        count: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Propose ``count`` points; see :class:`Proposer`."""
        choices = as_choices(n_choices, history.points.shape[1], count)
        # Inactive parameters are put in the middle: no distance prefers them.
        known = np.where(np.isnan(history.points), 0.5, history.points)
        categories = choices > 0
        chosen = np.empty((count, len(choices)))
        for i in range(count):
            draws = uniform_points(choices, self.n_draws, rng)
            gaps = np.abs(draws[:, None, :] - known)
            # Distances around the circle: otherwise all points would go to the corners.
            gaps = np.minimum(gaps, 1 - gaps)
            # As far as two numbers are on average, so that choices count as much.
            gaps[:, :, categories] = (
                0.3 * (draws[:, None, :] != known)[:, :, categories]
            )
            nearest = np.min((gaps**2).sum(axis=2), axis=1, initial=np.inf)
            chosen[i] = draws[nearest.argmax()]
            known = np.vstack([known, chosen[i]])
        return chosen
