"""Too few rows to race: compare by folds instead, and say how many rows it takes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from cvst._sklearn_compat import num_samples
from cvst._text import value_text
from cvst._users_line import users_line
from cvst.evaluation.machinery import RaceData, take
from cvst.exceptions import (
    CVSTWarning,
    FallbackWarning,
    InvalidInputError,
    TooFewRowsError,
)
from cvst.race import CrossValidation, Folds, Look, Problem, RaceState, Strategy
from cvst.race.machinery import checked_look
from cvst.search.rows._inputs import Inputs
from cvst.search.rows._ordering import Ordering, make_folds

__all__ = [
    "FoldMaker",
    "enough_to_start",
    "known_classes",
    "raceable",
    "rows_for_classes",
]

DEFAULT_FOLDS = 5

# A look that has fewer rows of some class says little about it.
FEWEST_PER_CLASS = 5

# How far to look for the number of rows that would be enough, in the message only.
LARGEST_SEARCH = 2**20


class LaterFolds(Mapping[int, Folds]):
    """Folds by their number, made when they are asked for.

    Few configurations have no final, and to make its folds would take as long as some
    of their fits. What can go wrong with folds goes wrong with those that are known.

    Parameters
    ----------
    known : dict of int to folds
        Those that are made.
    later : dict of int to callable
        Makes the others.
    seeds : dict of int to int
        What the others are drawn by.
    """

    def __init__(
        self,
        known: dict[int, Folds],
        later: dict[int, Callable[[], Folds]],
        seeds: dict[int, int],
    ) -> None:
        self._known = known
        self._later = later
        self._seeds = seeds

    def identity(self) -> tuple[dict[int, Folds], dict[int, int]]:
        """Return what tells these folds from others, without making any."""
        known = {n: one for n, one in self._known.items() if n not in self._later}
        return known, self._seeds

    def __getitem__(self, count: int) -> Folds:
        if count not in self._known and count in self._later:
            # The very same arrays each time: looks at folds are known by them.
            self._known[count] = self._later[count]()
        return self._known[count]

    def __iter__(self) -> Iterator[int]:
        return iter(dict.fromkeys([*self._known, *self._later]))

    def __len__(self) -> int:
        return len(self._known.keys() | self._later.keys())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


@dataclass(frozen=True, slots=True)
class FoldMaker:
    """Makes folds in race order, by the user's ``cv`` or as the ordering implies."""

    cv: Any
    stratify: bool
    inputs: Inputs
    ordering: Ordering
    rng: np.random.Generator
    keeps_order: bool = False

    def for_counts(self, counts: tuple[int, ...]) -> Mapping[int, Folds]:
        """Return folds by their number; the user's own are asked for once only."""
        if not counts:
            return {}
        known = {counts[0]: self.make(counts[0])}
        if self.cv is not None:
            return dict.fromkeys(counts, known[counts[0]])
        if self.inputs.X_val is not None:
            return {count: self.make(count) for count in counts}
        seeds = {count: self._seed() for count in counts[1:]}
        # Without the rows: a search that is over must not hold on to them.
        y, groups, ordering = self.inputs.y, self.inputs.groups, self.ordering
        parts = None, y, groups, ordering, self.stratify
        order = self.keeps_order
        return LaterFolds(
            known,
            {
                count: partial(make_folds, None, count, *parts, seed, order)
                for count, seed in seeds.items()
            },
            seeds,
        )

    def make(self, n_folds: int) -> Folds:
        """Return the folds, or one clear sentence why there are none.

        A separate test set takes their place: train on all rows, test on it.
        """
        if self.inputs.X_val is not None:
            n_samples = self.inputs.n_samples
            n_rows = n_samples + num_samples(self.inputs.X_val)
            return ((np.arange(n_samples), np.arange(n_samples, n_rows)),)
        try:
            return make_folds(
                self.cv,
                n_folds,
                self.inputs.X,
                self.inputs.y,
                self.inputs.groups,
                self.ordering,
                self.stratify,
                self._seed() if self.cv is None else 0,
                self.keeps_order,
            )
        except ValueError as error:
            # Those say what to do; what scikit-learn raises is put into a sentence.
            if isinstance(error, InvalidInputError) and not isinstance(
                error, TooFewRowsError
            ):
                raise
            if self.cv is not None:
                raise self._own_folds_error(error) from error
            raise TooFewRowsError(
                f"n_samples={self.inputs.n_samples} is too few to race and for "
                f"cross-validation with {n_folds} folds too: {error}"
            ) from error

    def _seed(self) -> int:
        # scikit-learn's splitters take a number, not a Generator.
        return int(self.rng.integers(2**31 - 1))

    def _own_folds_error(self, error: ValueError) -> InvalidInputError:
        """Say what the folds of the user lack."""
        if self.inputs.groups is None and "groups" in str(error):
            return InvalidInputError(
                f"cv={value_text(self.cv, 200)} splits by groups, and there are none. "
                "Pass them to fit: search.fit(X, y, groups=groups)."
            )
        n_samples = self.inputs.n_samples
        return TooFewRowsError(
            f"cv={value_text(self.cv, 200)} cannot split these {n_samples} rows: "
            f"{error}"
        )


def known_classes(estimator: Any, data: RaceData) -> Any:
    """Return all class labels of a single-label classification, else None."""
    if data.y is None or not is_classifier(estimator):
        return None
    y = np.asarray(data.y)
    return np.unique(y) if y.ndim == 1 else None


def rows_for_classes(classes: Any, data: RaceData) -> int:
    """Return how many of the first rows have a few of each class, 0 without classes.

    A class too rare to have them in half of the rows does not count.

    Examples
    --------
    >>> y = np.array(["ham", "ham", "spam"] * 20)
    >>> data = RaceData(X=np.zeros((60, 1)), y=y, n_samples=60)
    >>> rows_for_classes(np.unique(y), data)
    15
    """
    if classes is None:
        return 0
    y = np.asarray(data.y)[: data.n_samples // 2]
    places = [np.flatnonzero(y == label) for label in classes]
    enough = [rows for rows in places if len(rows) >= FEWEST_PER_CLASS]
    return max((int(rows[FEWEST_PER_CLASS - 1]) + 1 for rows in enough), default=0)


def raceable(
    strategy: Strategy, problem: Problem, data: RaceData, classes: Any, folds: FoldMaker
) -> tuple[Strategy, Problem]:
    """Return the strategy, or k-fold comparison where its first look is too small."""
    # The first look is the smallest, so it is the one that may lack rows or classes.
    look = checked_look(strategy.next_look(RaceState(problem)))
    seen = _seen_classes(look, data, classes)
    if enough_to_start(strategy, problem, data, classes):
        _warn_of_rare_classes(look.n_train, seen, classes)
        return strategy, problem
    n_folds = _n_folds(data, classes)
    # The user's own may be a generator, which can be asked for once only.
    known = () if folds.cv is None else next(iter(problem.folds.values()), ())
    if problem.n_configurations > 1:
        # While the problem still has the folds that the strategy asked for.
        needed = _rows_needed(strategy, problem, data, classes)
        text = _why_not(problem, look.n_train, seen, needed)
        warnings.warn(text, FallbackWarning, stacklevel=users_line())
    problem = replace(problem, folds={n_folds: known or folds.make(n_folds)})
    return CrossValidation(n_folds), problem


def enough_to_start(
    strategy: Strategy, problem: Problem, data: RaceData, classes: Any
) -> bool:
    """Return whether the first look has two rows and, if there are, two classes."""
    look = checked_look(strategy.next_look(RaceState(problem)))
    seen = _seen_classes(look, data, classes)
    return look.n_train >= 2 and (seen is None or len(seen) >= min(2, len(classes)))


def _seen_classes(look: Look, data: RaceData, classes: Any) -> Any:
    if classes is None:
        return None
    return np.unique(np.asarray(take(data.y, look.train)))


def _n_folds(data: RaceData, classes: Any) -> int:
    """Return as many folds as the rows and the largest class allow, at least two."""
    limit = data.n_samples
    if classes is not None:
        y = np.asarray(data.y)[: data.n_samples]
        counts = np.unique(y, return_counts=True)[1]
        limit = int(counts.max())
    return max(2, min(DEFAULT_FOLDS, limit))


def _rows_needed(
    strategy: Strategy, problem: Problem, data: RaceData, classes: Any
) -> int:
    """Return how many rows of this kind would give a first look of two classes."""
    first_look = 2
    if classes is not None and len(classes) > 1:
        counts = np.sort(np.unique(np.asarray(data.y), return_counts=True)[1])
        first_look = max(2, ceil(counts.sum() / counts[-2]))
    if not strategy.subset_sizes(problem):
        # Folds: more rows of this kind would train on the same share of them.
        n_train = checked_look(strategy.next_look(RaceState(problem))).n_train
        return ceil(first_look * problem.n_samples / max(1, n_train))

    def enough(n_samples: int) -> bool:
        # Boundaries and orders belong to the rows there are.
        larger = replace(problem, n_samples=n_samples, boundaries=None, orders=())
        sizes = strategy.subset_sizes(larger)
        return bool(sizes) and sizes[0] >= first_look

    return _smallest(enough, problem.n_samples)


def _smallest(enough: Callable[[int], bool], start: int) -> int:
    """Return the smallest number from a start on that is enough, by halves.

    Examples
    --------
    >>> _smallest(lambda number: number >= 33, 5)
    33
    """
    too_few, largest = start - 1, start
    while not enough(largest) and largest < LARGEST_SEARCH:
        too_few, largest = largest, 2 * largest
    while largest - too_few > 1:
        middle = (too_few + largest) // 2
        too_few, largest = (too_few, middle) if enough(middle) else (middle, largest)
    return largest


def _why_not(problem: Problem, n_train: int, seen: Any, needed: int) -> str:
    too_few = needed > problem.n_samples
    trouble = "are too few to race" if too_few else "cannot be raced on in this order"
    need = f"about {needed} rows" if too_few else "two classes among its first rows"
    how = "on X_val" if problem.n_validation else "by cross-validation"
    kinds = "class" if seen is not None and len(seen) == 1 else "classes"
    of_classes = "" if seen is None else f" of {len(seen)} {kinds}"
    return (
        f"{problem.n_samples} rows {trouble}: the first subset would hold {n_train} "
        f"rows{of_classes}. All configurations are compared {how} instead; a race "
        f"needs {need}."
    )


def _warn_of_rare_classes(n_train: int, seen: Any, classes: Any) -> None:
    if seen is None or len(seen) == len(classes):
        return
    missing = [label for label in classes.tolist() if label not in seen]
    warnings.warn(
        f"{len(missing)} of {len(classes)} classes, the first {missing[0]!r}, are too "
        f"rare to reach the first subset of {n_train} rows. Models trained there "
        "cannot predict them; their probability counts as zero.",
        CVSTWarning,
        stacklevel=users_line(),
    )
