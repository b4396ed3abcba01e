"""Proposals by a Gaussian process, for searches of few trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

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
from cvst.proposals._pool import best_of_pool, draw_pool
from cvst.proposals._random import SpreadProposer
from cvst.proposals._scores import clipped_scores
from cvst.proposals._space import as_choices, inactive_as_observed, squared_distances

__all__ = ["GaussianProposer"]


@dataclass(frozen=True)
class GaussianProposer:
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
        Lengths and noise are fitted anew after this many evaluations.
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
        cost = Cost.fitted(n_choices, evidence.points, evidence.seconds)
        evidence = _most_telling(evidence, self.max_points)
        points, scores = evidence.points, clipped_scores(evidence.losses)
        best = float(scores.min())
        chosen = np.empty((count, len(choices)))
        for i in range(count):
            squared = squared_distances(points, points, choices)
            process = GaussianProcess.given(squared, scores, hyperparameters)

            def judge(
                draws: FloatArray,
                known: FloatArray = points,
                process: GaussianProcess = process,
            ) -> FloatArray:
                draws = inactive_as_observed(draws, evidence.points, choices)
                distances = squared_distances(known, draws, choices)
                means, deviations = process.predict(distances)
                gain = log_expected_improvement(means, deviations, best)
                return np.asarray(gain - self.thrift * cost.log_seconds(draws))

            pool = draw_pool(evidence, choices, self.n_pool, rng)
            chosen[i] = best_of_pool(pool, choices, judge, rng, n_rounds=3)
            # The next one of several sees this one come out as predicted.
            new = inactive_as_observed(chosen[[i]], evidence.points, choices)
            mean, _ = process.predict(squared_distances(points, new, choices))
            points = np.concatenate([points, new])
            scores = np.append(scores, mean)
        return chosen

    def _hyperparameters(self, choices: IntArray, history: History) -> Hyperparameters:
        n = len(history)
        fitted_on = history.head(max(n - n % self.refit_every, self.n_first))

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


def _most_telling(evidence: Evidence, max_points: int) -> Evidence:
    """Keep this many points: half of them the best, half the latest."""
    n = len(evidence)
    if n <= max_points:
        return evidence
    kept = np.zeros(n, dtype=bool)
    kept[np.argsort(evidence.losses, kind="stable")[: max_points // 2]] = True
    latest = np.flatnonzero(~kept)[-(max_points - max_points // 2) :]
    kept[latest] = True
    return evidence.subset(np.flatnonzero(kept))
