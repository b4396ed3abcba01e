"""Proposals near the best points, by steps that shrink while nothing gets better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cvst._text import ShortRepr
from cvst._typing import FloatArray
from cvst.proposals._evidence import gather_evidence
from cvst.proposals._history import History
from cvst.proposals._space import as_choices, perturbed, uniform_points

__all__ = ["LocalProposer", "step_size"]

# Shares of a range. Two random numbers are a third apart on average: a longer step than
# 0.3 would be a random draw.
FIRST_STEP, SMALLEST_STEP, LARGEST_STEP = 0.2, 0.01, 0.3


@dataclass(frozen=True, repr=False)
class LocalProposer(ShortRepr):
    """Perturb one of the best points.

    Parameters
    ----------
    n_best : int, default=3
        The point to perturb is drawn among this many, the best one most often.
    """

    n_best: int = 3

    def propose(
        self,
        n_choices: Sequence[int],
        history: History,
        count: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Propose ``count`` points; see :class:`Proposer`."""
        choices = as_choices(n_choices, history.points.shape[1], count)
        evidence = gather_evidence(history)
        fresh = uniform_points(choices, count, rng)
        if evidence.n_succeeded == 0:
            return fresh
        n_best = min(self.n_best, evidence.n_succeeded)
        best = np.argsort(evidence.losses, kind="stable")[:n_best]
        weights = 0.5 ** np.arange(n_best)
        picked = best[rng.choice(n_best, size=count, p=weights / weights.sum())]
        # A perturbed choice may switch a parameter on, which needs a value then.
        centres = np.where(
            np.isnan(evidence.points[picked]), fresh, evidence.points[picked]
        )
        return perturbed(centres, choices, step_size(evidence.losses), rng)


def step_size(losses: FloatArray) -> float:
    """Return the step after these losses, by the rule of one success in five.

    Each new best loss lengthens the step by half, any other loss shortens it so that
    one success in five leaves it as it is.

    Examples
    --------
    >>> round(step_size(np.array([1.0, 2.0, 2.0, 2.0, 2.0, 0.5])), 3)
    0.2
    """
    step = FIRST_STEP
    best = losses[0]
    for loss in losses[1:]:
        # A failed point has the worst loss, so that failures shorten the step as well.
        step *= 1.5 if loss < best else 1.5**-0.25
        step = min(max(step, SMALLEST_STEP), LARGEST_STEP)
        best = min(best, loss)
    return step
