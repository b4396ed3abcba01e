"""The growth of costs, from noisy times."""

from __future__ import annotations

from dataclasses import astuple
from math import isclose

import numpy as np
import pytest

from cvst.theory import PowerCurve


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0])
def test_a_curve_finds_the_growth_of_noisy_times(exponent):
    """Times within five percent of a constant and a power, extrapolated tenfold."""
    rng = np.random.default_rng(0)
    sizes = 30 * 2 ** np.arange(6)
    times = 0.01 + 2.0 * (sizes / 1000) ** exponent
    curve = PowerCurve.fit(sizes, times * rng.uniform(0.95, 1.05, size=6))
    assert isclose(curve.exponent, exponent, abs_tol=0.35)
    assert 0.4 < curve(9600) / (2.0 * 9.6**exponent) < 2.5


def test_exact_times_are_met():
    """A constant and a square, both to be seen in the times."""
    sizes = 100 * 2 ** np.arange(6)
    curve = PowerCurve.fit(sizes, 0.5 + 1e-6 * sizes**2.0)
    np.testing.assert_allclose(
        [curve(size) for size in sizes], 0.5 + 1e-6 * sizes**2.0, rtol=0.05
    )
    assert curve.exponent == pytest.approx(2, abs=0.15)


def test_one_size_is_taken_to_grow_linearly():
    curve = PowerCurve.fit([100, 100], [1.0, 3.0])
    assert curve(200) == pytest.approx(4.0)


def test_growth_is_no_steeper_than_allowed():
    sizes = [10, 20, 40]
    curve = PowerCurve.fit(sizes, [1.0, 8.0, 64.0], steepest=1.0)
    assert curve.exponent <= 1


def test_no_bounded_curve_turns_noise_into_hours():
    """Times of small fits that double by chance: linear work stays near linear."""
    curve = PowerCurve.fit([100, 200, 400], [0.1, 0.4, 1.8], 1.3, 0.7, 1.0)
    assert 0.7 <= curve.exponent <= 1.3
    assert curve(40_000) < 1.8 * 100**1.3


def test_neither_part_of_a_curve_is_negative():
    """Times that fall with the rows: a constant, not a promise of less than nothing."""
    for curve in PowerCurve.plausible([100, 200, 400], [0.3, 0.2, 0.1]):
        assert curve.constant >= 0
        assert curve.coefficient >= 0


def test_noisier_times_leave_more_curves_open():
    """Twice the rows, twice the time; how sure that is depends on the noise."""
    sizes, times = [100, 200, 400, 800], [0.1, 0.2, 0.4, 0.8]
    ranges = []
    for noise in (0.02, 0.1, 0.5):
        ends = [
            curve(80_000) for curve in PowerCurve.plausible(sizes, times, noise=noise)
        ]
        ranges.append(max(ends) / min(ends))
    assert ranges == sorted(ranges)
    assert ranges[0] < ranges[-1]


def test_a_scaled_curve_takes_as_many_times_as_long_at_every_size():
    curve = PowerCurve(0.5, 1e-3, 1.5)
    for size in (1, 100, 10_000):
        assert curve.scaled(3.0)(size) == pytest.approx(3 * curve(size))


@pytest.mark.parametrize("sizes", [[100, 100], [100, 200, 400]])
def test_curves_are_of_plain_numbers(sizes):
    """Whatever was timed and scaled: plans print their seconds."""
    times = np.linspace(1.0, 2.0, len(sizes))
    for curve in PowerCurve.plausible(np.array(sizes), times):
        for one in (curve, curve.scaled(np.float64(2.0))):
            assert {type(value) for value in astuple(one)} == {float}
            assert type(one(np.int64(50))) is float
