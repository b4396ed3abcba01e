"""The functions of grids: ranges of values and distributions to draw from.

Whole numbers can have any number of digits. NumPy and SciPy fail on those of more than
64 bits, so what need not be whole is handed to them as a float.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from scipy import stats

from cvst.exceptions import InvalidInputError

__all__ = ["FUNCTIONS", "Draw", "Function"]

# A grid is enumerated, so a range of more values than this is a slip of the pen.
LARGEST = 100_000

# NumPy draws whole numbers of 64 bits.
SMALLEST_DRAWN, LARGEST_DRAWN = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class Draw:
    """A distribution to draw a parameter from.

    Attributes
    ----------
    distribution : frozen scipy.stats distribution
        It has ``rvs``.
    """

    distribution: Any


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the grid language, with the arguments its error message shows."""

    make: Callable[..., list[Any] | Draw]
    usage: str

    def __call__(self, *positional: float, **named: float) -> list[Any] | Draw:
        """Return the values; TypeError if the arguments are not those of the usage."""
        return self.make(*positional, **named)


def _linspace(first: float, last: float, number: float) -> list[float]:
    # What is infinite gets a sentence of its own below.
    with np.errstate(over="ignore", invalid="ignore"):
        return _plain_floats(np.linspace(float(first), float(last), _count(number)))


def _logspace(
    first: float, last: float, number: float, *, base: float = 10
) -> list[float]:
    if base <= 0:
        raise InvalidInputError(f"base={base!r} must be positive")
    with np.errstate(over="ignore"):
        return _plain_floats(
            np.logspace(float(first), float(last), _count(number), base=float(base))
        )


def _geomspace(first: float, last: float, number: float) -> list[float]:
    if first <= 0 or last <= 0:
        raise InvalidInputError(
            f"its ends are values, not exponents, and {min(first, last)!r} is not "
            "positive"
        )
    return _plain_floats(np.geomspace(float(first), float(last), _count(number)))


def _range(*bounds: float) -> list[int]:
    if not 1 <= len(bounds) <= 3:
        # As if the signature had refused them: the message then shows the usage.
        raise TypeError
    if not all(isinstance(bound, int) for bound in bounds):
        raise InvalidInputError("it counts in whole numbers; use linspace for others")
    if len(bounds) == 3 and bounds[2] == 0:
        raise InvalidInputError("a step of 0 never arrives")
    values = range(*map(int, bounds))
    if values:
        # Not len(), which fails beyond the numbers of the machine.
        _count((values[-1] - values[0]) // values.step + 1)
    return list(values)


def _uniform(low: float, high: float) -> Draw:
    _check_order(low, high)
    # SciPy wants the width, not the upper end.
    width = float(high) - float(low)
    if not isfinite(width):
        raise InvalidInputError(
            f"{low!r} and {high!r} are further apart than a number can hold; bring "
            "them closer together"
        )
    return Draw(stats.uniform(float(low), width))


def _loguniform(low: float, high: float) -> Draw:
    _check_order(low, high)
    if low <= 0:
        raise InvalidInputError(f"its lower end {low!r} must be positive")
    return Draw(stats.loguniform(float(low), float(high)))


def _randint(low: float, high: float) -> Draw:
    if not (isinstance(low, int) and isinstance(high, int)):
        raise InvalidInputError("it draws whole numbers; use uniform for others")
    _check_order(low, high)
    for end in (low, high):
        if not SMALLEST_DRAWN <= end <= LARGEST_DRAWN:
            raise InvalidInputError(
                f"its end {end!r} is beyond {SMALLEST_DRAWN} to {LARGEST_DRAWN}; use "
                "uniform or loguniform for such numbers"
            )
    return Draw(stats.randint(low, high))


def _check_order(low: float, high: float) -> None:
    if not low < high:
        raise InvalidInputError(f"the lower end {low!r} must be below {high!r}")


def _count(number: float) -> int:
    if number != int(number) or not 1 <= number <= LARGEST:
        raise InvalidInputError(
            f"the number of values is {number!r}, but must be a whole number from 1 "
            f"to {LARGEST}"
        )
    return int(number)


def _plain_floats(values: Any) -> list[float]:
    # Configurations are printed and written to JSON, where np.float64 is in the way.
    plain = [float(value) for value in values]
    if not all(map(isfinite, plain)):
        raise InvalidInputError("its values run beyond what a number can hold")
    return plain


FUNCTIONS = {
    "logspace": Function(_logspace, "(exponent, exponent, number[, base=10])"),
    "linspace": Function(_linspace, "(first, last, number)"),
    "geomspace": Function(_geomspace, "(first, last, number)"),
    "range": Function(_range, "([first, ]end[, step]), the end not included"),
    "loguniform": Function(_loguniform, "(low, high)"),
    "uniform": Function(_uniform, "(low, high)"),
    "randint": Function(_randint, "(low, high), the high end not included"),
}
