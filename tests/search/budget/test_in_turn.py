"""Where there is no time for a look at all, configurations are raced in turn."""

from __future__ import annotations

import re

import numpy as np
import pytest
from fake_clock import Clock
from scipy.stats import loguniform, uniform
from shifted_mean import ShiftedMean
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.neighbors import KNeighborsRegressor

from cvst import RaceGridSearchCV, RaceRandomSearchCV
from cvst.exceptions import BudgetTooSmallError, FallbackWarning
from cvst.race import LookCutError, RaceState
from cvst.race.machinery import Trial
from cvst.search._base import BaseRaceSearch
from cvst.search._listed import Listed
from cvst.search._options import SearchOptions
from cvst.search._setup import prepare
from cvst.search.budget import _start
from cvst.search.budget._gate import LookGate
from cvst.search.budget._model import CostModel
from cvst.search.rows import read_inputs
from cvst.theory import PowerCurve

N = 2000
GRID = {"shift": np.linspace(0, 2, 40).tolist()}


CLOCK = Clock()


class Timed(ShiftedMean):
    """Predicts the mean plus a shift; a fit on all rows takes ``slow`` seconds."""

    def __init__(self, shift=0.0, slow=1.0):
        super().__init__(shift)
        self.slow = slow

    def fit(self, X, y):
        CLOCK.now += self.slow * len(y) / N
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    CLOCK.now = 0.0
    monkeypatch.setattr(BaseRaceSearch, "_clock", staticmethod(CLOCK))
    # What waits its turn depends on what fits took, alone or shared by many rounds.
    for module in ("_one_by_one", "sharing._prefixes"):
        name = f"cvst.evaluation.{module}.perf_counter"
        monkeypatch.setattr(name, CLOCK)
    return CLOCK


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 1)), rng.normal(size=N)


@pytest.mark.parametrize("budget", [3.0, 5.0, 8.0])
def test_a_grid_in_turn_uses_its_time_and_says_so_once(data, clock, budget):
    """All forty take eight seconds on a fifth of the rows; then comes the final fit."""
    search = RaceGridSearchCV(Timed(), GRID, time_budget=budget, random_state=0)
    with pytest.warns(FallbackWarning) as caught:
        search.fit(*data)
    (warning,) = caught
    assert str(warning.message) == (
        f"time_budget={budget:g} seconds are too few for all 40 configurations: they "
        "are raced in turn until the time is up. Allow more time to race more of them."
    )
    assert 0.75 * budget <= clock.now <= 1.05 * budget
    raced = [one["shift"] for one in search.cv_results_["params"]]
    assert 2 < len(raced) == len(set(raced)) <= 40
    assert set(raced) <= set(GRID["shift"])
    # Those that came on to all rows decide, and a large shift is seen on few of them.
    assert search.best_params_["shift"] <= 0.3


def test_draws_are_taken_in_their_order_and_go_on(data, clock):
    """Further draws follow those that were asked for, if there is time."""
    search = RaceRandomSearchCV(Timed(), {"shift": uniform(0, 2)}, n_iter=60)
    search.set_params(time_budget=10.0, random_state=0)
    with pytest.warns(FallbackWarning, match="in turn"):
        search.fit(*data)
    raced = search.cv_results_["params"]
    longer = RaceRandomSearchCV(Timed(), search.param_distributions, n_iter=len(raced))
    assert raced == longer.set_params(random_state=0)._configurations()
    assert clock.now <= 10.5


def test_a_dear_one_does_not_break_the_budget(data, clock):
    """Forecasts learn which of the listed take long."""
    space = {"shift": uniform(0, 2), "slow": loguniform(0.1, 10)}
    search = RaceRandomSearchCV(Timed(), space, n_iter=200, time_budget=20.0)
    with pytest.warns(FallbackWarning, match="in turn"):
        search.set_params(random_state=0).fit(*data)
    assert clock.now <= 1.1 * 20


@pytest.mark.parametrize("seconds", [0.2, 0.5])
@pytest.mark.parametrize("slow", [0.001, 0.05])
def test_a_budget_is_not_refused_because_rows_took_long_to_prepare(
    data, clock, seconds, slow, monkeypatch
):
    """What is over by then is excused, but the race is short in relation to it."""
    prepare = BaseRaceSearch._read

    def read(self, *data):
        clock.now += seconds
        return prepare(self, *data)

    monkeypatch.setattr(BaseRaceSearch, "_read", read)
    search = RaceGridSearchCV(
        Timed(slow=slow), {"shift": [0.0, 1.0]}, time_budget=0.2, random_state=0
    )
    if (slow, seconds) == (0.05, 0.5):
        with pytest.raises(BudgetTooSmallError):
            search.fit(*data)
        return
    with pytest.warns(FallbackWarning, match="in turn"):
        search.fit(*data)
    assert clock.now <= seconds + 0.25
    assert slow > 0.001 or search.best_params_ == {"shift": 0.0}


def test_a_budget_without_time_for_a_final_fit_is_refused(data):
    search = RaceGridSearchCV(Timed(slow=10.0), GRID, time_budget=2.0, random_state=0)
    with pytest.raises(BudgetTooSmallError, match="final fit"):
        search.fit(*data)


# What fits of milliseconds on a crowded machine once promised: a final fit of 74 min.
WILD = CostModel(
    fit=PowerCurve(0.0, 5e-8, 3.0),
    predict=PowerCurve(0.0, 1e-9, 1.0),
    alone=PowerCurve(0.0, 5.55e-7, 3.0),
    largest_probe=218,
    n_configurations=40,
    n_groups=40,
)


@pytest.fixture
def wild(monkeypatch):
    monkeypatch.setattr(_start, "measure_costs", lambda *_, **__: WILD)


@pytest.mark.parametrize("budget", [1.0, 3.0])
def test_no_budget_is_refused_for_what_tiny_fits_promise(data, clock, wild, budget):
    """The final fit takes .5 s: it is timed before a budget is refused for it."""
    search = RaceGridSearchCV(Timed(slow=0.5), GRID, time_budget=budget)
    with pytest.warns(FallbackWarning, match="in turn"):
        search.set_params(random_state=0).fit(*data)
    assert search.n_looks_ >= 1
    assert hasattr(search, "best_estimator_")
    assert clock.now <= 1.3 * budget


def test_the_budget_that_an_error_names_is_what_fits_took(data, wild):
    """The final fit takes 20 s, not 74 min."""
    search = RaceGridSearchCV(Timed(slow=20.0), GRID, time_budget=4.0, random_state=0)
    with pytest.raises(BudgetTooSmallError, match="final fit") as error:
        search.fit(*data)
    named = float(re.search(r"about (\S+) s\.", str(error.value))[1])
    assert 10 < named < 60


def test_nor_is_one_of_a_race_that_takes_no_turns(data, clock, wild):
    """Its first look at few is forecast by the fits that were timed, too."""
    search = RaceGridSearchCV(Timed(slow=0.5), GRID, strategy="cvst", time_budget=4.0)
    with pytest.warns(FallbackWarning, match="of 40 are raced"):
        search.set_params(random_state=0).fit(*data)
    assert search.n_looks_ >= 1
    assert clock.now <= 1.1 * 4


def test_what_a_race_without_turns_needs_is_what_fits_took(data, wild):
    """The final fit takes 20 s, not 74 min; a first look at one is nothing to it."""
    search = RaceGridSearchCV(Timed(slow=20.0), GRID, strategy="cvst", time_budget=4.0)
    with pytest.raises(BudgetTooSmallError, match="final fit") as error:
        search.set_params(random_state=0).fit(*data)
    named = float(re.search(r"about (\S+) s\.", str(error.value))[1])
    assert 10 < named < 60


def test_what_shares_a_fit_joins_together():
    grid = [{"n_estimators": n, "max_depth": d} for n in (5, 10) for d in (1, 2)]
    listed = Listed.of(grid, {"n_estimators": "smaller"})
    assert listed.first == [grid[0], grid[2]]
    assert listed.waiting == [[grid[1], grid[3]]]
    assert listed.propose([], 3, (0, 2)) == [[grid[1], grid[3]]]
    assert listed.propose([], 3, (0, 4)) == []
    listed.extend([{"n_estimators": 5, "max_depth": 3}])
    assert listed.propose([], 1, (0, 4)) == [[{"n_estimators": 5, "max_depth": 3}]]


def test_the_first_has_few_rounds():
    """Of those at the head of the list; the others stay in their order."""
    rounds = [90, 30, 70, 20, 50, 60, 80, 40, 95, 99, 10]
    every = [{"n_estimators": n, "learning_rate": 1 / n} for n in rounds]
    listed = Listed.of(every, {"n_estimators": "smaller"})
    assert listed.first == [every[3]]
    assert listed.flat == every[:3] + every[4:]


def test_one_fit_of_boosting_serves_all_numbers_of_rounds(data, monkeypatch):
    """In the same look, whatever the order of the grid."""
    X = np.random.default_rng(1).normal(size=(N, 3))
    grid = {"n_estimators": [2, 4, 8], "min_samples_leaf": [1, 2, 3, 4, 5, 6, 7, 8]}
    search = RaceGridSearchCV(GradientBoostingRegressor(), grid, random_state=0)
    fit = GradientBoostingRegressor.fit

    def slow_fit(self, X, y, sample_weight=None, monitor=None):
        CLOCK.now += len(y) / N
        return fit(self, X, y, sample_weight, monitor)

    monkeypatch.setattr(GradientBoostingRegressor, "fit", slow_fit)
    with pytest.warns(FallbackWarning, match="in turn"):
        search.set_params(time_budget=8.0).fit(X, X[:, 0])
    looks = [one.look.configurations for one in search.race_.observations]
    params = search.cv_results_["params"]
    # Later ones leave out those for which there is no time.
    first = [
        [params[number]["min_samples_leaf"] for number in look] for look in looks[:4]
    ]
    assert [len(leaves) for leaves in first] == [3, 3, 3, 3]
    assert [len(set(leaves)) for leaves in first] == [1, 1, 1, 1]
    assert len({leaves[0] for leaves in first}) == 3


def test_forecasts_follow_the_values_that_are_listed():
    """A fit takes as long as its number of rounds says, and nothing else matters."""
    every = [{"rounds": 2**n, "other": m} for n in range(6) for m in range(4)]
    listed = Listed.of(every, {})
    trials = [Trial(one, 0.0, 1.0, float(one["rounds"])) for one in every]
    forecast = listed.seconds([every[0], every[-1]], trials)
    # A few points promise no wonders, so forecasts are drawn to the mean.
    assert 1 < forecast[0] < 2
    assert 16 < forecast[1] < 32
    alone = Listed.of([{"rounds": 1}], {})
    (own,) = alone.seconds(alone.first, [Trial(alone.first[0], 0.0, 1.0, 3.0)])
    assert own == pytest.approx(3.0)


class Budget:
    """Ten seconds, and nothing for a final fit."""

    seconds, reserve = 10.0, 0.0

    def now(self):
        return CLOCK.now

    def left(self, slower=1.0):
        return 10.0 - CLOCK.now


def heard_until_cut(gate, seconds):
    """Return how many of a hundred are heard of before the look is cut."""
    for number in range(100):
        CLOCK.now += seconds
        try:
            gate.heed(number)
        except LookCutError:
            return number
    return 100


def test_a_look_is_ended_in_the_middle_of_a_group():
    """What was to take a second together takes one each: hopeless after a few."""
    gate = LookGate(Budget(), dict.fromkeys(range(100), 0.01), 1)
    assert 2 <= heard_until_cut(gate, 1.0) <= 5


def test_a_look_as_forecast_is_not_ended():
    gate = LookGate(Budget(), dict.fromkeys(range(100), 0.05), 1)
    assert heard_until_cut(gate, 0.06) == 100


class Closing:
    """A gate that ends a look after two configurations."""

    heard = 0

    def chunks(self, groups):
        yield groups

    def done(self, configurations):
        pass

    def heed(self, configuration):
        self.heard += 1
        if self.heard == 2:
            raise LookCutError


def test_a_group_is_given_up_where_it_is():
    """One search serves twenty k, and their losses are made one after the other."""
    search = RaceGridSearchCV(
        KNeighborsRegressor(), {"n_neighbors": list(range(1, 21))}, random_state=0
    )
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    inputs = read_inputs(search.estimator, X, y, {}, lambda params: (params, {}, {}))
    options = SearchOptions.of(search, search._clock)
    setup = prepare(options, search._configurations(), inputs)
    look = setup.strategy.next_look(RaceState(setup.problem))
    gate = Closing()
    with pytest.raises(LookCutError):
        setup.source.observe(look, gate)
    assert gate.heard == 2


class Late(Timed):
    """Some fit takes far longer than the others did."""

    n_fits, late = 0, 0.0

    def fit(self, X, y):
        Late.n_fits += 1
        CLOCK.now += Late.late if Late.n_fits == 14 else 0.0
        return super().fit(X, y)


# By what it has seen, the final fit will be late too.
LATE = pytest.mark.filterwarnings("ignore:The final fit will take")


@pytest.mark.parametrize(
    "late", [0.0, pytest.param(3.0, marks=LATE), pytest.param(50.0, marks=LATE)]
)
def test_a_race_in_turn_that_is_over_can_be_opened_again(
    data, late, tmp_path, monkeypatch
):
    """Whatever it has spent by then, even more than it had."""
    monkeypatch.setattr(Late, "late", late)
    monkeypatch.setattr(Late, "n_fits", 0)
    search = RaceGridSearchCV(Late(), GRID, time_budget=5.0, random_state=0)
    search.set_params(checkpoint=tmp_path / "race")
    with pytest.warns(FallbackWarning, match="in turn"):
        search.fit(*data)
    params, n_looks = search.best_params_, search.n_looks_
    search.fit(*data)
    assert search.best_params_ == params
    assert search.n_looks_ == n_looks
