"""Exact p-values of Cochran's Q; witnesses: enumeration, the binomial, the R tables."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import binomtest

from cvst.exceptions import InvalidInputError
from cvst.statistics import cochran_q_exact_p_value


def enumerated_p_value(outcomes):
    """Write out every table with the same column totals."""
    n_configurations = len(outcomes)
    observed = np.sum(outcomes.sum(axis=1) ** 2)
    columns = [
        [
            np.isin(np.arange(n_configurations), winners)
            for winners in combinations(range(n_configurations), int(n_successes))
        ]
        for n_successes in outcomes.sum(axis=0)
    ]
    squares = np.array(
        [np.sum(np.sum(table, axis=0) ** 2) for table in product(*columns)]
    )
    return np.mean(squares >= observed)


@pytest.mark.parametrize(("n_configurations", "n_points"), [(2, 8), (3, 6), (4, 4)])
@pytest.mark.parametrize("success_rate", [0.3, 0.6])
def test_equals_the_share_of_all_permutations(n_configurations, n_points, success_rate):
    rng = np.random.default_rng(n_points)
    for _ in range(5):
        outcomes = rng.random((n_configurations, n_points)) < success_rate
        expected = enumerated_p_value(outcomes)
        assert cochran_q_exact_p_value(outcomes) == pytest.approx(expected, rel=1e-13)


def test_equals_the_exact_values_of_the_reference_tables(r_cochran):
    cases = [case for case in r_cochran if case["branch"] == "permutation"]
    for case in cases:
        outcomes = [[int(character) for character in row] for row in case["rows"]]
        actual = cochran_q_exact_p_value(outcomes)
        np.testing.assert_allclose(actual, case["p_exact"], rtol=1e-9)
        # The package's own value, from 1000 random permutations.
        assert actual == pytest.approx(case["p"], abs=0.06)
    assert len(cases) >= 15


@pytest.mark.parametrize("n_points", [2, 12, 301])
def test_two_configurations_are_a_binomial_test(n_points):
    for n_wins in range(0, n_points + 1, max(1, n_points // 5)):
        first = np.arange(n_points) < n_wins
        actual = cochran_q_exact_p_value([first, ~first])
        expected = binomtest(n_wins, n_points).pvalue
        assert actual == pytest.approx(expected, rel=1e-9)


def test_far_tail_is_exact():
    """Beyond what any simulation could show: one table in 2^299."""
    outcomes = np.array([np.ones(300), np.zeros(300)])
    assert cochran_q_exact_p_value(outcomes) == 0.5**299


def test_agreement_everywhere_else_changes_nothing():
    rng = np.random.default_rng(1)
    outcomes = rng.random((4, 6)) < 0.5
    padded = np.hstack([outcomes, np.ones((4, 9)), np.zeros((4, 9))])
    assert cochran_q_exact_p_value(padded) == cochran_q_exact_p_value(outcomes)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (1, 3), (3, 0), (3, 3)])
def test_without_disagreement_the_p_value_is_one(shape):
    assert cochran_q_exact_p_value(np.ones(shape)) == 1.0


def test_too_large_a_table_is_refused_before_the_work():
    outcomes = np.random.default_rng(2).random((50, 50)) < 0.5
    with pytest.raises(InvalidInputError, match="50 configurations that disagree on"):
        cochran_q_exact_p_value(outcomes)
