"""Errors of predicted numbers, element by element, and those of the best constant.

Arrays have shape (n_points, n_outputs); the formulas are scikit-learn's.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy
from sklearn.metrics import d2_pinball_score

from cvst._typing import BoolArray, FloatArray

__all__ = [
    "LOG_DOMAIN",
    "absolute_error",
    "absolute_percentage_error",
    "negative_root",
    "pinball_baseline",
    "pinball_loss",
    "squared_error",
    "squared_log_error",
    "tweedie_baseline",
    "tweedie_deviance",
    "variance",
]


def _above_minus_one(truth: FloatArray) -> BoolArray:
    return np.asarray(truth > -1)


LOG_DOMAIN = (_above_minus_one, "targets above -1")


def squared_error(truth: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return (y - p)^2."""
    return np.asarray((truth - predicted) ** 2)


def absolute_error(truth: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return |y - p|."""
    return np.asarray(np.abs(truth - predicted))


def absolute_percentage_error(truth: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return |y - p| / |y|, with scikit-learn's guard against y = 0."""
    scale = np.maximum(np.abs(truth), np.finfo(np.float64).eps)
    return np.asarray(np.abs(truth - predicted) / scale)


def squared_log_error(truth: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return the squared difference of log(1 + y) and log(1 + p)."""
    _refuse(predicted, predicted > -1, "above -1")
    return np.asarray((np.log1p(truth) - np.log1p(predicted)) ** 2)


def pinball_loss(
    truth: FloatArray, predicted: FloatArray, *, alpha: float
) -> FloatArray:
    """Return the loss of the alpha quantile."""
    error = truth - predicted
    return np.where(error >= 0, alpha * error, (alpha - 1) * error)


def tweedie_deviance(
    truth: FloatArray, predicted: FloatArray, *, power: float
) -> FloatArray:
    """Return the unit deviance of a Tweedie distribution."""
    if power == 0:
        # The formula at the end would give the same, but predictions may be negative
        # here.
        return squared_error(truth, predicted)
    _refuse(predicted, predicted > 0, "above 0")
    if power == 1:
        # For a count of zero, 0 log 0 must be 0.
        deviance = xlogy(truth, truth / predicted) - truth + predicted
    elif power == 2:
        deviance = np.log(predicted / truth) + truth / predicted - 1
    else:
        # Below 0 targets may be negative, and have no real power: zero, as in
        # scikit-learn.
        base = np.maximum(truth, 0.0) if power < 0 else truth
        deviance = (
            base ** (2 - power) / ((1 - power) * (2 - power))
            - truth * predicted ** (1 - power) / (1 - power)
            + predicted ** (2 - power) / (2 - power)
        )
    return np.asarray(2 * deviance)


def negative_root(means: FloatArray) -> FloatArray:
    """Return minus the root of a mean."""
    return np.asarray(-np.sqrt(means))


def variance(truth: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Return the mean squared error of the mean."""
    if weights is None:
        # np.average gives the same, and takes twice as long to get there.
        return np.asarray(((truth - truth.mean(axis=0)) ** 2).mean(axis=0))
    mean = np.average(truth, axis=0, weights=weights)
    return np.asarray(np.average((truth - mean) ** 2, axis=0, weights=weights))


def pinball_baseline(
    truth: FloatArray, weights: FloatArray | None, *, alpha: float
) -> FloatArray:
    """Return the mean pinball loss of the quantile that scikit-learn compares with.

    Its definition of the quantile changes between versions. So its own score is asked
    about predictions that all miss by the same amount, whose mean loss is known.
    """
    # The score does not change, and far from zero a miss would lose its last digits.
    centred = truth - truth.mean(axis=0)
    spread = np.ptp(centred, axis=0)
    miss = np.where(spread > 0, spread, 1.0)
    missed = centred + miss if alpha < 0.5 else centred - miss
    score = d2_pinball_score(
        centred,
        missed,
        sample_weight=weights,
        alpha=alpha,
        multioutput="raw_values",
    )
    # No quantile is as bad as a miss by the whole range: 0 says that it is perfect.
    loss = miss * max(alpha, 1 - alpha)
    with np.errstate(divide="ignore"):
        return np.where(score == 0, 0.0, loss / (1.0 - np.asarray(score)))


def tweedie_baseline(
    truth: FloatArray, weights: FloatArray | None, *, power: float
) -> FloatArray:
    """Return the mean deviance of the mean."""
    mean = np.average(truth, axis=0, weights=weights)
    # There the deviance is not defined. NaN says so without ending the race.
    if power != 0 and np.any(mean <= 0):
        return np.full_like(mean, np.nan)
    predicted = np.broadcast_to(mean, truth.shape)
    deviance = tweedie_deviance(truth, predicted, power=power)
    return np.asarray(np.average(deviance, axis=0, weights=weights))


def _refuse(predicted: FloatArray, allowed: BoolArray, rule: str) -> None:
    """Fail as scikit-learn does; a race counts it as a flop of the configuration."""
    if not allowed.all():
        raise ValueError(
            f"a prediction is {predicted[~allowed][0]:g}, but the loss is defined for "
            f"predictions {rule}"
        )
