"""Checks of the tables that the tests take: configurations in rows, points in columns.

A failed configuration has no row in a table. Its losses are NaN, NaN has no rank, and
what a failure means is for the race to say; so a table with NaN is refused here.
Infinite losses are ordinary values: the worst (or best) rank, tied among themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cvst.exceptions import InvalidInputError
from cvst.statistics._namespace import namespace_of

if TYPE_CHECKING:
    from cvst._typing import BoolArray, FloatArray

__all__ = ["as_losses", "as_outcomes", "rankable"]


def as_losses(losses: Any) -> Any:
    """Return a table of losses as floats, or say why it is not one.

    Parameters
    ----------
    losses : array-like of shape (n_configurations, n_points)
        Any boolean, integer or real dtype.

    Examples
    --------
    >>> as_losses([[0, 1], [2, 3]])
    array([[0., 1.],
           [2., 3.]])
    """
    if (xp := namespace_of(losses)) is not np:
        return _on_device(xp, losses)
    table = np.asarray(losses)
    _check_axes(table.shape)
    # Objects may hold None, and complex numbers have no order.
    if table.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"A table of dtype {table.dtype} does not hold comparable numbers. "
            "Convert it to float."
        )
    table = table.astype(np.float64, copy=False)
    _check_failed(int(np.isnan(table).any(axis=1).sum()), len(table))
    return table


def _on_device(xp: Any, losses: Any) -> Any:
    """Return a table of another library in double precision, checked as others are."""
    _check_axes(tuple(losses.shape))
    table = xp.asarray(losses, dtype=xp.float64)
    failed = xp.any(xp.isnan(table), axis=1)
    _check_failed(int(xp.sum(xp.asarray(failed, dtype=xp.int64))), int(table.shape[0]))
    return table


def _check_axes(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise InvalidInputError(
            f"A table of shape {shape} must have two axes, configurations and "
            "points. Reshape a single configuration to (1, n_points)."
        )


def _check_failed(n_failed: int, n_rows: int) -> None:
    if n_failed:
        raise InvalidInputError(
            f"{n_failed} of {n_rows} rows contain NaN, which cannot be ranked. "
            "Leave failed configurations out of the table."
        )


def as_outcomes(outcomes: npt.ArrayLike) -> BoolArray:
    """Return a table of binary outcomes as booleans, or say why it is not one.

    Parameters
    ----------
    outcomes : array-like of shape (n_configurations, n_points)
        Booleans, or numbers that are all 0 or 1.

    Examples
    --------
    >>> as_outcomes([[0, 1], [1, 1]])
    array([[False,  True],
           [ True,  True]])
    """
    table = np.asarray(outcomes)
    # What races hand over: nothing to check, and nothing to copy.
    if table.dtype == np.bool_ and table.ndim == 2:
        return table
    numbers = as_losses(table)
    binary: BoolArray = numbers != 0
    strange = binary & (numbers != 1)
    if strange.any():
        raise InvalidInputError(
            f"An outcome is {numbers[strange][0]:g}, but outcomes must be 0 or 1 (or "
            "booleans). Threshold the losses first, or use a test for losses."
        )
    return binary


def rankable(losses: FloatArray) -> npt.NDArray[np.float64 | np.intp]:
    """Return finite numbers in the same order.

    SciPy before 1.12 looks for NaN in a sum and mistakes ``inf - inf`` for one, so
    infinite losses are ranked by their position among all.

    Examples
    --------
    >>> rankable(np.array([[0.5, np.inf], [-np.inf, 0.5]])).tolist()
    [[1, 2], [0, 1]]
    """
    if not np.isinf(losses).any():
        return losses
    positions = np.unique(losses, return_inverse=True)[1]
    return positions.reshape(losses.shape)
