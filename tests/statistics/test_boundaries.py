"""Lines and verdicts; witness: a plain walk along each trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cvst.statistics._boundaries import ParallelBoundaries


@dataclass(frozen=True)
class HalfSlope(ParallelBoundaries):
    """Lines with exact arithmetic: they pass through whole numbers."""

    slope: float = 0.5
    intercept: float = 1.0
    winner_intercept: float = 2.0


def test_a_trace_on_the_line_is_a_loser():
    """With four steps the boundary is one win, exactly."""
    traces = np.array([[0, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0]], dtype=bool)
    assert HalfSlope().loser_boundary(4) == 1.0
    assert HalfSlope().is_loser(traces).tolist() == [True, True, False]


def test_a_constant_loser_falls_where_the_line_leaves_zero():
    assert HalfSlope().safety_zone == 2.0
    assert HalfSlope().is_loser(np.zeros((1, 1), dtype=bool)).tolist() == [False]
    assert HalfSlope().is_loser(np.zeros((1, 2), dtype=bool)).tolist() == [True]


def test_numbers_stay_numbers_and_arrays_arrays():
    assert isinstance(HalfSlope().winner_boundary(3), float)
    steps = np.arange(4)
    np.testing.assert_array_equal(HalfSlope().winner_boundary(steps), 2 + steps / 2)
    np.testing.assert_array_equal(HalfSlope().loser_boundary(steps), steps / 2 - 1)
