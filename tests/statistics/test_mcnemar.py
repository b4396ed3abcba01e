"""McNemar's exact test; witnesses: scipy's binomial test, Cochran's exact p-value."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from cvst.exceptions import InvalidInputError
from cvst.statistics import cochran_q_exact_p_value, mcnemar_exact


@pytest.mark.parametrize("error_rate", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("n_points", [5, 40, 800])
def test_agrees_with_the_binomial_test(n_points, error_rate):
    rng = np.random.default_rng(n_points)
    errors = rng.random((12, n_points)) < error_rate
    leader = errors[0]
    actual = mcnemar_exact(errors, leader)
    for row, p_value in zip(errors, actual, strict=True):
        worse, better = np.sum(row & ~leader), np.sum(~row & leader)
        if worse + better == 0:
            assert p_value == 1.0
        else:
            expected = binomtest(worse, worse + better, alternative="greater").pvalue
            assert p_value == pytest.approx(expected, rel=1e-9)


def test_is_half_of_cochrans_exact_p_value():
    """Where the excess is on the tested side, the two-sided p-value is twice ours."""
    leader = np.zeros(9, dtype=bool)
    leader[:2] = True
    errors = ~leader
    two_sided = cochran_q_exact_p_value([errors, leader])
    assert mcnemar_exact([errors], leader)[0] == pytest.approx(two_sided / 2)


def test_the_leader_is_not_worse_than_itself():
    leader = np.random.default_rng(1).random(50) < 0.3
    assert mcnemar_exact([leader], leader).tolist() == [1.0]


def test_far_tail_keeps_its_digits():
    """A thousand heads in a row."""
    assert mcnemar_exact(np.ones((1, 1000)), np.zeros(1000))[0] == pytest.approx(
        0.5**1000, rel=1e-9
    )


def test_a_handful_of_points_never_convinces_six_hundred_tests():
    """13 points are 13 coins: 2^-13 is above 0.05 / 609."""
    errors = np.zeros((1, 1000))
    errors[0, :13] = 1
    assert mcnemar_exact(errors, np.zeros(1000))[0] == pytest.approx(0.5**13)


@pytest.mark.parametrize("shape", [(0, 5), (3, 0)])
def test_empty_tables_show_nothing(shape):
    p_values = mcnemar_exact(np.zeros(shape), np.zeros(shape[1]))
    assert p_values.tolist() == [1.0] * shape[0]


def test_the_leader_is_seen_on_the_same_points():
    with pytest.raises(InvalidInputError, match=r"5 points .* leader's on 4"):
        mcnemar_exact(np.zeros((2, 5)), np.zeros(4))


def test_errors_are_zero_or_one():
    with pytest.raises(InvalidInputError, match=r"outcome is 0\.5"):
        mcnemar_exact([[0.5, 1.0]], [0, 1])
    with pytest.raises(InvalidInputError, match=r"outcome is 0\.5"):
        mcnemar_exact([[0, 1]], [0.5, 1])
