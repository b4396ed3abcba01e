"""A race small enough to keep: folds as one number per row, no pointwise losses.

Folds are most of a state: each row is in the training rows of all folds but one. Where
the test rows of the folds are disjoint and each fold trains on all other rows, the
number of the fold of each row says it all. Looks at folds then only name their fold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cvst._typing import Rows
from cvst.race._look import Observation
from cvst.race._problem import Folds, Problem

__all__ = ["PackedFolds", "pack", "unpack", "without_losses"]


@dataclass(frozen=True, slots=True)
class PackedFolds:
    """The folds of a cross-validation: of each row the fold that tests it.

    Attributes
    ----------
    fold_of_row : ndarray of shape (n_samples,), int
        From 0.
    n_folds : int
        Number of folds.
    """

    fold_of_row: np.ndarray
    n_folds: int

    @classmethod
    def of(cls, folds: Folds, n_samples: int) -> PackedFolds | None:
        """Pack folds; None if they are of another kind."""
        tests = [test for _, test in folds]
        whole = np.concatenate(tests) if tests else np.empty(0, dtype=np.intp)
        if not np.array_equal(np.sort(whole), np.arange(n_samples)):
            return None
        # A byte per row for up to 255 folds, where index arrays take eight for each
        # fold that trains on it.
        fold_of_row = np.empty(n_samples, dtype=np.min_scalar_type(len(folds)))
        for number, test in enumerate(tests):
            fold_of_row[test] = number
        packed = cls(fold_of_row, len(folds))
        # Folds may repeat rows in training or list them in another order; then the
        # packed ones would be other folds.
        same = all(
            np.array_equal(one, other)
            for fold, again in zip(folds, packed.unpacked(), strict=True)
            for one, other in zip(fold, again, strict=True)
        )
        return packed if same else None

    def unpacked(self) -> Folds:
        """Return the folds."""
        return tuple(
            (
                np.flatnonzero(self.fold_of_row != number),
                np.flatnonzero(self.fold_of_row == number),
            )
            for number in range(self.n_folds)
        )


# Which rows of which fold: the key of the folds, the fold, and 0 to train or 1 to test.
Name = tuple[int, int, int]


def pack(
    problem: Problem, observations: tuple[Observation, ...]
) -> tuple[Problem, tuple[Observation, ...]]:
    """Return both with packed folds; looks at folds have names in place of rows."""
    folds: dict[int, Any] = {}
    names: dict[int, Name] = {}
    for count, some in problem.folds.items():
        packed = PackedFolds.of(some, problem.n_samples)
        folds[count] = some if packed is None else packed
        if packed is not None:
            for number, fold in enumerate(some):
                for part, rows in enumerate(fold):
                    # By identity: looks hold the very arrays of the problem.
                    names[id(rows)] = (count, number, part)
    named = tuple(
        _with_rows(seen, *(names.get(id(rows), rows) for rows in _rows(seen)))
        for seen in observations
    )
    return replace(problem, folds=folds), named


def unpack(
    problem: Problem, observations: tuple[Observation, ...]
) -> tuple[Problem, tuple[Observation, ...]]:
    """Undo :func:`pack`."""
    packed: Mapping[int, Any] = problem.folds
    folds = {
        count: some.unpacked() if isinstance(some, PackedFolds) else some
        for count, some in packed.items()
    }
    known = tuple(
        _with_rows(seen, *(_named(rows, folds) for rows in _rows(seen)))
        for seen in observations
    )
    return replace(problem, folds=folds), known


def without_losses(observations: tuple[Observation, ...]) -> tuple[Observation, ...]:
    """Return the looks without pointwise losses; means and p-values stay."""
    return tuple(replace(seen, losses=None) for seen in observations)


def _rows(seen: Observation) -> tuple[Any, Any]:
    return seen.look.train, seen.look.test


def _with_rows(seen: Observation, train: Any, test: Any) -> Observation:
    if train is seen.look.train and test is seen.look.test:
        return seen
    return replace(seen, look=replace(seen.look, train=train, test=test))


def _named(rows: Any, folds: Mapping[int, Folds]) -> Rows:
    if not isinstance(rows, tuple):
        return rows  # type: ignore[no-any-return]
    count, number, part = rows
    return folds[count][number][part]
