"""Parsimony: the simplest configuration that is not worse than the best."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cvst._typing import Configuration
from cvst.exceptions import InvalidInputError

__all__ = ["SimplestNotWorse", "check_refit"]

# What a sign says about the complexity of larger values.
SIGNS = {"+": 1.0, "-": -1.0}

COLUMN = "p_value_against_best"


@dataclass(frozen=True)
class SimplestNotWorse:
    """Choose the simplest configuration that no test finds worse than the best.

    For ``refit`` of a search, in the spirit of the rule of one standard error: of all
    configurations that met the best one on the same rows, and whose
    ``p_value_against_best`` is above the level, take the simplest.

    Parameters
    ----------
    simplest : str, sequence of str, or callable
        ``"max_depth:+"``: the larger, the more complex. ``"alpha:-"``: the larger, the
        simpler. Of several, the first counts most. A function gets the dictionary of a
        configuration and returns a number, or a tuple of numbers: the lower, the
        simpler. None (no limit) and parameters that a configuration does not have
        count as most complex.
    level : float, default=0.05
        A configuration with a p-value of at most this is worse than the best. The
        lower the level, the simpler the choice.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from cvst import RaceGridSearchCV
    >>> grid = {"max_depth": [1, 2, 3, 4, 6, None]}
    >>> search = RaceGridSearchCV(
    ...     DecisionTreeClassifier(random_state=0), grid, random_state=0,
    ...     refit=SimplestNotWorse("max_depth:+"))
    >>> search.fit(*load_breast_cancer(return_X_y=True)).best_params_
    {'max_depth': 2}
    """

    simplest: str | Sequence[str] | Callable[[Configuration], Any]
    level: float = 0.05

    def __post_init__(self) -> None:
        if not isinstance(self.level, int | float) or not 0 <= self.level < 1:
            raise InvalidInputError(
                f"level={self.level!r} must be a number from 0 to below 1; 0.05 is "
                "usual."
            )
        if not callable(self.simplest):
            _orders(self.simplest)

    def __call__(self, results: Mapping[str, Any]) -> int:
        """Return the index of the choice.

        Parameters
        ----------
        results : dict
            ``cv_results_`` of a race.
        """
        if COLUMN not in results:
            raise InvalidInputError(
                f"cv_results_ has no column {COLUMN!r}, which only races have. Use "
                "SimplestNotWorse with a search of cvst."
            )
        configurations, p_values = results["params"], np.asarray(results[COLUMN])
        keys = self.keys(configurations)
        # Not tested means no common rows, and so nothing that speaks for it.
        eligible = np.flatnonzero(np.nan_to_num(p_values, nan=0.0) > self.level)
        # The best has a p-value of 1 and is always eligible. Equally simple ones: the
        # likelier, then the first.
        return int(min(eligible, key=lambda n: (keys[n], -p_values[n], n)))

    def keys(self, configurations: Sequence[Configuration]) -> list[tuple[float, ...]]:
        """Return how complex configurations are, as tuples that can be compared."""
        if callable(self.simplest):
            keys = [_numbers(self.simplest, one) for one in configurations]
            lengths = {len(key) for key in keys}
            if len(lengths) > 1:
                raise InvalidInputError(
                    f"simplest={_name(self.simplest)} returned tuples of "
                    f"{min(lengths)} and of {max(lengths)} numbers. Return as many for "
                    "every configuration."
                )
            return keys
        orders = _orders(self.simplest)
        known = {name for one in configurations for name in one}
        for name, _ in orders:
            if name not in known:
                raise InvalidInputError(
                    f"simplest={self.simplest!r} names {name!r}, which is not a "
                    "parameter of the search. Its parameters are "
                    f"{', '.join(sorted(known))}."
                )
        return [
            tuple(_complexity(one, *order) for order in orders)
            for one in configurations
        ]


def check_refit(refit: Any, configurations: Sequence[Configuration]) -> None:
    """Refuse an order that does not fit the configurations before anything is fitted.

    Parameters
    ----------
    refit : object
        The argument of the search.
    configurations : sequence of dict
        Those that are known.
    """
    if isinstance(refit, SimplestNotWorse):
        refit.keys(configurations)


def _orders(simplest: Any) -> list[tuple[str, str]]:
    texts = [simplest] if isinstance(simplest, str) else simplest
    fine = isinstance(texts, Sequence) and all(isinstance(one, str) for one in texts)
    if not fine or not texts:
        raise InvalidInputError(
            f"simplest={simplest!r} must be text such as 'alpha:-', a list of such, or "
            "a function of a configuration."
        )
    orders = []
    for text in texts:
        # The last colon: names of steps may hold others.
        name, _, sign = text.rpartition(":")
        if not name or sign not in SIGNS:
            raise InvalidInputError(
                f"simplest={text!r} does not say which values are simple. Write "
                f"'{name or text}:+' if larger values are more complex, "
                f"'{name or text}:-' if they are simpler."
            )
        orders.append((name, sign))
    return orders


def _complexity(configuration: Configuration, name: str, sign: str) -> float:
    value = configuration.get(name)
    if value is None:
        return math.inf
    number = _float(value)
    if math.isnan(number):
        raise InvalidInputError(
            f"{name!r} has the value {value!r}, which is not a number. Pass a "
            "function of a configuration as simplest."
        )
    return SIGNS[sign] * number


def _numbers(
    function: Callable[[Configuration], Any], one: Configuration
) -> tuple[float, ...]:
    """Return what a function of the user's says about a configuration."""
    given = function(one)
    values = given if isinstance(given, tuple) else (given,)
    floats = tuple(map(_float, values))
    if not floats or any(map(math.isnan, floats)):
        raise InvalidInputError(
            f"simplest={_name(function)} returned {given!r} for {one}. Return a number "
            "or a tuple of numbers, the lower the simpler."
        )
    return floats


def _float(value: Any) -> float:
    """Return a number, NaN for what is not one; beyond all floats it is infinite."""
    is_number = isinstance(value, numbers.Real)
    try:
        return float(value) if is_number else math.nan
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
