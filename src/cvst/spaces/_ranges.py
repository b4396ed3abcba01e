"""Ranges of numbers, on plain and on logarithmic scales."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf, isclose, log
from typing import Any

import numpy as np

from cvst._typing import FloatArray
from cvst._values import is_number
from cvst.exceptions import InvalidInputError
from cvst.spaces._marginals import RandomValues

__all__ = ["Floats", "Integers", "floats", "integers"]

# A value counts as a level of a stepped range if it is this close to it, in steps.
STEP_TOLERANCE = 1e-6


def floats(
    low: float, high: float, *, log: bool = False, step: float | None = None
) -> Floats:
    """Return a range of real numbers.

    Parameters
    ----------
    low, high : float
        Ends of the range, both included.
    log : bool
        Whether the logarithm is uniform instead of the number.
    step : float or None
        Distance of the values, counted from ``low``; None for all of them.

    Returns
    -------
    Floats
        Goes into a dictionary of parameters, here and in scikit-learn's searches.

    Examples
    --------
    >>> floats(0.001, 1, log=True).decode(np.array([0.0, 0.5, 1.0]))
    [0.001, 0.03162277660168379, 1.0]
    """
    return Floats(low, high, log, step)


def integers(low: int, high: int, *, log: bool = False, step: int = 1) -> Integers:
    """Return a range of whole numbers.

    Parameters
    ----------
    low, high : int
        Ends of the range, both included (unlike ``scipy.stats.randint``).
    log : bool
        Whether small numbers get as much room as large ones: the chance of ``k`` is
        that of the interval from ``k - 1/2`` to ``k + 1/2`` under a uniform logarithm.
    step : int
        Distance of the values, counted from ``low``; 1 if ``log``.

    Returns
    -------
    Integers
        Goes into a dictionary of parameters, here and in scikit-learn's searches.

    Examples
    --------
    >>> integers(1, 1000, log=True).decode(np.array([0.0, 0.25, 0.5, 0.75, 1.0]))
    [1, 3, 22, 150, 1000]
    """
    return Integers(low, high, log, step)


@dataclass(frozen=True, repr=False)
class Floats(RandomValues):
    """A range of real numbers; made by :func:`floats`.

    Attributes
    ----------
    low, high : float
        Ends of the range.
    log : bool
        Whether the logarithm is uniform.
    step : float or None
        Distance of the values; None for all numbers in between.
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None

    def __post_init__(self) -> None:
        _check_ends(self, self.low, self.high)
        if self.log and self.low <= 0:
            raise InvalidInputError(
                f"{self} has a logarithmic scale and must start above 0. Raise low, or "
                "leave out log."
            )
        if self.step is None:
            return
        if self.log or not (is_number(self.step) and self.step > 0):
            raise InvalidInputError(
                f"{self} needs a step above 0 and no logarithmic scale. Leave out step "
                "or log."
            )

    def __repr__(self) -> str:
        # A step that is not a number is shown in the sentence that refuses it.
        text = f"{self.step:g}" if is_number(self.step) else repr(self.step)
        step = "" if self.step is None else f", step={text}"
        return f"floats({self.low:g}, {self.high:g}{_log_text(self.log)}{step})"

    n_choices = 0

    @property
    def n_values(self) -> float:
        """Number of different values."""
        if self.low == self.high:
            return 1
        return inf if self.step is None else self._last_level + 1

    @property
    def _last_level(self) -> int:
        assert self.step is not None
        # 0.3 / 0.1 comes out below 3, and the last level would be lost.
        return floor((self.high - self.low) / self.step + STEP_TOLERANCE)

    def encode(self, value: Any, clip: bool) -> float:
        """Return the share of the range below a value, NaN if it is outside."""
        if not is_number(value):
            return np.nan
        inside = min(max(float(value), self.low), self.high)
        # A value that was decoded and stored may be off the end by rounding.
        if not clip and not isclose(inside, value, rel_tol=1e-12):
            return np.nan
        if self.step is not None:
            return self._encode_level((inside - self.low) / self.step, clip)
        if self.low == self.high:
            return 0.5
        if self.log:
            return min(1.0, log(inside / self.low) / log(self.high / self.low))
        return (inside - self.low) / (self.high - self.low)

    def _encode_level(self, level: float, clip: bool) -> float:
        nearest = min(round(level), self._last_level)
        if not clip and abs(level - nearest) > STEP_TOLERANCE:
            return np.nan
        # The middle of its share: rounding then leads back to the same level.
        return (nearest + 0.5) / (self._last_level + 1)

    def decode(self, places: FloatArray) -> list[Any]:
        """Return the numbers at some shares of the range."""
        shares = np.clip(places, 0, 1)
        if self.step is not None:
            # A share of 1 belongs to the last level, not to one behind it.
            levels = np.minimum(shares * (self._last_level + 1), self._last_level)
            values = self.low + np.floor(levels) * self.step
        elif self.log:
            values = self.low * (self.high / self.low) ** shares
        else:
            values = self.low + (self.high - self.low) * shares
        # Rounding may step over the end.
        result: list[Any] = np.clip(values, self.low, self.high).tolist()
        return result

    def place(self, uniforms: FloatArray) -> FloatArray:
        """Return the draws as they are: shares of the range are uniform."""
        return uniforms

    def all_values(self) -> list[Any]:
        """Return the values of a range with steps."""
        n_values = int(self.n_values)
        return self.decode((np.arange(n_values) + 0.5) / n_values)


@dataclass(frozen=True, repr=False)
class Integers(RandomValues):
    """A range of whole numbers; made by :func:`integers`.

    Attributes
    ----------
    low, high : int
        Ends of the range, both included.
    log : bool
        Whether the logarithm is uniform.
    step : int
        Distance of the values.
    """

    low: int
    high: int
    log: bool = False
    step: int = 1

    def __post_init__(self) -> None:
        _check_ends(self, self.low, self.high)
        if not all(_is_whole(end) for end in (self.low, self.high, self.step)):
            raise InvalidInputError(
                f"{self} needs whole numbers. Use floats(...) for others."
            )
        if self.step < 1 or (self.log and (self.step > 1 or self.low < 1)):
            raise InvalidInputError(
                f"{self} needs a step of at least 1, and on a logarithmic scale a step "
                "of 1 and a start of at least 1. Change these, or leave out log."
            )
        for name in ("low", "high", "step"):
            # 10.0 may be given, but estimators check that values are whole.
            object.__setattr__(self, name, int(getattr(self, name)))

    def __repr__(self) -> str:
        step = "" if self.step == 1 else f", step={self.step!r}"
        return f"integers({self.low}, {self.high}{_log_text(self.log)}{step})"

    n_choices = 0

    @property
    def n_values(self) -> float:
        """Number of different values."""
        return (self.high - self.low) // self.step + 1

    def encode(self, value: Any, clip: bool) -> float:
        """Return the middle of a value's share of the range, NaN if it is outside."""
        if not is_number(value):
            return np.nan
        level = (value - self.low) / self.step
        nearest = min(max(round(level), 0), int(self.n_values) - 1)
        if not clip and abs(level - nearest) > STEP_TOLERANCE:
            return np.nan
        return (self._share_below(nearest) + self._share_below(nearest + 1)) / 2

    def _share_below(self, level: int) -> float:
        if self.log:
            # Half a unit at both ends, or the first and the last number would be drawn
            # half as often as their neighbours.
            start, end = self.low - 0.5, self.high + 0.5
            # level 0 gives 0 and level n_values gives 1: shares add up without a rest.
            return log((self.low + level - 0.5) / start) / log(end / start)
        return level / self.n_values

    def decode(self, places: FloatArray) -> list[Any]:
        """Return the whole numbers at some shares of the range."""
        shares = np.clip(places, 0, 1)
        if self.log:
            start, end = self.low - 0.5, self.high + 0.5
            levels = start * (end / start) ** shares + 0.5 - self.low
        else:
            levels = shares * self.n_values
        # The power above may be a digit off at both ends.
        whole = np.clip(np.floor(levels), 0, self.n_values - 1).astype(np.int64)
        values: list[Any] = (self.low + whole * self.step).tolist()
        return values

    def place(self, uniforms: FloatArray) -> FloatArray:
        """Return the draws as they are: shares of the range are uniform."""
        return uniforms

    def all_values(self) -> list[Any]:
        """Return the whole numbers."""
        return list(range(self.low, self.high + 1, self.step))


def _log_text(log: bool) -> str:
    return ", log=True" if log else ""


def _is_whole(value: Any) -> bool:
    return is_number(value) and bool(value == int(value))


def _check_ends(given: Floats | Integers, low: Any, high: Any) -> None:
    kind = type(given).__name__.lower()
    if not (is_number(low) and is_number(high)):
        raise InvalidInputError(
            f"{kind}({low!r}, {high!r}) needs two finite numbers. Use choices([...]) "
            "for other values."
        )
    if low > high:
        raise InvalidInputError(
            f"{kind}({low!r}, {high!r}) must not start above its end. Swap the two."
        )
