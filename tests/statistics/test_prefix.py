"""Walking along prefixes; witness: a plain loop over the tests of each prefix."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.statistics import (
    PrefixScan,
    Significance,
    friedman_prefixes,
    friedman_test,
    scan_prefixes,
)


def prefixes_with(*p_values):
    return iter([Significance(1.0, p_value) for p_value in p_values])


@pytest.mark.parametrize("seed", range(5))
def test_finds_the_first_significant_prefix(seed):
    rng = np.random.default_rng(seed)
    losses = rng.random((12, 50)) + np.linspace(0, 0.4, 12)[:, None]
    level = 0.05 / 11

    scan = scan_prefixes(friedman_prefixes(losses), level)

    p_values = [friedman_test(losses[:k]).p_value for k in range(2, 13)]
    n_tested = next((i + 1 for i, p in enumerate(p_values) if p <= level), 11)
    assert scan.p_values == tuple(p_values[:n_tested])
    assert friedman_test(losses[: scan.n_similar]).p_value > level
    if scan.n_similar < 12:
        assert friedman_test(losses[: scan.n_similar + 1]).p_value <= level


def test_takes_nothing_beyond_the_first_significant_prefix():
    prefixes = prefixes_with(0.9, 0.01, 0.8)
    assert scan_prefixes(prefixes, 0.05) == PrefixScan(2, (0.9, 0.01))
    assert next(prefixes).p_value == 0.8


def test_a_p_value_at_the_level_is_significant():
    assert scan_prefixes(prefixes_with(0.05, 0.9), 0.05).n_similar == 1


def test_all_are_similar_if_nothing_is_significant():
    assert scan_prefixes(prefixes_with(0.9, 0.8, 0.7), 0.05).n_similar == 4


def test_a_single_configuration_is_similar_to_itself():
    assert scan_prefixes(iter(()), 0.05) == PrefixScan(1, ())


@pytest.mark.parametrize("level", [-0.1, 1.1, float("nan")])
def test_impossible_levels_are_refused(level):
    with pytest.raises(InvalidInputError, match="must lie between 0 and 1"):
        scan_prefixes(prefixes_with(0.5), level)
