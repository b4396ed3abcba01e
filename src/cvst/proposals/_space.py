"""Points of a space of numbers in [0, 1] and choices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.exceptions import InvalidInputError

__all__ = [
    "as_choices",
    "inactive_as_observed",
    "perturbed",
    "squared_distances",
    "uniform_points",
]


def as_choices(n_choices: Sequence[int], n_dimensions: int, count: int) -> IntArray:
    """Check the arguments that every proposer gets."""
    choices = np.asarray(n_choices, dtype=np.intp)
    if choices.shape != (n_dimensions,) or n_dimensions == 0:
        raise InvalidInputError(
            f"n_choices has the shape {choices.shape}, but the points have "
            f"{n_dimensions} columns. Pass one number for each parameter, and at least "
            "one."
        )
    if (choices < 0).any():
        raise InvalidInputError(
            f"n_choices={choices.tolist()} holds a negative number. Pass 0 for a "
            "number in [0, 1] and k for k choices."
        )
    if count < 0:
        raise InvalidInputError(f"count={count} is negative. Ask for 0 or more points.")
    return choices


def uniform_points(
    choices: IntArray, count: int, rng: np.random.Generator
) -> FloatArray:
    """Draw points evenly from the whole space."""
    points = rng.random((count, len(choices)))
    return np.where(choices > 0, np.floor(points * np.maximum(choices, 1)), points)


def perturbed(
    points: FloatArray,
    choices: IntArray,
    step: float | FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Move some parameters of each point, at least one.

    Numbers take a normal step of standard deviation ``step`` and are reflected at the
    borders. Choices are drawn anew. Of d parameters about two or a third change,
    whatever is more: in many dimensions a step along all of them at once rarely helps.
    """
    n, d = points.shape
    share = min(1.0, max(2 / d, 1 / 3))
    moved = rng.random((n, d)) < share
    # An unmoved point would be a second evaluation of the same configuration.
    moved[np.arange(n), rng.integers(d, size=n)] = True
    steps = rng.normal(size=(n, d)) * np.reshape(step, (-1, 1))
    # A triangle wave reflects any step, however long, into [0, 1].
    numbers = 1 - np.abs(1 - np.abs(points + steps) % 2)
    drawn = np.where(choices > 0, uniform_points(choices, n, rng), numbers)
    return np.where(moved, drawn, points)


def squared_distances(
    left: FloatArray, right: FloatArray, choices: IntArray
) -> FloatArray:
    """Return squared distances by parameter, of shape (d, n_left, n_right).

    Different choices are 1 apart, and so is an inactive parameter from an active one.
    Two inactive ones are 0 apart.
    """
    a, b = left.T[:, :, None], right.T[:, None, :]
    squares = (a - b) ** 2
    categories = choices > 0
    if categories.any():
        squares[categories] = a[categories] != b[categories]
    if np.isnan(left).any() or np.isnan(right).any():
        missing = np.isnan(a) | np.isnan(b)
        # Differences with NaN are NaN and must not reach a kernel.
        squares[missing] = (np.isnan(a) != np.isnan(b))[missing]
    return squares


def inactive_as_observed(
    points: FloatArray, observed: FloatArray, choices: IntArray
) -> FloatArray:
    """Put NaN where the observations say that a parameter is inactive.

    In a conditional space a choice switches other parameters off. Proposed points have
    values everywhere, so before a model judges them its inactive parameters are found
    as follows: a parameter that was always NaN together with one value of a choice, and
    never with its other values, is NaN there.
    """
    missing = np.isnan(observed)
    result = points
    for j in np.flatnonzero(missing.any(axis=0)):
        switched_off = _switch(missing[:, j], observed, choices, points)
        if switched_off is not None:
            result = result.copy() if result is points else result
            result[switched_off, j] = np.nan
    return result


def _switch(
    missing: BoolArray, observed: FloatArray, choices: IntArray, points: FloatArray
) -> BoolArray | None:
    """Say which points lack a parameter, if one choice explains what is missing."""
    for c in np.flatnonzero(choices > 1):
        codes = observed[:, c]
        off = np.unique(codes[missing])
        # A choice that is itself inactive at times cannot be the only reason.
        if np.isnan(off).any() or np.isin(codes[~missing], off).any():
            continue
        switched: BoolArray = np.isin(points[:, c], off)
        return switched
    return None
