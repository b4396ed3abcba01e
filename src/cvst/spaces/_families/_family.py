"""What a family of estimators says about its parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from sklearn.base import is_classifier

from cvst._typing import Configuration
from cvst.spaces._ranges import Integers, integers

__all__ = ["Case", "Family", "Parameter", "Suggest", "at_most", "rows", "tuned_rounds"]

# Rounds of boosting if nothing is known of the data, and if they are large: rates of
# 0.01 need hundreds of rounds, and large data more than small ones.
ROUNDS = 1000
ROUNDS_OF_LARGE_DATA = 2000
LARGE_DATA = 50_000


@dataclass(frozen=True)
class Case:
    """An estimator, and what is known of its data.

    Attributes
    ----------
    estimator : estimator
        Whose parameters are to be tuned.
    n_samples, n_features : int or None
        Size of the data; None if unknown.
    """

    estimator: Any
    n_samples: int | None = None
    n_features: int | None = None

    @cached_property
    def params(self) -> dict[str, Any]:
        """The estimator's own parameters."""
        params: dict[str, Any] = self.estimator.get_params(deep=False)
        return params

    @property
    def classifies(self) -> bool:
        """Whether it predicts classes."""
        return bool(is_classifier(self.estimator))


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter worth tuning.

    Attributes
    ----------
    name : str
        Its name, as ``set_params`` takes it.
    values : object
        A list, or one of ``floats``, ``integers`` and ``choices``.
    reason : str
        One sentence: why it matters, and why in this range.
    aliases : tuple of str
        Other names of it, used instead if the estimator was made with one.
    """

    name: str
    values: Any
    reason: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """The space of a family of estimators.

    Attributes
    ----------
    parameters : tuple of Parameter
        What to tune, the most important first.
    start : list of dict
        Settings that are often good, different from each other.
    source : str
        What kind of source the ranges come from.
    rounds : tuple of (str, int) or None
        The number of boosting rounds: its name and the largest worth fitting.
    """

    parameters: tuple[Parameter, ...]
    start: list[Configuration]
    source: str
    rounds: tuple[str, int] | None = field(default=None)


Suggest: TypeAlias = Callable[[Case], Family]


def rows(names: Sequence[str], *values: Sequence[Any]) -> list[Configuration]:
    """Return configurations from a table with a row for each.

    Examples
    --------
    >>> rows(["C", "gamma"], (1, 0.1), (10, 0.01))
    [{'C': 1, 'gamma': 0.1}, {'C': 10, 'gamma': 0.01}]
    """
    return [dict(zip(names, row, strict=True)) for row in values]


def at_most(high: int, share: float, n_samples: int | None, low: int = 2) -> int:
    """Return a bound that is at most some share of the rows, if they are known.

    Examples
    --------
    >>> at_most(100, 0.1, None), at_most(100, 0.1, 200), at_most(100, 0.1, 5)
    (100, 20, 2)
    """
    if n_samples is None:
        return high
    return max(low, min(high, int(share * n_samples)))


def tuned_rounds(case: Case) -> Integers:
    """Return the numbers of boosting rounds worth a try."""
    # Fewer than 100 are too few for most rates of the range.
    large = case.n_samples is not None and case.n_samples >= LARGE_DATA
    return integers(100, ROUNDS_OF_LARGE_DATA if large else ROUNDS, log=True)
