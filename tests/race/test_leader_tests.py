"""All against the leader."""

from __future__ import annotations

import numpy as np
from scipy.stats import binomtest

from cvst.race._leader_tests import excess_p_values
from cvst.statistics import paired_excess_test


def test_losses_of_0_and_1_are_compared_by_signs():
    """Each row has the p-value of a binomial test on the points that differ."""
    rng = np.random.default_rng(0)
    rows = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.7, 0.2], size=(6, 90))
    expected = [
        binomtest(int((row > 0).sum()), int((row != 0).sum()), 0.5, "greater").pvalue
        for row in rows
    ]
    np.testing.assert_allclose(excess_p_values(list(rows)), expected, rtol=1e-10)


def test_rows_of_any_length_keep_their_places():
    """The leader and failed fits are not tested; each other row is tested alone."""
    rng = np.random.default_rng(1)
    rows = [rng.normal(0.2, 1.0, size) for size in (30, 50, 30, 40)]
    failed = rng.normal(size=50)
    failed[7] = np.nan
    differences = [rows[0], np.zeros(30), rows[1], failed, rows[2], rows[3]]
    expected = [paired_excess_test([row])[0] for row in rows]
    p_values = excess_p_values(differences)
    np.testing.assert_allclose(p_values[[0, 2, 4, 5]], expected, rtol=1e-12)
    assert np.isnan(p_values[[1, 3]]).all()


def test_none_is_tested_where_all_are_leaders_or_failed():
    """Without a single difference there is no p-value."""
    assert np.isnan(excess_p_values([np.zeros(5), np.full(5, np.nan)])).all()
    assert excess_p_values([]).shape == (0,)
