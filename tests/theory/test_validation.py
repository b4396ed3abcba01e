"""One sentence for whatever is not a count, a share or a probability."""

from fractions import Fraction

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.theory._validation import (
    check_count,
    check_positive,
    check_probability,
    check_share,
)

ENDLESS = np.inf, -np.inf, np.float64("inf"), np.nan, np.float64("nan")


@pytest.mark.parametrize(
    "value", [*ENDLESS, "a", "3", None, [3], 0, -1, 2.5, True, Fraction(5, 2)]
)
def test_what_is_no_count_is_refused(value):
    with pytest.raises(InvalidInputError, match="must be a whole number, 1 or more"):
        check_count("steps", value)


@pytest.mark.parametrize("value", [1, 3.0, np.int64(3), np.float32(3), 10**400])
def test_counts_pass(value):
    check_count("steps", value)


def test_the_smallest_may_be_another():
    check_count("steps", 0, smallest=0)
    with pytest.raises(InvalidInputError, match=r"steps=2 must be .* 3 or more"):
        check_count("steps", 2, smallest=3)


NO_NUMBERS = "a", "0.5", None, [0.5], 1j, True, np.nan


@pytest.mark.parametrize("value", [*NO_NUMBERS, -0.1, 1.1, np.inf])
def test_what_is_no_probability_is_refused(value):
    with pytest.raises(InvalidInputError, match="is not a probability"):
        check_probability("level", value)


@pytest.mark.parametrize("value", [*NO_NUMBERS, 0, -0.1, 1.1, np.inf])
def test_what_is_no_share_is_refused(value):
    with pytest.raises(InvalidInputError, match="must be a share of the whole"):
        check_share("rate", value)


@pytest.mark.parametrize("value", [*NO_NUMBERS, 0, -1])
def test_what_is_not_positive_is_refused(value):
    with pytest.raises(InvalidInputError, match="must be a number, above 0"):
        check_positive("seconds", value)


@pytest.mark.parametrize("value", [*NO_NUMBERS, -1])
def test_what_is_negative_is_refused(value):
    with pytest.raises(InvalidInputError, match="must be a number, 0 or more"):
        check_positive("seconds", value, zero_allowed=True)


@pytest.mark.parametrize("value", [1, 0.5, Fraction(1, 2), np.float32(0.5)])
def test_numbers_pass(value):
    check_probability("level", value)
    check_share("rate", value)
    check_positive("seconds", value)
    check_positive("seconds", 0, zero_allowed=True)
