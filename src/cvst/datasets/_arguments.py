"""Checks and random numbers shared by the generators."""

from __future__ import annotations

from math import isfinite
from numbers import Integral, Real
from typing import TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from cvst.exceptions import InvalidInputError

__all__ = ["RandomState", "as_generator", "check_count", "check_noise"]

# What the generators accept as ``random_state``: scikit-learn's three and a Generator.
RandomState: TypeAlias = "int | np.random.RandomState | np.random.Generator | None"


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Return a NumPy Generator for any value that scikit-learn takes as a seed.

    A ``RandomState`` (or, for None, NumPy's global one) is advanced by one draw, so
    that the next call with it gives other numbers, as in scikit-learn.

    Examples
    --------
    >>> bool(as_generator(3).random() == as_generator(3).random())
    True
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    try:
        state = check_random_state(random_state)
    # scikit-learn's message does not say that a Generator will do as well.
    except ValueError:
        raise InvalidInputError(
            f"random_state={random_state!r} must be an integer from 0 to 2**32 - 1, "
            "a numpy RandomState or Generator, or None."
        ) from None
    # 128 bits, as many as NumPy takes from the system for a fresh generator.
    return np.random.default_rng(state.randint(2**32, size=4, dtype=np.uint32))


def check_count(name: str, value: object) -> None:
    """Refuse anything but a whole number of at least 1."""
    # True is an integer to Python; nobody means one row by it.
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InvalidInputError(
            f"{name}={value!r} must be a whole number of at least 1."
        )


def check_noise(value: object) -> None:
    """Refuse anything but a finite standard deviation."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Real)
        or not isfinite(value)
        or value < 0
    ):
        raise InvalidInputError(
            f"noise={value!r} must be a finite standard deviation of at least 0; "
            "0 gives the pure signal."
        )
