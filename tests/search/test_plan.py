"""A plan says before the race what the race then does."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from fake_clock import Clock
from scipy.stats import loguniform
from shifted_mean import ShiftedMean
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

from cvst import CVST, CrossValidation, RaceGridSearchCV, RaceRandomSearchCV
from cvst.exceptions import AllFitsFailedError, BudgetTooSmallError
from cvst.race import (
    FoldRace,
    PlannedLook,
    Problem,
    Program,
    SubsetLook,
    TrackAndConfirm,
)
from cvst.search import _besides, _plan
from cvst.search.budget._model import CostModel
from cvst.search.budget._sample import group_that_fits
from cvst.theory import PowerCurve, drop_error_bound, safety_zone, speedup_ceiling

GRID = {"alpha": np.logspace(-3, 3, 40).tolist()}


class TwoLooks(CrossValidation):
    """Never more and never fewer, which nothing but its plan says."""

    takes_all_folds = False

    def __init__(self):
        super().__init__(n_folds=2)


CLOCK = Clock()


class Quadratic(ShiftedMean):
    """A fit takes (n / 1000)^2 seconds of its own clock, predicting nothing."""

    def fit(self, X, y):
        CLOCK.now += (len(y) / 1000) ** 2
        return super().fit(X, y)


@pytest.fixture
def slow_plan(monkeypatch):
    """Plan a race of 20 configurations on 2200 rows with known costs."""
    monkeypatch.setattr("cvst.evaluation._one_by_one.perf_counter", CLOCK)
    monkeypatch.setattr(RaceGridSearchCV, "_clock", staticmethod(CLOCK))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2200, 1)), rng.normal(size=2200)
    grid = {"shift": np.arange(20.0).tolist()}
    return RaceGridSearchCV(Quadratic(), grid, strategy="cvst", random_state=0).plan(
        X, y
    )


@pytest.mark.parametrize(
    "strategy",
    [
        CVST(stopping="never", elimination="none"),
        CrossValidation(4),
        TrackAndConfirm(min_rows=20),
    ],
    ids=repr,
)
def test_the_looks_are_those_of_the_race(regression, strategy):
    """Sizes and stages in order, and never more configurations than announced."""
    search = RaceGridSearchCV(Ridge(), GRID, strategy=strategy, random_state=0)
    plan = search.plan(*regression)
    race = search.fit(*regression).race_

    planned = {}
    for look in plan.looks:
        planned.setdefault((look.stage, look.n_train), []).append(look)
    for observation in race.observations:
        look = planned[observation.look.stage, observation.look.n_train].pop(0)
        assert look.n_train + look.n_test == len(regression[1])
        assert len(observation.look.configurations) <= look.max_configurations
    if not isinstance(strategy, TrackAndConfirm):
        assert len(plan.looks) == race.n_looks


@pytest.mark.parametrize(
    ("strategy", "may"),
    [
        (Program([FoldRace()]), True),
        (Program([SubsetLook(), FoldRace(name="confirm")]), True),
        ("cvst", True),
        ("cross_validation", False),
        (Program([SubsetLook()]), False),
        (TwoLooks(), False),
    ],
    ids=str,
)
def test_that_a_race_may_stop_early_is_said_of_those_that_may(
    regression, strategy, may
):
    """Whatever its stages are called."""
    search = RaceGridSearchCV(Ridge(), GRID, strategy=strategy, random_state=0)
    plan = search.plan(*regression)
    assert plan.may_stop_early == may
    assert ("(a race may stop early)" in " ".join(str(plan).split())) == may


def test_the_theory_is_that_of_the_levels(regression):
    """Zone, rows and bounds as cvst.theory has them for twenty steps."""
    strategy = CVST(max_steps=20, loser_level=0.05)
    plan = RaceGridSearchCV(Ridge(), GRID, strategy=strategy).plan(*regression)

    assert plan.safety_zone == safety_zone(20, 0.05)
    assert plan.first_drop == int(np.ceil(plan.safety_zone))
    assert plan.safety_rows == plan.first_drop * 220 // 21
    for probability in (0.9, 0.95, 0.99):
        bound = drop_error_bound(probability, 20, 0.05)
        assert plan.error_bounds[probability] == bound


def test_times_follow_from_the_cost_of_a_fit(slow_plan):
    """Twenty configurations for three steps, a fifth of them beyond; ten folds.

    Of the races that get to the fourth step or a later one, four of ten end there.
    """
    shares = np.arange(1, 11) / 11
    expected = np.where(np.arange(1, 11) <= 3, 20, 4) * (2.2 * shares) ** 2
    expected[4:] *= 0.6 ** np.arange(1, 7)

    seconds = [look.seconds for look in slow_plan.looks]

    # The exponent is estimated from fits on up to 960 rows.
    np.testing.assert_allclose(seconds, expected, rtol=0.25)
    assert slow_plan.fit_cost.exponent == pytest.approx(2, abs=0.15)
    assert slow_plan.refit_seconds == pytest.approx(2.2**2, rel=0.25)
    folds = 20 * 10 * (0.9 * 2.2) ** 2
    assert slow_plan.cross_validation_seconds == pytest.approx(folds, rel=0.25)


@pytest.mark.parametrize(
    "strategy", ["cvst", "track_and_confirm", CrossValidation(10)], ids=str
)
def test_work_is_counted_in_fits_on_all_rows(strategy, regression):
    """Look by look, and as the formula of the guide has it for full folds."""
    plan = RaceGridSearchCV(Ridge(), GRID, strategy=strategy).plan(*regression)
    n_samples = len(regression[1])
    for power, (race, folds) in plan.fits_by_power.items():
        expected = 0.0
        for look in plan.looks:
            expected += (
                look.expected_configurations * (look.n_train / n_samples) ** power
            )
        assert race == pytest.approx(expected)
        assert folds == pytest.approx(10 * plan.n_configurations * 0.9**power)
        assert f"{race:,.0f}" in str(plan)
    if isinstance(strategy, CrossValidation):
        assert race == pytest.approx(folds, rel=0.01)
    assert plan.to_dict()["fits_by_power"]["3"] == plan.fits_by_power[3]


def test_the_ceiling_is_that_of_the_measured_growth(slow_plan):
    """70 for a square at ten steps, as the theory has it."""
    exact = speedup_ceiling(10, complexity=slow_plan.fit_cost.exponent)
    assert slow_plan.speedup_ceiling == pytest.approx(exact, rel=0.05)


def test_other_strategies_have_no_zone(regression):
    plan = RaceGridSearchCV(Ridge(), GRID, strategy="cross_validation").plan(
        *regression
    )
    assert plan.safety_zone is None
    assert plan.safety_rows is None
    assert plan.error_bounds == {}
    assert "Safety zone" not in str(plan)
    assert "stop early" not in str(plan)
    assert "at most" not in str(plan)


@pytest.mark.parametrize(
    "strategy", ["cvst", "track_and_confirm", CrossValidation(10)], ids=str
)
def test_a_plan_fits_into_a_terminal_of_80_columns(regression, strategy):
    plan = RaceGridSearchCV(Ridge(), GRID, strategy=strategy).plan(*regression)
    assert max(map(len, str(plan).splitlines())) <= 80


def test_a_plan_with_a_budget_is_of_the_race_that_the_budget_chooses(regression):
    """All the time in the world: twenty steps, as in the fit; none at all: an error."""
    search = RaceGridSearchCV(
        Ridge(), GRID, strategy="cvst", time_budget=1e5, random_state=0
    )
    plan = search.plan(*regression)
    assert len(plan.looks) == 20
    assert plan.strategy == repr(search.fit(*regression).strategy_)
    with pytest.raises(BudgetTooSmallError, match="time_budget=1e-06 seconds"):
        search.set_params(time_budget=1e-6).plan(*regression)


def test_planning_leaves_the_search_and_its_random_numbers_alone(regression):
    """The fit after a plan is the fit without one."""
    space = {"alpha": loguniform(1e-3, 1e3)}
    runs = []
    for with_plan in (False, True):
        search = RaceRandomSearchCV(
            Ridge(), space, n_iter=8, random_state=np.random.RandomState(3)
        )
        if with_plan:
            search.plan(*regression)
            assert not hasattr(search, "race_")
        runs.append(search.fit(*regression).race_.mean_losses)
    np.testing.assert_array_equal(*runs)


def test_groups_and_separate_test_sets_are_planned_with(classification):
    """Cuts between groups, and a test set that is always the same."""
    X, y = classification
    search = RaceGridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]})
    grouped = search.plan(X, y, groups=np.repeat(np.arange(66), 5))
    assert all(look.n_train % 5 == 0 for look in grouped.looks)
    separate = search.plan(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    assert {look.n_test for look in separate.looks} == {30}
    assert separate.looks[-1].n_train == 300


def test_a_plan_can_be_read_shown_and_stored(regression):
    """The same numbers as text, as a page (escaped) and as JSON."""
    plan = RaceGridSearchCV(Ridge(), GRID, strategy=CVST(max_steps=12)).plan(
        *regression
    )
    text, html = str(plan), plan._repr_html_()
    stored = json.loads(json.dumps(plan.to_dict()))

    assert "40 configurations, 220 rows, CVST(max_steps=12)" in text
    assert "Safety zone: 3.78 looks" in text
    assert html.count("<tr>") == 13
    assert len(stored["looks"]) == 12
    assert stored["error_bounds"]["0.9"] == plan.error_bounds[0.9]
    assert stored["race_seconds"] == plan.race_seconds


def test_html_is_escaped(regression):
    """Names of a user's own strategy may hold anything."""

    class Odd(CrossValidation):
        def __repr__(self):
            return "<script>"

    plan = RaceGridSearchCV(Ridge(), GRID, strategy=Odd()).plan(*regression)
    assert "<script>" not in plan._repr_html_()
    assert "&lt;script&gt;" in plan._repr_html_()


def test_bad_parameters_are_refused_before_anything_is_timed(regression):
    with pytest.raises(ValueError, match="ordering"):
        RaceGridSearchCV(Ridge(), GRID, ordering="odd").plan(*regression)


def test_the_total_counts_what_is_no_look(regression):
    """Rows are put in order, books kept, the score estimated: never for nothing."""
    plan = RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}).plan(*regression)
    assert plan.other_seconds > 0
    parts = plan.race_seconds + plan.refit_seconds + plan.other_seconds
    assert plan.total_seconds == pytest.approx(parts)
    low, high = plan.total_range
    assert low < plan.total_seconds < high
    assert plan.to_dict()["total_seconds"] == plan.total_seconds
    assert "for the rest." in " ".join(str(plan).split())


def test_tests_that_are_made_at_once_are_not_counted_one_by_one(monkeypatch):
    """A call takes .9 s of its own clock and a test in it .1 s; nothing else does."""
    CLOCK.now = 0.0

    def test_of(table):
        CLOCK.now += 0.9 + 0.1 * len(table)

    monkeypatch.setattr(_besides, "paired_excess_test", test_of)
    monkeypatch.setattr(_besides, "corrected_best", lambda table: None)
    looks, counts = (PlannedLook("confirm", 80, 20, 8),) * 3, np.array([8.0, 4.0, 2.0])
    line = PowerCurve(0.0, 1.0, 1.0)
    model = CostModel(line, line, line)
    found = _besides.seconds_besides(
        model, Problem(8, 100), looks, counts, CLOCK, False, 1.0
    )
    # Each look is tested on its own rows and on those before it.
    assert found == pytest.approx(3 * 0.9 + 0.1 * (8 * 1 + 4 * 2 + 2 * 3))


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_books_are_timed_undisturbed_and_take_their_share_of_the_processor(
    share, monkeypatch
):
    """Each takes a millisecond, and the second time one of others comes between."""
    times = iter([0.001, 0.009, 0.001, 0.001])
    CLOCK.now = 0.0

    def books(table):
        CLOCK.now += next(times)

    monkeypatch.setattr(_besides, "paired_excess_test", lambda table: None)
    monkeypatch.setattr(_besides, "corrected_best", books)
    looks, counts = (PlannedLook("confirm", 80, 20, 8),), np.array([8.0])
    line = PowerCurve(0.0, 1.0, 1.0)
    model = CostModel(line, line, line, share=share)
    found = _besides.seconds_besides(
        model, Problem(8, 100), looks, counts, CLOCK, False, 1.0
    )
    assert found == pytest.approx(_besides.BOOKS * 0.001 / share)


@pytest.mark.parametrize("strategy", ["cross_validation", "track_and_confirm"])
def test_looks_that_are_alike_share_a_line(regression, strategy):
    """Every look is in one line, in order."""
    plan = RaceGridSearchCV(Ridge(), GRID, strategy=strategy).plan(*regression)
    rows = str(plan).split("\n\n")[1].splitlines()[1:]
    assert len(rows) < len(plan.looks)
    named = [re.match(r" *(\d+)(?: to (\d+))?  ", row) for row in rows]
    numbers = [
        number
        for one in named
        for number in range(int(one[1]), int(one[2] or one[1]) + 1)
    ]
    assert numbers == list(range(1, len(plan.looks) + 1))
    if strategy == "cross_validation":
        (row,) = rows
        assert row.split()[:4] == ["1", "to", "5", "folds"]


class Slow(Quadratic):
    """A fit takes so long that rows of one number are timed."""

    def fit(self, X, y):
        CLOCK.now += 100.0
        return super().fit(X, y)


@pytest.mark.parametrize("model", [Quadratic(), Slow()])
def test_a_plan_is_of_plain_numbers(monkeypatch, model):
    """What users print is 0.5, not ``np.float64(0.5)``."""
    monkeypatch.setattr("cvst.evaluation._one_by_one.perf_counter", CLOCK)
    monkeypatch.setattr(RaceGridSearchCV, "_clock", staticmethod(CLOCK))
    X = np.random.default_rng(0).normal(size=(900, 1))
    grid = {"shift": np.arange(20.0).tolist()}
    plan = RaceGridSearchCV(model, grid).plan(X, X[:, 0])
    names = [name for name in dir(plan) if not name.startswith("_")]
    values = [plan.to_dict(), *(getattr(plan, name) for name in names)]
    assert numpy_numbers(values) == []


def numpy_numbers(value):
    """Return all numbers of NumPy within dictionaries, lists and tuples."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [number for one in value for number in numpy_numbers(one)]
    return [value] if isinstance(value, np.generic) else []


def test_a_final_fit_takes_no_less_than_a_fit_on_fewer_rows(regression, monkeypatch):
    """Small fits said that one alone takes a tenth of those among others."""
    fit, free = PowerCurve(0.02, 4e-8, 2.0), PowerCurve(0.0, 0.0, 1.0)
    model = CostModel(fit, free, fit.scaled(0.1), n_configurations=20, n_groups=20)
    monkeypatch.setattr(_plan, "measure_costs", lambda *_, **__: model)
    plan = RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}).plan(*regression)
    assert plan.refit_seconds >= fit(max(look.n_train for look in plan.looks))
    assert plan.refit_range[0] <= plan.refit_seconds <= plan.refit_range[1]


def test_the_range_of_the_final_fit_is_wider_where_the_winner_may_be_dear(
    regression, monkeypatch
):
    """Configurations that cost a fifth or nine times as much tell little of one."""
    fit, free = PowerCurve(0.02, 4e-8, 2.0), PowerCurve(0.0, 0.0, 1.0)
    plans = []
    for paces in ((1.0, 1.0, 1.0), (0.2, 0.5, 2.3)):
        model = CostModel(fit, free, fit, paces=paces, parts=(0.25, 0.5, 0.25))
        monkeypatch.setattr(_plan, "measure_costs", lambda *_, model=model, **__: model)
        plans.append(RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}).plan(*regression))
    alike, apart = plans
    assert apart.refit_seconds == alike.refit_seconds
    # One fit may take twice as long as thought even if all are alike.
    assert alike.refit_range[1] >= 2 * alike.refit_seconds
    assert apart.refit_range[0] < 0.6 * alike.refit_range[0]
    assert apart.refit_range[1] > 1.8 * alike.refit_range[1]
    # Where work is shared, the first of a group may do that of all.
    shared = replace(model, n_configurations=20, n_groups=4)
    monkeypatch.setattr(_plan, "measure_costs", lambda *_, **__: shared)
    plan = RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}).plan(*regression)
    assert plan.refit_range == pytest.approx(alike.refit_range, rel=0.01)


class Picky(Ridge):
    """Can be fitted with some penalties only."""

    def fit(self, X, y):
        if self.alpha >= 10:
            raise ValueError("too much")
        return super().fit(X, y)


FAILING = [10.0 + number for number in range(9)]


@pytest.mark.parametrize("seconds", [None, 30.0])
@pytest.mark.parametrize(
    "alphas",
    [[1.0, *FAILING[:1], 2.0], [*FAILING, 1.0], [*FAILING[:6], 1.0, *FAILING[6:]]],
    ids=["middle", "most", "all but one inside"],
)
def test_fits_that_fail_end_no_plan_and_no_race_with_a_budget(
    alphas, seconds, regression
):
    """The configurations that are timed first may be those that do not work."""
    options = {"time_budget": seconds, "random_state": 0}
    search = RaceGridSearchCV(Picky(), {"alpha": alphas}, **options)
    assert search.plan(*regression).n_configurations == len(alphas)
    with pytest.warns(FitFailedWarning):
        assert search.fit(*regression).best_params_["alpha"] < 10


def test_a_plan_of_fits_that_all_fail_says_why(regression):
    search = RaceGridSearchCV(Picky(), {"alpha": FAILING}, random_state=0)
    with pytest.raises(AllFitsFailedError, match="All 9 configurations failed"):
        search.plan(*regression)


def test_where_fits_fail_slowly_the_search_for_one_that_works_ends():
    """Otherwise a plan could wait for dozens of fits that hang."""
    seconds = iter([5.0, 11.0])
    tried = []

    def fails(n_train, members):
        tried.append((n_train, len(members)))
        raise AllFitsFailedError("none works")

    groups = [[number] for number in range(100)]
    with pytest.raises(AllFitsFailedError, match="none works"):
        group_that_fits(groups, [10, 20, 40], fails, lambda: next(seconds))
    assert tried == [(10, 3), (40, 3)]
