"""The witness of every evaluator: one clone, one fit, one prediction at a time."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from cvst.evaluation import OneByOne, batch_evaluator_for


def assert_same_prediction(actual, expected, rtol, atol, message):
    """Compare numbers within a tolerance, labels exactly, lists part by part."""
    if isinstance(expected, list):
        assert len(actual) == len(expected), message
        for pair in zip(actual, expected, strict=True):
            assert_same_prediction(*pair, rtol, atol, message)
        return
    assert np.shape(actual) == np.shape(expected), message
    assert np.asarray(actual).dtype == np.asarray(expected).dtype, message
    if np.asarray(expected).dtype.kind == "f":
        np.testing.assert_allclose(
            actual, expected, rtol=rtol, atol=atol, err_msg=message
        )
    else:
        np.testing.assert_array_equal(actual, expected, err_msg=message)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Small fits are slowed down by threads that wait for each other."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def assert_same_as_one_by_one():
    """Compare an estimator's evaluator with clone-fit-predict on the same task."""

    def check(task, rtol=1e-9, atol=1e-9):
        evaluator = batch_evaluator_for(task.estimator)
        assert not isinstance(evaluator, OneByOne)
        groups = evaluator.groups(task.estimator, task.configurations)
        members = sorted(number for group in groups for number in group)
        assert members == sorted(task.configurations)
        expected = {o.configuration: o for o in OneByOne().evaluate(task)}
        actual = {}
        for group in groups:
            for outcome in evaluator.evaluate(task.only(group)):
                actual[outcome.configuration] = outcome
        assert sorted(actual) == sorted(expected)
        for index, outcome in expected.items():
            configuration = str(task.configurations[index])
            assert type(actual[index].error) is type(outcome.error), configuration
            if outcome.error is None:
                assert_same_prediction(
                    actual[index].prediction,
                    outcome.prediction,
                    rtol,
                    atol,
                    configuration,
                )
                if outcome.classes is not None:
                    assert_same_prediction(
                        actual[index].classes, outcome.classes, 0, 0, configuration
                    )

    return check


@pytest.fixture
def count_fits(monkeypatch):
    """Count the fits of a class from here on: who shares fits once."""

    def watch(estimator_class):
        calls = []
        fit = estimator_class.fit

        def counted(self, *args, **kwargs):
            calls.append(self)
            return fit(self, *args, **kwargs)

        monkeypatch.setattr(estimator_class, "fit", counted)
        return calls

    return watch
