"""The order in which a race sees the rows, and the folds that go with it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedKFold,
    TimeSeriesSplit,
    check_cv,
)

from cvst._sklearn_compat import num_samples
from cvst._text import value_text
from cvst._typing import IntArray
from cvst.exceptions import InvalidInputError, TooFewRowsError
from cvst.parallel import filtered_warnings
from cvst.search.rows._interleaving import interleaved_classes

__all__ = ["ORDERINGS", "Ordering", "make_folds", "order_rows"]

ORDERINGS = ("auto", "shuffled", "stratified", "grouped", "given")


@dataclass(frozen=True, slots=True)
class Ordering:
    """One order of the rows; the subsets of a race are its prefixes.

    Attributes
    ----------
    permutation : ndarray of shape (n_samples,)
        Original row at each place.
    boundaries : ndarray or None
        Prefix sizes that split no group; None if any size will do.
    kind : {"shuffled", "stratified", "grouped", "given"}
        What ``"auto"`` was resolved to.
    """

    permutation: IntArray
    boundaries: IntArray | None = None
    kind: str = "shuffled"


def order_rows(
    ordering: str,
    n_samples: int,
    y: Any,
    groups: Any,
    stratify: bool,
    rng: np.random.Generator,
) -> Ordering:
    """Put the rows in race order.

    Parameters
    ----------
    ordering : {"auto", "shuffled", "stratified", "grouped", "given"}
        ``"auto"`` is grouped if there are groups, else stratified if ``stratify`` and
        there is one label per row, else shuffled.
    n_samples : int
        Number of rows.
    y : array-like or None
        Targets.
    groups : array-like or None
        Group of each row.
    stratify : bool
        Whether the targets are classes.
    rng : numpy.random.Generator
        Draws the order.

    Returns
    -------
    Ordering
        The order. If it is stratified, the number of rows of a class among the first
        m differs from its share of m by at most 1/2 for two classes, and by less than
        1.7 for any number of classes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.array(["ham"] * 9 + ["spam"] * 3)
    >>> y[order_rows("auto", 12, y, None, True, rng).permutation].tolist()
    ['ham', 'spam', 'ham', 'ham', 'ham', 'spam', 'ham', 'ham', 'ham', 'spam', 'ham', \
'ham']
    """
    kind = _kind(ordering, y, groups, stratify)
    if kind == "grouped":
        return _grouped(_checked_groups(groups, n_samples), rng)
    if kind == "stratified":
        labels = _checked_labels(y, n_samples)
        return Ordering(interleaved_classes(labels, rng), kind=kind)
    rows = np.arange(n_samples, dtype=np.intp)
    return Ordering(rows if kind == "given" else rng.permutation(rows), kind=kind)


def make_folds(
    cv: Any,
    n_folds: int,
    X: Any,
    y: Any,
    groups: Any,
    ordering: Ordering,
    is_classifier: bool,
    seed: int = 0,
    keeps_order: bool = False,
) -> tuple[tuple[IntArray, IntArray], ...]:
    """Return folds as pairs of training and test rows, numbered in race order.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        The user's own folds, as in scikit-learn; None for those that the ordering
        implies: stratified, by group, forward in time, or shuffled.
    n_folds : int
        Number of folds if ``cv`` is None; fewer if there are too few rows or groups.
    X, y, groups : array-like
        The data in their original order.
    ordering : Ordering
        Order of the race.
    is_classifier : bool
        Whether an integer ``cv`` means stratified folds.
    seed : int, default=0
        Of the folds if ``cv`` is None.
    keeps_order : bool, default=False
        Whether to train on the rows in the order in which the fold names them, as
        :class:`GridSearchCV` does.

    Returns
    -------
    tuple of (train, test)
        Places in the order of the race; those of ``test`` ascend, and those of
        ``train`` too unless ``keeps_order``.

    Examples
    --------
    >>> X = np.zeros((6, 1))
    >>> backwards = Ordering(np.arange(6)[::-1])
    >>> folds = make_folds(3, 3, X, None, None, backwards, False)
    >>> [test.tolist() for train, test in folds]
    [[4, 5], [2, 3], [0, 1]]
    """
    n_samples = len(ordering.permutation)
    if cv is None:
        splits = _implied_splits(n_folds, y, groups, ordering, seed)
    else:
        splitter = check_cv(cv, y, classifier=is_classifier)
        splits = splitter.split(X, y, groups)
    # The inverse of the permutation: folds come in the user's order.
    place = np.empty(n_samples, dtype=np.intp)
    place[ordering.permutation] = np.arange(n_samples)
    folds = tuple(
        (
            _places(train, place, "training", not keeps_order),
            _places(test, place, "test"),
        )
        for train, test in splits
    )
    if not folds:
        raise InvalidInputError(
            f"cv={value_text(cv, 200)} yields no folds. Give at least one."
        )
    return folds


def _kind(ordering: str, y: Any, groups: Any, stratify: bool) -> str:
    if ordering not in ORDERINGS:
        raise InvalidInputError(
            f"ordering={ordering!r} is not known. Use one of "
            f"{', '.join(map(repr, ORDERINGS))}."
        )
    if ordering != "auto":
        return ordering
    if groups is not None:
        return "grouped"
    if not stratify or y is None:
        return "shuffled"
    labels = _labels(y)
    return "stratified" if labels.ndim == 1 and _are_classes(labels) else "shuffled"


def _labels(y: Any) -> Any:
    labels = np.asarray(y)
    # A frame with one column is one label per row.
    return labels.ravel() if labels.ndim == 2 and labels.shape[1] == 1 else labels


def _are_classes(labels: Any) -> bool:
    # Classes are often stored as 0.0 and 1.0.
    return labels.dtype.kind != "f" or bool(np.all(labels == np.floor(labels)))


def _checked_groups(groups: Any, n_samples: int) -> Any:
    if groups is None:
        raise InvalidInputError(
            "ordering='grouped' keeps groups together, but groups is None. Pass groups "
            "to fit, or use ordering='shuffled'."
        )
    if num_samples(groups) != n_samples:
        raise InvalidInputError(
            f"groups has {num_samples(groups)} entries for {n_samples} rows. Give one "
            "entry per row."
        )
    return np.asarray(groups)


def _checked_labels(y: Any, n_samples: int) -> Any:
    if y is None:
        raise InvalidInputError(
            "ordering='stratified' spreads classes evenly, but y is None. Use "
            "ordering='shuffled'."
        )
    labels = _labels(y)
    if labels.ndim != 1:
        raise InvalidInputError(
            f"ordering='stratified' needs one label per row, but y has shape "
            f"{labels.shape}. Use ordering='shuffled'."
        )
    if not _are_classes(labels):
        fraction = labels[labels != np.floor(labels)][0]
        raise InvalidInputError(
            f"ordering='stratified' needs classes, but y holds numbers such as "
            f"{fraction:g}. Use ordering='shuffled'."
        )
    if len(labels) != n_samples:
        raise InvalidInputError(
            f"y has {len(labels)} entries for {n_samples} rows. Give one entry per row."
        )
    try:
        np.unique(labels)
    except TypeError as error:
        raise InvalidInputError(
            "ordering='stratified' needs classes that can be sorted, but y has values "
            f"of several types: {error}. Use one type, or ordering='shuffled'."
        ) from error
    return labels


def _grouped(groups: Any, rng: np.random.Generator) -> Ordering:
    # Groups, not rows, are shuffled: the rows of one stay together.
    names, codes = np.unique(groups, return_inverse=True)
    rank = rng.permutation(len(names))
    ranks = rank[codes.ravel()]
    order = np.argsort(ranks, kind="stable")
    sizes = np.bincount(ranks)
    return Ordering(order.astype(np.intp), np.cumsum(sizes)[:-1], kind="grouped")


def _implied_splits(
    n_folds: int, y: Any, groups: Any, ordering: Ordering, seed: int
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield folds of the kind that the ordering is of, in the original order."""
    n_samples = len(ordering.permutation)
    rows = np.zeros((n_samples, 1))
    if ordering.kind == "given":
        # The first rows are never tested on, so that one split more needs one row more.
        n_splits = _at_most(n_folds, n_samples - 1, "rows")
        # A single row to test on has no r2.
        n_splits = min(n_splits, max(2, n_samples // 2 - 1))
        yield from TimeSeriesSplit(n_splits).split(rows)
    elif ordering.kind == "grouped":
        n_groups = len(np.unique(np.asarray(groups)))
        n_splits = _at_most(n_folds, n_groups, "groups")
        splitter = GroupKFold(n_splits, shuffle=True, random_state=seed)
        yield from splitter.split(rows, groups=groups)
    elif ordering.kind == "stratified":
        _, codes, sizes = np.unique(_labels(y), return_inverse=True, return_counts=True)
        # scikit-learn warns of rare classes, and refuses if all have too few.
        largest = int(sizes.max())
        n_splits = _at_most(n_folds, largest, "rows in any class")
        stratified = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
        with filtered_warnings():
            # A class with fewer rows than folds is missing from some test sets.
            warnings.filterwarnings("ignore", "The least populated class")
            warnings.filterwarnings("ignore", "The number of unique classes")
            splits = list(stratified.split(rows, codes.ravel()))
        yield from splits
    else:
        n_splits = _at_most(n_folds, n_samples, "rows")
        # A single row to test on has no r2.
        n_splits = min(n_splits, max(2, n_samples // 2))
        yield from KFold(n_splits, shuffle=True, random_state=seed).split(rows)


def _at_most(n_folds: int, limit: int, what: str) -> int:
    if limit < 2:
        raise TooFewRowsError(
            f"Cross-validation needs at least 2 {what}, but there are {limit}."
        )
    return min(n_folds, limit)


def _places(rows: Any, place: IntArray, what: str, ascend: bool = True) -> IntArray:
    """Return where some rows stand in the race."""
    indices = np.asarray(rows)
    # scikit-learn takes masks for folds too.
    if indices.dtype == bool and len(indices) == len(place):
        indices = np.flatnonzero(indices)
    if indices.ndim != 1 or not len(indices):
        raise InvalidInputError(
            f"A fold of cv has no {what} rows. Give every fold rows of both kinds."
        )
    if indices.dtype.kind not in "iu":
        shown = " ".join(repr(indices[0]).split())[:40]
        raise InvalidInputError(
            f"A fold of cv names a row by {shown}. Use whole numbers from 0 on, or a "
            "mask of all rows."
        )
    if indices.min() < -len(place) or indices.max() >= len(place):
        outside = indices[(indices < -len(place)) | (indices >= len(place))]
        raise InvalidInputError(
            f"A fold of cv names row {outside[0]}, but there are {len(place)} rows, "
            "counted from 0."
        )
    places = np.take(place, indices)
    if not ascend:
        return places
    # Ascending places read memory in order, and equal folds have equal keys. To mark
    # them takes less time than to sort them, unless a fold names a row twice.
    is_named = np.zeros(len(place), dtype=bool)
    is_named[places] = True
    ascending = np.flatnonzero(is_named)
    return ascending if len(ascending) == len(places) else np.sort(places)
