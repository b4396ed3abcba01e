"""Values that are listed one by one: ordered numbers, or categories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cvst._text import shortened, value_text
from cvst._typing import FloatArray
from cvst._values import exact_text, is_number, plain_value
from cvst.exceptions import InvalidInputError
from cvst.spaces._marginals import RandomValues

__all__ = ["Choices", "Levels", "choices", "levels"]


def choices(values: Iterable[Any], weights: Iterable[float] | None = None) -> Choices:
    """Return categories: values without an order, even if they are numbers.

    Parameters
    ----------
    values : iterable
        The categories; a value given twice is twice as likely.
    weights : iterable of float or None
        How likely each is, up to a common factor; None for equal chances.

    Returns
    -------
    Choices
        Goes into a dictionary of parameters, here and in scikit-learn's searches.

    Examples
    --------
    >>> choices(["rbf", "linear"], weights=[3, 1]).rvs(4, random_state=0)
    ['rbf', 'rbf', 'rbf', 'rbf']
    """
    listed = list(values)
    shares = _shares(listed, weights)
    distinct: list[Any] = []
    chances: list[float] = []
    for value, share in zip(listed, shares, strict=True):
        # One by one: values may be lists or estimators, which cannot be keys.
        known = next((i for i, one in enumerate(distinct) if _same(one, value)), None)
        if known is None:
            distinct.append(value)
            chances.append(share)
        else:
            chances[known] += share
    return Choices(tuple(distinct), tuple(chances))


def levels(values: Iterable[Any], weights: Iterable[float] | None = None) -> Levels:
    """Return numbers in ascending order.

    Parameters
    ----------
    values : iterable of numbers
        In any order; a number given twice is twice as likely.
    weights : iterable of float or None
        How likely each is, up to a common factor; None for equal chances.

    Examples
    --------
    >>> levels([10, 1, 1]).encode(10, clip=False).__round__(4)
    0.8333
    """
    listed = list(values)
    shares = _shares(listed, weights)
    # For the order alone. The values go on as given: an estimator may ask for int.
    numbers = np.array(listed, dtype=float)
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    chances = np.bincount(inverse.ravel(), weights=shares)
    return Levels(tuple(listed[i] for i in first), tuple(chances.tolist()))


@dataclass(frozen=True, eq=False, repr=False)
class Choices(RandomValues):
    """Categories; made by :func:`choices`.

    Attributes
    ----------
    values : tuple
        The categories, all different.
    weights : tuple of float
        Their chances, which sum to 1.
    """

    values: tuple[Any, ...]
    weights: tuple[float, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choices) and _same_lists(self, other)

    def __hash__(self) -> int:
        # Values need not be hashable, and equal objects have equal weights.
        return hash(self.weights)

    def __repr__(self) -> str:
        return f"choices({_listed(self.values)})"

    @property
    def n_choices(self) -> int:
        """Number of categories."""
        return len(self.values)

    @property
    def n_values(self) -> float:
        """Number of categories."""
        return len(self.values)

    def encode(self, value: Any, clip: bool) -> float:  # noqa: ARG002 (protocol)
        """Return the code of a category, NaN if it is not one."""
        codes = (code for code, one in enumerate(self.values) if _same(one, value))
        return float(next(codes, np.nan))

    def decode(self, places: FloatArray) -> list[Any]:
        """Return the categories of some codes."""
        codes = np.clip(np.rint(places), 0, len(self.values) - 1).astype(np.intp)
        return [self.values[code] for code in codes]

    def place(self, uniforms: FloatArray) -> FloatArray:
        """Return the codes of uniform draws."""
        codes: FloatArray = _below(self.weights, uniforms).astype(float)
        return codes

    def all_values(self) -> list[Any]:
        """Return the categories."""
        return list(self.values)


@dataclass(frozen=True, eq=False, repr=False)
class Levels(RandomValues):
    """A list of numbers in ascending order.

    Attributes
    ----------
    values : tuple
        The numbers as they were given, all different.
    weights : tuple of float
        Their chances, which sum to 1.
    """

    values: tuple[Any, ...]
    weights: tuple[float, ...]

    n_choices = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Levels) and _same_lists(self, other)

    def __hash__(self) -> int:
        return hash(self.weights)

    def __repr__(self) -> str:
        return _listed(self.values)

    @property
    def n_values(self) -> float:
        """Number of different values."""
        return len(self.values)

    def encode(self, value: Any, clip: bool) -> float:
        """Return the middle of a value's share, NaN if it is not in the list."""
        if not is_number(value):
            return np.nan
        numbers = np.array(self.values, dtype=float)
        level = int(np.argmin(np.abs(numbers - value)))
        # No absolute tolerance: 1e-9 and 1e-10 are two penalties.
        if not clip and not np.isclose(numbers[level], value, rtol=1e-9, atol=0):
            return np.nan
        return sum(self.weights[:level]) + self.weights[level] / 2

    def decode(self, places: FloatArray) -> list[Any]:
        """Return the numbers at some places."""
        return [self.values[level] for level in _below(self.weights, places)]

    def place(self, uniforms: FloatArray) -> FloatArray:
        """Return the draws as they are: each number has its share of them."""
        return uniforms

    def all_values(self) -> list[Any]:
        """Return the numbers."""
        return list(self.values)


def _shares(values: Sequence[Any], weights: Iterable[float] | None) -> FloatArray:
    if not values:
        raise InvalidInputError("An empty list holds no value to try. Give at least 1.")
    given = np.ones(len(values)) if weights is None else np.array(list(weights), float)
    if len(given) != len(values) or not np.all(np.isfinite(given) & (given > 0)):
        raise InvalidInputError(
            f"weights={given.tolist()} must be {len(values)} numbers above 0, one for "
            "each value. Leave out values that are never to be tried."
        )
    shares: FloatArray = given / given.sum()
    return shares


def _below(weights: Sequence[float], uniforms: FloatArray) -> Any:
    """Return which share each draw falls into."""
    # Without the last end, which rounding may leave below 1.
    ends = np.cumsum(weights)[:-1]
    return np.searchsorted(ends, np.clip(uniforms, 0, 1), side="right")


def _listed(values: Sequence[Any]) -> str:
    return shortened("[" + ", ".join(_shown(value) for value in values) + "]", 120)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else value_text(value, 30)


def _same_lists(one: Choices | Levels, other: Choices | Levels) -> bool:
    # Equal weights are equally many, so that map cuts off nothing.
    return one.weights == other.weights and all(map(_same, one.values, other.values))


def _same(one: Any, other: Any) -> bool:
    """Return whether two values of a parameter mean the same."""
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        # Compared by == arrays give an array, or fail if their shapes differ.
        return type(one) is type(other) and np.array_equal(one, other)
    one, other = plain_value(one), plain_value(other)
    # 1 and 1.0 are the same setting; True, which equals 1, is not a number here.
    if is_number(one) and is_number(other):
        return bool(one == other)
    # Two estimators with equal parameters are not equal, but written the same. So is
    # NaN, and a list of arrays, which cannot be compared.
    return type(one) is type(other) and exact_text(one) == exact_text(other)
