"""Scores made of counts: how often a label was true, predicted, and both.

With the shares t, p and b of the rows (true, predicted, both), such a score is a smooth
function of them, and the influence value of a row is its gradient in the direction of
the row: ``a[true label] + b[predicted label] + c[label, if both agree]``, centred.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from cvst._targets import to_array
from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.evaluation.losses._labels import (
    check_labels,
    check_predicted,
    holds_sets,
)
from cvst.evaluation.losses._pointwise import LabelArray
from cvst.evaluation.losses.influence._whole import Measured, WholeScore
from cvst.exceptions import InvalidInputError

__all__ = ["CountScore", "Counts", "Gradient", "agreement", "coded", "flat_labels"]


class Counts(NamedTuple):
    """Shares of the rows, by label.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    true, predicted, both : ndarray of shape (n_classes,)
        Weight of the rows of that label, of those predicted to be, and of the hits.
    present : ndarray of shape (n_classes,), bool
        Labels that are true or predicted anywhere.
    """

    classes: LabelArray
    true: FloatArray
    predicted: FloatArray
    both: FloatArray
    present: BoolArray


class Gradient(NamedTuple):
    """A score of counts, and how it changes with them, by label."""

    score: float
    true: FloatArray
    predicted: FloatArray
    both: FloatArray


Function: TypeAlias = Callable[[Counts], Gradient]


class CountScore(WholeScore):
    """A function of the counts of labels.

    Parameters
    ----------
    function : callable
        Takes :class:`Counts` and returns their :class:`Gradient`.
    name : str
        scikit-learn's name of the metric.
    labels : array-like, default=None
        Labels that need not occur in ``y``.
    pos_label : label or None
        The label that the score is about, where it is about one of two.
    sets : bool
        Whether rows may have several labels, as an indicator matrix.
    """

    def __init__(
        self,
        function: Function,
        *,
        name: str,
        labels: Any = None,
        pos_label: Any = None,
        sets: bool = False,
    ) -> None:
        super().__init__(name=name)
        self.counted = function
        self.labels = None if labels is None else np.asarray(labels)
        self.pos_label = pos_label
        self.sets = sets

    def for_target(self, estimator: Any, y: Any) -> Self:
        """Learn the labels, and check that they are of the kind that is counted."""
        del estimator
        labels = flat_labels(y)
        check_labels(self.name, labels)
        if labels.ndim == 2:
            self._check_sets(labels)
            return self
        known = np.unique(labels)
        self._check_binary(known)
        if self.labels is not None:
            known = np.union1d(known, self.labels)
        return self._with_classes(known)

    def measure(self, y_true: Any, weights: Any = None) -> Measured:
        """Return the function that measures predictions for fixed test rows."""
        truth = flat_labels(y_true)
        mass = np.ones(len(truth)) if weights is None else np.asarray(weights, float)
        several = truth.ndim == 2
        places = None if several else self._places(truth)

        def measured(prediction: Any, classes: Any) -> tuple[float, FloatArray]:
            del classes
            predicted = flat_labels(prediction)
            check_shape(predicted, truth)
            check_predicted(predicted, several)
            if several:
                return self._of_sets(truth != 0, predicted != 0, mass)
            return self._of_labels(truth, predicted, mass, places)

        return measured

    def _places(self, truth: LabelArray) -> IntArray | None:
        """Return the places of the true labels, which are those of all models."""
        return None if self.classes is None else _places(truth, self.classes)

    def _of_labels(
        self,
        truth: LabelArray,
        predicted: LabelArray,
        mass: FloatArray,
        looked_up: IntArray | None,
    ) -> tuple[float, FloatArray]:
        classes, true, given = coded(truth, predicted, self.classes, looked_up)
        total = mass.sum()
        hit = true == given
        n_classes = len(classes)
        counts = Counts(
            classes,
            # Whole numbers are added without error, so that models with equal counts
            # have equal scores.
            np.bincount(true, mass, n_classes) / total,
            np.bincount(given, mass, n_classes) / total,
            np.bincount(true[hit], mass[hit], n_classes) / total,
            # By rows, not by weight: scikit-learn also lists labels of rows without
            # weight.
            np.bincount(np.concatenate([true, given]), minlength=n_classes) > 0,
        )
        gradient = self.counted(counts)
        values = gradient.true[true] + gradient.predicted[given]
        values += np.where(hit, gradient.both[true], 0.0)
        return gradient.score, values - mass @ values / total

    def _of_sets(
        self, true: BoolArray, given: BoolArray, mass: FloatArray
    ) -> tuple[float, FloatArray]:
        total = mass.sum()
        both = true & given
        n_labels = true.shape[1]
        counts = Counts(
            np.arange(n_labels),
            mass @ true / total,
            mass @ given / total,
            mass @ both / total,
            # scikit-learn averages over all columns, also over empty ones.
            np.ones(n_labels, dtype=bool),
        )
        gradient = self.counted(counts)
        values = true @ gradient.true + given @ gradient.predicted
        values += both @ gradient.both
        return gradient.score, values - mass @ values / total

    def _check_sets(self, labels: LabelArray) -> None:
        if self.sets and holds_sets(labels):
            return
        raise InvalidInputError(
            f"{self.name} as it is set counts one label per row, but y has "
            f"{labels.shape[1]} columns. For a table of 0 and 1 use a name such as "
            "'f1_macro' or 'f1_samples'."
        )

    def _check_binary(self, known: LabelArray) -> None:
        if self.pos_label is None:
            return
        if len(known) > 2:
            raise InvalidInputError(
                f"{self.name} as it is set is about one of two labels, but y has "
                f"{len(known)}. Use an average over labels, such as 'f1_macro'."
            )
        if not np.isin(self.pos_label, known):
            raise InvalidInputError(
                f"pos_label={self.pos_label!r} is not among the labels of y, "
                f"{known.tolist()}. Pass make_scorer({self.name}, "
                f"pos_label={known.tolist()[-1]!r})."
            )


def agreement(counts: Counts) -> Gradient:
    """Return Matthews' correlation of true and predicted labels.

    With the shares t, p and b: (sum b - sum t p) / sqrt((1 - sum t^2)(1 - sum p^2)).
    """
    true, given = counts.true, counts.predicted
    spread_true, spread_given = 1.0 - true @ true, 1.0 - given @ given
    n_classes = len(true)
    # A single label, true or predicted, correlates with nothing.
    if min(spread_true, spread_given) <= 1e-12:
        nothing = np.zeros(n_classes)
        return Gradient(0.0, nothing, nothing, nothing)
    scale = np.sqrt(spread_true * spread_given)
    score = float((counts.both.sum() - true @ given) / scale)
    return Gradient(
        score,
        -given / scale + score * true / spread_true,
        -true / scale + score * given / spread_given,
        np.full(n_classes, 1.0 / scale),
    )


def flat_labels(values: Any) -> LabelArray:
    """Return labels as one column if they are one, else as a table."""
    labels = to_array(values)
    return labels.ravel() if labels.ndim == 2 and labels.shape[1] == 1 else labels


def check_shape(predicted: LabelArray, truth: LabelArray) -> None:
    """Refuse predictions of another shape than the targets."""
    if predicted.shape != truth.shape:
        raise InvalidInputError(
            f"The prediction has shape {predicted.shape} for targets of shape "
            f"{truth.shape}. Predict one label per row and output."
        )


def coded(
    truth: LabelArray,
    predicted: LabelArray,
    known: LabelArray | None,
    true: IntArray | None = None,
) -> tuple[LabelArray, IntArray, IntArray]:
    """Return the labels and the places of the true and predicted ones among them.

    Labels that are not among the known ones join them. ``true`` is the place of each
    true label among the known ones, where somebody has looked it up.

    Examples
    --------
    >>> coded(np.array(["b", "a"]), np.array(["b", "c"]), np.array(["a", "b"]))
    (array(['a', 'b', 'c'], dtype='<U1'), array([1, 0]), array([1, 2]))
    """
    # Mostly all labels are known: sorting the predictions of each model would cost more
    # than all else.
    classes = np.unique(truth) if known is None else known
    true = _places(truth, classes) if true is None else true
    given = _places(predicted, classes)
    if true is not None and given is not None:
        return classes, true, given
    classes = np.union1d(classes, np.union1d(truth, predicted))
    return classes, classes.searchsorted(truth), classes.searchsorted(predicted)


def _places(values: LabelArray, classes: LabelArray) -> IntArray | None:
    """Return the place of each value, None if one is not among the classes."""
    places = np.searchsorted(classes, values)
    inside = places < len(classes)
    if not inside.all() or np.any(classes[places] != values):
        return None
    return places
