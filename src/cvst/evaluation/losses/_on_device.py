"""Losses of a whole table of predictions, where it lives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cvst._targets import to_array
from cvst._typing import FloatArray
from cvst.evaluation.device import Arrays
from cvst.evaluation.losses._number_errors import absolute_error, squared_error
from cvst.evaluation.losses._numbers import RegressionLoss
from cvst.evaluation.losses._pointwise import PointwiseLoss

__all__ = ["TableLosses", "table_losses"]


# Fewer losses are tested on the host before a device has begun.
FEWEST_TESTED_THERE = 2**17

# Room for as many tables as tests make of one, twice.
COPIES_OF_TESTS = 20


class TableLosses(NamedTuple):
    """Losses of many configurations, back on the host.

    Attributes
    ----------
    losses : ndarray of shape (n_configurations, n_points)
        One loss per row.
    residuals : ndarray of shape (n_configurations, n_points) or None
        Target minus prediction, if asked for.
    means, standard_errors : ndarray of shape (n_configurations,)
        Of the losses; no errors for a single point.
    on_device : array of shape (n_configurations, n_points) or None
        The losses, if there are many and the device has room to test them.
    """

    losses: FloatArray
    residuals: FloatArray | None
    means: FloatArray
    standard_errors: FloatArray
    on_device: Any = None


def _squared(xp: Any, residuals: Any) -> Any:
    del xp
    return residuals * residuals


def _absolute(xp: Any, residuals: Any) -> Any:
    return xp.abs(residuals)


# Losses as functions of target minus prediction.
OF_RESIDUALS: dict[Any, Callable[[Any, Any], Any]] = {
    squared_error: _squared,
    absolute_error: _absolute,
}


def table_losses(
    loss: PointwiseLoss,
    y_test: Any,
    predictions: Any,
    arrays: Arrays,
    with_residuals: bool,
) -> TableLosses | None:
    """Return the losses of predictions that are on a device.

    Parameters
    ----------
    loss : PointwiseLoss
        What is compared.
    y_test : array-like of shape (n_points,)
        Targets of the test rows.
    predictions : array of shape (n_configurations, n_points)
        On the device.
    arrays : Arrays
        The device.
    with_residuals : bool
        Whether residuals are wanted too.

    Returns
    -------
    TableLosses or None
        None if the loss is none of those known there, a prediction is not finite, or
        memory is short.
    """
    # A subclass may define its losses in another way.
    if type(loss) is not RegressionLoss or loss.function not in OF_RESIDUALS:
        return None
    truth = to_array(y_test)
    if truth.shape != (predictions.shape[1],) or truth.dtype.kind not in "fiu":
        return None
    factor = loss.factor(truth)
    if factor is None:
        return None
    function = OF_RESIDUALS[loss.function]
    try:
        return _losses(function, factor, truth, predictions, arrays, with_residuals)
    except arrays.out_of_memory:
        # The host takes the predictions as they are.
        arrays.release()
        return None


def _losses(
    function: Callable[[Any, Any], Any],
    factor: float,
    truth: Any,
    predictions: Any,
    arrays: Arrays,
    with_residuals: bool,
) -> TableLosses | None:
    xp = arrays.xp
    residuals = arrays.put(truth.astype(np.float64))[None] - predictions
    losses = function(xp, residuals)
    if factor != 1.0:
        losses = losses * factor
    means = losses.mean(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        centred = losses - means[:, None]
        # In place, since a table may fill a good part of the device.
        centred *= centred
    # One wait for both. Of anything that is not finite the mean is not finite either.
    sums = arrays.together(means, centred.sum(axis=1))
    del centred
    known_means, squares = np.ascontiguousarray(sums.T)
    if not np.isfinite(known_means).all():
        return None
    n_points = len(truth)
    errors = np.full(len(sums), np.nan)
    if n_points > 1:
        errors = np.sqrt(squares / n_points / (n_points - 1))
    return TableLosses(
        arrays.fetch(losses),
        arrays.fetch(residuals) if with_residuals else None,
        known_means,
        errors,
        losses if _is_tested_there(losses, arrays) else None,
    )


def _is_tested_there(losses: Any, arrays: Arrays) -> bool:
    """Return whether the tests of the race had better read the losses on the device."""
    n_losses = losses.shape[0] * losses.shape[1]
    if n_losses < FEWEST_TESTED_THERE:
        return False
    return bool(8.0 * COPIES_OF_TESTS * n_losses < arrays.free_bytes())
