"""Distribution objects of Optuna and ConfigSpace, without importing either.

They are known by the name of their class and read by their public attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy.stats import norm, truncnorm

from cvst._values import is_number
from cvst.spaces._drawn import drawn
from cvst.spaces._lists import choices, levels
from cvst.spaces._marginals import Marginal
from cvst.spaces._ranges import floats, integers
from cvst.spaces._scipy import frozen

__all__ = ["foreign"]


def foreign(given: Any) -> Marginal | None:
    """Return the marginal of an Optuna or ConfigSpace object, None for any other."""
    # Subclasses count as what they inherit from, the nearest first.
    for ancestor in type(given).__mro__:
        if ancestor.__name__ in READERS:
            return READERS[ancestor.__name__](given)
    return None


def _optuna_float(given: Any) -> Marginal:
    return floats(given.low, given.high, log=given.log, step=given.step)


def _optuna_integer(given: Any) -> Marginal:
    return integers(given.low, given.high, log=given.log, step=given.step)


def _uniform_float(given: Any) -> Marginal:
    return floats(given.lower, given.upper, log=given.log)


def _uniform_integer(given: Any) -> Marginal:
    return integers(given.lower, given.upper, log=given.log)


def _normal_float(given: Any) -> Marginal:
    # What its sigma means on a logarithmic scale depends on the version.
    if getattr(given, "log", False):
        return _by_draws(given)
    # Bounds are optional in older versions of ConfigSpace.
    low, high = getattr(given, "lower", None), getattr(given, "upper", None)
    if low is None or high is None:
        return frozen(norm(given.mu, given.sigma))
    ends = [(end - given.mu) / given.sigma for end in (low, high)]
    return frozen(truncnorm(*ends, loc=given.mu, scale=given.sigma))


def _by_draws(given: Any) -> Marginal:
    return drawn(lambda n, rng: given.sample_value(n, seed=rng), repr(given))


def _ordinal(given: Any) -> Marginal:
    # The order of words is lost: only numbers have distances.
    if all(is_number(value) for value in given.sequence):
        return levels(given.sequence)
    return choices(given.sequence)


READERS: dict[str, Callable[[Any], Marginal]] = {
    "FloatDistribution": _optuna_float,
    "IntDistribution": _optuna_integer,
    # Optuna promises no order of the choices, not even of numbers.
    "CategoricalDistribution": lambda given: choices(given.choices),
    "UniformFloatHyperparameter": _uniform_float,
    "UniformIntegerHyperparameter": _uniform_integer,
    "CategoricalHyperparameter": lambda given: choices(
        given.choices, getattr(given, "weights", None)
    ),
    "OrdinalHyperparameter": _ordinal,
    "Constant": lambda given: choices([given.value]),
    "NormalFloatHyperparameter": _normal_float,
    "NormalIntegerHyperparameter": _by_draws,
    "BetaFloatHyperparameter": _by_draws,
    "BetaIntegerHyperparameter": _by_draws,
}
