"""Proposals by a Gaussian process, for searches of few trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cvst._text import ShortRepr
from cvst._typing import FloatArray, IntArray
from cvst.proposals._cost import Cost
from cvst.proposals._evidence import Evidence, gather_evidence
from cvst.proposals._gaussian_process import (
    GaussianProcess,
    Hyperparameters,
    fit_hyperparameters,
)
from cvst.proposals._history import History
from cvst.proposals._improvement import log_expected_improvement
from cvst.proposals._memo import Memo
from cvst.proposals._pool import draw_pool, improved_pool
from cvst.proposals._random import SpreadProposer
from cvst.proposals._scores import clipped_scores
from cvst.proposals._space import as_choices, inactive_as_observed, squared_distances

__all__ = ["GaussianProposer"]

# Of several points proposed at once, all but the first are chosen among this many.
N_KEPT = 100


@dataclass(frozen=True, repr=False)
class GaussianProposer(ShortRepr):
    """Take the point with the highest expected improvement of a Gaussian process.

    The best for smooth losses and few trials. The work grows with the cube of the
    points, so only the best and the latest are used once there are many.

    Parameters
    ----------
    n_first : int, default=6
        Until this many points have a loss, proposals fill the space.
    max_points : int, default=100
        The process learns from at most this many points.
    refit_every : int, default=5
        Lengths and noise are fitted anew after this many evaluations, and where there
        are many, after an eighth of them.
    n_pool : int, default=300
        Points among which the best is chosen.
    thrift : float, default=0.25
        Power of the seconds by which the expected improvement is divided: 0 ignores
        them, 1 is improvement per second.
    """

    n_first: int = 6
    max_points: int = 100
    refit_every: int = 5
    n_pool: int = 300
    thrift: float = 0.25
    _memo: Memo[Hyperparameters] = field(
        default_factory=Memo, init=False, repr=False, compare=False
    )

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
            return SpreadProposer().propose(n_choices, history, count, rng)
        hyperparameters = self._hyperparameters(choices, history)
        # Before the evidence is thinned: all times count, and cost little.
        cost = Cost.fitted(n_choices, evidence.points, evidence.seconds)
        evidence = _most_telling(evidence, self.max_points)
        points, scores = evidence.points, clipped_scores(evidence.losses)
        best = float(scores.min())
        squared = squared_distances(points, points, choices)
        process = GaussianProcess.given(squared, scores, hyperparameters)

        def judge(draws: FloatArray) -> FloatArray:
            # points and process are looked up at each call: after a proposal below they
            # hold one more point. What was observed stays as it was.
            draws = inactive_as_observed(draws, evidence.points, choices)
            distances = squared_distances(points, draws, choices)
            means, deviations = process.predict(distances)
            gain = log_expected_improvement(means, deviations, best)
            return np.asarray(gain - self.thrift * cost.log_seconds(draws))

        pool = draw_pool(evidence, choices, self.n_pool, rng)
        pool, values = improved_pool(pool, choices, judge, rng, n_rounds=3)
        chosen = np.empty((count, len(choices)))
        for i in range(count):
            order = np.argsort(-values, kind="stable")
            chosen[i] = pool[order[0]]
            if i == count - 1:
                break
            # The next one of several sees this one come out as predicted. Those that
            # looked good stay in the pool: a new one for each would take far longer.
            new = inactive_as_observed(chosen[[i]], evidence.points, choices)
            process = process.expecting(squared_distances(points, new, choices))
            points = np.concatenate([points, new])
            pool = pool[order[1 : N_KEPT + 1]]
            pool, values = improved_pool(pool, choices, judge, rng, n_rounds=1)
        return chosen

    def _hyperparameters(self, choices: IntArray, history: History) -> Hyperparameters:
        fitted_on = history.head(self._n_fitted(len(history)))

        def fit() -> Hyperparameters:
            evidence = gather_evidence(fitted_on)
            if evidence.flat:
                evidence = gather_evidence(history)
            evidence = _most_telling(evidence, self.max_points)
            points, scores = evidence.points, clipped_scores(evidence.losses)
            return fit_hyperparameters(
                squared_distances(points, points, choices), scores
            )

        return self._memo.recall((choices, fitted_on), fit)

    def _n_fitted(self, n: int) -> int:
        """Return of how many of n evaluations lengths and noise are learnt."""
        # Counted from the start, not from the last fit, so that equal histories have
        # equal lengths and noise, however the search came to them.
        fitted = following = self.n_first
        while following <= n:
            fitted, following = (
                following,
                following + max(self.refit_every, following // 8),
            )
        return fitted


def _most_telling(evidence: Evidence, max_points: int) -> Evidence:
    """Keep this many points: half of them the best, half the latest."""
    n = len(evidence)
    if n <= max_points:
        return evidence
    kept = np.zeros(n, dtype=bool)
    kept[np.argsort(evidence.losses, kind="stable")[: max_points // 2]] = True
    # The latest are where the search is now.
    latest = np.flatnonzero(~kept)[-(max_points - max_points // 2) :]
    kept[latest] = True
    return evidence.subset(np.flatnonzero(kept))
