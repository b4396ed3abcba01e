"""The witness of every evaluator: one clone, one fit, one prediction at a time."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.evaluation import OneByOne, batch_evaluator_for


@pytest.fixture
def assert_same_as_one_by_one():
    """Compare an estimator's evaluator with clone-fit-predict on the same task."""

    def check(task, rtol=1e-9, atol=1e-9):
        evaluator = batch_evaluator_for(task.estimator)
        assert not isinstance(evaluator, OneByOne)
        groups = evaluator.groups(task.estimator, task.configurations)
        members = sorted(index for group in groups for index in group)
        assert members == list(range(len(task.configurations)))
        expected = {o.index: o for o in OneByOne().evaluate(task)}
        actual = {}
        for group in groups:
            for outcome in evaluator.evaluate(task.only(group)):
                actual[group[outcome.index]] = outcome
        assert sorted(actual) == sorted(expected)
        for index, outcome in expected.items():
            configuration = task.configurations[index]
            assert type(actual[index].error) is type(outcome.error), configuration
            if outcome.error is None:
                np.testing.assert_allclose(
                    actual[index].prediction,
                    outcome.prediction,
                    rtol=rtol,
                    atol=atol,
                    err_msg=str(configuration),
                )
                if outcome.classes is not None:
                    np.testing.assert_array_equal(
                        actual[index].classes, outcome.classes
                    )

    return check
