"""One sentence for whatever is no count."""

from fractions import Fraction

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.theory._validation import check_count

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
