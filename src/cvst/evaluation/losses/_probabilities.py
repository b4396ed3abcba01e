"""Losses for predicted probabilities and decision values of classes."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from cvst._targets import to_array
from cvst._typing import FloatArray, IntArray
from cvst.evaluation.losses._pointwise import (
    LabelArray,
    PointwiseLoss,
    RowLosses,
    align_columns,
)
from cvst.exceptions import InvalidInputError

__all__ = ["ProbabilityLoss", "TopKLoss", "check_pos_label"]


class _Labels(NamedTuple):
    """Classes of the race and the place of each row's label among them."""

    classes: LabelArray
    codes: IntArray


class _ClassLoss(PointwiseLoss):
    """What losses of values per class have in common."""

    # What to say of several labels per row.
    needs = "needs one label per row"

    # The one that the score is about, of two classes.
    pos_label: Any = None

    def for_target(self, estimator: Any, y: Any) -> Self:
        """Learn the classes; labels that the user listed count too."""
        del estimator
        labels = to_array(y)
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels.ravel()
        if labels.ndim != 1:
            raise InvalidInputError(
                f"{self.name} {self.needs}, but y has shape {labels.shape}. "
                "Use 'accuracy' or 'neg_brier_score' for several labels per row."
            )
        known = np.unique(labels)
        if len(known) == 2:
            check_pos_label(self.name, self.pos_label, known)
        if self.classes is None:
            return self._with_classes(known)
        unlisted = [one for one in known.tolist() if one not in self.classes.tolist()]
        if unlisted:
            raise InvalidInputError(
                f"labels={self.classes.tolist()} of {self.name} lack {unlisted} of y. "
                "Leave labels out, or list every class."
            )
        return self

    def residuals(self, y_true: Any, prediction: Any) -> FloatArray | None:
        """Return None: labels have no sign."""
        del y_true, prediction
        return None

    def _labels(self, y_true: Any) -> _Labels:
        labels = to_array(y_true).ravel()
        classes = np.unique(labels) if self.classes is None else self.classes
        codes = np.searchsorted(classes, labels)
        inside = codes < len(classes)
        if not inside.all() or np.any(classes[codes] != labels):
            # A separate test set may hold a class that no model has seen.
            classes = np.union1d(classes, labels)
            codes = np.searchsorted(classes, labels)
        return _Labels(classes, codes)


def check_pos_label(name: str, pos_label: Any, known: LabelArray) -> None:
    """Refuse a positive label that is none of two classes."""
    if pos_label is None or pos_label in known.tolist():
        return
    raise InvalidInputError(
        f"pos_label={pos_label!r} is not among the labels of y, {known.tolist()}. Pass "
        f"make_scorer({name}, pos_label={known.tolist()[-1]!r}, response_method=...)."
    )


class ProbabilityLoss(_ClassLoss):
    """Log loss or Brier loss of class probabilities.

    Parameters
    ----------
    kind : {"log", "brier"}
        Minus the logarithm of the true class's probability, or the squared distance
        of the probabilities from certainty.
    name : str
        scikit-learn's name of the metric.
    explained : bool
        Whether the score is the share that the class proportions leave unexplained
        and the model explains (d2), not minus the mean loss.
    labels : array-like, default=None
        Classes that need not occur in ``y``.
    pos_label : label, default=None
        One of two classes. Both have the same loss, but it must be one of them.
    halved : bool or "auto"
        Whether the Brier loss is halved; by default for two classes only.
    """

    # scikit-learn's log loss has a value there too: 0 for a model that is sure of
    # every label.
    needs = (
        "needs one label per row (of several it counts only those that are there, so "
        "that a model which expects all of them wins)"
    )

    def __init__(
        self,
        kind: Literal["log", "brier"],
        *,
        name: str,
        explained: bool = False,
        labels: Any = None,
        pos_label: Any = None,
        halved: bool | Literal["auto"] = "auto",
    ) -> None:
        function = _log_losses if kind == "log" else _squared_distances
        super().__init__(function, response="predict_proba", name=name)
        self.kind = kind
        # The Brier loss of several labels per row is left to scikit-learn's function.
        self.single = kind == "brier"
        self.explained = explained
        self.halved = halved
        self.pos_label = pos_label
        # The loss of the best constant on all rows, for rows of one class.
        self.spread = 1.0
        if labels is not None:
            self.classes = np.unique(labels)

    def bind(self, y_true: Any, weights: Any = None) -> RowLosses:
        """Return the losses of predictions for fixed test rows."""
        race_classes, codes = self._labels(y_true)
        factor = self._factor(len(race_classes))
        if self.explained:
            baseline = self._baseline(y_true, weights)
            factor /= self.spread if np.isnan(baseline) else baseline

        def rows(prediction: Any, classes: Any) -> FloatArray:
            known = race_classes if classes is None else np.asarray(classes)
            values = to_array(prediction)
            if values.ndim == 1:
                values = np.column_stack([1 - values, values])
            # Single precision stays: scikit-learn clips by the precision of the
            # prediction.
            if values.dtype.kind != "f":
                values = values.astype(float)
            probabilities = align_columns(values, known, race_classes, 0.0)
            if probabilities.shape != (len(codes), len(race_classes)):
                raise InvalidInputError(
                    f"The probabilities have shape {values.shape} for {len(codes)} "
                    f"rows and {len(race_classes)} classes. Return one column per "
                    "class."
                )
            losses = self.function(codes, probabilities)
            return np.asarray(factor * losses, dtype=float)

        return rows

    def score(self, mean_losses: Any, y_true: Any, weights: Any = None) -> FloatArray:
        """Turn mean losses into scikit-learn's score."""
        means = np.asarray(mean_losses, dtype=float)
        if not self.explained:
            return -means
        if np.isnan(self._baseline(y_true, weights)):
            return np.full_like(means, np.nan)
        return np.asarray(1.0 - means)

    def for_target(self, estimator: Any, y: Any) -> Self:
        """Learn the classes, and the loss of the best constant where it matters."""
        resolved = super().for_target(estimator, y)
        if self.explained:
            baseline = resolved._baseline(y, None)
            resolved.spread = 1.0 if np.isnan(baseline) else baseline
        return resolved

    def _baseline(self, y_true: Any, weights: Any) -> float:
        """Return the loss of the class proportions, NaN if there is one class alone."""
        classes, codes = self._labels(y_true)
        one_hot = np.zeros((len(codes), len(classes)))
        one_hot[np.arange(len(codes)), codes] = 1.0
        proportions = np.average(one_hot, axis=0, weights=weights)
        # One class alone has no spread to explain.
        if len(codes) < 2 or np.count_nonzero(proportions) < 2:
            return float("nan")
        constant = np.broadcast_to(proportions, one_hot.shape)
        losses = self._factor(len(classes)) * self.function(codes, constant)
        return float(np.average(losses, weights=weights))

    def _factor(self, n_classes: int) -> float:
        if self.kind == "log":
            return 1.0
        # scikit-learn's convention: of two classes the error is counted once.
        halved = n_classes < 3 if self.halved == "auto" else self.halved
        return 0.5 if halved else 1.0


class TopKLoss(_ClassLoss):
    """0 where the true class is among the k with the largest values, else 1.

    Parameters
    ----------
    k : int
        Number of guesses.
    name : str
        scikit-learn's name of the metric.
    response : {"decision_function", "predict_proba"}
        Where the values come from.
    labels : array-like, default=None
        Classes that need not occur in ``y``.
    """

    def __init__(
        self,
        k: int,
        *,
        name: str,
        response: str = "decision_function",
        labels: Any = None,
    ) -> None:
        super().__init__(partial(_misses, k=k), response=response, name=name)
        self.k = k
        if labels is not None:
            self.classes = np.unique(labels)

    def for_target(self, estimator: Any, y: Any) -> Self:
        """Learn the classes and check that k guesses can fail."""
        resolved = super().for_target(estimator, y)
        n_classes = 0 if resolved.classes is None else len(resolved.classes)
        if not 1 <= self.k < n_classes:
            raise InvalidInputError(
                f"{self.name} with k={self.k} cannot tell models of {n_classes} "
                f"classes apart. Choose k from 1 to {n_classes - 1}; with k=1 it is "
                "'accuracy'."
            )
        return resolved

    def bind(self, y_true: Any, weights: Any = None) -> RowLosses:
        """Return the losses of predictions for fixed test rows."""
        del weights
        race_classes, codes = self._labels(y_true)

        def rows(prediction: Any, classes: Any) -> FloatArray:
            known = race_classes if classes is None else np.asarray(classes)
            values = to_array(prediction).astype(float)
            # A class that a model has not seen is its last guess.
            columns = align_columns(values, known, race_classes, -np.inf)
            if columns.ndim == 1:
                columns = np.column_stack([-columns, columns])
            if columns.shape[1] != len(race_classes):
                raise InvalidInputError(
                    f"{self.response} returned {columns.shape[1]} columns for "
                    f"{len(race_classes)} classes. Return one value per class, as "
                    "decision_function_shape='ovr' does."
                )
            losses: FloatArray = self.function(codes, columns)
            return losses

        return rows

    def score(self, mean_losses: Any, y_true: Any, weights: Any = None) -> FloatArray:
        """Turn mean losses into the share of hits."""
        del y_true, weights
        return np.asarray(1.0 - np.asarray(mean_losses, dtype=float))


def _log_losses(codes: IntArray, probabilities: FloatArray) -> FloatArray:
    """Return minus the logarithm of the true class's probability."""
    # Clipped as in scikit-learn: certainty of a wrong class costs 36, not infinity.
    smallest = np.finfo(probabilities.dtype).eps
    chosen = probabilities[np.arange(len(codes)), codes].astype(float)
    return np.asarray(-np.log(np.clip(chosen, smallest, 1 - smallest)))


def _squared_distances(codes: IntArray, probabilities: FloatArray) -> FloatArray:
    """Return the squared distance of the probabilities from the true class."""
    distances = np.array(probabilities, dtype=float)
    distances[np.arange(len(codes)), codes] -= 1.0
    return np.asarray(np.einsum("ij,ij->i", distances, distances))


def _misses(codes: IntArray, columns: FloatArray, *, k: int) -> FloatArray:
    """Return 1 where the true class is not among those of the k largest values."""
    if columns.shape[1] == 2:
        # A tie goes to the first class, as in predict.
        second = columns[:, 1] > columns[:, 0]
        return np.asarray(second != codes.astype(bool), dtype=float)
    # As scikit-learn: of equal values the later class counts as larger.
    best = np.argsort(columns, axis=1, kind="stable")[:, ::-1][:, :k]
    hit = (best == codes[:, None]).any(axis=1)
    known = np.isfinite(columns[np.arange(len(codes)), codes])
    return np.asarray(~(hit & known), dtype=float)
