"""Proposals by a forest of random trees, for searches of many trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from cvst._text import ShortRepr
from cvst._typing import FloatArray, IntArray
from cvst.proposals._evidence import Evidence, gather_evidence
from cvst.proposals._history import History
from cvst.proposals._improvement import log_expected_improvement
from cvst.proposals._memo import Memo
from cvst.proposals._pool import draw_pool, improved_pool
from cvst.proposals._random import SpreadProposer
from cvst.proposals._scores import clipped_scores
from cvst.proposals._space import as_choices, inactive_as_observed

__all__ = ["ForestProposer"]


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """Trees for the scores and, if wanted, for the logarithm of the seconds."""

    score_trees: list[Any]
    time_trees: list[Any]
    best: float

    def judge(self, points: FloatArray, chosen: IntArray) -> FloatArray:
        """Return log expected improvement at full fidelity, less log seconds."""
        inputs = _inputs(points, np.ones(len(points)))
        predictions = _predictions([self.score_trees[i] for i in chosen], inputs)
        value = log_expected_improvement(
            predictions.mean(axis=0), predictions.std(axis=0) + 1e-6, self.best
        )
        if not self.time_trees:
            return value
        seconds: FloatArray = _predictions(self.time_trees, inputs).mean(axis=0)
        return value - seconds


@dataclass(frozen=True, repr=False)
class ForestProposer(ShortRepr):
    """Take the point with the highest expected improvement of a forest.

    A forest takes jumps, choices and inactive parameters as they come, and a thousand
    points. The logarithm of the fidelity is one of its inputs; it predicts for full
    evaluations.

    Parameters
    ----------
    per_second : bool, default=False
        Divide the expected improvement by the predicted seconds.
    n_first : int, default=8
        Until this many points have a loss, proposals fill the space.
    n_trees : int, default=30
        Trees of the forest.
    refit_every : int, default=4
        The forest is grown anew after this many evaluations, or after a 64th of all
        evaluations if that is more.
    n_pool : int, default=300
        Points among which the best is chosen.
    """

    per_second: bool = False
    n_first: int = 8
    n_trees: int = 30
    refit_every: int = 4
    n_pool: int = 300
    _memo: Memo[_Model] = field(
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
        model = self._model(choices, history)

        chosen = np.empty((count, len(choices)))
        for i in range(count):
            # Each proposal asks half of the trees: otherwise all proposals between two
            # fits, and those made at once, would be much the same.
            trees = rng.permutation(self.n_trees)[: (self.n_trees + 1) // 2]

            def judge(draws: FloatArray, trees: IntArray = trees) -> FloatArray:
                draws = inactive_as_observed(draws, evidence.points, choices)
                return model.judge(draws, trees)

            pool = draw_pool(evidence, choices, self.n_pool, rng)
            pool, values = improved_pool(pool, choices, judge, rng, n_rounds=1)
            chosen[i] = pool[values.argmax()]
        return chosen

    def _model(self, choices: IntArray, history: History) -> _Model:
        n = len(history)
        # The head depends on the number of evaluations alone, so that a search resumed
        # anywhere grows the same forests.
        every = max(self.refit_every, n // 64)
        grown_on = history.head(max(n - n % every, self.n_first))

        def grow() -> _Model:
            evidence = gather_evidence(grown_on)
            # The head may have equal losses though the history has not.
            return self._grow(gather_evidence(history) if evidence.flat else evidence)

        return self._memo.recall((choices, grown_on), grow)

    def _grow(self, evidence: Evidence) -> _Model:
        inputs = _inputs(evidence.points, evidence.fidelities)
        scores = clipped_scores(evidence.losses)
        times: list[Any] = []
        known = np.isfinite(evidence.seconds)
        if self.per_second and known.any():
            logs = np.log(np.maximum(evidence.seconds[known], 1e-6))
            times = _trees(inputs[known], logs, 10)
        return _Model(_trees(inputs, scores, self.n_trees), times, float(scores.min()))


def _trees(inputs: FloatArray, targets: FloatArray, n_trees: int) -> list[Any]:
    """Grow trees on bootstrap samples, so that they disagree at known points too.

    The seed is fixed: the forest is to be a function of the history.
    """
    forest = ExtraTreesRegressor(
        n_trees, bootstrap=True, min_samples_leaf=1, max_features=0.8, random_state=0
    )
    forest.fit(inputs, targets)
    return [tree.tree_ for tree in forest.estimators_]


def _inputs(points: FloatArray, fidelities: FloatArray) -> FloatArray:
    """Put -1 for inactive parameters, below all values."""
    filled = np.where(np.isnan(points), -1.0, points)
    inputs = np.column_stack([filled, np.log(fidelities)])
    # Bare trees take single precision only; the forest's own method would convert.
    return np.ascontiguousarray(inputs, dtype=np.float32)


def _predictions(trees: list[Any], inputs: FloatArray) -> FloatArray:
    """Ask each tree itself: the forest's own method takes ten times as long."""
    return np.array([tree.predict(inputs).ravel() for tree in trees])
