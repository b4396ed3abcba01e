"""A hyper-parameter as an axis: numbers on a fitting scale, everything else beside.

Most parameters are numbers, but the estimator's own value may be ``None``, ``"scale"``
or a 0 on a logarithmic range. Such values get a place of their own left of the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import numpy as np

from cvst._text import shortened, value_text
from cvst._typing import BoolArray, Configuration, FloatArray

__all__ = ["NOT_SET", "ParameterAxis", "parameter_axis"]

NOT_SET = "not set"

# Distance between the places of values that are not on the scale.
GAP = 0.14

# A scale is logarithmic if the largest number is at least this many times the smallest,
# and the median lies nearer to the middle of the logarithms.
FEWEST_TIMES = 5

MOST_LEVEL_TICKS = 6


@dataclass(frozen=True, slots=True)
class ParameterAxis:
    """One hyper-parameter of some configurations.

    Attributes
    ----------
    name : str
        Its name.
    positions : ndarray of shape (n_configurations,)
        Numbers from 0 to 1; other values below 0, or from 0 to 1 where none is a
        number.
    ticks : tuple of (float, str)
        Where to write what.
    scale : {"linear", "log", "categories"}
        How numbers became positions.
    low, high : float
        Numbers at 0 and 1; NaN for categories.
    """

    name: str
    positions: FloatArray
    ticks: tuple[tuple[float, str], ...]
    scale: str
    low: float = np.nan
    high: float = np.nan

    @property
    def span(self) -> tuple[float, float]:
        """Ends of the axis, with a margin."""
        low = min(0.0, float(self.positions.min()))
        return low - 0.06, 1.06

    def number_at(self, position: float) -> float:
        """Return the number at a position of a scale."""
        if self.scale == "log":
            low, high = log10(self.low), log10(self.high)
            return float(10 ** (low + position * (high - low)))
        return float((1 - position) * self.low + position * self.high)


def parameter_axis(name: str, configurations: Sequence[Configuration]) -> ParameterAxis:
    """Return the axis of one hyper-parameter.

    Examples
    --------
    >>> axis = parameter_axis("C", [{"C": c} for c in (0, 0.01, 0.1, 1, None)])
    >>> axis.scale, axis.positions.round(2).tolist()
    ('log', [-0.14, 0.0, 0.5, 1.0, -0.28])
    """
    values = [one.get(name, NOT_SET) for one in configurations]
    numbers = np.array([_number_or_nan(value) for value in values])
    if not np.isfinite(numbers).any():
        return _categories(name, values)
    scale = _scale(numbers[np.isfinite(numbers)])
    if scale == "log":
        # A 0 has no logarithm. It gets a place beside the scale, like None.
        numbers[numbers <= 0] = np.nan
    on_scale = np.isfinite(numbers)
    low, high = float(numbers[on_scale].min()), float(numbers[on_scale].max())
    positions = np.full(len(values), np.nan)
    positions[on_scale] = _place(numbers[on_scale], low, high, scale)
    ticks = [
        (float(_place(np.array([tick]), low, high, scale)[0]), _short(tick))
        for tick in _tick_numbers(np.unique(numbers[on_scale]), scale)
    ]
    others = _beside(values, on_scale)
    for place, (text, members) in enumerate(others.items(), start=1):
        positions[members] = -GAP * place
        ticks.insert(0, (-GAP * place, text))
    return ParameterAxis(name, positions, tuple(ticks), scale, low, high)


def _number_or_nan(value: Any) -> float:
    # True is an int to Python, but a category to people.
    if isinstance(value, bool | np.bool_) or not isinstance(
        value, int | float | np.integer | np.floating
    ):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.nan  # a whole number beyond all floats stands beside the scale


def _scale(numbers: FloatArray) -> str:
    """Choose the scale on which the numbers lie more evenly."""
    positive = np.unique(numbers[numbers > 0])
    # A 0 stands for "none at all" on a range of logarithms; negative numbers do not.
    if len(positive) < 3 or (numbers < 0).any():
        return "linear"
    low, high, middle = positive[0], positive[-1], float(np.median(positive))
    if high < FEWEST_TIMES * low:
        return "linear"
    # Neither a ratio nor a difference of numbers that are far apart may fit a float.
    below, whole = log10(middle) - log10(low), log10(high) - log10(low)
    logarithmic = abs(below / whole - 0.5)
    linear = abs((middle / 2 - low / 2) / (high / 2 - low / 2) - 0.5)
    return "log" if logarithmic < linear else "linear"


def _place(numbers: FloatArray, low: float, high: float, scale: str) -> FloatArray:
    if high == low:
        return np.full(len(numbers), 0.5)
    if scale == "log":
        first, last = np.log(low), np.log(high)
        return np.asarray((np.log(numbers) - first) / (last - first))
    return np.asarray((numbers / 2 - low / 2) / (high / 2 - low / 2))


def _beside(values: Sequence[Any], on_scale: BoolArray) -> dict[str, list[int]]:
    """Return the texts of values that are not on the scale, and where they occur."""
    others: dict[str, list[int]] = {}
    for place, value in enumerate(values):
        if not on_scale[place]:
            others.setdefault(_text(value), []).append(place)
    return others


def _categories(name: str, values: Sequence[Any]) -> ParameterAxis:
    texts = [_text(value) for value in values]
    levels = list(dict.fromkeys(texts))
    last = max(1, len(levels) - 1)
    where = {text: n / last for n, text in enumerate(levels)}
    if len(levels) == 1:
        # In the middle, as a single number is.
        where = {levels[0]: 0.5}
    positions = np.array([where[text] for text in texts])
    ticks = tuple((position, text) for text, position in where.items())
    return ParameterAxis(name, positions, ticks, "categories")


def _text(value: Any) -> str:
    return shortened(value_text(value), 18)


def _short(number: float) -> str:
    """Write three digits, and powers only where they are shorter.

    Examples
    --------
    >>> [_short(number) for number in (0.01, 1000, 12345, 1e6, 2.5e-7)]
    ['0.01', '1000', '12300', '1e6', '2.5e-7']
    """
    text = f"{number:.3g}"
    if "e" not in text:
        return text
    if 1 <= abs(number) < 1e5:
        return f"{float(text):.0f}"
    digits, power = text.split("e")
    return f"{digits}e{int(power)}"


def _tick_numbers(levels: FloatArray, scale: str) -> list[float]:
    """Return the levels if they are few, else round numbers between the ends."""
    if len(levels) <= MOST_LEVEL_TICKS:
        return [float(level) for level in levels]
    low, high = float(levels[0]), float(levels[-1])
    if scale == "log":
        return _powers(low, high)
    # About five numbers, whatever the range.
    step = _round_step((high - low) / 4)
    first, last = ceil(low / step), floor(high / step)
    return [n * step for n in range(first, last + 1)]


def _powers(low: float, high: float) -> list[float]:
    decades = log10(high / low)
    digits = (1, 2, 5) if decades < 1.5 else (1, 3) if decades < 2.5 else (1,)
    exponents = range(floor(log10(low)), ceil(log10(high)) + 1)
    every = max(1, round(decades / 5)) if len(digits) == 1 else 1
    powers = [d * 10.0**e for e in exponents if e % every == 0 for d in digits]
    # Rounding must not lose a power that is an end of the range.
    return [number for number in powers if low * 0.999 <= number <= high * 1.001]


def _round_step(step: float) -> float:
    """Return 1, 2 or 5 times a power of ten, not below a wanted step."""
    power = float(10.0 ** floor(log10(step)))
    return next(d * power for d in (1, 2, 5, 10) if d * power >= 0.999 * step)
