"""The witness of every evaluator: one clone, one fit, one prediction at a time."""

from __future__ import annotations

import pytest
from threadpoolctl import threadpool_limits

from cvst.evaluation import OneByOne, batch_evaluator_for, check_evaluator


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Small fits are slowed down by threads that wait for each other."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def assert_same_as_one_by_one():
    """Check the contract of an estimator's evaluator, which must be one of its own."""

    def check(task, rtol=1e-9, atol=1e-9):
        evaluator = batch_evaluator_for(task.estimator)
        assert not isinstance(evaluator, OneByOne)
        check_evaluator(evaluator, task, rtol=rtol, atol=atol)

    return check


@pytest.fixture
def count_fits(monkeypatch):
    """Count the fits of a class from here on: what is shared is fitted once."""

    def watch(estimator_class):
        calls = []
        fit = estimator_class.fit

        def counted(self, *args, **kwargs):
            calls.append(self)
            return fit(self, *args, **kwargs)

        monkeypatch.setattr(estimator_class, "fit", counted)
        return calls

    return watch
