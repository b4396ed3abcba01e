"""Which evaluator serves which estimator: single dispatch, open to users."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from cvst.evaluation._one_by_one import OneByOne
from cvst.evaluation._protocol import BatchEvaluator

__all__ = ["batch_evaluator_for", "serve_exactly"]


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
    del estimator
    return OneByOne()


def serve_exactly(evaluator: BatchEvaluator, *classes: type) -> None:
    """Register an evaluator for these classes, but not for their subclasses."""

    def choose(estimator: Any) -> BatchEvaluator:
        return evaluator if type(estimator) in classes else OneByOne()

    for estimator_class in classes:
        batch_evaluator_for.register(estimator_class, choose)
