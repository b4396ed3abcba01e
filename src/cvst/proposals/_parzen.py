"""Proposals by the ratio of two Parzen densities: good points against bad ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from cvst._text import ShortRepr
from cvst._typing import FloatArray, IntArray
from cvst.proposals._evidence import Evidence, gather_evidence
from cvst.proposals._history import History
from cvst.proposals._parzen_density import ParzenDensity
from cvst.proposals._space import as_choices, inactive_as_observed, uniform_points

__all__ = ["ParzenProposer", "good_and_bad"]


@dataclass(frozen=True, repr=False)
class ParzenProposer(ShortRepr):
    """Draw from the density of good points and keep the draws least like bad ones.

    The tree-structured Parzen estimator in its multivariate form: kernels are products
    over all parameters, so that good combinations are found, not only good values.

    Parameters
    ----------
    good_share : float, default=0.15
        Share of the points that count as good.
    max_good : int, default=25
        At most this many are good.
    n_draws : int, default=48
        Draws among which the best ratio is chosen.
    n_first : int, default=8
        Until this many points have a loss, proposals are random.
    """

    good_share: float = 0.15
    max_good: int = 25
    n_draws: int = 48
    n_first: int = 8

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
        if evidence.n_succeeded < self.n_first or evidence.flat:
            return uniform_points(choices, count, rng)
        good, bad = good_and_bad(evidence, choices, self.good_share, self.max_good)
        draws = good.draw(count * self.n_draws, rng)
        judged = inactive_as_observed(draws, evidence.points, choices)
        ratio = good.log_density(judged) - bad.log_density(judged)
        # Each proposal is the best of its own draws, so that several differ.
        best = ratio.reshape(count, self.n_draws).argmax(axis=1)
        chosen: FloatArray = draws[np.arange(count) * self.n_draws + best]
        return chosen


def good_and_bad(
    evidence: Evidence, choices: IntArray, good_share: float, max_good: int
) -> tuple[ParzenDensity, ParzenDensity]:
    """Fit one density to the best points, the better the heavier, one to the rest."""
    order = np.argsort(evidence.losses, kind="stable")
    # With one good point all draws would lie around that point.
    n_good = min(max(ceil(good_share * len(order)), 2), max_good)
    # Failed points are bad, even if few others are left to be good.
    n_good = min(n_good, evidence.n_succeeded)
    ramp = np.arange(n_good, 0, -1.0)
    return (
        ParzenDensity.around(
            evidence.points[order[:n_good]], choices, ramp / ramp.mean()
        ),
        # There may be none; the even component is left then.
        ParzenDensity.around(evidence.points[order[n_good:]], choices),
    )
