"""From what users write beside a parameter's name to a marginal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvst._text import value_text
from cvst._values import is_number
from cvst.exceptions import InvalidInputError
from cvst.spaces._drawn import drawn
from cvst.spaces._foreign import foreign
from cvst.spaces._lists import Choices, Levels, choices, levels
from cvst.spaces._marginals import Marginal
from cvst.spaces._ranges import Floats, Integers
from cvst.spaces._scipy import Frozen, frozen

__all__ = ["marginal_of"]

WAYS = (
    "a list of values, a scipy distribution, cvst.spaces.floats(...), integers(...) "
    "or choices(...)"
)


def marginal_of(name: str, given: Any) -> Marginal:
    """Return the marginal of a parameter.

    Parameters
    ----------
    name : str
        The parameter, for messages.
    given : object
        A list, a distribution of scipy, Optuna or ConfigSpace, or one of ours.

    Examples
    --------
    >>> marginal_of("C", [1, 10]), marginal_of("kernel", ("rbf", "linear"))
    ([1, 10], choices(['rbf', 'linear']))
    """
    if isinstance(given, Floats | Integers | Choices | Levels | Frozen):
        return given
    listed = _as_list(given)
    if listed is not None:
        return _list_of(name, listed)
    # Before methods are looked for: in some versions ConfigSpace's objects have rvs,
    # and would be drawn from instead of read.
    return foreign(given) or _distribution(name, given)


def _as_list(given: Any) -> list[Any] | None:
    # Arrays and pandas' series, without importing pandas; 0-d arrays are single values.
    if hasattr(given, "__array__") and getattr(given, "ndim", 0) == 1:
        return list(given)
    # A word is a sequence of letters, but nobody means these.
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return list(given)
    return None


def _list_of(name: str, values: list[Any]) -> Marginal:
    if not values:
        raise InvalidInputError(
            f"{name}=[] holds no value to try. Give at least one, or leave {name} out."
        )
    # Only numbers have an order to learn from; one word makes all choices.
    if all(is_number(value) for value in values):
        return levels(values)
    return choices(values)


def _distribution(name: str, given: Any) -> Marginal:
    # Quantiles are better than draws: they keep the order and the ends of the range.
    if hasattr(given, "cdf") and hasattr(given, "ppf"):
        return frozen(given)
    if hasattr(given, "rvs"):
        return drawn(
            lambda n, rng: [given.rvs(random_state=rng) for _ in range(n)],
            f"{name}={value_text(given)}",
        )
    text = f"{name}={value_text(given)}"
    if isinstance(given, np.ndarray) and given.ndim > 1:
        raise InvalidInputError(
            f"{text} has {given.ndim} dimensions, but values come in a row. Give a "
            "list."
        )
    # Kernels of Gaussian processes can be called, but are single values too.
    if callable(given) and not hasattr(given, "get_params"):
        raise InvalidInputError(
            f"{text} is a function, which has no values to encode. Give {WAYS}."
        )
    if isinstance(given, set | frozenset | dict):
        raise InvalidInputError(f"{text} has no order of values. Give {WAYS}.")
    raise InvalidInputError(
        f"{text} is a single value, not a set of values to try. Write [{given!r}] to "
        f"fix it, or give {WAYS}."
    )
