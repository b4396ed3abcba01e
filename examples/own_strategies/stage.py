"""A race made of stages: two that exist, and one of one's own between them.

>>> from cvst import RaceGridSearchCV
>>> from cvst.datasets import make_noisy_sinc
>>> from sklearn.kernel_ridge import KernelRidge
>>> X, y = make_noisy_sinc(400, random_state=0)
>>> grid = {"gamma": [0.01, 0.1, 1, 10, 100, 1000], "alpha": [0.01, 0.1, 1]}
>>> strategy = Program([SubsetLook(rows=0.2), ClosestHalf(), FoldRace(n_folds=5)])
>>> search = RaceGridSearchCV(
...     KernelRidge(kernel="rbf"), grid, strategy=strategy, random_state=0)
>>> state = search.fit(X, y).race_
>>> [seen.look.stage for seen in state.observations][:3]
['subset', 'closest half', 'folds']
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cvst.race import (
    FoldRace,
    Look,
    LookLosses,
    PlannedLook,
    Problem,
    Program,
    RaceState,
    Stage,
    SubsetLook,
    Verdict,
)

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class ClosestHalf(Stage):
    """Train on half of the rows, and keep what is within a tenth of the best."""

    name: str = "closest half"

    def enter(self, state: RaceState) -> IntArray:
        """Take all survivors."""
        return np.flatnonzero(state.active)

    def look(self, state: RaceState, n_looks: int, members: IntArray) -> Look | None:
        """Look once."""
        n_train = state.problem.n_samples // 2
        rows = state.problem.prefix(n_train)
        return None if n_looks else Look(*rows, n_train, members, self.name)

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Drop what is more than a tenth worse than the best."""
        top = seen.mean_losses <= 1.1 * np.nanmin(seen.mean_losses)
        drops = dict.fromkeys(look.configurations[~top].tolist(), "a tenth worse")
        return Verdict(top, np.full(len(top), np.nan), drops)

    def planned_looks(self, problem: Problem, most: int) -> tuple[PlannedLook, ...]:
        """Plan the one look."""
        half = problem.n_samples // 2
        return (PlannedLook(self.name, half, problem.n_samples - half, most),)
