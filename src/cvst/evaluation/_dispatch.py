"""Which evaluator serves which estimator: single dispatch, open to users."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import singledispatch
from typing import Any

from cvst._typing import Configuration
from cvst.evaluation._one_by_one import OneByOne
from cvst.evaluation._protocol import BatchEvaluator

__all__ = [
    "are_independent",
    "batch_evaluator_for",
    "carries",
    "covered_by_one_fit",
    "divides",
    "limited",
    "serve_exactly",
    "serve_exactly_by",
    "serve_lazily",
    "serves_device",
    "serves_one",
    "shares_exactly",
]

# Evaluators for classes of libraries that need not be installed.
_BY_NAME: dict[tuple[str, str], BatchEvaluator] = {}

# Classes that an evaluator of this library serves, but not their subclasses.
_EXACTLY: set[type] = set()


@singledispatch
def batch_evaluator_for(estimator: Any) -> BatchEvaluator:
    """Return the evaluator for an estimator, by its class.

    Register your own with ``@batch_evaluator_for.register(MyEstimator)``; it is used
    for that class and, unless they have their own, for its subclasses. An evaluator of
    this library is used for the very class it was written for only, since a subclass
    may fit differently.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> type(batch_evaluator_for(GaussianNB())).__name__
    'OneByOne'
    """
    evaluator = _BY_NAME.get(_full_name(type(estimator)))
    return one_by_one_for(estimator) if evaluator is None else evaluator


def one_by_one_for(estimator: Any) -> OneByOne:
    """Return what fits an estimator that no evaluator serves, with a reason to log.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> class Steeper(Ridge):
    ...     pass
    >>> one_by_one_for(Steeper()).reason
    'it is a subclass of Ridge, which may fit differently'
    """
    # A mixin may come first, and a subclass of a subclass is one too.
    for parent in type(estimator).__mro__[1:]:
        if parent in _EXACTLY or _full_name(parent) in _BY_NAME:
            return OneByOne(
                f"it is a subclass of {parent.__name__}, which may fit differently"
            )
    # Nothing was expected to be shared: this is for those who want to know it all.
    return OneByOne("no evaluator shares what its fits do", logging.DEBUG)


def _full_name(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


def covered_by_one_fit(estimator: Any) -> dict[str, str]:
    """Return what an estimator's evaluator says is covered by one fit.

    See :meth:`BatchEvaluator.covered_by_one_fit`.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> covered_by_one_fit(HistGradientBoostingRegressor(random_state=0))
    {'max_iter': 'smaller'}
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> covered_by_one_fit(make_pipeline(StandardScaler(), KNeighborsRegressor()))
    {'kneighborsregressor__n_neighbors': 'all', 'kneighborsregressor__weights': 'all'}
    """
    evaluator = batch_evaluator_for(estimator)
    # Users' evaluators need not inherit from the protocol, which has the default.
    own = getattr(evaluator, "covered_by_one_fit", None)
    return {} if own is None else dict(own(estimator))


def shares_exactly(estimator: Any, configurations: Iterable[Configuration]) -> bool:
    """Return whether shared work predicts what plain fits predict, but for rounding.

    See :attr:`BatchEvaluator.is_exact`; parts of pipelines and estimators in the
    configurations count too.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression, Ridge
    >>> shares_exactly(Ridge(), [{"alpha": 1.0}])
    True
    >>> shares_exactly(LogisticRegression(), [{"C": 1.0}])
    False
    """
    values = [value for one in configurations for value in one.values()]
    parts = [estimator, *estimator.get_params(deep=True).values(), *values]
    return all(
        getattr(batch_evaluator_for(part), "is_exact", True)
        for part in parts
        if hasattr(part, "fit")
    )


def limited(estimator: Any, configuration: Configuration, rounds: int) -> Configuration:
    """Return a configuration with a limited number of rounds of training.

    See :meth:`BatchEvaluator.limited`.
    """
    own = getattr(batch_evaluator_for(estimator), "limited", None)
    if own is None:
        return configuration
    fewer: Configuration = own(estimator, configuration, rounds)
    return fewer


def carries(evaluator: BatchEvaluator) -> bool:
    """Return whether looks go on from earlier ones.

    See :attr:`BatchEvaluator.carries`.
    """
    return bool(getattr(evaluator, "carries", False))


def serves_device(evaluator: BatchEvaluator, estimator: Any) -> bool:
    """Return whether an evaluator works on a device for an estimator.

    See :meth:`BatchEvaluator.serves_device`.
    """
    own = getattr(evaluator, "serves_device", None)
    return own is not None and bool(own(estimator))


def are_independent(evaluator: BatchEvaluator, estimator: Any, response: str) -> bool:
    """Return whether members of a group answer alike when others are missing.

    See :meth:`BatchEvaluator.are_independent`.
    """
    own = getattr(evaluator, "are_independent", None)
    return own is not None and bool(own(estimator, response))


def serves_one(evaluator: BatchEvaluator, estimator: Any) -> bool:
    """Return whether one configuration alone is not simply fitted.

    See :meth:`BatchEvaluator.serves_one`.
    """
    own = getattr(evaluator, "serves_one", None)
    return own is not None and bool(own(estimator))


def divides(evaluator: BatchEvaluator, estimator: Any, response: str) -> bool:
    """Return whether groups may be cut for more workers.

    See :meth:`BatchEvaluator.divides`.
    """
    own = getattr(evaluator, "divides", None)
    return own is not None and bool(own(estimator, response))


def serve_exactly(evaluator: BatchEvaluator, *classes: type) -> None:
    """Register an evaluator for these classes, but not for their subclasses."""
    serve_exactly_by(lambda _: evaluator, *classes)


def serve_exactly_by(choose: Callable[[Any], BatchEvaluator], *classes: type) -> None:
    """Register what chooses an evaluator for these classes, but not for subclasses."""

    def choose_for_own(estimator: Any) -> BatchEvaluator:
        # Single dispatch brings subclasses here too, and those may fit differently.
        own = type(estimator) in classes
        return choose(estimator) if own else one_by_one_for(estimator)

    for estimator_class in classes:
        _EXACTLY.add(estimator_class)
        batch_evaluator_for.register(estimator_class, choose_for_own)


def serve_lazily(evaluator: BatchEvaluator, module: str, *names: str) -> None:
    """Register an evaluator for classes by their names, without importing them.

    Subclasses have other names, so they are not served either.
    """
    for name in names:
        _BY_NAME[module, name] = evaluator
