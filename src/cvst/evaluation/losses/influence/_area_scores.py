"""Areas of two classes, of many classes, and of several labels per row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from typing import Any, Self, TypeAlias

import numpy as np

from cvst._targets import Targets, to_array
from cvst._typing import BoolArray, FloatArray
from cvst.evaluation.losses._labels import check_labels
from cvst.evaluation.losses._pointwise import LabelArray, align_columns
from cvst.evaluation.losses._probabilities import check_pos_label
from cvst.evaluation.losses.influence._areas import Kinds, kinds_of
from cvst.evaluation.losses.influence._counts import flat_labels
from cvst.evaluation.losses.influence._whole import Measured, WholeScore
from cvst.exceptions import InvalidInputError

__all__ = ["AreaScore"]

Area: TypeAlias = Callable[[FloatArray, Kinds], tuple[float, FloatArray]]

# Area, influence values, and the share of the rows that it weighs by.
Part: TypeAlias = tuple[float, FloatArray, FloatArray]


class AreaScore(WholeScore):
    """An area under a curve, averaged over classes where there are more than two.

    Parameters
    ----------
    area : callable
        The area of two kinds of rows and its influence values.
    name : str
        scikit-learn's name of the metric.
    average : {"macro", "weighted", "micro"}
        Over classes or labels: plain, by their shares, or all of them as one.
    multi_class : {"raise", "ovr", "ovo"}
        For more than two classes: refuse, each against the rest, or pairs of classes.
    pos_label : label, default=None
        The positive one of two classes; the second by default.
    """

    def __init__(
        self,
        area: Area,
        *,
        name: str,
        average: str = "macro",
        multi_class: str = "raise",
        pos_label: Any = None,
    ) -> None:
        super().__init__(name=name, response="decision_function")
        self.area = area
        self.average = average
        self.multi_class = multi_class
        self.pos_label = pos_label

    def for_target(self, estimator: Any, y: Any) -> Self:
        """Learn the classes, and check that the area is one of them."""
        del estimator
        labels = flat_labels(y)
        check_labels(self.name, labels)
        if labels.ndim == 2:
            if np.isin(labels, (0, 1)).all():
                self._check_pos_label()
                return self
            raise InvalidInputError(
                f"{self.name} of {labels.shape[1]} columns needs a table of 0 and 1. "
                "Use one label per row, or one column for each label."
            )
        known = np.unique(labels)
        if len(known) < 2:
            raise InvalidInputError(
                f"{self.name} tells classes apart, but y has only {known.tolist()}. "
                "Use data of two classes or more."
            )
        if len(known) > 2 and self.multi_class == "raise":
            raise InvalidInputError(
                f"{self.name} as it is set is for two classes, but y has {len(known)}. "
                "Use 'roc_auc_ovr' or 'roc_auc_ovo'."
            )
        if len(known) == 2:
            check_pos_label(self.name, self.pos_label, known)
        else:
            self._check_pos_label()
        return self._with_classes(known)

    def measure(self, y_true: Any, weights: Any = None) -> Measured:
        """Return the function that measures predictions for fixed test rows."""
        truth = flat_labels(y_true)
        n_points = len(truth)
        mass = np.ones(n_points) if weights is None else np.asarray(weights, float)
        race_classes = np.unique(truth) if self.classes is None else self.classes
        if truth.ndim == 2:
            return self._of_columns(truth != 0, mass, partial(_stacked, truth))
        if len(race_classes) == 2:
            return self._of_two(truth, race_classes, mass)

        def aligned(prediction: Any, classes: Any) -> FloatArray:
            return self._aligned_values(prediction, classes, race_classes)

        if self.multi_class == "ovo":
            return self._of_pairs(truth, race_classes, mass, aligned)
        return self._of_columns(truth[:, None] == race_classes, mass, aligned)

    def _check_pos_label(self) -> None:
        # 1 is the default of scikit-learn, whatever the labels are.
        if self.pos_label not in (None, 1):
            raise InvalidInputError(
                f"{self.name} of more than two classes, or of sets of labels, is about "
                f"all of them, and not about pos_label={self.pos_label!r} alone. Leave "
                "pos_label out."
            )

    def _of_two(
        self, truth: LabelArray, classes: LabelArray, mass: FloatArray
    ) -> Measured:
        positive = truth == self._positive(classes)
        kinds = kinds_of(positive, mass)
        is_second = bool(self._positive(classes) == classes[1])

        def measured(prediction: Any, known: Any) -> tuple[float, FloatArray]:
            values = self._aligned_values(prediction, known, classes)
            if values.ndim == 1:
                # A single decision value speaks for the second class.
                values = values if is_second else -values
            else:
                _check_columns(values, (len(truth), 2))
                values = values[:, int(is_second)]
            return self.area(values, kinds)

        return measured

    def _of_columns(
        self,
        positive: BoolArray,
        mass: FloatArray,
        aligned: Callable[[Any, Any], FloatArray],
    ) -> Measured:
        """Measure each class against the rest, or each label by itself."""
        by_column = [(kinds_of(one, mass), one.astype(float)) for one in positive.T]

        def measured(prediction: Any, known: Any) -> tuple[float, FloatArray]:
            values = aligned(prediction, known)
            _check_columns(values, positive.shape)
            if self.average == "micro":
                return self._as_one(values, positive, mass)
            if self.classes is not None and not positive.any(axis=0).all():
                # A class without rows leaves no score, unlike a label without them.
                return float("nan"), np.zeros(len(mass))
            parts = (
                (*self.area(column, kinds), kind)
                for column, (kinds, kind) in zip(values.T, by_column, strict=True)
            )
            return self._averaged(parts, mass)

        return measured

    def _as_one(
        self, values: FloatArray, positive: BoolArray, mass: FloatArray
    ) -> tuple[float, FloatArray]:
        """Take every cell of the table for a row."""
        n_columns = positive.shape[1]
        each = np.repeat(mass, n_columns)
        kinds = kinds_of(positive.ravel(), each)
        score, influence = self.area(values.ravel(), kinds)
        # A row is all of its cells, each with the same part of its weight.
        return score, influence.reshape(-1, n_columns).mean(axis=1)

    def _of_pairs(
        self,
        truth: LabelArray,
        classes: LabelArray,
        mass: FloatArray,
        aligned: Callable[[Any, Any], FloatArray],
    ) -> Measured:
        """Measure each class against each other one, on the rows of these two."""
        pairs = list(combinations(range(len(classes)), 2))

        def parts(values: FloatArray) -> Iterator[Part]:
            for first, second in pairs:
                among = np.isin(truth, classes[[first, second]])
                share = mass[among].sum() / mass.sum()
                area, influence = 0.0, np.zeros(len(truth))
                for one in (first, second):
                    kinds = kinds_of(truth[among] == classes[one], mass[among])
                    half, rows = self.area(values[among, one], kinds)
                    area += half / 2
                    # Rows of other classes have no influence, these the more of it.
                    influence[among] += rows / 2 / max(share, 1e-300)
                # Weighted by the rows of both classes, as in scikit-learn.
                yield area, influence, among.astype(float)

        def measured(prediction: Any, known: Any) -> tuple[float, FloatArray]:
            values = aligned(prediction, known)
            _check_columns(values, (len(truth), len(classes)))
            return self._averaged(parts(values), mass)

        return measured

    def _averaged(
        self, parts: Iterator[Part], mass: FloatArray
    ) -> tuple[float, FloatArray]:
        areas, influences, kinds = zip(*parts, strict=True)
        scores, values = np.array(areas), np.array(influences)
        if self.average != "weighted":
            return float(scores.mean()), values.mean(axis=0)
        members = np.array(kinds)
        sizes = members @ (mass / mass.sum())
        weights = sizes / sizes.sum()
        # A label without weight has no area, and needs none, as in scikit-learn, where
        # a class without rows leaves no score at all.
        void = sizes == 0
        if self.classes is not None:
            void &= members.any(axis=1)
        scores[void], values[void] = 0.0, 0.0
        score = float(weights @ scores)
        values = weights @ values
        # The weights are those of the test rows, so they vary with them.
        moved = (scores - score) @ members / sizes.sum()
        return score, values + moved - (mass @ moved) / mass.sum()

    def _positive(self, classes: LabelArray) -> Any:
        return classes[1] if self.pos_label is None else self.pos_label

    def _aligned_values(
        self, prediction: Any, known: Any, classes: LabelArray
    ) -> FloatArray:
        values = to_array(prediction).astype(float, copy=False)
        if known is None:
            return values
        absent = 0.0 if self.response == "predict_proba" else -np.inf
        return align_columns(values, np.asarray(known), classes, absent)


def _stacked(truth: LabelArray, prediction: Any, classes: Any) -> FloatArray:
    """Return one column per label; some models give a table for each."""
    targets = Targets.of(truth)
    if isinstance(prediction, list) and targets is not None:
        # A label that the model has never seen has probability 0.
        return targets.second(targets.columns(prediction, classes))
    return to_array(prediction).astype(float, copy=False)


def _check_columns(values: FloatArray, shape: tuple[int, ...]) -> None:
    if values.shape != shape:
        raise InvalidInputError(
            f"The prediction has shape {values.shape}, not {shape}. Predict one value "
            "per row and class, as predict_proba does."
        )
