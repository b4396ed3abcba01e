"""Losses for numbers: errors, deviances and the share of the spread they leave."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Self, TypeAlias

import numpy as np

from cvst._targets import to_array
from cvst._typing import BoolArray, FloatArray
from cvst.evaluation.losses._number_errors import negative_root, variance
from cvst.evaluation.losses._pointwise import PointwiseLoss, RowLosses
from cvst.exceptions import InvalidInputError, UnsupportedScoreError

__all__ = ["RegressionLoss"]

# Mean loss of the best constant on some rows, for each output.
Baseline: TypeAlias = Callable[[FloatArray, "FloatArray | None"], FloatArray]


class RegressionLoss(PointwiseLoss):
    """An error per row and output, averaged over the outputs.

    Parameters
    ----------
    function : callable
        Errors of arrays of shape (n_points, n_outputs).
    name : str
        scikit-learn's name of the metric.
    report : callable
        Score of a mean loss.
    multioutput : {"uniform_average", "variance_weighted"} or array-like
        How the outputs are averaged, as in scikit-learn.
    baseline : callable, default=None
        Loss of the best constant; then the score is the share of it that is explained.
    finite : bool
        Whether the explained share of a constant target is 0 (or 1), not NaN.
    nearest : str, default=None
        Score to use instead for several outputs; None if they are fine.
    single : bool
        Whether several outputs make it a score of another kind.
    domain : tuple of (callable, str), default=None
        Which targets are allowed, as a function and in words.
    """

    def __init__(
        self,
        function: Callable[[FloatArray, FloatArray], FloatArray],
        *,
        name: str,
        report: Callable[[FloatArray], FloatArray] = np.negative,
        multioutput: Any = "uniform_average",
        baseline: Baseline | None = None,
        finite: bool = True,
        nearest: str | None = None,
        single: bool = False,
        domain: tuple[Callable[[FloatArray], BoolArray], str] | None = None,
    ) -> None:
        super().__init__(function, name=name)
        self.report = report
        self.multioutput = multioutput
        self.baseline = baseline
        self.explains_variance = baseline is variance
        self.finite = finite
        self.nearest = nearest
        self.single = single
        self.spread: FloatArray | None = None
        self.domain = domain

    def for_target(self, estimator: Any, y: Any) -> Self:
        """Check that the targets are numbers that the loss can take."""
        del estimator
        truth = self.columns(y)
        # For its errors only: a wrong multioutput should fail before the first fit.
        self.output_weights(truth, np.ones(truth.shape[1]))
        if truth.shape[1] > 1 and self.nearest is not None:
            raise UnsupportedScoreError(
                f"{self.name} of {truth.shape[1]} outputs is not a function of one "
                f"mean over rows; the nearest score that works is {self.nearest!r}."
            )
        if self.domain is not None:
            allowed, rule = self.domain
            outside = truth[~allowed(truth)]
            if outside.size:
                raise InvalidInputError(
                    f"{self.name} needs {rule}, but y holds {outside[0]:g}. Transform "
                    "y or use 'neg_mean_squared_error'."
                )
        if self.baseline is None:
            return self
        resolved = copy(self)
        spread = self.baseline(truth, None)
        resolved.spread = np.where(spread > 0, spread, 1.0)
        return resolved

    def bind(self, y_true: Any, weights: Any = None) -> RowLosses:
        """Return the losses of predictions for fixed test rows."""
        truth = self.columns(y_true)
        losses = self.of_errors(truth, weights)

        def rows(prediction: Any, classes: Any) -> FloatArray:
            del classes
            predicted = self.columns(prediction)
            if predicted.shape != truth.shape:
                raise InvalidInputError(
                    f"The prediction has shape {np.shape(prediction)} for targets of "
                    f"shape {np.shape(y_true)}. Predict one value per row and output."
                )
            return losses(self.function(truth, predicted))

        return rows

    def of_errors(
        self, truth: FloatArray, weights: Any = None
    ) -> Callable[[FloatArray], FloatArray]:
        """Return what makes losses of errors of shape (n_points, n_outputs)."""
        plain = truth.shape[1] == 1 and self.baseline is None
        shares, flat = self._shares(truth, _floats(weights))

        def losses(errors: FloatArray) -> FloatArray:
            if plain:
                return errors[:, 0]
            counted = errors if weights is None else errors[np.asarray(weights) > 0]
            # An output that is constant on these rows explains all or nothing.
            rest = flat @ np.any(counted != 0, axis=0)
            return np.asarray(errors @ shares + rest, dtype=float)

        return losses

    def factor(self, y_true: Any) -> float | None:
        """Return the factor of one output's errors; None if there is more to it."""
        truth = self.columns(y_true)
        if truth.shape[1] > 1:
            return None
        if self.baseline is None:
            return 1.0
        shares, flat = self._shares(truth, None)
        return None if flat.any() else float(shares[0])

    def residuals(self, y_true: Any, prediction: Any) -> FloatArray | None:
        """Return target minus prediction, None for several outputs."""
        truth, predicted = self.columns(y_true), self.columns(prediction)
        if truth.shape[1] > 1:
            return None
        return np.asarray(truth - predicted)[:, 0]

    def score(self, mean_losses: Any, y_true: Any, weights: Any = None) -> FloatArray:
        """Turn mean losses into scikit-learn's score."""
        means = np.asarray(mean_losses, dtype=float)
        if self.baseline is None:
            return np.asarray(self.report(means))
        truth = self.columns(y_true)
        if self._is_undefined(truth, self.baseline(truth, _floats(weights))):
            return np.full_like(means, np.nan)
        return np.asarray(1.0 - means)

    def ranked(self, mean_losses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return roots where the score is one, else the mean losses."""
        if self.report is not negative_root:
            return super().ranked(mean_losses)
        roots = np.sqrt(mean_losses)
        # At zero the slope is infinite, but there all losses are zero, without any
        # spread.
        slopes = np.divide(0.5, roots, out=np.zeros_like(roots), where=roots > 0)
        return roots, slopes

    def _is_undefined(self, truth: FloatArray, spread: FloatArray) -> bool:
        """Return whether the explained share of these rows says nothing."""
        return len(truth) < 2 or not (self.finite or np.all(spread > 0))

    def columns(self, values: Any) -> FloatArray:
        array = to_array(values)
        try:
            # Also whole numbers: differences of unsigned ones would wrap around.
            numbers = array.astype(np.float64, copy=False)
        except OverflowError as error:
            raise InvalidInputError(
                f"{self.name} needs numbers, and some are beyond all that a float can "
                "be. Use smaller units."
            ) from error
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"{self.name} needs numbers, but got values such as "
                f"{array.ravel()[:1].tolist()}. Use a score for classes, such as "
                "'accuracy'."
            ) from error
        return numbers if numbers.ndim == 2 else numbers.reshape(len(numbers), -1)

    def _shares(
        self, truth: FloatArray, weights: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return factors of the errors, and what a constant output adds if missed."""
        n_outputs = truth.shape[1]
        nothing = np.zeros(n_outputs)
        if self.baseline is None:
            return self.output_weights(truth, np.ones(n_outputs)), nothing
        spread = self.baseline(truth, weights)
        if self._is_undefined(truth, spread) and self.spread is not None:
            # Such rows have no score of their own; they still tell models apart.
            spread = self.spread
        averaging = self.output_weights(truth, spread)
        constant = spread == 0
        shares = np.where(constant, 0.0, averaging / np.where(constant, 1.0, spread))
        return shares, np.where(constant, averaging, 0.0)

    def output_weights(self, truth: FloatArray, spread: FloatArray) -> FloatArray:
        n_outputs = truth.shape[1]
        uniform = np.full(n_outputs, 1.0 / n_outputs)
        if isinstance(self.multioutput, str):
            if self.multioutput == "uniform_average":
                return uniform
            if self.multioutput == "variance_weighted" and self.baseline is variance:
                # As scikit-learn does if no output varies.
                return spread / spread.sum() if spread.any() else uniform
            raise UnsupportedScoreError(
                f"multioutput={self.multioutput!r} does not give {self.name} as one "
                "number; the nearest that works is multioutput='uniform_average'."
            )
        given = np.asarray(self.multioutput, dtype=float)
        if given.shape != (n_outputs,):
            raise InvalidInputError(
                f"multioutput has shape {given.shape} for {n_outputs} outputs. Give "
                "one weight per output."
            )
        return np.asarray(given / given.sum())


def _floats(weights: Any) -> FloatArray | None:
    return None if weights is None else np.asarray(weights, dtype=float)
