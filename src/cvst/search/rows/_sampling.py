"""Which rows are raced if there are more than a race needs or than fit in memory."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from cvst._typing import IntArray
from cvst._users_line import users_line
from cvst.evaluation.machinery import as_dask, is_stored, take, trains_on_dask
from cvst.exceptions import FallbackWarning, InvalidInputError
from cvst.search.rows._inputs import Inputs

__all__ = [
    "RacedRows",
    "draw_rows",
    "is_collection",
    "only_rows",
    "raced_rows",
    "rows_to_refit",
]


@dataclass(frozen=True, slots=True)
class RacedRows:
    """The arguments of ``fit`` for the rows that are raced.

    Attributes
    ----------
    inputs : Inputs
        These rows only, in the user's order.
    rows : ndarray of int or None
        Where they come from; None if they are all.
    n_all, n_refit : int
        Rows that the user passed, and that the winner is fitted on.
    """

    inputs: Inputs
    rows: IntArray | None
    n_all: int
    n_refit: int

    def original(self, places: IntArray) -> IntArray:
        """Return the user's rows at some places of the raced ones."""
        return places if self.rows is None else self.rows[places]


def raced_rows(
    inputs: Inputs,
    most: int | None,
    cv: Any,
    ordering: str,
    rng: np.random.Generator,
    refits_all: bool = False,
) -> RacedRows:
    """Draw the rows to race if there are more than a limit.

    Parameters
    ----------
    inputs : Inputs
        All rows.
    most : int or None
        Most rows that the strategy wants.
    cv : int, splitter, iterable or None
        Folds of the user; those that are tied to single rows keep all rows in the race.
    ordering : str
        Order of the race, as the search has it.
    rng : numpy.random.Generator
        Draws; it is left alone where nothing is drawn.
    refits_all : bool
        Whether the winner is fitted on all rows, wherever they are.
    """
    n_samples = inputs.n_samples
    in_memory = min(n_samples, inputs.X.max_rows) if is_stored(inputs.X) else n_samples
    n_refit = n_samples if refits_all else in_memory
    limit = in_memory if most is None else min(in_memory, most)
    # Folds that name rows are the user's word: all of them are raced if they fit.
    if _names_rows(cv) and in_memory == n_samples:
        limit = n_samples
    if limit == n_samples:
        return RacedRows(inputs, None, n_samples, n_samples)
    if _names_rows(cv):
        raise InvalidInputError(
            f"cv={cv!r} names single rows, and {limit:,} of {n_samples:,} are drawn, "
            "since more do not fit in memory. Use a number of folds or a splitter."
        )
    grouped = inputs.groups is not None and ordering in ("auto", "grouped")
    groups = inputs.groups if grouped else None
    rows = draw_rows(n_samples, limit, groups, ordering == "given", rng)
    return RacedRows(only_rows(inputs, rows), rows, n_samples, n_refit)


def draw_rows(
    n_samples: int,
    limit: int,
    groups: Any,
    latest: bool,
    rng: np.random.Generator,
) -> IntArray:
    """Draw rows so that each has the same chance, and return them in ascending order.

    Of groups whole ones are drawn while they fit; of rows in the order of time the
    latest are taken.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> draw_rows(10, 4, None, False, rng)
    array([2, 4, 5, 7])
    >>> draw_rows(10, 4, None, True, rng)
    array([6, 7, 8, 9])
    >>> draw_rows(8, 5, np.array([0, 0, 1, 1, 2, 2, 3, 3]), False, rng)
    array([4, 5, 6, 7])
    """
    # In order of time the past is what may be left out.
    if latest:
        return np.arange(n_samples - limit, n_samples)
    if groups is None:
        # Sorted in any case, so the draw itself need not be shuffled.
        return np.sort(rng.choice(n_samples, limit, replace=False, shuffle=False))
    # Whole groups, since parts of one on both sides of a split would leak.
    names, codes = np.unique(np.asarray(groups), return_inverse=True)
    order = rng.permutation(len(names))
    sizes = np.bincount(codes)[order]
    fit = np.cumsum(sizes) <= limit
    if not fit[0]:
        raise InvalidInputError(
            f"One group has {int(sizes[0]):,} rows, and {limit:,} are raced at most. "
            "Set max_rows of the strategy to more, or to None."
        )
    return np.flatnonzero(np.isin(codes, order[fit]))


def is_collection(X: Any) -> bool:
    """Return whether stored rows are those of a Dask collection."""
    return is_stored(X) and hasattr(X, "collection")


def rows_to_refit(
    estimator: Any,
    inputs: Inputs,
    n_refit: int,
    raced: IntArray,
    latest: bool,
    seed: int,
) -> Inputs:
    """Return what the winner is fitted on: all rows, or as many as fit in memory.

    Parameters
    ----------
    estimator : estimator
        What is fitted; one that trains on Dask collections gets all rows as such.
    inputs : Inputs
        All rows.
    n_refit : int
        Number of rows to return.
    raced : ndarray of int
        Rows of the race: they will do if they are as many.
    latest : bool
        Whether the rows are in the order of time.
    seed : int
        Draws, if more are wanted.
    """
    if trains_on_dask(estimator):
        return _rows_on_dask(inputs)
    if not is_stored(inputs.X):
        return inputs
    if n_refit < inputs.n_samples:
        warnings.warn(
            f"The winner is fitted on {n_refit:,} of {inputs.n_samples:,} rows: more "
            "do not fit in memory by max_rows of the data. Raise it, or set "
            "refit=False and fit the winner by other means.",
            FallbackWarning,
            stacklevel=users_line(),
        )
        # Those of the race if they are as many: they are in memory already.
        rows = np.sort(raced)
        if len(rows) != n_refit:
            rng = np.random.default_rng(seed)
            rows = draw_rows(inputs.n_samples, n_refit, None, latest, rng)
        inputs = only_rows(inputs, rows)
    return replace(inputs, X=inputs.X.read())


def _rows_on_dask(inputs: Inputs) -> Inputs:
    """Return all rows as Dask collections, for an estimator that trains on them."""
    X, parts = inputs.X, None
    if is_collection(X):
        X, parts = X.collection, X.parts
    elif is_stored(X):
        X = as_dask(X.read())
    aligned = {name: as_dask(one, parts) for name, one in inputs.row_params.items()}
    return replace(
        inputs,
        X=as_dask(X),
        y=as_dask(inputs.y, parts),
        fit_params={**inputs.fit_params, **aligned},
        row_params=aligned,
    )


def _names_rows(cv: Any) -> bool:
    """Return whether folds are lists of rows, which a draw would tear apart."""
    if cv is None or isinstance(cv, Integral):
        return False
    return not hasattr(cv, "split") or hasattr(cv, "test_fold")


def only_rows(inputs: Inputs, rows: IntArray) -> Inputs:
    """Return the arguments of ``fit`` for some rows, in ascending order."""
    stored = is_stored(inputs.X)
    aligned = {name: take(value, rows) for name, value in inputs.row_params.items()}
    return replace(
        inputs,
        X=inputs.X.only(rows) if stored else take(inputs.X, rows),
        y=take(inputs.y, rows),
        groups=take(inputs.groups, rows),
        fit_params={**inputs.fit_params, **aligned},
        row_params=aligned,
        sample_weight=take(inputs.sample_weight, rows),
        other_weights={
            name: take(weights, rows) for name, weights in inputs.other_weights.items()
        },
        metadata=inputs.metadata.at(rows),
        other_metadata={
            name: one.at(rows) for name, one in inputs.other_metadata.items()
        },
    )
