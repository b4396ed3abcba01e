import numpy as np
import pytest

from cvst.datasets import load_example
from cvst.exceptions import InvalidInputError


def test_two_calls_return_the_same_data():
    """The documentation prints results that rest on it."""
    for task in ("classification", "regression"):
        X, y = load_example(task)
        X_again, y_again = load_example(task)
        np.testing.assert_array_equal(X, X_again)
        np.testing.assert_array_equal(y, y_again)
        assert X.shape == (300, 1)


def test_the_target_fits_the_task():
    """Two classes, or as many values as rows."""
    assert set(load_example("classification")[1]) == {0, 1}
    assert len(set(load_example("regression")[1])) == 300


def test_an_unknown_task_is_refused():
    """The message names the two that exist."""
    with pytest.raises(InvalidInputError, match="task='ranking' must be"):
        load_example("ranking")
