"""Probabilities of several targets as one table, whatever shape a model gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from cvst._text import shortened
from cvst._typing import FloatArray
from cvst.exceptions import InvalidInputError

__all__ = ["ShapeError", "Targets", "places_among", "shown_classes", "to_array"]


class ShapeError(InvalidInputError):
    """Probabilities of several targets come in no shape that tells the classes."""


@dataclass(frozen=True, slots=True)
class Targets:
    """The classes of several targets, and the shape of their probabilities.

    scikit-learn has two shapes. Forests, neighbours and ``MultiOutputClassifier`` give
    a list with a table for each target and a column for each of its classes. Neural
    networks, ``OneVsRestClassifier`` and ``ClassifierChain`` give one table with a
    column for each target: the probability of the second of its two classes.

    Attributes
    ----------
    classes : tuple of ndarray
        The classes of each target, sorted.
    listed : bool
        Whether to answer with a list of tables.

    Examples
    --------
    >>> targets = Targets.of([["a", "x"], ["b", "y"], ["a", "z"]])
    >>> table = targets.columns(
    ...     [np.array([[0.3, 0.7]]), np.array([[0.6, 0.4]])],
    ...     [np.array(["a", "b"]), np.array(["x", "z"])],
    ... )
    >>> table
    array([[0.3, 0.7, 0.6, 0. , 0.4]])
    >>> targets.labels(table)
    array([['b', 'x']], dtype='<U1')
    """

    classes: tuple[Any, ...]
    listed: bool = True

    @classmethod
    def of(cls, y: Any) -> Self | None:
        """Return the classes of all columns; None if there are fewer than two."""
        labels = to_array(y)
        if labels.ndim != 2 or labels.shape[1] < 2:
            return None
        if labels.dtype.kind in "biuf" and np.isin(labels, (0, 1)).all():
            # Labels that are there or not: both are possible, whatever the rows hold.
            both = np.array([0, 1], dtype=labels.dtype)
            return cls((both,) * labels.shape[1])
        return cls(tuple(np.unique(column) for column in labels.T))

    def shaped_like(self, predictions: Sequence[Any]) -> Self:
        """Return the same, to answer with one table if all of these are one table."""
        return replace(self, listed=any(_is_listed(one) for one in predictions))

    def columns(self, prediction: Any, known: Any) -> FloatArray:
        """Return the columns of all targets beside each other.

        Parameters
        ----------
        prediction : list of arrays, or array-like
            Probabilities in either shape.
        known : list of arrays or None
            ``classes_`` of the model. A class it has not seen has probability 0.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_of_all_targets)
            The table.

        Raises
        ------
        ShapeError
            If it does not hold a probability for every class of every target.
        """
        if not _is_listed(prediction):
            return self._of_second(to_array(prediction))
        if len(prediction) != len(self.classes):
            raise ShapeError(
                f"The probabilities are {len(prediction)} tables, and y has "
                f"{len(self.classes)} targets."
            )
        per_target = isinstance(known, Sequence) and len(known) == len(prediction)
        names = [np.asarray(one) for one in (known if per_target else self.classes)]
        tables = zip(prediction, names, self.classes, strict=True)
        return np.hstack([_aligned(to_array(one), *two) for one, *two in tables])

    @property
    def are_labels(self) -> bool:
        """Whether each target says of a label whether it is there: 1, or 0."""
        return all(one.tolist() == [0, 1] for one in self.classes)

    def answer(self, columns: FloatArray) -> Any:
        """Return probabilities in the shape of the models they came from."""
        return self.tables(columns) if self.listed else self.second(columns)

    def tables(self, columns: FloatArray) -> list[FloatArray]:
        """Return a table for each target."""
        ends = np.cumsum([len(one) for one in self.classes])[:-1]
        return np.split(columns, ends, axis=1)

    def second(self, columns: FloatArray) -> FloatArray:
        """Return a column for each target, that of its last class."""
        return np.column_stack([table[:, -1] for table in self.tables(columns)])

    def labels(self, columns: FloatArray) -> Any:
        """Return the likeliest class of each target; of equal ones the first."""
        pairs = zip(self.classes, self.tables(columns), strict=True)
        return np.column_stack([one[table.argmax(axis=1)] for one, table in pairs])

    def _of_second(self, values: FloatArray) -> FloatArray:
        n_targets = len(self.classes)
        most = max(len(one) for one in self.classes)
        if values.ndim != 2 or values.shape[1] != n_targets:
            raise ShapeError(
                f"The probabilities have shape {values.shape}, and y has {n_targets} "
                "targets."
            )
        if most > 2:
            raise ShapeError(
                "The probabilities are one number for each target, and a target of y "
                f"has {most} classes."
            )
        parts = [
            np.column_stack([1 - one, one])
            if len(known) == 2
            else np.ones((len(values), 1))
            for one, known in zip(values.T, self.classes, strict=True)
        ]
        return np.hstack(parts)


def _is_listed(prediction: Any) -> bool:
    return isinstance(prediction, list | tuple)


def to_array(values: Any) -> npt.NDArray[Any]:
    """Return a dense array of whatever holds targets or predictions."""
    is_sparse: bool = sparse.issparse(values)
    return np.asarray(values.toarray() if is_sparse else values)


def places_among(wanted: Any, known: Any) -> list[int] | None:
    """Return the place of each known class among the wanted ones, None if one has none.

    Classes are compared by their values: a number is not the text that shows it.

    Examples
    --------
    >>> places_among(np.array(["a", "b", "c"]), np.array(["c", "a"]))
    [2, 0]
    >>> places_among(np.array([0, 1]), np.array(["0", "1"])) is None
    True
    """
    places = {label: place for place, label in enumerate(wanted.tolist())}
    found = [places.get(label) for label in known.tolist()]
    return [one for one in found if one is not None] if None not in found else None


def shown_classes(classes: Any) -> str:
    """Return classes as a message shows them, the first of many."""
    return shortened(str(classes.tolist()), 80)


def _aligned(table: FloatArray, known: Any, wanted: Any) -> FloatArray:
    fits = table.ndim == 2 and table.shape[1] == len(known)
    places = places_among(wanted, known)
    if fits and places is None:
        raise ShapeError(
            f"The probabilities of a target are those of {shown_classes(known)}, and "
            f"it has {shown_classes(wanted)}."
        )
    if not fits:
        raise ShapeError(
            f"The probabilities of a target have shape {table.shape}, and it has "
            f"{len(wanted)} classes."
        )
    aligned = np.zeros((len(table), len(wanted)), dtype=table.dtype)
    aligned[:, places] = table
    return aligned
