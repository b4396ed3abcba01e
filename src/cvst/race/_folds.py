"""What a race remembers of its folds: losses by configuration, fold after fold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.race._bits import BitTable
from cvst.race._problem import Folds
from cvst.race._ranking import last_finite
from cvst.race._rounding import gaps, without_rounding
from cvst.race._state import RaceState

__all__ = [
    "FoldRecord",
    "bounded_folds",
    "largest_first",
    "rank_by_folds",
    "same_folds",
]


@dataclass(frozen=True, slots=True)
class FoldRecord:
    """Losses of the folds of some stages; each look at a fold is a column.

    Attributes
    ----------
    losses : list of ndarray or BitTable of shape (n_members, n_points)
        Pointwise losses of each look.
    folds : list of int
        Which fold it was, counted from the first of its stage.
    rows : ndarray of shape (n_configurations, n_looks), int
        Row of each configuration among the losses of a look, -1 if it was absent.
    means : ndarray of shape (n_configurations, n_looks)
        Mean losses, weighted where the rows are; NaN if absent or failed.
    """

    losses: list[FloatArray | BitTable]
    folds: list[int]
    rows: IntArray
    means: FloatArray

    @classmethod
    def of(cls, state: RaceState, stages: tuple[str, ...]) -> FoldRecord:
        """Collect the folds of the given stages."""
        losses: list[FloatArray | BitTable] = []
        folds: list[int] = []
        counts = dict.fromkeys(stages, 0)
        # A race that proposes has thousands of looks, most of them at no fold.
        looks = [
            one
            for one in state.observations
            if one.look.stage in counts and len(one.kept)
        ]
        rows = np.full((state.n_configurations, len(looks)), -1, dtype=np.intp)
        means = np.full(rows.shape, np.nan)
        for observation in looks:
            look, points = observation.look, observation.losses
            # Only these have rows in the losses; others of the look were let go.
            members = observation.kept
            rows[members, len(losses)] = np.arange(len(members))
            means[members, len(losses)] = observation.mean_losses[look.places(members)]
            if points is None:  # let go when the race was put away
                points = np.broadcast_to(np.nan, (len(members), look.n_test))
            losses.append(points)
            # Climbs run the same folds as the confirmation, so folds have numbers.
            folds.append(counts[look.stage] if look.fold is None else look.fold)
            counts[look.stage] += 1
        return cls(losses, folds, rows, means)

    @property
    def seen(self) -> BoolArray:
        """Which configurations have run folds."""
        seen: BoolArray = np.any(self.rows >= 0, axis=1)
        return seen

    def only(self, fold: int) -> FoldRecord:
        """Return the record of one fold."""
        looks = [look for look, number in enumerate(self.folds) if number == fold]
        return FoldRecord(
            [self.losses[look] for look in looks],
            [fold] * len(looks),
            self.rows[:, looks],
            self.means[:, looks],
        )

    def differences(self, members: IntArray, leader: int) -> list[FloatArray]:
        """Return losses minus the leader's on the rows of their common folds."""
        of_leader = {fold: losses[row] for losses, fold, row in self._looks_of(leader)}
        differences = []
        for index in members.tolist():
            # One order for all, so that sums agree to the last bit.
            looks = sorted(self._looks_of(index), key=lambda look: look[1])
            parts = [
                gaps(losses[row], of_leader[fold])
                for losses, fold, row in looks
                if fold in of_leader
            ]
            differences.append(np.concatenate(parts))
        return differences

    def ranking(self, members: IntArray) -> IntArray:
        """Order configurations by folds run, then by mean loss; failed fits last.

        Every fold counts the same, however many rows it has, as in scikit-learn. Means
        that are equal but for rounding leave them in the order of their numbers.
        """
        ran = self.rows[members] >= 0
        counts = ran.sum(axis=1)
        means = np.full(len(members), np.inf)
        # Rows of one length are averaged at once; a loop over all would be slow.
        for count in np.unique(counts[counts > 0]).tolist():
            alike = np.flatnonzero(counts == count)
            rows, looks = (where.reshape(-1, count) for where in np.nonzero(ran[alike]))
            means[alike] = self.means[members[alike[rows]], looks].mean(axis=1)
        means = without_rounding(means[:, None])[:, 0]
        # A mean over more folds says more, so the number of folds comes first.
        keys = (members, np.where(np.isnan(means), np.inf, means), -counts)
        return members[np.lexsort(keys)]

    def _looks_of(self, index: int) -> list[tuple[FloatArray | BitTable, int, int]]:
        """Return losses, fold and row of the looks of a configuration."""
        looks = zip(self.losses, self.folds, self.rows[index].tolist(), strict=True)
        return [look for look in looks if look[2] >= 0]


def rank_by_folds(state: RaceState, stages: Iterable[tuple[str, ...]]) -> IntArray:
    """Rank the survivors by folds where they ran any, then by their last loss.

    Parameters
    ----------
    state : RaceState
        The race.
    stages : iterable of tuple of str
        Groups of stages whose folds count together, the weightiest group first.
    """
    rest = state.active.copy()
    chosen = []
    for together in stages:
        record = FoldRecord.of(state, together)
        runners = np.flatnonzero(rest & record.seen)
        chosen.append(record.ranking(runners))
        rest[runners] = False
    # What ran no fold is known by a subset only, and so ranks behind.
    others = np.flatnonzero(rest)
    if len(others):
        last = last_finite(state)[others]
        chosen.append(others[np.argsort(last, kind="stable")])
    return np.concatenate(chosen)


def same_folds(folds: Folds, others: Folds) -> bool:
    """Return whether two lists of folds test the same rows."""
    return len(folds) == len(others) and all(
        np.array_equal(fold[1], other[1])
        for fold, other in zip(folds, others, strict=True)
    )


def bounded_folds(folds: Folds, most: int | None) -> Folds:
    """Return folds with at most ``most`` test rows each, spread over all of theirs.

    Examples
    --------
    >>> rows = np.arange(9)
    >>> bounded_folds(((rows[:2], rows[2:]),), 3)[0][1]
    array([2, 4, 6])
    """
    if most is None or all(len(test) <= most for _, test in folds):
        return folds
    # Spread, since rows in the order of time are not alike.
    return tuple(
        (train, test[np.arange(most) * len(test) // most])
        if len(test) > most
        else (train, test)
        for train, test in folds
    )


def largest_first(folds: Folds) -> Folds:
    """Return folds in order, but those with clearly more training rows first.

    Folds forward in time begin with few rows, where nothing should be dropped yet.
    """
    largest = max(len(train) for train, _ in folds)
    return tuple(sorted(folds, key=lambda fold: -round(10 * len(fold[0]) / largest)))
