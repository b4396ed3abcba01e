"""Checks of the numbers that a plan is made of, in one sentence each."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from numbers import Real
from typing import Any

import numpy as np

from cvst.exceptions import InvalidInputError

__all__ = ["check_count", "check_positive", "check_probability", "check_share"]


def check_probability(name: str, value: float | Fraction) -> None:
    """Raise unless the value lies in [0, 1]."""
    # Not "value < 0 or value > 1": no comparison with NaN holds, and NaN must fail.
    if not (_is_real(value) and 0 <= value <= 1):
        raise InvalidInputError(
            f"{name}={value!r} is not a probability: it must lie between 0 and 1."
        )


def check_share(name: str, value: float) -> None:
    """Raise unless the value lies in (0, 1]."""
    if not (_is_real(value) and 0 < value <= 1):
        raise InvalidInputError(
            f"{name}={value!r} must be a share of the whole, above 0 and at most 1."
        )


def check_positive(name: str, value: float, *, zero_allowed: bool = False) -> None:
    """Raise unless the value is positive (or zero where that makes sense)."""
    is_good = _is_real(value) and (value > 0 or (zero_allowed and value == 0))
    if not is_good:
        rule = "0 or more" if zero_allowed else "above 0"
        raise InvalidInputError(f"{name}={value!r} must be a number, {rule}.")


def _is_real(value: object) -> bool:
    """Return whether a value can be compared with numbers, and is meant as one."""
    # True equals 1, but nobody means one step by it.
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def check_count(name: str, value: Any, *, smallest: int = 1) -> None:
    """Raise unless the value is a whole number, not below the smallest one allowed."""
    # Neither infinity nor NaN can be made whole; no comparison with NaN holds.
    if not (_is_real(value) and smallest <= value < inf and int(value) == value):
        raise InvalidInputError(
            f"{name}={value!r} must be a whole number, {smallest} or more."
        )
