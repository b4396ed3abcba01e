from itertools import product

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.statistics import WaldTest
from cvst.theory import loser_boundaries, survival_probabilities


@pytest.mark.parametrize("win_probability", [0.1, 0.5, 0.95])
def test_survival_is_the_weight_of_the_traces_alive(win_probability):
    """Witness: all traces of nine steps, judged by the test of the race itself."""
    test = WaldTest(9)
    traces = np.array(list(product([False, True], repeat=9)))
    weights = np.prod(np.where(traces, win_probability, 1 - win_probability), axis=1)
    alive = np.ones(len(traces), dtype=bool)
    expected = []
    for step in range(1, 10):
        alive &= ~test.is_loser(traces[:, :step])
        expected.append(weights[alive].sum())

    actual = survival_probabilities(test, win_probability)

    np.testing.assert_allclose(actual, expected, rtol=1e-12)


def test_chances_may_change_from_step_to_step():
    """Certain flops and wins make a single trace, and its verdict is certain."""
    test = WaldTest(10)
    rng = np.random.default_rng(0)
    for trace in rng.random((50, 10)) < 0.7:
        dropped = [test.is_loser(trace[None, : s + 1])[0] for s in range(10)]
        expected = ~np.logical_or.accumulate(dropped)

        actual = survival_probabilities(test, trace.astype(float))

        np.testing.assert_array_equal(actual, expected)


def test_boundaries_are_those_of_the_test():
    test = WaldTest(10)

    np.testing.assert_array_equal(
        loser_boundaries(test), [test.loser_boundary(s) for s in range(1, 11)]
    )


def test_bad_chances_are_refused():
    with pytest.raises(InvalidInputError, match=r"shape \(3,\)"):
        survival_probabilities(WaldTest(10), [0.1, 0.2, 0.3])
    with pytest.raises(InvalidInputError, match="between 0 and 1"):
        survival_probabilities(WaldTest(10), 1.2)
