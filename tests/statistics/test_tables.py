"""What counts as a table, and how the others are refused."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.statistics import (
    cochran_q_exact_p_value,
    cochran_q_prefixes,
    cochran_q_test,
    friedman_prefixes,
    friedman_test,
    kruskal_wallis_prefixes,
    kruskal_wallis_test,
    wilson_prefixes,
    wilson_test,
)

LOSS_TESTS = [
    friedman_test,
    friedman_prefixes,
    kruskal_wallis_test,
    kruskal_wallis_prefixes,
]
OUTCOME_TESTS = [
    cochran_q_test,
    cochran_q_prefixes,
    cochran_q_exact_p_value,
    wilson_test,
    wilson_prefixes,
]


@pytest.mark.parametrize("test", LOSS_TESTS + OUTCOME_TESTS)
def test_nan_is_refused_at_the_call_with_the_number_of_rows(test):
    """Also by the prefix forms, which compute nothing before they are iterated."""
    table = np.ones((5, 4))
    table[1, 2] = np.nan
    table[3] = np.nan
    with pytest.raises(InvalidInputError, match="2 of 5 rows contain NaN"):
        test(table)


@pytest.mark.parametrize("test", LOSS_TESTS + OUTCOME_TESTS)
@pytest.mark.parametrize("table", [np.ones(3), np.ones((2, 2, 2)), np.float64(1)])
def test_a_table_has_two_axes(test, table):
    with pytest.raises(InvalidInputError, match="two axes"):
        test(table)


@pytest.mark.parametrize("test", LOSS_TESTS + OUTCOME_TESTS)
@pytest.mark.parametrize("table", [[["a", "b"]], [[1j, 2j]], [[None, 1]]])
def test_a_table_holds_numbers(test, table):
    with pytest.raises(InvalidInputError, match="does not hold comparable numbers"):
        test(table)


@pytest.mark.parametrize("test", OUTCOME_TESTS)
@pytest.mark.parametrize("stranger", [0.5, -1, 2, np.inf])
def test_outcomes_are_zero_or_one(test, stranger):
    with pytest.raises(InvalidInputError, match=f"outcome is {stranger:g}"):
        test(np.array([[0, 1], [1, stranger]]))


@pytest.mark.parametrize("test", [*LOSS_TESTS, *OUTCOME_TESTS])
def test_the_callers_table_is_left_alone(test):
    """Read-only and Fortran-ordered tables work, hence nothing is written to them."""
    table = np.asfortranarray(np.eye(4, 7))
    table.setflags(write=False)
    result = test(table)
    if test.__name__.endswith("prefixes"):
        assert len(list(result)) == 3
