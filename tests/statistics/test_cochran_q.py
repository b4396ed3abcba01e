"""Cochran's Q; witnesses: the R package, statsmodels, McNemar, and each prefix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import array_shapes, arrays
from statsmodels.stats.contingency_tables import cochrans_q, mcnemar

from cvst.exceptions import InvalidInputError
from cvst.statistics import Significance, cochran_q_prefixes, cochran_q_test
from cvst.statistics import cochran_q_exact_p_value as exact_p_value

NO_EVIDENCE = Significance(0.0, 1.0)


def table_of(case):
    return np.array([[character == "1" for character in row] for row in case["rows"]])


def n_discordant(outcomes):
    wins = outcomes.sum(axis=0)
    return np.count_nonzero((wins > 0) & (wins < len(outcomes)))


def test_agrees_with_r(r_cochran):
    """Chi-square and exact p-values on either side of the package's cut-off."""
    seen = set()
    for case in r_cochran:
        actual = cochran_q_test(table_of(case))
        p_value = case["p_exact"] if case["branch"] == "permutation" else case["p"]
        np.testing.assert_allclose(actual.statistic, case["q"], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(actual.p_value, p_value, rtol=1e-9)
        seen.add(case["branch"])
    assert seen == {"chi2", "permutation", "degenerate"}


def test_chi_square_on_request_agrees_with_r(r_cochran):
    for case in r_cochran:
        if case["branch"] != "degenerate":
            actual = cochran_q_test(table_of(case), exact=False)
            np.testing.assert_allclose(actual.p_value, case["p_chi2"], rtol=1e-9)


@pytest.mark.parametrize("n_configurations", [2, 3, 10])
@pytest.mark.parametrize("success_rate", [0.1, 0.5, 0.99])
def test_each_prefix_agrees_with_statsmodels(n_configurations, success_rate):
    """The one-pass statistics equal a fresh test of each prefix."""
    rng = np.random.default_rng(0)
    outcomes = rng.random((n_configurations, 500)) < success_rate

    actual = list(cochran_q_prefixes(outcomes, exact=False))

    expected = [cochrans_q(outcomes[:k].T) for k in range(2, n_configurations + 1)]
    np.testing.assert_allclose(
        [prefix.statistic for prefix in actual], [q.statistic for q in expected]
    )
    np.testing.assert_allclose(
        [prefix.p_value for prefix in actual], [q.pvalue for q in expected]
    )


def test_exact_p_value_where_the_table_is_small_and_only_there():
    """The rule is 24 entries on discordant points, for tables and for prefixes."""
    rng = np.random.default_rng(5)
    outcomes = rng.random((12, 40)) < 0.97
    prefixes = list(cochran_q_prefixes(outcomes))
    exact_sizes = []
    for k, prefix in enumerate(prefixes, start=2):
        points = n_discordant(outcomes[:k])
        assert prefix == cochran_q_test(outcomes[:k])
        if points >= 2 and points * k <= 24:
            exact_sizes.append(k)
            assert prefix.p_value == exact_p_value(outcomes[:k])
        elif points >= 2:
            chi_square = cochran_q_test(outcomes[:k], exact=False)
            assert prefix == chi_square
            assert prefix.p_value != pytest.approx(1.0)
    assert 0 < len(exact_sizes) < len(prefixes)


@pytest.mark.parametrize("n_points", [12, 13])
def test_cut_off_lies_between_24_and_26_entries(n_points):
    outcomes = np.array([np.ones(n_points), np.zeros(n_points)])
    exact = 2 * 0.5**n_points
    chi_square = cochran_q_test(outcomes, exact=False).p_value
    expected = exact if n_points == 12 else chi_square
    assert cochran_q_test(outcomes).p_value == pytest.approx(expected, rel=1e-12)


def test_two_configurations_are_mcnemars_test():
    outcomes = np.random.default_rng(6).random((2, 200)) < 0.4
    a, b = outcomes
    table = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
    chi_square = mcnemar(table, exact=False, correction=False)
    exact = mcnemar(table, exact=True)
    asymptotic = cochran_q_test(outcomes, exact=False)
    assert asymptotic.p_value == pytest.approx(chi_square.pvalue)
    assert asymptotic.statistic == pytest.approx(chi_square.statistic)
    assert cochran_q_test(outcomes, exact=True).p_value == pytest.approx(exact.pvalue)


@settings(max_examples=150, deadline=None)
@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=8)))
def test_prefixes_are_the_tests_of_the_prefixes(outcomes):
    for exact in ("auto", False):
        expected = [
            cochran_q_test(outcomes[:k], exact=exact)
            for k in range(2, len(outcomes) + 1)
        ]
        assert list(cochran_q_prefixes(outcomes, exact=exact)) == expected


@settings(max_examples=50, deadline=None)
@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=8)))
def test_successes_and_failures_are_interchangeable(outcomes):
    assert cochran_q_test(~outcomes) == cochran_q_test(outcomes)


@pytest.mark.parametrize("exact", ["auto", True, False])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (1, 0), (1, 3), (3, 0)])
def test_without_anything_to_compare_there_is_no_evidence(shape, exact):
    outcomes = np.ones(shape, dtype=bool)
    assert cochran_q_test(outcomes, exact=exact) == NO_EVIDENCE
    expected = [NO_EVIDENCE] * max(shape[0] - 1, 0)
    assert list(cochran_q_prefixes(outcomes, exact=exact)) == expected


@pytest.mark.parametrize("exact", ["auto", True, False])
@pytest.mark.parametrize("n_disagreements", [0, 1])
def test_one_point_of_disagreement_is_no_evidence(n_disagreements, exact):
    """Any order of a single point gives the same Q; R says q = 0, p = 1."""
    outcomes = np.ones((5, 30), dtype=bool)
    outcomes[:3, :n_disagreements] = False
    assert cochran_q_test(outcomes, exact=exact) == NO_EVIDENCE


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, np.float64])
def test_dtypes_do_not_matter(dtype):
    outcomes = np.random.default_rng(7).random((6, 300)) < 0.5
    typed = outcomes.astype(dtype)
    assert cochran_q_test(typed) == cochran_q_test(outcomes)
    assert list(cochran_q_prefixes(typed)) == list(cochran_q_prefixes(outcomes))


def test_far_tail_is_tiny_and_not_nan():
    outcomes = np.zeros((40, 5000), dtype=bool)
    outcomes[0] = True
    for result in (cochran_q_test(outcomes), *cochran_q_prefixes(outcomes)):
        assert 0.0 <= result.p_value < 1e-300


def test_unread_prefixes_cost_nothing():
    """Rows beyond the prefix asked for are not looked at: they may still change."""
    outcomes = np.random.default_rng(8).random((300, 200)) < 0.5
    prefixes = cochran_q_prefixes(outcomes)
    expected = cochran_q_test(outcomes[:2])
    outcomes[2:] = True
    assert next(prefixes) == expected


@pytest.mark.parametrize("test", [cochran_q_test, cochran_q_prefixes])
def test_unknown_exactness_is_refused(test):
    with pytest.raises(InvalidInputError, match="exact='yes' must be 'auto'"):
        test(np.eye(3), exact="yes")
