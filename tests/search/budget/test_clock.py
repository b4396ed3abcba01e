"""A time budget is kept, says what it chose, and can be repeated without a clock.

The clock of these tests moves only when a model is fitted or predicts, so that every
second is accounted for and nothing depends on the machine.
"""

from __future__ import annotations

import logging
import re
from math import isclose
from types import SimpleNamespace

import numpy as np
import pytest
from fake_clock import Clock
from joblib import parallel_config
from scipy.stats import uniform
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.tree import DecisionTreeRegressor

from cvst import CVST, CrossValidation, RaceGridSearchCV, RaceRandomSearchCV
from cvst.exceptions import BudgetTooSmallError, FallbackWarning
from cvst.race import Look
from cvst.search._options import SearchOptions
from cvst.search._setup import prepare
from cvst.search.budget._choice import fitting_strategy
from cvst.search.budget._clock import TimeBudget
from cvst.search.budget._fewer import balanced_order
from cvst.search.budget._model import CostModel
from cvst.search.rows import read_inputs
from cvst.theory import PowerCurve

N = 2000
GRID = {"shift": np.linspace(0, 2, 40).tolist()}


class WorkClock(Clock):
    """Seconds that pass only when somebody works."""

    def __init__(self):
        super().__init__(1000.0)
        self.slower = 1.0
        self.n_fits = 0
        self.sizes = []

    def work(self, seconds):
        self.now += self.slower * seconds


CLOCK = WorkClock()


class Timed(RegressorMixin, BaseEstimator):
    """Predicts the mean plus a shift; a fit on all rows takes ``full`` seconds."""

    def __init__(self, shift=0.0, exponent=1.0, full=1.0, slow_after=None):
        self.shift = shift
        self.exponent = exponent
        self.full = full
        self.slow_after = slow_after

    def fit(self, X, y):
        CLOCK.n_fits += 1
        CLOCK.sizes.append(len(y))
        if self.slow_after is not None and CLOCK.n_fits > self.slow_after:
            CLOCK.slower = 6.0
        CLOCK.work(self.full * (len(y) / N) ** self.exponent)
        self.mean_ = float(np.mean(y))
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X):
        CLOCK.work(0.01 * self.full * len(X) / N)
        return np.full(len(X), self.mean_ + self.shift)


class Interrupted(Timed):
    """Somebody presses Ctrl-C on a fit on 380 rows, which is beyond the first look."""

    def fit(self, X, y):
        if self.shift == 0 and len(y) in range(370, 390):
            raise KeyboardInterrupt
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    global CLOCK
    CLOCK = WorkClock()
    monkeypatch.setattr("cvst.evaluation._one_by_one.perf_counter", CLOCK)
    monkeypatch.setattr(RaceGridSearchCV, "_clock", staticmethod(CLOCK))
    return CLOCK


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 1)), rng.normal(size=N)


def timed_search(budget, *, estimator=None, **options):
    options = {"strategy": "cvst", "random_state": 0, **options}
    estimator = Timed() if estimator is None else estimator
    return RaceGridSearchCV(estimator, GRID, time_budget=budget, **options)


@pytest.mark.filterwarnings("ignore::cvst.exceptions.FallbackWarning")
@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("budget", [5.0, 8.0, 20.0, 80.0, 400.0])
@pytest.mark.parametrize("strategy", ["cvst", "track_and_confirm"])
def test_the_budget_is_kept_final_fit_included(data, clock, exponent, budget, strategy):
    """Whatever the growth of the cost; a fit takes a second, so none is refused."""
    start = clock.now
    search = timed_search(budget, estimator=Timed(exponent=exponent), strategy=strategy)
    search.fit(*data)
    if search.race_.n_configurations == 40:
        # A step of the grid from the mean makes less difference than chance.
        assert search.best_params_["shift"] < 0.1
    assert search.predict(data[0]).shape == (N,)
    assert clock.now - start <= budget


@pytest.mark.parametrize("strategy", ["cvst", "track_and_confirm"])
def test_a_cut_race_is_complete_and_can_be_repeated_exactly(data, strategy):
    """Without a clock, with the stored settings: the same looks, the same winner."""
    search = timed_search(15.0, strategy=strategy).fit(*data)
    assert search.stop_reason_ == "time_budget"
    assert search.n_looks_ >= 1

    again = clone(search).set_params(**search.budget_settings_, time_budget=None)
    again.fit(*data)

    assert again.stop_reason_ == "max_looks"
    assert again.best_params_ == search.best_params_
    np.testing.assert_array_equal(again.race_.mean_losses, search.race_.mean_losses)
    np.testing.assert_array_equal(again.predict(data[0]), search.predict(data[0]))


def test_a_race_that_ends_by_itself_is_repeated_to_its_end(data):
    """Settings without a limit on the looks: nothing was cut."""
    search = timed_search(1e6).fit(*data)
    again = clone(search).set_params(**search.budget_settings_, time_budget=None)
    again.fit(*data)

    assert search.budget_settings_["max_looks"] is None
    assert again.stop_reason_ == search.stop_reason_ != "time_budget"
    np.testing.assert_array_equal(again.race_.mean_losses, search.race_.mean_losses)


def test_the_settings_repeat_a_race_that_the_user_ended(data):
    """By max_looks or by Ctrl-C: again the same looks and no more."""
    full = timed_search(1e6).fit(*data)
    limited = timed_search(1e6, max_looks=2).fit(*data)
    assert limited.budget_settings_["max_looks"] == 2

    interrupted = timed_search(1e6, on_interrupt="return")
    interrupted.estimator = Interrupted(shift=0.0)
    interrupted.fit(*data)
    assert interrupted.stop_reason_ == "interrupted"
    assert 1 <= interrupted.n_looks_ < full.n_looks_

    settings = interrupted.budget_settings_
    again = timed_search(1e6).set_params(**settings, time_budget=None).fit(*data)
    np.testing.assert_array_equal(
        again.race_.mean_losses, interrupted.race_.mean_losses
    )


@pytest.mark.parametrize("budget", [10.0, 12.0, 16.0, 20.0])
def test_a_look_for_which_there_is_no_time_does_not_begin(data, clock, budget):
    """Between the last look and all rows, there is no fit on any number of rows."""
    search = timed_search(budget).fit(*data)
    assert search.stop_reason_ == "time_budget"
    after = len(clock.sizes) - clock.sizes[::-1].index(search.race_.subset_sizes[-1])
    assert clock.sizes[after:] == [N]


def test_more_time_buys_more_steps_and_never_a_jump_of_the_error_bound(data):
    """9, 11 and 13 steps are known to be bad, and left out whatever fits cost."""
    search = timed_search(None)
    inputs = read_inputs(search.estimator, *data, {}, lambda params: (params, {}, {}))
    options = SearchOptions.of(search, search._clock)
    setup = prepare(options, list(ParameterGrid(GRID)), inputs)
    nothing = PowerCurve(0.0, 0.0, 1.0)
    for cost in (PowerCurve(0.0, 1 / N**3, 3.0), PowerCurve(0.01, 0.0, 1.0)):
        model = CostModel(fit=cost, predict=nothing, alone=cost)

        races = [fitting_strategy(setup, model, t) for t in np.linspace(0.5, 20, 100)]

        levels = [race.loser_level for race in races]
        steps = [race.max_steps for race in races[levels.count(0.5) :]]
        fitting = steps[steps.index(min(steps)) :]
        assert fitting == sorted(fitting)
        assert {8, 10, 14, 20} <= set(fitting) <= set(range(7, 21)) - {9, 11, 13}


def test_a_scarce_budget_raises_the_loser_level(data):
    """Losers are then dropped earlier, here as soon as the test allows: in step two."""
    search = timed_search(3.2, estimator=Timed(exponent=3)).fit(*data)
    assert search.strategy_.loser_level == 0.5
    assert search.strategy_.winner_level == 0.01
    assert search.stop_reason_ == "one_survivor"
    assert search.n_looks_ == 2


@pytest.mark.filterwarnings("ignore::cvst.exceptions.FallbackWarning")
def test_the_smallest_budget_named_by_the_error_is_enough(data, clock):
    """And it is not a wild guess: a race within a third of it is refused again."""
    with pytest.raises(BudgetTooSmallError) as error:
        timed_search(0.5).fit(*data)
    named = float(re.search(r"about (\S+) s\.", str(error.value))[1])

    start = clock.now
    search = timed_search(named).fit(*data)
    assert search.n_looks_ >= 1
    assert clock.now - start <= named
    with pytest.raises(BudgetTooSmallError):
        timed_search(named / 3).fit(*data)


@pytest.mark.parametrize(
    ("full", "told"), [(1e-4, r"0\.0001\d* s"), (200.0, r"6 min \d+ s")]
)
def test_times_of_the_choice_are_written_as_people_say_them(data, caplog, full, told):
    """A fit on all rows takes a tenth of a millisecond, or 200 seconds."""
    caplog.set_level(logging.INFO, logger="cvst")
    timed_search(2e5 * full, estimator=Timed(full=full)).fit(*data)
    [line] = [text for text in caplog.messages if text.startswith("time budget")]
    assert re.search(rf"{told} are reserved for the final fit; racing with CVST", line)
    assert re.search(r"\(measured in [^e]*\)", line)


def test_a_budget_too_small_for_all_races_fewer_and_says_so_once(data, clock):
    """Spread over the grid; the settings repeat the race without a clock."""
    start, budget = clock.now, 5.0
    search = timed_search(budget, estimator=Timed(exponent=0.5))
    with pytest.warns(FallbackWarning) as caught:
        search.fit(*data)
    assert clock.now - start <= budget
    n_raced = len(search.cv_results_["params"])
    assert 1 < n_raced < 40
    (warning,) = caught
    assert str(warning.message) == (
        f"time_budget={budget:g} seconds are too few for all 40 configurations: "
        f"{n_raced} of 40 are raced. Allow more time to race more of them."
    )
    shifts = search.cv_results_["param_shift"]
    assert set(shifts) <= set(GRID["shift"])
    assert list(shifts) == sorted(shifts)

    again = clone(search).set_params(**search.budget_settings_, time_budget=None)
    again.fit(*data)
    np.testing.assert_array_equal(again.race_.mean_losses, search.race_.mean_losses)


def test_a_random_search_races_the_first_of_its_draws(data, clock, monkeypatch):
    """As a search that was asked for fewer draws would."""
    monkeypatch.setattr(RaceRandomSearchCV, "_clock", staticmethod(clock))
    options = {"strategy": "cvst", "random_state": 0}
    space = {"shift": uniform(0, 2)}
    search = RaceRandomSearchCV(
        Timed(exponent=0.5), space, n_iter=50, time_budget=5.0, **options
    )
    with pytest.warns(FallbackWarning, match="of 50 are raced"):
        search.fit(*data)
    n_raced = search.budget_settings_["n_iter"]
    assert 1 < n_raced < 50
    draws = RaceRandomSearchCV(Timed(), space, n_iter=50, **options)._configurations()
    assert search.cv_results_["params"] == draws[:n_raced]
    again = clone(search).set_params(**search.budget_settings_, time_budget=None)
    again.fit(*data)
    np.testing.assert_array_equal(again.race_.mean_losses, search.race_.mean_losses)


def test_the_first_of_a_balanced_order_are_spread_over_the_grid():
    """The first six of a grid of six by six: every value of both axes once."""
    rng = np.random.default_rng(0)
    search = RaceGridSearchCV(
        Timed(), {"shift": [0, 1, 2, 3, 4, 5], "full": [1, 2, 3, 4, 5, 6]}
    )
    X, y = rng.normal(size=(N, 1)), rng.normal(size=N)
    inputs = read_inputs(search.estimator, X, y, {}, lambda params: (params, {}, {}))
    options = SearchOptions.of(search, search._clock)
    configurations = search._configurations()
    setup = prepare(options, configurations, inputs)
    first = [configurations[number] for number in balanced_order(setup)[:6]]
    assert {one["shift"] for one in first} == set(range(6))
    assert {one["full"] for one in first} == set(range(1, 7))


class Disturbed(Timed):
    """Its first fits on 400 rows are disturbed, as on a busy machine."""

    def fit(self, X, y):
        if len(y) == 400 and CLOCK.sizes.count(400) < 3:
            CLOCK.work(2.0)
        return super().fit(X, y)


def test_a_disturbed_measurement_alone_refuses_no_budget(data, clock):
    """It seems to grow like a cube, and the final fit to take minutes; it takes 1 s."""
    start = clock.now
    search = timed_search(60.0, estimator=Disturbed()).fit(*data)
    assert search.best_params_ == {"shift": 0.0}
    assert clock.now - start <= 60


def test_a_look_that_turns_out_slower_is_discarded(data, clock):
    """In the third look everything begins to take six times as long."""
    start = clock.now
    search = timed_search(60.0, estimator=Timed(slow_after=90)).fit(*data)
    assert search.stop_reason_ == "time_budget"
    assert search.n_looks_ == 2
    assert clock.slower > 1
    assert clock.now - start <= 60
    for observation in search.race_.observations:
        assert np.isfinite(observation.mean_losses).all()


def test_a_first_look_that_turns_out_slower_is_begun_again_with_fewer(data, clock):
    """The budget is not overrun to find out, and something useful is done in it."""
    start = clock.now
    estimator = Timed(slow_after=15)
    with pytest.warns(FallbackWarning, match="of 40 are raced"):
        search = timed_search(7.0, estimator=estimator, refit=False).fit(*data)
    assert clock.slower > 1
    assert clock.now - start <= 7
    assert 1 < len(search.cv_results_["params"]) < 40


@pytest.mark.filterwarnings("ignore::cvst.exceptions.FallbackWarning")
def test_a_first_look_far_slower_than_forecast_is_one_clear_error(data, clock):
    """A fit and the final fit take twelve seconds by then."""
    start = clock.now
    estimator = Timed(slow_after=18)
    with pytest.raises(BudgetTooSmallError, match="final fit") as error:
        timed_search(7.0, estimator=estimator).fit(*data)
    assert clock.slower > 1
    assert clock.now - start <= 7
    assert float(re.search(r"about (\S+) s\.", str(error.value))[1]) > 7


def test_without_a_final_fit_its_reserve_is_raced_with(data):
    """A cubic learner: the fit on all rows costs as much as several looks."""
    estimator = Timed(exponent=3, full=4)
    with_refit = timed_search(8.0, estimator=estimator).fit(*data)
    without = timed_search(8.0, estimator=estimator, refit=False).fit(*data)
    assert with_refit.strategy_.max_steps == without.strategy_.max_steps
    assert with_refit.n_looks_ < without.n_looks_


def test_other_strategies_are_stopped_by_the_clock(data, clock):
    """Folds need no steps to be chosen: those that fit are run."""
    start = clock.now
    strategy = CrossValidation(10)
    search = timed_search(200.0, strategy=strategy).fit(*data)

    assert search.stop_reason_ == "time_budget"
    assert search.budget_settings_ == {"max_looks": search.n_looks_}
    assert 3 <= search.n_looks_ <= 5
    assert clock.now - start <= 200


def test_the_choice_is_logged(data, caplog):
    """The sentence holds the measured exponent and the strategy."""
    with caplog.at_level(logging.INFO, logger="cvst"):
        search = timed_search(400.0, estimator=Timed(exponent=2)).fit(*data)
    event = next(r for r in caplog.records if r.cvst["event"] == "budget")
    assert repr(search.strategy_) in event.getMessage()
    assert isclose(event.cvst["exponent"], 2, abs_tol=0.25)


def test_a_lone_configuration_needs_no_budget(data):
    """It is fitted once and for all; there is nothing to choose."""
    search = RaceGridSearchCV(Timed(), {"shift": [0.0]}, time_budget=1.0)
    with pytest.warns(UserWarning, match="one configuration"):
        search.fit(*data)
    assert search.budget_settings_ == {}


def test_a_race_can_be_ended_after_so_many_looks(data):
    """Without any budget: the first looks of the same race."""
    full = timed_search(None).fit(*data)
    cut = timed_search(None, max_looks=2).fit(*data)
    assert cut.stop_reason_ == "max_looks"
    np.testing.assert_array_equal(cut.race_.mean_losses, full.race_.mean_losses[:, :2])


@pytest.mark.parametrize("budget", [0, -1.0, "10m"])
def test_a_budget_is_a_positive_number_of_seconds(data, budget):
    with pytest.raises(ValueError, match="time_budget"):
        timed_search(budget).fit(*data)


def test_workers_get_all_the_work_of_a_look(data, monkeypatch):
    """With time enough, a budget changes nothing but the number of steps."""
    monkeypatch.undo()
    grid = {"max_depth": [1, 2, 3, 4, 5], "min_samples_leaf": [1, 5]}
    options = {"strategy": "cvst", "random_state": 0, "n_jobs": 2}
    search = RaceGridSearchCV(DecisionTreeRegressor(), grid, time_budget=600, **options)
    with parallel_config(backend="threading"):
        search.fit(*data)
    plain = RaceGridSearchCV(
        DecisionTreeRegressor(), grid, strategy=CVST(max_steps=20), random_state=0
    ).fit(*data)
    assert search.strategy_.max_steps == 20
    np.testing.assert_array_equal(search.race_.mean_losses, plain.race_.mean_losses)


def test_looks_dearer_than_their_curve_do_not_raise_the_reserve_without_end():
    line = PowerCurve(0.0, 1e-3, 1.0)
    budget = TimeBudget(100.0, 0.0, lambda: 0.0, CostModel(line, line, line), True)
    look = Look(np.arange(100), np.arange(100, 200), 100, np.arange(2))
    # Those that stay share work at first, and no longer in the later looks.
    seconds = [0.05, *[0.2] * 12]
    for n_looks in range(1, len(seconds) + 1):
        last = np.full(2, seconds[n_looks - 1])
        seen = SimpleNamespace(
            look=look, fit_seconds=last, score_seconds=0 * last, seconds=last.sum()
        )
        budget.learn(
            SimpleNamespace(
                observations=[seen],
                subset_sizes=np.array([50, *[100] * 12][:n_looks]),
                present=np.ones((2, n_looks), bool),
                active=np.ones(2, bool),
                fit_seconds=np.tile(0.5 * np.array(seconds[:n_looks]), (2, 1)),
            )
        )
    assert budget.model.alone(100) < 0.4
