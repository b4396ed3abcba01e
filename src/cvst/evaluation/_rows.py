"""The rows of a race, in race order, cut into looks without copies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from cvst._sklearn_compat import safe_indexing
from cvst._typing import FloatArray, IntArray, Rows
from cvst.evaluation._scratch import Scratch
from cvst.evaluation._stored import ReadRows, is_stored

__all__ = [
    "Metadata",
    "RaceData",
    "copied_rows",
    "guarded",
    "in_order",
    "stack_rows",
    "take",
    "writable",
]


# Rows in lists are copied so deep.
MOST_NESTED = 10

# Types of values that nobody can write into.
UNCHANGING = frozenset({bool, int, float, complex, str, bytes, type(None)})


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a score gets besides targets and predictions, by the name of the argument.

    Attributes
    ----------
    by_row : mapping of str to array-like
        One entry per row.
    whole : mapping
        The same for all rows.
    remarks : tuple of str
        What to know about them if the score fails.

    Examples
    --------
    >>> Metadata({"price": [3, 1, 2]}, {"rate": 0.1}).at(slice(1, 3)).arguments
    {'rate': 0.1, 'price': [1, 2]}
    """

    by_row: Mapping[str, Any] = field(default_factory=dict)
    whole: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.by_row or self.whole)

    @property
    def arguments(self) -> dict[str, Any]:
        """All of it, as the score is called with it."""
        return {**self.whole, **self.by_row}

    def at(self, rows: Rows) -> Metadata:
        """Return what belongs to some rows."""
        return self._with(lambda values: take(values, rows))

    def copied(self) -> Metadata:
        """Return the same for a score that may write into it."""
        return self._with(own_copy)

    def in_order(self, order: IntArray) -> Metadata:
        """Return the same in race order."""
        return self._with(lambda values: in_order(values, order))

    def _with(self, change: Callable[[Any], Any]) -> Metadata:
        if not self.by_row:
            return self
        changed = {name: change(values) for name, values in self.by_row.items()}
        return replace(self, by_row=changed)


@dataclass(frozen=True, slots=True)
class RaceData:
    """Inputs, targets and whatever else comes with a row, in race order.

    Attributes
    ----------
    X : array-like of shape (n_rows, n_features)
        Inputs; the rows of a separate test set come last.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs), or None
        Targets.
    n_samples : int
        Rows that may be trained on.
    row_params : mapping of str to array-like
        Arguments of ``fit`` with one entry per training row.
    other_params : mapping
        Arguments of ``fit`` that are the same for all.
    score_weights : ndarray of shape (n_rows,) or None
        Weights of the means over test rows.
    other_weights : mapping of str to (ndarray or None)
        Those of other scores by name, where they may differ.
    metadata : Metadata
        What the score gets besides.
    other_metadata : mapping of str to Metadata
        What other scores get, by name.
    pairwise : bool
        Whether ``X`` holds kernel values or distances, with a column per training row.
    n_refit : int or None
        Rows that the winner is fitted on, None if they are the same. Hyper-parameters
        that follow the number of rows are meant for these.
    scratch : Scratch
        What a worker process keeps of the rows from look to look.
    """

    X: Any
    y: Any
    n_samples: int
    row_params: Mapping[str, Any] = field(default_factory=dict)
    other_params: Mapping[str, Any] = field(default_factory=dict)
    score_weights: FloatArray | None = None
    other_weights: Mapping[str, FloatArray | None] = field(default_factory=dict)
    metadata: Metadata = field(default_factory=Metadata)
    other_metadata: Mapping[str, Metadata] = field(default_factory=dict)
    pairwise: bool = False
    n_refit: int | None = None
    scratch: Scratch = field(
        default_factory=Scratch, init=False, repr=False, compare=False
    )

    @property
    def n_meant(self) -> int:
        """Number of rows that the user's hyper-parameters are meant for."""
        return self.n_samples if self.n_refit is None else self.n_refit

    def inputs(self, train: Rows, test: Rows) -> tuple[Any, Any]:
        """Return the inputs of the training and of the test rows."""
        X_train, X_test = take(self.X, train), take(self.X, test)
        if not self.pairwise:
            return X_train, X_test
        # The columns of a kernel are training rows as well.
        return X_train[:, train], X_test[:, train]

    def weights_of(self, name: str, rows: Rows) -> Any:
        """Return the weights of some rows in one of the other scores."""
        return take(self.other_weights.get(name, self.score_weights), rows)

    def metadata_of(self, name: str, rows: Rows) -> Metadata:
        """Return what one of the other scores gets besides for some rows."""
        return self.other_metadata.get(name, Metadata()).at(rows)

    def fit_params(self, rows: Rows) -> dict[str, Any]:
        """Return the arguments of ``fit`` for some rows."""
        aligned = {name: take(values, rows) for name, values in self.row_params.items()}
        return {**self.other_params, **aligned}

    def only(self, n_train: int, test: slice) -> RaceData:
        """Return the first rows and those to test on, which come next, and no others.

        Hyper-parameters are meant for all rows.
        """
        rows: Rows = slice(0, test.stop)
        n_samples = min(self.n_samples, test.stop)
        if test.start > n_train:  # a separate test set
            rows = np.r_[0:n_train, test]
            n_samples = n_train
        known = slice(0, n_samples)
        params, others = self.row_params.items(), self.other_weights.items()
        return replace(
            self,
            X=take(self.X, rows),
            y=take(self.y, rows),
            n_samples=n_samples,
            row_params={name: take(one, known) for name, one in params},
            score_weights=take(self.score_weights, rows),
            other_weights={name: take(one, rows) for name, one in others},
            metadata=self.metadata.at(rows),
            other_metadata={
                name: one.at(rows) for name, one in self.other_metadata.items()
            },
            n_refit=self.n_meant,
        )

    def in_memory(self) -> RaceData:
        """Return the same rows, all read."""
        if not isinstance(self.X, ReadRows):
            return self
        return replace(self, X=self.X[0 : len(self.X)])


def take(values: Any, rows: Rows) -> Any:
    """Return some rows, as a view where they are contiguous."""
    if values is None:
        return None
    if isinstance(rows, slice) and hasattr(values, "iloc"):
        return values.iloc[rows]
    if _is_plain(values) and isinstance(rows, np.ndarray) and rows.dtype.kind in "iu":
        # The same copy, in less than half of the time.
        return np.take(values, rows, axis=0)
    if isinstance(rows, slice) or isinstance(values, np.ndarray | ReadRows):
        return values[rows]
    return safe_indexing(values, rows)


def _is_plain(values: Any) -> bool:
    # Rows of others need not lie one after the other in a copy either.
    return type(values) is np.ndarray and values.ndim > 0 and values.flags.c_contiguous


def copied_rows(answer: Any, rows: IntArray | None) -> Any:
    """Return what a model said of some test rows, or of all, for a scorer to keep."""
    if isinstance(answer, list):
        return [copied_rows(one, rows) for one in answer]  # one array per output
    # Copies: a scorer may write into what it gets.
    return copy(answer) if rows is None else take(answer, rows)


def in_order(values: Any, order: IntArray) -> Any:
    """Return all rows in race order: the one copy that a race makes.

    Stored rows stay where they are until a look asks for them.
    """
    if values is None:
        return None
    if is_stored(values):
        return ReadRows(values, order)
    plain = _is_plain(values)
    ordered = take(values, order) if plain else safe_indexing(values, order)
    if isinstance(ordered, np.ndarray):
        rows = np.ascontiguousarray(ordered)
        # All configurations look at these rows, so they are read-only.
        rows.flags.writeable = False
        return rows
    # Slices of other sparse formats are slow or missing.
    to_rows = getattr(ordered, "tocsr", None)
    return ordered if to_rows is None else to_rows()


def guarded(values: Any) -> Any:
    """Return values that a fit may do with as it likes, unnoticed by others.

    An array cannot be written to; of other containers it is a copy.
    """
    if isinstance(values, np.ndarray):
        view = values.view()
        view.flags.writeable = False
        return view
    if hasattr(values, "iloc"):
        return values.copy(deep=not _copies_on_write())
    return writable(values)


def writable(values: Any) -> Any:
    """Return a copy of a container of rows; anything else as it is."""
    is_array = isinstance(values, np.ndarray) or sparse.issparse(values)
    if is_array or hasattr(values, "iloc"):
        return values.copy()
    if isinstance(values, list):
        return own_copy(values)
    return values.clone() if hasattr(values, "to_arrow") else values


def is_changed(values: Any, given: Any) -> bool:
    """Return whether someone wrote into a container of rows; not into a guarded array.

    Examples
    --------
    >>> rows = sparse.csr_array([[0, 1], [2, 0]])
    >>> is_changed(rows.copy(), rows), is_changed(2 * rows, rows)
    (False, True)
    >>> is_changed([[0, 1]], [[0, 1]]), is_changed([[0, 1]], [[0, 2]])
    (False, True)
    """
    if isinstance(values, list):
        try:
            return bool(values != given)
        except ValueError:
            return True  # arrays in lists do not say
    if hasattr(values, "equals"):
        return not values.equals(given)
    if not sparse.issparse(values):
        return False
    names = "data", "indices", "indptr"
    return not all(
        np.array_equal(getattr(values, name), getattr(given, name)) for name in names
    )


def own_copy(values: Any, depth: int = MOST_NESTED) -> Any:
    """Return values that a function of the user's may write into.

    scikit-learn's searches cut rows anew for each score, so that a metric may centre
    its arguments in place. Here all configurations share them. Rows of lists are copied
    with the lists, tuples and dictionaries in them, so deep: some hold themselves.

    Examples
    --------
    >>> rows = [[1, 2], ([3], {"a": 4})]
    >>> own = own_copy(rows)
    >>> own[0][0], own[1][0][0], own[1][1]["a"] = 5, 6, 7
    >>> rows
    [[1, 2], ([3], {'a': 4})]
    """
    if not depth:
        return values
    if isinstance(values, list | tuple):
        # Numbers and texts, of which there may be millions, in one go.
        unchanging = all(map(_is_unchanging, set(map(type, values))))
        copies = values if unchanging else (own_copy(one, depth - 1) for one in values)
        if isinstance(values, list):
            return list(copies)
        return tuple(copies) if type(values) is tuple else values
    if type(values) is dict:
        return {name: own_copy(one, depth - 1) for name, one in values.items()}
    return values if type(values) in UNCHANGING else writable(values)


def _is_unchanging(kind: type) -> bool:
    # A row of a structured array is a view of it.
    return kind in UNCHANGING or (
        issubclass(kind, np.generic) and not issubclass(kind, np.void)
    )


def _copies_on_write() -> bool:
    # pandas is there, since the user passed one of its objects.
    import pandas as pd

    return int(pd.__version__.split(".")[0]) >= 3


def stack_rows(first: Any, second: Any) -> Any:
    """Put the rows of a separate test set behind the training rows.

    The result is of the kind of the first, whatever the second is; columns are matched
    by name where both have names.
    """
    if first is None or second is None:
        return first
    if isinstance(first, ReadRows):
        first = first[0 : len(first)]
    if sparse.issparse(first) or sparse.issparse(second):
        return sparse.vstack([first, second], format="csr")
    if hasattr(first, "iloc"):
        return _stack_pandas(first, second)
    if hasattr(first, "to_numpy") and hasattr(first, "vstack"):
        return _stack_polars(first, second)
    if hasattr(first, "to_numpy") and hasattr(first, "append"):
        # A Series of polars grows in place, so that of the user is left alone.
        return first.clone().append(type(first)(first.name, second, dtype=first.dtype))
    if isinstance(first, list):
        return [*first, *second]
    values = np.asarray(first)
    shape = (len(second), *values.shape[1:])
    return np.concatenate([values, np.asarray(second).reshape(shape)])


def _stack_pandas(first: Any, second: Any) -> Any:
    # pandas is there, since the user passed one of its objects.
    import pandas as pd

    if isinstance(first, pd.Series):
        given = isinstance(second, pd.Series)
        more: Any = second if given else pd.Series(np.ravel(second))
        if isinstance(first.dtype, pd.CategoricalDtype):
            dtype = _shared_categories(first, more)
            first, more = first.astype(dtype), more.astype(dtype)
        return pd.concat([first, more])
    if isinstance(second, pd.DataFrame):
        same = first.columns.equals(second.columns)
        more = second if same else second[list(first.columns)]
    else:
        rows = np.asarray(second).reshape(len(second), -1)
        more = pd.DataFrame(rows, columns=first.columns)
    dtypes = {
        name: _shared_categories(first[name], more[name])
        for name, dtype in first.dtypes.items()
        if isinstance(dtype, pd.CategoricalDtype)
    }
    return pd.concat([first.astype(dtypes), more.astype(dtypes)])


def _shared_categories(first: Any, second: Any) -> Any:
    """Return categories for both: those that only the second has come last."""
    import pandas as pd

    dtype = first.dtype
    known = dtype.categories
    more = pd.Index(second.dropna().unique()).difference(known)
    return pd.CategoricalDtype(known.append(more), ordered=dtype.ordered)


def _stack_polars(first: Any, second: Any) -> Any:
    if not isinstance(second, type(first)):
        rows = np.asarray(second).reshape(len(second), -1)
        second = type(first)(rows, schema=first.columns, orient="row")
    return first.vstack(second.select(first.columns).cast(dict(first.schema)))
