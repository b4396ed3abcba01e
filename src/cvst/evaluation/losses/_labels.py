"""Losses for predicted labels: wrong or right, or how wrong a set of labels is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np

from cvst._targets import to_array
from cvst._typing import FloatArray
from cvst.evaluation.losses._pointwise import LabelArray, PointwiseLoss, RowLosses
from cvst.exceptions import InvalidInputError, InvalidPredictionError

__all__ = [
    "LabelLoss",
    "check_labels",
    "check_predicted",
    "hamming",
    "holds_sets",
    "is_continuous",
    "jaccard_of_accuracy",
    "missed_overlap",
    "one_minus",
    "zero_one",
]


class LabelLoss(PointwiseLoss):
    """A loss of the labels that ``predict`` returns.

    Parameters
    ----------
    function : callable
        Losses of arrays of shape (n_points,) or (n_points, n_outputs).
    name : str
        scikit-learn's name of the metric.
    report : callable
        Score of a mean loss.
    targets : {"any", "single", "sets"}
        Whether the score is a mean over rows for one label per row, for sets of labels
        (an indicator matrix), or for both.
    """

    def __init__(
        self,
        function: Callable[[LabelArray, LabelArray], FloatArray],
        *,
        name: str,
        report: Callable[[FloatArray], FloatArray],
        targets: Literal["any", "single", "sets"] = "any",
    ) -> None:
        super().__init__(function, name=name)
        self.report = report
        self.targets = targets
        # With several labels per row, such a score is not a mean over rows.
        self.single = targets == "single"

    def for_target(self, estimator: Any, y: Any) -> Self:
        """Check that the targets are labels of the kind that the loss is made for."""
        labels = to_array(y)
        check_labels(self.name, labels)
        several = labels.ndim == 2 and labels.shape[1] > 1
        if not several and self.targets == "sets":
            raise InvalidInputError(
                f"{self.name} compares sets of labels, but y holds one label per row. "
                "Use 'accuracy'."
            )
        if self.targets == "sets" and not holds_sets(labels):
            raise InvalidInputError(
                f"{self.name} of each row compares sets of labels, a table of 0 and 1, "
                "but y holds other values. Use 'accuracy', for which all targets of a "
                "row must be right."
            )
        return super().for_target(estimator, y)

    def bind(self, y_true: Any, weights: Any = None) -> RowLosses:
        """Return the losses of predictions for fixed test rows."""
        del weights
        truth = _flat(to_array(y_true))

        def rows(prediction: Any, classes: Any) -> FloatArray:
            del classes
            predicted = _flat(to_array(prediction))
            # NumPy would broadcast, and compare labels of different rows.
            if predicted.shape != truth.shape:
                raise InvalidInputError(
                    f"The prediction has shape {predicted.shape} for targets of shape "
                    f"{truth.shape}. Predict one label per row and output."
                )
            check_predicted(predicted, self.targets == "sets")
            return np.asarray(self.function(truth, predicted), dtype=float)

        return rows

    def residuals(self, y_true: Any, prediction: Any) -> FloatArray | None:
        """Return None: labels have no sign."""
        del y_true, prediction
        return None

    def score(self, mean_losses: Any, y_true: Any, weights: Any = None) -> FloatArray:
        """Turn mean losses into scikit-learn's score."""
        del y_true, weights
        return np.asarray(self.report(np.asarray(mean_losses, dtype=float)))

    def ranked(self, mean_losses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean losses, bent where the score is a curve of them."""
        if self.report is not jaccard_of_accuracy:
            return super().ranked(mean_losses)
        # The derivative of 1 - (1 - m) / (1 + m).
        slopes = 2.0 / (1.0 + mean_losses) ** 2
        return 1.0 - jaccard_of_accuracy(mean_losses), slopes


def zero_one(truth: LabelArray, predicted: LabelArray) -> FloatArray:
    """Return 0 where all labels of a row are right, else 1."""
    wrong = np.asarray(truth != predicted)
    return (wrong if wrong.ndim == 1 else wrong.any(axis=1)).astype(float)


def hamming(truth: LabelArray, predicted: LabelArray) -> FloatArray:
    """Return the share of a row's labels that are wrong."""
    wrong = np.asarray(truth != predicted, dtype=float)
    return wrong if wrong.ndim == 1 else np.asarray(wrong.mean(axis=1))


def missed_overlap(
    truth: LabelArray,
    predicted: LabelArray,
    *,
    true_share: float,
    predicted_share: float,
    both_share: float = 0.0,
    undefined: float = 0.0,
) -> FloatArray:
    """Return one minus the overlap of two sets of labels per row.

    The overlap is the number of common labels over a mix of the numbers of true, of
    predicted and of common labels: (0, 1, 0) is precision, (1, 0, 0) recall,
    (b, 1 - b, 0) an F-measure and (1, 1, -1) Jaccard's index.
    """
    wanted, given = truth != 0, predicted != 0
    common = (wanted & given).sum(axis=1)
    size = (
        true_share * wanted.sum(axis=1)
        + predicted_share * given.sum(axis=1)
        + both_share * common
    )
    # Without a label on either side, scikit-learn's zero_division is the overlap.
    overlap = np.divide(common, size, where=size > 0, out=np.full(len(size), undefined))
    return np.asarray(1.0 - overlap)


def one_minus(means: FloatArray) -> FloatArray:
    """Return the share that is right."""
    return np.asarray(1.0 - means)


def jaccard_of_accuracy(means: FloatArray) -> FloatArray:
    """Return the micro-averaged Jaccard index of single labels."""
    # a right row counts once in the union of truth and prediction, a wrong one twice
    return np.asarray((1.0 - means) / (1.0 + means))


def check_labels(name: str, labels: LabelArray) -> None:
    """Refuse numbers where labels are needed."""
    if is_continuous(labels):
        raise InvalidInputError(
            f"{name} compares classes, but y holds numbers such as "
            f"{_a_fraction(labels):g}. Use a score for numbers, such as 'r2'."
        )


def check_predicted(predicted: LabelArray, sets: bool) -> None:
    """Refuse predicted numbers where labels, or sets of them, are needed.

    As in scikit-learn: otherwise every number but 0 would stand for a label.
    """
    if is_continuous(predicted):
        raise InvalidPredictionError(
            f"The prediction holds numbers such as {_a_fraction(predicted):g}, and the "
            "score compares classes. Predict labels of y."
        )
    if sets and not holds_sets(predicted):
        raise InvalidPredictionError(
            "The prediction holds other values than 0 and 1, and the score compares "
            "sets of labels. Predict a table of 0 and 1."
        )


def holds_sets(labels: LabelArray) -> bool:
    """Return whether the values say of each label whether it is there."""
    if labels.dtype.kind == "b":
        return True
    return bool(np.all((labels == 0) | (labels == 1)))


def is_continuous(labels: LabelArray) -> bool:
    """Return whether the values are numbers that no class label would be."""
    if labels.dtype.kind != "f":
        return False
    # scikit-learn's own rule: whole numbers are labels, even as floats.
    return bool(np.any(labels != np.floor(labels)))


def _a_fraction(labels: LabelArray) -> float:
    return float(labels[labels != np.floor(labels)][0])


def _flat(labels: LabelArray) -> LabelArray:
    return labels.ravel() if labels.ndim == 2 and labels.shape[1] == 1 else labels
