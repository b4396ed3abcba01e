"""Scores of numbers that are curves of several means: roots, explained variance."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from cvst._typing import FloatArray
from cvst.evaluation.losses._numbers import RegressionLoss
from cvst.evaluation.losses.influence._whole import Measured, WholeScore, shares_of
from cvst.exceptions import InvalidInputError

__all__ = ["ExplainedVariance", "MeanRoot"]


class _Moments(WholeScore):
    """What scores of several outputs have in common."""

    def __init__(self, rows: RegressionLoss, *, name: str, top: float) -> None:
        super().__init__(name=name, top=top)
        self.rows = rows

    def for_target(self, estimator: Any, y: Any) -> Self:
        """Check that the targets are numbers that the score can take."""
        self.rows.for_target(estimator, y)
        return self

    def residuals(self, y_true: Any, prediction: Any) -> FloatArray | None:
        """Return target minus prediction, None for several outputs."""
        return self.rows.residuals(y_true, prediction)

    def _tables(self, y_true: Any, prediction: Any) -> tuple[FloatArray, FloatArray]:
        truth, predicted = self.rows.columns(y_true), self.rows.columns(prediction)
        if predicted.shape != truth.shape:
            raise InvalidInputError(
                f"The prediction has shape {np.shape(prediction)} for targets of shape "
                f"{np.shape(y_true)}. Predict one value per row and output."
            )
        return truth, predicted


class MeanRoot(_Moments):
    """Minus the mean over outputs of the root of a mean error.

    With the mean r^2 of an output's errors e, the influence of a row on r is
    (e - r^2) / (2 r).

    Parameters
    ----------
    rows : RegressionLoss
        The errors, and how outputs are averaged.
    """

    def __init__(self, rows: RegressionLoss) -> None:
        super().__init__(rows, name=rows.name, top=0.0)

    def measure(self, y_true: Any, weights: Any = None) -> Measured:
        """Return the function that measures predictions for fixed test rows."""

        def measured(prediction: Any, classes: Any) -> tuple[float, FloatArray]:
            del classes
            truth, predicted = self._tables(y_true, prediction)
            shares = shares_of(len(truth), weights)
            errors = self.rows.function(truth, predicted)
            means = shares @ errors
            roots = np.sqrt(means)
            n_outputs = truth.shape[1]
            averaging = self.rows.output_weights(truth, np.ones(n_outputs))
            # An output without errors has no slope, but no row has influence on it
            # either.
            slopes = np.divide(
                averaging, 2 * roots, where=roots > 0, out=np.zeros(n_outputs)
            )
            return -float(averaging @ roots), -(errors - means) @ slopes

        return measured


class ExplainedVariance(_Moments):
    """One minus the variance of the errors over the variance of the targets.

    The influence of a row on a variance is its squared distance from the mean, minus
    the variance. That of the targets is the same for all models, so it is left alone.

    Parameters
    ----------
    rows : RegressionLoss
        r2 with the same averaging over outputs.
    """

    def __init__(self, rows: RegressionLoss) -> None:
        super().__init__(rows, name="explained_variance_score", top=1.0)

    def measure(self, y_true: Any, weights: Any = None) -> Measured:
        """Return the function that measures predictions for fixed test rows."""
        given = None if weights is None else np.asarray(weights, dtype=float)
        losses_of = self.rows.of_errors(self.rows.columns(y_true), given)

        def measured(prediction: Any, classes: Any) -> tuple[float, FloatArray]:
            del classes
            truth, predicted = self._tables(y_true, prediction)
            shares = shares_of(len(truth), weights)
            # Without its mean error a model has r2 = explained variance. As differences
            # of errors, which are exactly 0 where all errors are the same.
            errors = truth - predicted
            mean_error = np.average(errors, axis=0, weights=given)
            losses = losses_of((errors - mean_error) ** 2)
            mean = float(shares @ losses)
            return 1.0 - mean, mean - losses

        return measured
