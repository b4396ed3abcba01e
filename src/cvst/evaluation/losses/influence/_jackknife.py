"""Any score of targets and predictions: what happens to it without a block of rows.

If the score falls from s to s' without a block that holds the share q of all rows, then
the mean influence value of the block's rows is (s - s') (1 - q) / q. Medians and maxima
are not smooth in the rows, so blocks are left out and not single rows.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from inspect import signature
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier

from cvst._sklearn_compat import ScorerParts, num_samples, routing_enabled
from cvst._targets import Targets, to_array
from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.evaluation._rows import own_copy, take
from cvst.evaluation.losses._pointwise import LabelArray, align_columns
from cvst.evaluation.losses._probabilities import check_pos_label
from cvst.evaluation.losses.influence._counts import flat_labels
from cvst.evaluation.losses.influence._whole import (
    AskedScore,
    Measured,
    blocks_of,
    quiet_blocks,
    remarked,
)
from cvst.exceptions import InvalidInputError, UnsupportedScoreError

__all__ = ["BlockMeans", "JackknifeScore", "all_on_one_row"]

# The metric is asked once for each block.
N_BLOCKS = 40


class JackknifeScore(AskedScore):
    """A metric of which only its value on some rows is known.

    Parameters
    ----------
    parts : ScorerParts
        The metric, its sign and its arguments.
    name : str
        Name for messages.
    response : str
        Method of the fitted estimator that makes the prediction.
    """

    def __init__(self, parts: ScorerParts, *, name: str, response: str) -> None:
        super().__init__(name=name, response=response, top=0.0)
        self.parts = parts
        # With routing there are weights only if the scorer has requested them.
        takes_weights = "sample_weight" in _parameters(parts.function)
        self.weighted = takes_weights or routing_enabled()
        module = getattr(parts.function, "__module__", "") or ""
        # Others get targets and predictions as they are.
        self.of_sklearn = module.startswith("sklearn.metrics.")
        self.has_several_labels = False

    def for_target(self, estimator: Any, y: Any) -> Self:
        """Learn the classes, where there are any."""
        if self.of_sklearn and y is not None:
            _check_targets(self.parts.function, estimator, y)
        resolved = super().for_target(estimator, y)
        # A scorer may ask for probabilities of a model that is not called a classifier.
        if resolved.classes is None and self.response != "predict" and y is not None:
            resolved = resolved._with_classes(np.unique(flat_labels(y)))
        shape, known = np.shape(y), resolved.classes
        if self.response != "predict" and known is not None and len(known) == 2:
            check_pos_label(self.name, self._pos_label, known)
        resolved = copy(resolved)
        resolved.has_several_labels = len(shape) == 2 and shape[1] > 1
        resolved.outputs = None if self.response == "predict" else Targets.of(y)
        return resolved

    def measure(self, y_true: Any, weights: Any = None) -> Measured:
        """Return the function that measures predictions for fixed test rows."""
        blocks = blocks_of(y_true, N_BLOCKS, self.classes is not None)
        mass = _mass(len(blocks), weights)
        seen = self._seen(mass)
        everywhere = np.flatnonzero(seen)
        by_means = BlockMeans(blocks, mass)
        # The rows that are left without each block, the same for all models.
        rests = [np.flatnonzero((blocks != one) & seen) for one in by_means.numbers]

        def measured(prediction: Any, classes: Any) -> tuple[float, FloatArray]:
            values = self._values(prediction, classes)

            def score(rows: IntArray) -> float:
                return self._score(y_true, values, weights, rows)

            whole = score(everywhere)
            if np.isnan(whole):
                return whole, np.zeros(len(mass))
            with quiet_blocks():
                return whole, _without_blocks(score, whole, by_means, rests)

        return measured

    def value(self, y_true: Any, weights: Any = None) -> Callable[[Any, Any], float]:
        """Return the score of predictions for fixed test rows, and nothing else."""
        everywhere = np.flatnonzero(self._seen(_mass(num_samples(y_true), weights)))

        def scored(prediction: Any, classes: Any) -> float:
            values = self._values(prediction, classes)
            return self._score(y_true, values, weights, everywhere)

        return scored

    def _seen(self, mass: FloatArray) -> BoolArray:
        """Return the rows that the metric is asked about.

        Those without weight must not count if the metric takes no weights. One that
        takes them gets all rows, as from scikit-learn: it may list their labels.
        """
        return np.full(len(mass), True) if self.weighted else mass > 0

    def _score(self, y_true: Any, values: Any, weights: Any, rows: IntArray) -> float:
        """Ask the metric about some rows."""
        arguments = dict(self.parts.kwargs)
        if weights is not None and self.weighted:
            arguments["sample_weight"] = np.asarray(weights, dtype=float)[rows]
        metadata = self.metadata
        if len(rows) < num_samples(y_true):
            y_true, values = take(y_true, rows), _some(values, rows)
            metadata = metadata.at(rows)
        elif not self.of_sklearn:
            # Parts are copies, and all rows are those of every configuration.
            y_true, values = own_copy(y_true), own_copy(values)
            metadata = metadata.copied()
        y_true, values = self._subtractable(y_true, values)
        with remarked(metadata):
            value = self.parts.function(
                y_true, values, **{**arguments, **metadata.arguments}
            )
        if np.size(value) != 1:
            raise UnsupportedScoreError(
                f"{self.name} returned an array of shape {np.shape(value)}, and a "
                "score is one number. Return a number, or pass scoring=PointwiseLoss(f)"
                " with f(y_true, y_pred) -> one loss per row."
            )
        # As in scikit-learn, it may come in an array.
        return self.parts.sign * float(np.asarray(value).item())

    def _subtractable(self, y_true: Any, values: Any) -> tuple[Any, Any]:
        """Return both as floats where differences wrap around, or NumPy has none."""
        if not self.of_sklearn or self.response != "predict" or y_true is None:
            return y_true, values
        truth, predicted = to_array(y_true), to_array(values)
        kinds = {truth.dtype.kind, predicted.dtype.kind}
        # A classifier's labels are never subtracted.
        if self.classes is not None or not kinds <= {"b", "u"}:
            return y_true, values
        return truth.astype(float), predicted.astype(float)

    def _values(self, prediction: Any, classes: Any) -> Any:
        """Return the prediction as scikit-learn's scorers hand it to a metric."""
        if self.response == "predict":
            return prediction
        if isinstance(prediction, list):
            if self.outputs is None:
                return prediction
            columns = self.outputs.columns(prediction, classes)
            answer = replace(self.outputs, listed=not self.outputs.are_labels)
            return answer.answer(columns)
        values = to_array(prediction)
        known = self.classes
        if classes is None or known is None or self.has_several_labels:
            return values
        absent = 0.0 if self.response == "predict_proba" else -np.inf
        values = align_columns(values, np.asarray(classes), known, absent)
        if len(known) != 2:
            return values
        return self._of_positive(values, known)

    @property
    def _pos_label(self) -> Any:
        """The positive one of two classes, as scikit-learn's scorers look it up."""
        default = _parameters(self.parts.function).get("pos_label")
        return self.parts.kwargs.get("pos_label", default)

    def _of_positive(self, values: LabelArray, known: LabelArray) -> LabelArray:
        """Return the values of the positive one of two classes."""
        positive = self._pos_label
        is_first = positive is not None and bool(positive == known[0])
        if values.ndim == 1:
            return -values if is_first else values
        return np.asarray(values[:, 0 if is_first else 1])


def _check_targets(metric: Any, estimator: Any, y: Any) -> None:
    """Refuse targets that the metric would refuse after every fit."""
    name, shape = getattr(metric, "__name__", ""), np.shape(y)
    n_columns = shape[1] if len(shape) == 2 else 1
    numbers = not is_classifier(estimator)
    of_groups = metric.__module__.startswith("sklearn.metrics.cluster.")
    if n_columns > 1 and (of_groups or name == "max_error"):
        nearest = "neg_mean_squared_error" if numbers else "accuracy"
        raise InvalidInputError(
            f"{name} needs one target per row, but y has {n_columns}. Use {nearest!r}."
        )
    if name in ("max_error", "median_absolute_error"):
        if to_array(y).dtype.kind not in "biufO":
            raise InvalidInputError(
                f"{name} compares numbers, but y holds texts. Use 'accuracy'."
            )
    elif name.endswith("_likelihood_ratio"):
        n_labels = len(np.unique(flat_labels(y)))
        if n_columns > 1 or n_labels > 2:
            has = f"{n_labels}" if n_columns == 1 else f"{n_columns} columns"
            several = "accuracy" if n_columns > 1 else "balanced_accuracy"
            raise InvalidInputError(
                f"{name} is about one target of two classes, but y has {has}. Use "
                f"{'r2' if numbers else several!r}."
            )


def _mass(n_points: int, weights: Any) -> FloatArray:
    return np.ones(n_points) if weights is None else np.asarray(weights, dtype=float)


def _without_blocks(
    score: Callable[[IntArray], float],
    whole: float,
    by_means: BlockMeans,
    rests: list[IntArray],
) -> FloatArray:
    """Return influence values from the scores without each block."""
    blocks, mass = by_means.blocks, by_means.mass
    means = np.full(len(rests), np.nan)
    shares = by_means.sizes / mass.sum()
    for block, (rest, share) in enumerate(zip(rests, shares.tolist(), strict=True)):
        if not 0 < share < 1:
            continue
        try:
            means[block] = (whole - score(rest)) * (1 - share) / share
        except (ValueError, ArithmeticError, Warning):
            continue
    influence = by_means.on_first_rows(means)
    needed = np.isnan(means)[blocks] & (mass > 0)
    if needed.any():
        # There is no score without this block, such as the only one with some class.
        # How far the score varies with its rows is not known at all.
        influence += all_on_one_row(whole, mass, int(np.argmax(needed)))
    return influence


class BlockMeans:
    """Makes values of rows from means over fixed blocks, for one model after another.

    All of a block's value is put on its first row. Then sums of squares count blocks
    and not rows, so that a test is not surer than the blocks allow. Rows of blocks that
    are not known have the value 0.

    Parameters
    ----------
    blocks : ndarray of shape (n_points,)
        Number of each row's block.
    mass : ndarray of shape (n_points,)
        Weight of each row.

    Examples
    --------
    >>> means = BlockMeans(np.array([0, 1, 0, 1]), np.ones(4))
    >>> means.on_first_rows(np.array([1.0, -1.0]))
    array([ 2., -2.,  0.,  0.])
    """

    def __init__(self, blocks: IntArray, mass: FloatArray) -> None:
        self.blocks, self.mass = blocks, mass
        self.sizes = np.bincount(blocks, mass, int(blocks.max()) + 1)
        rows = np.flatnonzero(mass > 0)
        self._there, first = np.unique(blocks[rows], return_index=True)
        self._first = rows[first]

    @property
    def numbers(self) -> range:
        """The numbers of the blocks."""
        return range(len(self.sizes))

    def on_first_rows(self, means: FloatArray) -> FloatArray:
        """Return the values of all rows; a mean that is not known is NaN."""
        values = np.zeros(len(self.blocks))
        sizes = self.sizes
        known = np.isfinite(means) & (sizes > 0)
        if not known.any():
            return values
        centred = means - np.average(means[known], weights=sizes[known])
        is_known = known[self._there]
        first, there = self._first[is_known], self._there[is_known]
        values[first] = centred[there] * sizes[there] / self.mass[first]
        return values


def all_on_one_row(score: float, mass: FloatArray, row: int) -> FloatArray:
    """Return values that leave all of the score to one row, and none to the others.

    Of two models the difference is then that of a single row, which proves nothing.

    Examples
    --------
    >>> 0.5 + all_on_one_row(0.5, np.ones(4), 1)
    array([0., 2., 0., 0.])
    """
    if not np.isfinite(score):
        return np.zeros(len(mass))
    values = np.full(len(mass), -score)
    values[row] += score * mass.sum() / mass[row]
    return values


def _some(values: Any, rows: IntArray) -> Any:
    if isinstance(values, list):
        return [np.asarray(table)[rows] for table in values]
    return take(values, rows)


def _parameters(function: Any) -> dict[str, Any]:
    """Return the parameters of a function with their defaults."""
    try:
        parameters = signature(function).parameters
    except (TypeError, ValueError):
        return {}
    return {
        name: None if one.default is one.empty else one.default
        for name, one in parameters.items()
    }
