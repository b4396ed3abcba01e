from __future__ import annotations

import numpy as np
import pytest

from cvst.proposals._local import (
    FIRST_STEP,
    LARGEST_STEP,
    SMALLEST_STEP,
    step_size,
)


def test_one_success_in_five_leaves_the_step():
    assert step_size(np.array([5.0, 4, 9, 9, 9, 9])) == pytest.approx(FIRST_STEP)


def test_steps_have_limits():
    assert step_size(np.full(500, 1.0)) == SMALLEST_STEP
    assert step_size(np.arange(500.0)[::-1]) == LARGEST_STEP
    assert step_size(np.array([1.0])) == FIRST_STEP
