"""One loss per row: what a race compares, and the score that its mean stands for.

Many scores are functions of a mean over rows. The classes of this package compute that
mean's terms; :meth:`PointwiseLoss.score` computes the function. Scores of all rows
together have a room of their own, ``influence``. Losses are lower-is-better, scores
have the sign of scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from math import inf
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from cvst._targets import Targets, places_among, shown_classes, to_array
from cvst._typing import FloatArray
from cvst.evaluation._rows import Metadata, own_copy
from cvst.exceptions import (
    InvalidInputError,
    InvalidPredictionError,
    UnsupportedScoreError,
)

__all__ = [
    "Assess",
    "Assessed",
    "LabelArray",
    "PointwiseLoss",
    "RowLosses",
    "align_columns",
]

LabelArray: TypeAlias = npt.NDArray[Any]

# The losses of one prediction on rows whose targets are already known; the second
# argument is the fitted model's ``classes_``.
RowLosses: TypeAlias = Callable[[Any, Any], FloatArray]


class Assessed(NamedTuple):
    """What one prediction is worth on some rows.

    Attributes
    ----------
    losses : ndarray of shape (n_points,)
        One per row.
    score : float or None
        The score, NaN where it is undefined; None where it follows from the mean of
        the losses.
    others : dict of str to float, or None
        Further scores that came with it.
    """

    losses: FloatArray
    score: float | None = None
    others: dict[str, float] | None = None


Assess: TypeAlias = Callable[[Any, Any], Assessed]

RESPONSES = ("predict", "predict_proba", "decision_function", "score_samples")


class PointwiseLoss:
    """A loss for each row, to race on.

    Parameters
    ----------
    function : callable
        ``function(y_true, prediction)`` returns one number per row, lower is better.
        Both arguments are arrays; ``y_true`` is None where the search has no ``y``.
    response : {"predict", "predict_proba", "decision_function", "score_samples"}
        Method of the fitted estimator that makes the prediction. Probabilities have a
        column for every class of the race in sorted order: classes that a small subset
        did not hold get probability 0 (and a decision value of minus infinity).
    name : str, default=None
        Name for messages; by default the function's own.

    Attributes
    ----------
    classes : ndarray or None
        Class labels of the race, known once a search has resolved the loss.

    Notes
    -----
    The object is also a scorer: called as ``loss(estimator, X, y)`` it returns minus
    the mean loss, so scikit-learn's own searches accept it as ``scoring``.

    Examples
    --------
    >>> def clipped(y_true, y_pred):
    ...     return np.minimum(np.abs(y_true - y_pred), 1.0)
    >>> loss = PointwiseLoss(clipped)
    >>> loss.losses([0.0, 2.0, 5.0], [0.5, 2.0, 9.0])
    array([0.5, 0. , 1. ])
    >>> loss.score([0.5], y_true=None)
    array([-0.5])
    """

    # Whether the loss of a row is its own, so that models can be ranked on it.
    rankable: bool = True

    # Whether the score compares with the variance of the very rows that are tested.
    explains_variance: bool = False

    # Whether nothing is known of the score but its value on some rows.
    is_asked: bool = False

    # The classes of several targets, known once a search has resolved the loss.
    outputs: Targets | None = None

    # Between which numbers the score lies.
    score_range: tuple[float, float] = (-inf, inf)

    def __init__(
        self,
        function: Callable[[Any, Any], Any],
        *,
        response: str = "predict",
        name: str | None = None,
    ) -> None:
        if not callable(function):
            raise InvalidInputError(
                f"function={function!r} cannot be called. Pass a function "
                "f(y_true, y_pred) that returns one loss per row."
            )
        if response not in RESPONSES:
            raise InvalidInputError(
                f"response={response!r} is not a method that predicts. Use one of "
                f"{', '.join(map(repr, RESPONSES))}."
            )
        self.function = function
        self.response = response
        own = getattr(function, "__name__", type(function).__name__)
        self.name: str = own if name is None else name
        self.classes: LabelArray | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}, response={self.response!r})"

    def __call__(
        self, estimator: Any, X: Any, y_true: Any = None, sample_weight: Any = None
    ) -> float:
        """Score a fitted estimator: the function of the (weighted) mean loss."""
        # As a scorer of scikit-learn's searches it was never resolved for a race.
        prediction = getattr(estimator, self.response)(X)
        classes = getattr(estimator, "classes_", None)
        loss = self
        if self.classes is None and self.outputs is None:
            loss = self._with_targets_of(estimator, classes, y_true)
        return loss.value(y_true, sample_weight)(prediction, classes)

    def _with_targets_of(self, estimator: Any, classes: Any, y_true: Any) -> Self:
        """Return the loss for some rows, which may lack classes that a model knows."""
        loss = self.for_target(estimator, y_true)
        if loss.outputs is not None:
            loss.outputs = None
        if loss.classes is not None and classes is not None:
            loss = loss._with_classes(np.union1d(loss.classes, classes))
        return loss

    def for_target(self, estimator: Any, y: Any) -> Self:
        """Return the loss for these targets, or say why they do not go together."""
        if y is None or not is_classifier(estimator):
            return self
        labels = to_array(y)
        if labels.ndim == 1:
            return self._with_classes(np.unique(labels))
        resolved = copy(self)
        resolved.outputs = Targets.of(labels)
        return resolved

    def with_metadata(self, metadata: Metadata) -> Self:
        """Return the loss for test rows that come with more than targets."""
        if metadata:
            names = " and ".join(map(repr, metadata.arguments))
            raise InvalidInputError(
                f"The score {self.name!r} requests {names}, and a PointwiseLoss is a "
                "function of targets and predictions. Use make_scorer(f)."
                "set_score_request(...), or scorer(estimator, X, y, ...)."
            )
        return self

    def losses(
        self, y_true: Any, prediction: Any, classes: Any = None, weights: Any = None
    ) -> FloatArray:
        """Return one loss per row.

        Parameters
        ----------
        y_true : array-like of shape (n_points,) or (n_points, n_outputs), or None
            Targets of the test rows.
        prediction : array-like
            What the response method returned on these rows.
        classes : array-like or None
            ``classes_`` of the fitted model: the columns of its probabilities.
        weights : array-like of shape (n_points,) or None
            Weights of the rows in the mean; they matter only where a loss is scaled by
            the spread of the targets, as for r2 of several outputs.

        Returns
        -------
        ndarray of shape (n_points,)
            The losses.
        """
        return self.bind(y_true, weights)(prediction, classes)

    def bind(self, y_true: Any, weights: Any = None) -> RowLosses:
        """Return :meth:`losses` for fixed test rows: what they share is done once."""
        del weights
        truth = None if y_true is None else to_array(y_true)

        def rows(prediction: Any, classes: Any) -> FloatArray:
            aligned = self._aligned(prediction, classes)
            n_points = len(aligned) if truth is None else len(truth)
            # The function is the user's: what it overwrites belongs to it.
            losses = self.function(own_copy(truth), own_copy(aligned))
            return self._checked(losses, n_points)

        return rows

    def assess(self, y_true: Any, weights: Any = None) -> Assess:
        """Return :meth:`bind` with the score, where no mean of losses gives it."""
        rows = self.bind(y_true, weights)
        return lambda prediction, classes: Assessed(rows(prediction, classes))

    def value(self, y_true: Any, weights: Any = None) -> Callable[[Any, Any], float]:
        """Return the score of predictions for fixed test rows, and nothing else."""
        assessed = self.assess(y_true, weights)

        def scored(prediction: Any, classes: Any) -> float:
            losses, score, _ = assessed(prediction, classes)
            if score is not None:
                return score
            mean = np.average(losses, weights=weights)
            return float(self.score(mean, y_true, weights))

        return scored

    def ranked(self, mean_losses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what to average over folds and rank by, and its slopes.

        Scores are averaged over folds. So what is ranked must fall as fast as the score
        rises: the mean losses themselves, unless the score is a curve of them.
        """
        return mean_losses, np.ones_like(mean_losses)

    def residuals(self, y_true: Any, prediction: Any) -> FloatArray | None:
        """Return signed residuals, None where targets are not single numbers."""
        if y_true is None or self.classes is not None or self.response != "predict":
            return None
        truth, predicted = to_array(y_true), to_array(prediction)
        # Truth values are labels, not numbers.
        numeric = truth.dtype.kind in "iuf" and predicted.dtype.kind in "iuf"
        if not numeric or truth.ndim != 1 or predicted.shape != truth.shape:
            return None
        # As floats: differences of unsigned numbers would wrap around.
        return np.asarray(truth.astype(float) - predicted.astype(float))

    def score(self, mean_losses: Any, y_true: Any, weights: Any = None) -> FloatArray:
        """Turn mean losses into scores, higher is better.

        Parameters
        ----------
        mean_losses : array-like
            (Weighted) means over the same test rows; NaN stays NaN.
        y_true : array-like or None
            Targets of these rows.
        weights : array-like or None
            Their weights in the means.

        Returns
        -------
        ndarray
            What scikit-learn's scorer gives on these rows; minus the mean for losses
            of your own.
        """
        del y_true, weights
        return -np.asarray(mean_losses, dtype=float)

    def _with_classes(self, classes: LabelArray) -> Self:
        # The user's object may serve other searches, with other classes.
        resolved = copy(self)
        resolved.classes = classes
        return resolved

    def _aligned(self, prediction: Any, classes: Any) -> Any:
        columns = self.response in ("predict_proba", "decision_function")
        if columns and isinstance(prediction, list):
            # One array per output.
            if self.outputs is None:
                return prediction
            return self.outputs.tables(self.outputs.columns(prediction, classes))
        values = to_array(prediction)
        if not columns or classes is None or self.classes is None:
            return values
        absent = 0.0 if self.response == "predict_proba" else -np.inf
        return align_columns(values, np.asarray(classes), self.classes, absent)

    def _checked(self, values: Any, n_points: int) -> FloatArray:
        losses = np.asarray(values)
        # A single number, or a column, would be broadcast without a word later on.
        if losses.shape != (n_points,):
            raise UnsupportedScoreError(
                f"The loss {self.name!r} returned an array of shape {losses.shape} for "
                f"{n_points} rows. Return one number per row, shape ({n_points},)."
            )
        return losses.astype(float, copy=False)


def align_columns(
    values: LabelArray, classes: LabelArray, all_classes: LabelArray, absent: float
) -> LabelArray:
    """Give every class of the race its column, filled in for classes not seen.

    Parameters
    ----------
    values : ndarray of shape (n_points, n_known) or (n_points,)
        One column per known class; a single number per row is the decision value of
        the second of two classes.
    classes : ndarray of shape (n_known,)
        Classes that the model knows, in the order of its columns.
    all_classes : ndarray of shape (n_classes,)
        Classes of the race, sorted.
    absent : float
        Value of a class that the model does not know.

    Returns
    -------
    ndarray of shape (n_points, n_classes)
        The same array where nothing is missing.

    Raises
    ------
    InvalidPredictionError
        If the columns belong to other classes.

    Examples
    --------
    >>> proba = np.array([[0.25, 0.75]])
    >>> align_columns(proba, np.array(["a", "c"]), np.array(["a", "b", "c"]), 0.0)
    array([[0.25, 0.  , 0.75]])
    """
    if np.array_equal(classes, all_classes):
        return values
    places = places_among(all_classes, classes)
    if places is None:
        theirs, known = shown_classes(classes), shown_classes(all_classes)
        raise InvalidPredictionError(
            f"The model predicts the classes {theirs}, and y has {known}. Let it "
            "predict labels of y."
        )
    if values.ndim == 1:
        if len(classes) == len(all_classes):
            return -values  # of the two classes, in the other order
        values = np.column_stack([-values, values])
    if values.shape[1] != len(classes):
        return values  # not one column per class, as one-against-one decisions
    aligned = np.full((len(values), len(all_classes)), absent, dtype=values.dtype)
    aligned[:, places] = values
    return aligned
