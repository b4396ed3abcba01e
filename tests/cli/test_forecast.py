from __future__ import annotations

import pytest

from cvst.cli._forecast import Forecast

SIZES = [90, 181, 272, 363, 454]
N_SAMPLES = 500


def seconds_each(n_train, exponent):
    return 1e-4 * n_train**exponent


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.7, 3.0])
def test_the_forecast_comes_true_for_fits_of_polynomial_cost(exponent):
    """After two looks the rest is known, whatever the power of the number of rows."""
    forecast = Forecast(SIZES, N_SAMPLES)
    for n_train in SIZES[:2]:
        forecast.saw(n_train, 40, 40 * seconds_each(n_train, exponent))

    remaining = forecast.at_most(n_left=25)

    truth = sum(25 * seconds_each(n_train, exponent) for n_train in SIZES[2:])
    truth += seconds_each(N_SAMPLES, exponent)
    assert remaining == pytest.approx(truth)


def test_nothing_is_forecast_from_nothing():
    forecast = Forecast(SIZES, N_SAMPLES)
    assert forecast.seconds_of(90, 10) is None
    assert forecast.at_most(10) is None


@pytest.mark.parametrize("times", [(1.0, 0.0), (0.0, 1.0), (1.0, 1e9), (1e9, 1.0)])
def test_odd_clocks_give_finite_forecasts_that_are_not_negative(times):
    """A laptop that slept during a look must not turn the forecast into nonsense."""
    forecast = Forecast(SIZES, N_SAMPLES)
    for n_train, seconds in zip(SIZES, times, strict=False):
        forecast.saw(n_train, 10, seconds)
    worst = 3 * 10 * max(times) * (N_SAMPLES / SIZES[0]) ** 3
    assert 0 <= forecast.at_most(10) <= worst


def test_folds_of_one_size_cost_the_same():
    forecast = Forecast([], N_SAMPLES)
    forecast.saw(400, 10, 5.0)
    forecast.saw(400, 10, 5.0)
    assert forecast.seconds_of(400, 10) == pytest.approx(5.0)


def test_one_slow_look_does_not_upset_the_forecast():
    """A look that took twice its time doubles the forecast at most."""
    forecast = Forecast(SIZES, N_SAMPLES)
    for step, n_train in enumerate(SIZES[:4]):
        factor = 2 if step == 3 else 1
        forecast.saw(n_train, 40, factor * 40 * seconds_each(n_train, 1.5))
    truth = 40 * seconds_each(SIZES[4], 1.5)
    assert truth < forecast.seconds_of(SIZES[4], 40) < 2.4 * truth
