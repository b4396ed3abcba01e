from __future__ import annotations

import numpy as np
import pytest

from cvst.cli.terminal._forecast import Forecast
from cvst.race import Look, Observation, Problem, RaceState

SIZES = [90, 181, 272, 363, 454]
N_SAMPLES = 500
N_CONFIGURATIONS = 40


def new_forecast(sizes=SIZES, expected_looks=None, expected=N_CONFIGURATIONS):
    forecast = Forecast()
    looks = [
        {
            "stage": "race",
            "n_train": size,
            "n_test": N_SAMPLES - size,
            "max_configurations": N_CONFIGURATIONS,
            "expected_configurations": expected,
        }
        for size in sizes
    ]
    forecast.plan(
        {
            "looks": looks,
            "expected_looks": expected_looks or len(sizes),
            "n_samples": N_SAMPLES,
        }
    )
    return forecast


def seconds_each(n_train, exponent):
    return 1e-4 * n_train**exponent


def race_of(looks):
    """Return a race with these looks: training rows, seconds by configuration, drops.

    Seconds are NaN for those that do not take part.
    """
    problem = Problem(N_CONFIGURATIONS, N_SAMPLES)
    observations = []
    for n_train, seconds, drops in looks:
        seconds = np.asarray(seconds, dtype=float)
        present = np.flatnonzero(np.isfinite(seconds))
        train, test = problem.prefix(n_train)
        look = Look(train, test, n_train, present, "race")
        nothing = np.zeros(len(present))
        observations.append(
            Observation(
                look=look,
                mean_losses=nothing,
                standard_errors=nothing,
                top=np.ones(len(present), dtype=bool),
                p_values=nothing,
                fit_seconds=seconds[present],
                score_seconds=nothing,
                drops=dict.fromkeys(drops, "sequential test"),
                failures={},
            )
        )
    return RaceState(problem, tuple(observations))


def told(forecast, looks, slower=1.0):
    """Tell a forecast of looks one after the other."""
    for number in range(1, len(looks) + 1):
        seconds = slower * float(np.nansum(looks[number - 1][1]))
        forecast.saw(race_of(looks[:number]), seconds)
    return forecast


def alike(sizes, exponent, drops_last=()):
    looks = [
        (n, np.full(N_CONFIGURATIONS, seconds_each(n, exponent)), ()) for n in sizes
    ]
    looks[-1] = (*looks[-1][:2], drops_last)
    return looks


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.7, 3.0])
@pytest.mark.parametrize("slower", [1.0, 0.5, 2.0])
def test_the_forecast_comes_true_for_fits_of_polynomial_cost(exponent, slower):
    """After two looks the rest is known, whatever the power and the workers."""
    looks = alike(SIZES[:2], exponent, drops_last=range(15))
    forecast = told(new_forecast(), looks, slower)

    truth = sum(25 * seconds_each(n_train, exponent) for n_train in SIZES[2:])
    truth += seconds_each(N_SAMPLES, exponent)
    assert forecast.at_most() == pytest.approx(slower * truth)


def test_survivors_are_timed_by_themselves():
    """Those dropped were ten times as fast: what is left goes at the slow pace."""
    factors = np.where(np.arange(N_CONFIGURATIONS) < 30, 0.1, 1.0)
    looks = [(n, factors * seconds_each(n, 1.5), ()) for n in SIZES[:3]]
    looks[-1] = (*looks[-1][:2], range(30))
    forecast = told(new_forecast(), looks)
    truth = 10 * seconds_each(SIZES[3], 1.5)
    assert forecast.seconds_of(SIZES[3], 10) == pytest.approx(truth)


def test_work_shared_by_fewer_does_not_look_like_growth():
    """Five that share what forty shared take more each; the growth stays the same."""
    left = np.arange(N_CONFIGURATIONS) < 5
    looks = alike(SIZES[:3], 1.0, drops_last=np.flatnonzero(~left))
    alone = np.where(left, 8 * seconds_each(SIZES[3], 1.0), np.nan)
    forecast = told(new_forecast(), [*looks, (SIZES[3], alone, ())])
    truth = 5 * 8 * seconds_each(SIZES[4], 1.0)
    assert forecast.seconds_of(SIZES[4], 5) == pytest.approx(truth)


def test_what_is_expected_is_less_than_the_most():
    """The expected race has four looks: the next with all, the last with eight."""
    forecast = told(new_forecast(expected_looks=4, expected=8), alike(SIZES[:2], 1.0))
    truth = N_CONFIGURATIONS * seconds_each(SIZES[2], 1.0)
    truth += 8 * seconds_each(SIZES[3], 1.0)
    truth += seconds_each(N_SAMPLES, 1.0)
    assert forecast.about() == pytest.approx(truth)
    assert forecast.about() < forecast.at_most()


def test_nothing_is_forecast_from_nothing():
    forecast = new_forecast()
    assert forecast.seconds_of(90, 10) is None
    assert forecast.at_most() is None
    assert forecast.about() is None


def test_the_end_is_not_forecast_before_the_growth_is_known():
    """One look tells nothing about larger ones, and all about others of its size."""
    assert told(new_forecast(), alike(SIZES[:1], 1.0)).at_most() is None
    folds = told(new_forecast([400] * 5), alike([400], 1.0))
    rest = 4 * N_CONFIGURATIONS * seconds_each(400, 1.0)
    assert folds.at_most() == pytest.approx(rest + seconds_each(N_SAMPLES, 1.0))


@pytest.mark.parametrize("times", [(1.0, 0.0), (0.0, 1.0), (1.0, 1e9), (1e9, 1.0)])
def test_odd_clocks_give_finite_forecasts_that_are_not_negative(times):
    """A laptop that slept during a look must not turn the forecast into nonsense."""
    looks = [
        (n, np.full(N_CONFIGURATIONS, seconds), ())
        for n, seconds in zip(SIZES, times, strict=False)
    ]
    forecast = told(new_forecast(), looks)
    worst = 3 * N_CONFIGURATIONS * max(times) * (N_SAMPLES / SIZES[0]) ** 3
    seconds = forecast.at_most()
    assert seconds is None or 0 <= seconds <= worst
    assert 0 <= forecast.seconds_of(SIZES[2], N_CONFIGURATIONS) <= worst


def test_one_slow_look_does_not_upset_the_forecast():
    """A look that took twice its time doubles the forecast at most."""
    looks = alike(SIZES[:4], 1.5)
    looks[3] = (SIZES[3], 2 * looks[3][1], ())
    forecast = told(new_forecast(), looks)
    truth = N_CONFIGURATIONS * seconds_each(SIZES[4], 1.5)
    assert truth < forecast.seconds_of(SIZES[4], N_CONFIGURATIONS) < 2.4 * truth
