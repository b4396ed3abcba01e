"""What a race remembers of its folds: losses by configuration, fold after fold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.race._state import RaceState

__all__ = ["FoldRecord", "Folds", "largest_first", "n_looks_of", "same_folds"]

Folds = tuple[tuple[IntArray, IntArray], ...]


@dataclass(frozen=True, slots=True)
class FoldRecord:
    """Pointwise losses of the folds of some stages.

    Attributes
    ----------
    losses : dict of (configuration, fold) to ndarray
        Losses on the rows of a fold.
    means : dict of (configuration, fold) to float
        Their means, weighted where the rows are.
    folds : dict of configuration to list of int
        The folds it has run.
    """

    losses: dict[tuple[int, int], FloatArray]
    means: dict[tuple[int, int], float]
    folds: dict[int, list[int]]

    @classmethod
    def of(cls, state: RaceState, stages: tuple[str, ...]) -> FoldRecord:
        """Collect the folds of the given stages, each counted from its first."""
        losses: dict[tuple[int, int], FloatArray] = {}
        means: dict[tuple[int, int], float] = {}
        folds: dict[int, list[int]] = {}
        counts = dict.fromkeys(stages, 0)
        for observation in state.observations:
            look = observation.look
            if look.stage not in counts or observation.losses is None:
                continue
            fold = counts[look.stage]
            counts[look.stage] += 1
            for position, index in enumerate(look.configurations.tolist()):
                losses[index, fold] = observation.losses[position]
                means[index, fold] = float(observation.mean_losses[index])
                folds.setdefault(index, []).append(fold)
        return cls(losses, means, folds)

    def runners(self, active: BoolArray) -> IntArray:
        """Return who has run folds and is active, ascending."""
        runners = sorted(index for index in self.folds if active[index])
        return np.array(runners, dtype=np.intp)

    def n_folds(self, index: int) -> int:
        """Return how many folds a configuration has run."""
        return len(self.folds.get(index, ()))

    def mean(self, index: int) -> float:
        """Return the mean loss over all rows of all folds, NaN if any fit failed."""
        keys = [(index, fold) for fold in self.folds.get(index, ())]
        if not keys:
            return float("nan")
        sizes = [len(self.losses[key]) for key in keys]
        return float(np.average([self.means[key] for key in keys], weights=sizes))

    def differences(self, index: int, leader: int) -> FloatArray:
        """Return loss minus the leader's loss on the rows of their common folds."""
        folds = sorted(self.folds[index])
        common = [fold for fold in folds if (leader, fold) in self.losses]
        return np.concatenate(
            [self.losses[index, fold] - self.losses[leader, fold] for fold in common]
        )

    def ranking(self, candidates: IntArray) -> IntArray:
        """Order candidates by folds run, then by mean loss; failed fits last."""
        means = np.array([self.mean(index) for index in candidates.tolist()])
        counts = np.array([self.n_folds(index) for index in candidates.tolist()])
        keys = (candidates, np.where(np.isnan(means), np.inf, means), -counts)
        return candidates[np.lexsort(keys)]


def n_looks_of(state: RaceState, stage: str) -> int:
    """Return how many looks of a stage there have been."""
    return sum(o.look.stage == stage for o in state.observations)


def same_folds(folds: Folds, others: Folds) -> bool:
    """Return whether two lists of folds test the same rows."""
    return len(folds) == len(others) and all(
        np.array_equal(fold[1], other[1])
        for fold, other in zip(folds, others, strict=True)
    )


def largest_first(folds: Folds) -> Folds:
    """Return folds in order, but those with clearly more training rows first.

    Folds forward in time begin with few rows, where nobody should be dropped.
    """
    largest = max(len(train) for train, _ in folds)
    return tuple(sorted(folds, key=lambda fold: -round(10 * len(fold[0]) / largest)))
