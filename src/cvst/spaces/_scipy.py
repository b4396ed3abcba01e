"""Distributions of scipy, and whatever else has ``cdf`` and ``ppf``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import inf, isclose, isinf
from typing import Any

import numpy as np

from cvst._text import shortened, value_text
from cvst._typing import FloatArray
from cvst._values import exact_text, is_number, plain_value
from cvst.exceptions import InvalidInputError
from cvst.spaces._lists import levels
from cvst.spaces._marginals import Marginal

__all__ = ["Frozen", "frozen"]

# The ends of an endless distribution: eight standard deviations of a normal one, about
# where a uniform draw of 53 bits ends too.
SMALLEST_SHARE = 2.0**-53


def frozen(distribution: Any) -> Marginal:
    """Wrap a distribution with ``cdf`` and ``ppf``.

    Examples
    --------
    >>> from scipy.stats import randint
    >>> frozen(randint(1, 5)).decode(np.array([0.0, 0.5, 1.0]))
    [1, 2, 4]
    """
    # Made from a table, such as rv_discrete(values=...): its numbers need not be whole.
    table = getattr(distribution, "xk", None)
    if table is not None:
        # Weights of 0 are refused in a list: what cannot be drawn cannot be chosen.
        possible = np.asarray(distribution.pk) > 0
        numbers = np.asarray(table)[possible].tolist()
        return levels(numbers, np.asarray(distribution.pk)[possible])
    wrapped = Frozen(distribution, _name(distribution))
    try:
        # A distribution without its arguments has the methods too, but they fail.
        usable = bool(np.all(np.isfinite(wrapped.decode(np.array([0.25, 0.75])))))
    except (TypeError, ValueError):
        usable = False
    if not usable:
        raise InvalidInputError(
            f"{shortened(str(wrapped), 200)} has no quantiles: its ppf fails at the "
            "probabilities 0.25 and 0.75. Give the distribution its arguments, such as "
            "loguniform(0.001, 1)."
        )
    return wrapped


@dataclass(frozen=True, repr=False)
class Frozen:
    """A distribution of numbers, each at the probability of all that are smaller.

    Attributes
    ----------
    distribution : object
        Has ``cdf``, ``ppf`` and, if its values are listed, ``pmf``.
    name : str
        How to write it; equal names mean equal distributions.
    """

    distribution: Any = field(compare=False)
    name: str

    n_choices = 0

    def __repr__(self) -> str:
        return self.name

    @property
    def n_values(self) -> float:
        """Number of different values."""
        low, high = self._support
        if low == high:
            return 1
        if not self._is_discrete or isinf(low) or isinf(high):
            return inf
        return round(high - low) + 1

    @cached_property
    def _is_discrete(self) -> bool:
        return hasattr(self.distribution, "pmf")

    @cached_property
    def _support(self) -> tuple[float, float]:
        if hasattr(self.distribution, "support"):
            low, high = self.distribution.support()
        else:
            low, high = self.distribution.ppf(0.0), self.distribution.ppf(1.0)
        return float(low), float(high)

    @cached_property
    def _cdf(self) -> Callable[[float], float]:
        """Return the distribution function inside the support.

        scipy checks its arguments for as long as a short fit takes, and each proposal
        is encoded. So the two most common functions are written out, as scipy computes
        them to the last bit.
        """
        frozen = self.distribution
        numbers = getattr(frozen, "args", ())
        family = getattr(getattr(frozen, "dist", None), "name", None)
        if len(numbers) == 2 and not getattr(frozen, "kwds", True):
            if family == "uniform":
                return partial(_uniform_cdf, *numbers)
            if family == "loguniform":
                return partial(_log_uniform_cdf, *np.log(numbers))
        cdf: Callable[[float], float] = frozen.cdf
        return cdf

    def encode(self, value: Any, clip: bool) -> float:
        """Return the probability of smaller values, NaN if the value is impossible.

        A listed number counts as half smaller than itself.
        """
        if not is_number(value):
            return np.nan
        low, high = self._support
        inside = min(max(float(value), low), high)
        if not clip and not isclose(inside, value, rel_tol=1e-12):
            return np.nan
        if not self._is_discrete:
            return float(self._cdf(inside))
        # Between two whole numbers there is no probability to halve.
        inside = round(inside) if clip else inside
        chance = float(self.distribution.pmf(inside))
        if chance == 0 and not clip:
            return np.nan
        return float(self.distribution.cdf(inside)) - chance / 2

    def decode(self, places: FloatArray) -> list[Any]:
        """Return the quantiles, whole numbers as ``int``."""
        low, high = self._support
        shares = np.clip(
            places,
            # ppf(0) of a discrete distribution is the number below its first.
            SMALLEST_SHARE if isinf(low) or self._is_discrete else 0.0,
            1.0 - SMALLEST_SHARE if isinf(high) else 1.0,
        )
        # Rounding may step over the end.
        quantiles = np.clip(self.distribution.ppf(shares), low, high)
        if self._is_discrete:
            # scipy returns whole numbers as floats, which estimators refuse.
            quantiles = quantiles.astype(np.int64)
        values: list[Any] = quantiles.tolist()
        return values

    def place(self, uniforms: FloatArray) -> FloatArray:
        """Return the draws as they are: probabilities are uniform."""
        return uniforms

    def all_values(self) -> list[Any]:
        """Return the whole numbers between the ends."""
        low, high = self._support
        if low == high:
            return [int(low) if self._is_discrete else low]
        return list(range(int(low), int(high) + 1))


def _uniform_cdf(low: float, width: float, value: float) -> float:
    return (value - low) / width


def _log_uniform_cdf(low: float, high: float, value: float) -> float:
    return float((np.log(value) - low) / (high - low))


def _name(distribution: Any) -> str:
    # Two frozen distributions are never equal; their names and arguments are.
    parts = getattr(distribution, "args", None), getattr(distribution, "kwds", None)
    family = getattr(getattr(distribution, "dist", None), "name", None)
    if parts[0] is None or parts[1] is None or not family:
        return value_text(distribution)
    arguments = [exact_text(plain_value(value)) for value in parts[0]]
    arguments += [
        f"{name}={exact_text(plain_value(value))}" for name, value in parts[1].items()
    ]
    return f"{family}({', '.join(arguments)})"
