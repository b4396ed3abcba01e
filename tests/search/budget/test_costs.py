"""Costs are measured where they are to be seen, on cheap and dear configurations."""

from __future__ import annotations

import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fake_clock import Clock
from lightgbm import LGBMRegressor
from scipy import sparse
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, LinearSVR

from cvst import RaceGridSearchCV
from cvst.evaluation import Scratch
from cvst.evaluation.kernels import _rows
from cvst.evaluation.machinery import DataSource
from cvst.parallel import on_file
from cvst.race import Look, Problem, TrackAndConfirm
from cvst.race.machinery import space_of
from cvst.search import _besides
from cvst.search._known_work import known_work
from cvst.search._setup import prepare
from cvst.search.budget import _costs, race_seconds
from cvst.search.budget._costs import measure_costs
from cvst.search.budget._expected import ADDED, USUAL_GAP, expected_looks
from cvst.search.budget._growth import (
    BINNED,
    FACTORED,
    KERNEL,
    NEAR_LINEAR,
    PASSES,
    SORTED,
    UNKNOWN,
    growth_of,
)
from cvst.search.budget._lone import predicted_alone
from cvst.search.budget._model import CostModel
from cvst.search.budget._probe_sizes import probe_sizes
from cvst.search.budget._sample import spread_sample
from cvst.search.budget._watch import Timing, Watch
from cvst.theory import PowerCurve

LINE = PowerCurve(0.0, 1.0, 1.0)


CLOCK = Clock()


class Rounds(ClassifierMixin, BaseEstimator):
    """A fit costs a call, and for each of its rounds a pass over the rows."""

    def __init__(self, rounds=1, call=0.02):
        self.rounds = rounds
        self.call = call

    def fit(self, X, y):
        CLOCK.now += self.rounds * (self.call + 1e-6 * len(y))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(20_000, 2)), rng.integers(0, 2, size=20_000)


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    CLOCK.now = 0.0
    monkeypatch.setattr("cvst.evaluation._one_by_one.perf_counter", CLOCK)
    monkeypatch.setattr(RaceGridSearchCV, "_clock", staticmethod(CLOCK))


def test_a_large_constant_is_not_taken_for_growth(data):
    """On 100 rows a fit costs 200 times its rows; the final fit is twice the call."""
    plan = RaceGridSearchCV(Rounds(), {"rounds": [1, 1, 1, 1]}).plan(*data)
    assert plan.refit_seconds == pytest.approx(0.04, rel=0.5)
    low, high = plan.refit_range
    assert low <= 0.04 <= high


def test_cheap_and_dear_configurations_count_as_they_are(data):
    """Most rounds cost most: the mean of the grid is 21.25 rounds, its middle ten."""
    grid = {"rounds": [1, 4, 10, 70]}
    strategy = "cross_validation"
    plan = RaceGridSearchCV(Rounds(), grid, strategy=strategy).plan(*data)
    assert plan.race_seconds == pytest.approx(5 * 85 * 0.036, rel=0.5)


def test_planning_takes_a_second_or_a_twentieth_of_the_race(data):
    """Whatever a fit costs; but one size would say nothing about the growth."""
    for call in (0.0005, 0.02, 0.05, 0.1, 0.2, 1.0):
        CLOCK.now = 0.0
        search = RaceGridSearchCV(Rounds(call=call), {"rounds": [1, 2, 3, 4]})
        plan = search.plan(*data)
        two = 2 * plan.fit_cost(2000)
        assert CLOCK.now <= max(1.0, two, plan.total_seconds / 20), call


def test_tests_and_books_are_timed_within_that_second(data, monkeypatch):
    """They come after all fits, and take long where others work too."""

    def slow(table):
        CLOCK.now += 0.045

    monkeypatch.setattr(_besides, "paired_excess_test", slow)
    monkeypatch.setattr(_besides, "corrected_best", slow)
    for call in (0.001, 0.0055, 0.0182, 0.0303, 0.06):
        CLOCK.now = 0.0
        grid = {"rounds": [1, 2, 3, 4]}
        plan = RaceGridSearchCV(Rounds(call=call), grid).plan(*data)
        assert CLOCK.now <= max(1.0, plan.total_seconds / 20), call


@pytest.mark.parametrize("dear", [0.1, 0.2, 0.3])
def test_dear_ends_of_a_grid_do_not_make_planning_long(data, dear):
    """The middle takes a moment, so many seem to fit into the time, and do not."""
    calls = [dear] * 7 + [0.02] + [dear] * 7
    search = RaceGridSearchCV(Rounds(), {"call": calls})
    X, y = data
    plan = search.plan(X[:1000], y[:1000])
    assert CLOCK.now <= max(1.0, plan.total_seconds / 20)


class Pairs(Rounds):
    """A row that is predicted takes a pass over all that were trained on."""

    def fit(self, X, y):
        self.n_rows_ = len(y)
        return super().fit(X, y)

    def predict(self, X):
        CLOCK.now += 5e-8 * len(X) * self.n_rows_
        return super().predict(X)


def test_what_predicting_takes_counts_before_a_look_is_timed(data):
    """On 3,200 rows three take 1.5 s, where their fits take a moment."""
    search = RaceGridSearchCV(Pairs(call=1e-4), {"rounds": [1, 2, 3, 4]})
    X, y = data
    plan = search.plan(X[:10_000], y[:10_000])
    assert CLOCK.now <= max(1.0, plan.total_seconds / 20)


def test_rounds_of_a_group_that_are_not_timed_alone_take_as_long_as_all(data):
    """Two of three rounds take two thirds of what three take, of which each has one."""
    X, y = data
    grid = {"n_estimators": [1, 2, 3]}
    model = measured_by_one_look(GradientBoostingClassifier(), grid, X[:400], y[:400])
    assert model.alone(400) == pytest.approx(2 * model.fit(400))


def test_the_winner_of_a_group_of_rounds_is_probably_not_a_cheap_one(data):
    """The dearest takes as long alone as all four, and is as likely as not to win."""
    X, y = data
    grid = {"n_estimators": [1, 2, 3, 40]}
    model = measured_by_one_look(GradientBoostingClassifier(), grid, X[:400], y[:400])
    assert model.alone(400) == pytest.approx(4 * model.fit(400))


class Leafy(Rounds):
    """Takes twice as long with four times the leaves."""

    def __init__(self, max_leaf_nodes=31):
        self.max_leaf_nodes = max_leaf_nodes

    def fit(self, X, y):
        CLOCK.now += 0.25 * self.max_leaf_nodes**0.5
        self.classes_ = np.unique(y)
        return self


def measured_by_one_look(estimator, grid, X, y):
    """Return the costs where there is no time for more than the first look."""
    search = RaceGridSearchCV(estimator, grid)
    options = search._options()
    inputs = search._read(X, y, {})
    setup = prepare(options, list(ParameterGrid(grid)), inputs)
    return measure_costs(
        setup.source,
        setup.problem,
        seconds=1.0,
        allowed=lambda _: -1.0,
        clock=options.clock,
    )


def test_what_one_group_takes_is_scaled_by_what_sizes_tell(data):
    """The middle is timed, which is the dearest: 2, 4, 32, 2 and 4 seconds."""
    leaves = [64, 256, 16_384, 64, 256]
    model = measured_by_one_look(Leafy(), {"max_leaf_nodes": leaves}, *data)
    assert model.paces == pytest.approx([32 / 8.8])
    assert model.fit(model.largest_probe) == pytest.approx(8.8)


class Loading(Rounds):
    """The first fit of all loads something; others grow with their rows."""

    loaded = False

    def __init__(self, leaf=1):
        self.leaf = leaf

    def fit(self, X, y):
        CLOCK.now += 2e-4 * len(y) + (0.0 if Loading.loaded else 0.2)
        Loading.loaded = True
        self.classes_ = np.unique(y)
        return self


def test_a_first_fit_that_loads_something_does_not_hide_the_growth(data):
    """On 800 rows it takes .36 s, on 1,600 .32: by these 16,000 would take as long."""
    Loading.loaded = False
    grid = {"leaf": [1, 2, 3, 4]}
    plan = RaceGridSearchCV(Loading(), grid, strategy="cross_validation").plan(*data)
    assert 3.2 / 2 < plan.fit_cost(16_000) < 3.2 * 2


def test_a_kernel_machine_whose_small_fits_look_alike_is_forecast_to_grow():
    """Recorded on a crowded machine: fits on 218 and 436 rows, then one on 5,472.

    Its true growth is within the range, and a fit on more rows takes longer.
    """
    growth = growth_of(make_pipeline(StandardScaler(), SVC()), [])
    best, *others = PowerCurve.plausible(
        [218, 436],
        [0.023, 0.0229],
        growth.steepest,
        growth.flattest,
        growth.usual,
        0.1,
        growth.spread,
        growth.hidden,
    )
    model = CostModel(best, LINE, best, plausible=tuple(others))
    assert best(436) == pytest.approx(0.023, rel=0.01)
    assert model.refit(5472) > 5 * best(436)
    low, high = model.doubt(5472)
    assert low * best(5472) < 0.9 < 2.9 < high * best(5472)


def test_the_work_that_parameters_tell():
    grid = [{"model__n_estimators": n, "C": c} for n in (10, 30) for c in (1, 2)]
    np.testing.assert_allclose(known_work(grid), [10, 10, 30, 30])
    both = [{"num_leaves": 4, "max_depth": 2}, {"num_leaves": 9, "max_depth": 6}]
    np.testing.assert_allclose(known_work(both), [4, 18])


@pytest.mark.parametrize(
    "odd", [None, -1, 0.5, "sqrt", True, np.inf, np.nan, 10**6, 10**400]
)
def test_sizes_that_are_no_limit_tell_nothing(odd):
    assert known_work([{"max_depth": 3}, {"max_depth": odd}]).tolist() == [1.0, 1.0]
    assert known_work([{"max_depth": 3}, {}]).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("estimator", "family"),
    [
        (RandomForestClassifier(), SORTED),
        (GradientBoostingClassifier(), SORTED),
        (HistGradientBoostingClassifier(), BINNED),
        (LGBMRegressor(), BINNED),
        (make_pipeline(StandardScaler(), LogisticRegression()), NEAR_LINEAR),
        (LinearSVC(), NEAR_LINEAR),
        (SVC(), KERNEL),
        (LinearSVR(), PASSES),
        (KernelRidge(), FACTORED),
        (Rounds(), UNKNOWN),
    ],
    ids=lambda one: type(one).__name__,
)
def test_the_growth_is_that_of_the_family(estimator, family):
    assert growth_of(estimator, []) == family


def test_steps_that_a_grid_puts_in_count_too():
    """The dearest learner of the grid bounds the growth."""
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    growth = growth_of(pipeline, [{"logisticregression": SVC()}])
    assert growth.steepest == KERNEL.steepest
    assert growth.flattest == NEAR_LINEAR.flattest


def test_the_sample_holds_both_ends_and_the_middle():
    groups = [[2 * place, 2 * place + 1] for place in range(50)]
    sample = spread_sample(groups, most=12, least=3).tolist()
    assert {0, 1, 50, 51, 98, 99} <= set(sample)
    assert len(sample) == len(set(sample)) == 12


def test_few_that_are_left_share_less():
    """Between the cost of all and that of one alone, and never back."""
    model = CostModel(LINE, LINE, LINE, n_configurations=60, n_groups=6, lonely=5.0)
    costs = [model.company(count) for count in range(1, 61)]
    assert costs[0] == 5.0
    assert costs[-1] == 1.0
    assert costs == sorted(costs, reverse=True)


def test_those_left_lie_closer_together_than_by_chance():
    """They keep more groups than they fill, and fewer than random draws would."""
    model = CostModel(LINE, LINE, LINE, n_configurations=60, n_groups=6, lonely=5.0)
    rng = np.random.default_rng(0)
    draws = [len(set(rng.permutation(60)[:12] // 10)) for _ in range(2000)]

    def share(groups):
        return 1 + 4 * (groups / 12 - 0.1) / 0.9

    assert share(1.2) < model.company(12) < share(np.mean(draws))


def test_a_group_stands_for_its_part_of_the_grid(data):
    """The dear ones at one end are few, and count as few."""
    grid = [{"quick": [True]}] * 12 + [{"quick": [False]}]
    plan = RaceGridSearchCV(Mixed(), grid, strategy="cross_validation").plan(*data)
    # One in thirteen; it is one of at least five that are timed.
    assert plan.fit_cost(16_000) == pytest.approx(0.256 / 13, rel=0.6)


def test_a_model_without_groups_shares_nothing():
    model = CostModel(LINE, LINE, LINE, n_configurations=60, n_groups=60, lonely=5.0)
    assert model.look(10, 0, 3) == pytest.approx(30)


def a_race_of_12(n_rows=1000):
    folds = {
        n: tuple((np.arange(n_rows * 4 // 5), np.arange(n_rows // n)) for _ in range(n))
        for n in (5, 10)
    }
    return TrackAndConfirm(), Problem(12, n_rows, folds=folds)


def seen(gaps, paces=None):
    """Return a model of twelve that were this far behind on 1,000 rows."""
    paces = tuple(paces or [1.0] * len(gaps))
    unlike = (0.125,) * len(gaps)
    return CostModel(
        *(LINE, LINE, LINE),
        gaps=tuple(gaps),
        gap_rows=1000,
        unlike=unlike,
        paces=paces,
    )


def test_hopeless_configurations_are_not_expected_to_go_on():
    """One that is a standard deviation behind falls after the first fold."""
    race = a_race_of_12()
    clear = expected_looks(*race, seen([0.0, *[1.0] * 11])).counts
    close = expected_looks(*race, seen([0.0] * 12)).counts
    assert clear[0] == close[0] == 12
    np.testing.assert_allclose(clear[1:], 1, atol=0.05)
    assert close[1:].min() > 10


def test_who_stays_is_that_of_a_simulation():
    """Witness: gaps, their changes and the tests of the race, drawn 100,000 times."""
    gaps = np.array([0.0, 0.05, 0.1, 0.2])
    strategy, problem = a_race_of_12()
    counts = expected_looks(strategy, problem, seen(gaps)).counts
    rng = np.random.default_rng(0)
    shape = 100_000, len(gaps)
    luck = 1 / np.sqrt(1000)
    gaps = np.maximum(gaps - luck, 0)
    density = [norm.pdf(gaps, scale=scale) for scale in (luck, np.hypot(luck, 0.1))]
    # Losses that differ by an eighth of their scatter: four to one beforehand.
    alike = rng.random(shape) < 4 * density[0] / (4 * density[0] + density[1])
    apart = rng.normal(gaps, np.hypot(luck, 0.1), shape)
    true = np.where(alike, 0.0, apart)
    limit = norm.isf(0.05 / 11)
    for place in range(1, 5):
        n_rows = 200 * place
        behind = true + rng.normal(size=shape) / np.sqrt(n_rows)
        # One that is as far ahead stays as well, but then the leader does not.
        stays = np.abs(behind) < limit / n_rows**0.5
        # The first one is the leader, and there are eleven others.
        expected = 1 + 11 * stays[:, 1:].mean()
        assert counts[place] == pytest.approx(expected, rel=0.02)


def test_of_smooth_losses_small_differences_are_gaps():
    """Witness: an error added to the leader, another one in the race, drawn anew."""
    unlike = np.array([0.0, 0.05, 0.2, 0.4])
    gaps = np.array([0.0, 0.04, 0.04, 0.2])
    model = replace(seen(gaps), smooth=True, unlike=tuple(unlike))
    strategy, problem = a_race_of_12()
    counts = expected_looks(strategy, problem, model).counts
    rng = np.random.default_rng(0)
    luck = 1 / np.sqrt(1000)
    usual = np.maximum(unlike, 1e-6) / np.sqrt(8)
    # All gaps that there can be, weighted by how probable what was seen is.
    true = rng.normal(0, usual, (400_000, 4))
    weights = norm.pdf(gaps, true, luck)
    true += rng.normal(0, usual, true.shape)
    limit = norm.isf(0.05 / 11)
    for place in range(1, 5):
        n_rows = 200 * place
        behind = true + rng.normal(size=true.shape) / np.sqrt(n_rows)
        stays = np.average(
            np.abs(behind) < limit / n_rows**0.5, axis=0, weights=weights
        )
        expected = 1 + 11 * stays[1:].mean()
        assert counts[place] == pytest.approx(expected, rel=0.02)
    # One that failed is not expected to go on.
    gone = replace(seen([0.0, np.inf]), smooth=True, unlike=(0.0, np.inf))
    left = expected_looks(*a_race_of_12(), gone).counts[1:]
    np.testing.assert_allclose(left, 1, atol=0.01)
    # Where losses tell only who is right, much the same is as good as the leader.
    assert counts[-1] < expected_looks(*a_race_of_12(), seen(gaps)).counts[-1]


def test_squared_errors_are_smooth_and_errors_of_classes_are_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    for estimator, y, smooth in (
        (Ridge(), X[:, 0] + rng.normal(size=400), True),
        (RidgeClassifier(), (X[:, 0] > 0).astype(int), False),
    ):
        model = measured_by_one_look(estimator, {"alpha": [0.1, 1.0, 9.0]}, X, y)
        assert model.smooth is smooth


def test_an_error_added_to_the_leader_is_a_gap_of_that_size():
    """Witness for the share: squared errors of a good model and of a disturbed one."""
    rng = np.random.default_rng(0)
    noise, error = rng.normal(size=2_000_000), 0.1 * rng.normal(size=2_000_000)
    leader, other = noise**2, (noise + error) ** 2
    scatter = (other - leader).std()
    gap, unlike = (other - leader).mean() / scatter, scatter / leader.std()
    assert gap == pytest.approx(ADDED * unlike, rel=0.05)


def test_fewer_stay_in_the_folds_after_subsets_where_there_are_more_rows():
    """Witness: the usual gaps and tests, drawn 200,000 times."""
    left = {}
    for n_rows in (1_000, 10_000):
        order = np.arange(n_rows)
        parts = np.array_split(order, 5)
        folds = tuple((np.setdiff1d(order, part), part) for part in parts)
        ten = tuple(
            (np.setdiff1d(order, part), part) for part in np.array_split(order, 10)
        )
        problem = Problem(40, n_rows, folds={5: folds, 10: ten})
        strategy = TrackAndConfirm()
        names = [look.stage for look in strategy.planned_looks(problem)]
        model = CostModel(LINE, LINE, LINE)
        counts = expected_looks(strategy, problem, model).counts
        left[n_rows] = counts[[name == "confirm" for name in names]]
    entering = left[10_000][0]
    assert entering == left[1_000][0] < 40
    rng = np.random.default_rng(1)
    gaps = np.abs(rng.normal(0, USUAL_GAP, 200_000))
    for place in range(1, 5):
        seen = gaps * np.sqrt(place * 2_000) + rng.normal(size=gaps.shape)
        stays = np.mean(seen < norm.isf(0.05 / 39))
        expected = 1 + (entering - 1) * stays
        assert left[10_000][place] == pytest.approx(expected, rel=0.02)
        assert left[10_000][place] < 0.7 * left[1_000][place]


@pytest.mark.parametrize("n_rows", [1_000, 10_000])
def test_nothing_known_of_gaps_they_are_as_usual(n_rows):
    """Witness: gaps and tests drawn 200,000 times; more rows leave fewer."""
    strategy, problem = a_race_of_12(n_rows)
    counts = expected_looks(strategy, problem, CostModel(LINE, LINE, LINE)).counts
    rng = np.random.default_rng(1)
    gaps = np.abs(rng.normal(0, USUAL_GAP, 200_000))
    limit = norm.isf(0.05 / 11)
    for place in range(5):
        n_tested = place * n_rows / 5
        seen = gaps * np.sqrt(n_tested) + rng.normal(size=gaps.shape)
        stays = np.mean(seen < limit) if place else 1.0
        assert counts[place] == pytest.approx(1 + 11 * stays, rel=0.01)
    # What was counted in races on 1,000 rows, when all were counted alike.
    if n_rows == 1_000:
        assert counts.sum() == pytest.approx(12 * (1 + 0.65 + 3 * 0.5), rel=0.02)


def test_a_climb_is_not_expected():
    """Few races climb: 20 looks at two would be most of a plan otherwise."""
    folds = {
        n: tuple((np.arange(8000), np.arange(10_000 // n)) for _ in range(n))
        for n in (5, 10)
    }
    grid = list(ParameterGrid({"a": range(8), "b": range(5)}))
    problem = Problem(40, 10_000, folds=folds, space=space_of(grid))
    strategy = TrackAndConfirm()
    looks = strategy.planned_looks(problem)
    climbs = np.array([look.stage.startswith("climb") for look in looks])
    most = np.array([look.max_configurations for look in looks])
    for model in (CostModel(LINE, LINE, LINE), seen([0.0] * 12)):
        counts = expected_looks(strategy, problem, model).counts
        np.testing.assert_allclose(counts[climbs], 0.15 * most[climbs])
        assert climbs.sum() > 5
        assert counts[climbs].sum() < counts[~climbs].sum() / 10


class Guess(Rounds):
    """Says the same of all rows: quick and right half of the time, or slow and not."""

    def __init__(self, right=True):
        self.right = right

    def fit(self, X, y):
        CLOCK.now += (1e-6 if self.right else 1e-5) * len(y)
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int) if self.right else np.zeros(len(X), dtype=int)


def test_the_final_fit_is_that_of_one_that_stays(data):
    """One in four is good and takes a tenth: the mean of all says little about it."""
    X = data[0]
    plan = RaceGridSearchCV(
        Guess(), [{"right": [True]}, *[{"right": [False]}] * 3]
    ).plan(X, (X[:, 0] > 0).astype(int))
    mean = plan.fit_cost(len(X))
    assert plan.refit_seconds == pytest.approx(
        0.5 * mean, rel=0.01
    )  # not believed more


@pytest.mark.parametrize("rates", [[0.1], [0.1, 0.2, 0.3]])
def test_members_of_one_group_say_nothing_of_other_groups(data, rates):
    """Rounds of one rate are close to each other: other rates may be far behind."""
    X, y = data
    estimator = GradientBoostingClassifier(n_estimators=3, max_depth=1)
    grid = {"n_estimators": [1, 2, 3], "learning_rate": rates}
    model = measured_by_one_look(estimator, grid, X[:400], y[:400])
    assert model.n_groups == len(rates)
    assert (len(model.gaps) > 1) == (len(rates) == 1)


def test_those_that_stay_set_the_pace():
    """The good one is four times as dear as the bad ones, which are soon gone."""
    bad = [1.0] * 3
    model = seen([0.0, *bad], [16 / 7, *[4 / 7] * 3])
    strategy, problem = a_race_of_12()
    expected = expected_looks(strategy, problem, model)
    assert expected.paces[0] == pytest.approx(1)
    assert expected.paces[-1] == pytest.approx(2)  # no more is believed
    looks = strategy.planned_looks(problem)
    seconds = race_seconds(model, looks, expected)
    assert seconds[-1] == pytest.approx(expected.counts[-1] * (2 * 800 + 200 * 800))


def test_what_stays_costs_what_it_stands_for():
    """Five of the grid's twelve are like the last one, which is dear and goes."""
    parts = 1 / 12, 6 / 12, 5 / 12
    paces = 0.5, 0.5, 1.7
    model = replace(seen([0.0, 0.0, 9.0], paces), parts=parts)
    strategy, problem = a_race_of_12()
    expected = expected_looks(strategy, problem, model)
    np.testing.assert_allclose(expected.paces[[0, -1]], [1.0, 0.5])
    # The leader, and six of the eleven others as often as two that are alike.
    assert expected.counts[-1] == pytest.approx(1 + 11 * 6 / 11, rel=0.05)


class Convergent(RegressorMixin, BaseEstimator):
    """Passes over the rows grow with ``C``, and a large one is no better."""

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        CLOCK.now += 1e-7 * self.C * len(y)
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        # Farther from the best value by as much on all rows, up or down.
        return self.mean_ + 0.05 * np.log10(self.C) * np.sign(X[:, 0])


def test_dear_configurations_that_differ_a_little_are_not_all_expected_to_stay(data):
    """The first look costs nearly all that the race does: they are gone after it."""
    X = data[0]
    y = np.random.default_rng(1).normal(size=len(X))
    grid = {"C": np.logspace(0, 3, 8).tolist()}
    search = RaceGridSearchCV(Convergent(), grid, random_state=0)
    plan = search.plan(X, y)
    CLOCK.now = 0.0
    search.fit(X, y)
    assert CLOCK.now < 1.5 * search.race_.observations[0].seconds
    # All of them to the end were 4.4 times as much.
    assert CLOCK.now < plan.total_seconds < 3 * CLOCK.now


def test_no_look_at_fewer_takes_longer_than_one_at_all():
    model = CostModel(LINE, LINE, LINE, n_configurations=60, n_groups=6, lonely=90.0)
    looks = [model.look(100, 0, count) for count in range(1, 61)]
    assert max(looks) == looks[-1] == pytest.approx(6000)


def test_repeated_looks_share_nothing_with_each_other(monkeypatch):
    """A kernel that is kept from the first look would make all others look free."""
    seen = []

    def observe(self, look, gate=None):
        assert not any(self.scratch is one for one in seen)
        seen.append(self.scratch)
        return plain(self, look, gate)

    plain = DataSource.observe
    monkeypatch.setattr(DataSource, "observe", observe)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    search = RaceGridSearchCV(KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0, 10.0]})
    search.plan(X, X[:, 0])
    assert len(seen) > 2


def test_ranges_hold_the_forecast(data):
    """Also where few that are left cost more each, as with shared kernels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    grid = {"alpha": np.logspace(-3, 1, 9).tolist(), "gamma": [0.1, 0.3, 1.0, 3.0]}
    for strategy in ("cvst", "track_and_confirm"):
        search = RaceGridSearchCV(KernelRidge(kernel="rbf"), grid, strategy=strategy)
        plan = search.plan(X, X[:, 0])
        assert plan.race_range[0] <= plan.race_seconds <= plan.race_range[1]
        assert plan.refit_range[0] <= plan.refit_seconds <= plan.refit_range[1]


class Mixed(Rounds):
    """Quick whatever the rows, or quadratic in them."""

    def __init__(self, quick=False):
        self.quick = quick

    def fit(self, X, y):
        CLOCK.now += 1e-3 if self.quick else 1e-9 * len(y) ** 2
        self.classes_ = np.unique(y)
        return self


def test_a_cheap_middle_says_nothing_about_the_dear_ones(data):
    """The first that is timed takes a millisecond on any rows; the others grow."""
    grid = [{"quick": [False]}, {"quick": [True]}, {"quick": [False]}]
    plan = RaceGridSearchCV(Mixed(), grid, strategy="cross_validation").plan(*data)
    assert plan.fit_cost(800) < 0.005
    assert plan.fit_cost(16_000) == pytest.approx(2 / 3 * 0.256, rel=0.3)


class Steep(Rounds):
    """Each takes twice as long as the one before, and the last grows more steeply."""

    def fit(self, X, y):
        last = self.rounds == 64
        CLOCK.now += 1e-6 * self.rounds * len(y) * (len(y) / 1000) ** (0.7 * last)
        self.classes_ = np.unique(y)
        return self


def test_the_growth_is_that_of_what_makes_up_the_work(data):
    """One like the mean can be timed on more rows, which would say nothing of it."""
    rounds = [1, 1, 2, 4, 8, 16, 32, 64]
    plan = RaceGridSearchCV(Steep(), {"rounds": rounds}).plan(*data)
    mean = 1e-6 * 16_000 * (64 + 64 * 16**0.7) / 8
    # The one like the mean tells of a quarter of it.
    assert 0.5 * mean < plan.fit_cost(16_000) < 2 * mean


@pytest.mark.parametrize(
    ("n_rows", "ends", "sizes"),
    [(2, None, [1]), (3, None, [2]), (100, [98], [98])],
)
def test_there_is_something_to_time_on_however_few_rows(n_rows, ends, sizes):
    """Or on few large groups: a race that can be cut can be timed."""
    boundaries = None if ends is None else np.array(ends)
    assert probe_sizes(Problem(2, n_rows, boundaries=boundaries), 2) == sizes


@pytest.fixture
def probed(monkeypatch):
    """Return the sources of looks that are made, with the looks."""
    seen = []
    observe = DataSource.observe

    def noted(self, look):
        seen.append((self, look))
        return observe(self, look)

    monkeypatch.setattr(DataSource, "observe", noted)
    return seen


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_probes_have_no_rows_that_they_do_not_need(data, probed, container):
    """A race has tables of all pairs, which a look at few rows would pay for."""
    X, y = container(data[0][:1500]), data[1][:1500]
    RaceGridSearchCV(SVC(), {"gamma": [0.01, 0.1, 1.0]}).plan(X, y)
    assert len({look.n_train for _, look in probed}) > 2
    for source, look in probed:
        assert len(source.data.X) == len(source.data.y) == look.test.stop
        assert source.data.n_meant == 1500


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_probes_have_no_rows_between_theirs_and_a_test_set(data, probed, container):
    """The tables of a look at few rows would have them, too."""
    X, y = container(data[0][:1700]), data[1][:1700]
    grid = {"gamma": [0.01, 0.1, 1.0]}
    search = RaceGridSearchCV(KernelRidge(kernel="rbf"), grid, ordering="given")
    search.plan(X[:1500], y[:1500], X_val=X[1500:], y_val=y[1500:])
    assert len({look.n_train for _, look in probed}) > 2
    for source, look in probed:
        rows = np.r_[0 : look.n_train, 1500 : 1500 + look.n_test]
        assert look.test == slice(look.n_train, len(rows))
        np.testing.assert_array_equal(source.data.X, np.asarray(X)[rows])
        np.testing.assert_array_equal(source.data.y, y[rows])
        assert source.data.n_meant == 1500


def test_probes_keep_no_table_that_the_race_cannot_keep(data, probed):
    """Of the memory for tables a look has its share of all pairs."""
    X, y = data
    RaceGridSearchCV(SVC(), {"gamma": [0.01, 0.1, 1.0]}).plan(X[:1500], y[:1500])
    for source, look in probed:
        n_rows = source.data.n_samples
        n_table = min(n_rows, look.n_train + 128)
        assert source.scratch.share == n_table * n_rows / 1500**2


def test_a_share_of_the_memory_goes_wherever_the_scratch_goes():
    """To a look, and to another process."""
    scratch = Scratch(2**20, share=0.25)
    assert pickle.loads(pickle.dumps(scratch)).room_for_pairs(2**30) == 2**18
    assert scratch.room_for_pairs(2**30) == 2**18
    assert scratch.room(2**30) == 2**20
    assert scratch.for_a_look().share == 0.25


def test_worker_processes_time_looks_at_the_same_rows(data, probed):
    """They cut those that they have, and keep nothing of it for the race."""
    X, y = data[0][:1500], data[1][:1500]
    search = RaceGridSearchCV(SVC(), {"gamma": [0.01, 0.1, 1.0]})
    inputs = search._read(X, y, {})
    setup = prepare(search._options(), search._configurations(), inputs)
    look = Look(slice(0, 100), slice(100, 400), 100, np.arange(3))
    with on_file(setup.source.data) as stored:
        Watch(replace(setup.source, stored=stored), CLOCK).once(look)
        ((source, there),) = probed
        received = pickle.loads(pickle.dumps(source.work(there)))
        rows = received.data(None)
        np.testing.assert_array_equal(rows.X, setup.source.data.X[:400])
        scratch = received.task("predict", rows).race_rows.scratch
        assert scratch.share == source.scratch.share == 228 * 400 / 1500**2
        whole = pickle.loads(pickle.dumps(setup.source.work(look)))
        assert whole.task("predict", whole.data(None)).race_rows.scratch.share == 1.0


@pytest.mark.parametrize("kind", ["pairwise", "sparse"])
def test_rows_that_cannot_be_cut_are_left_as_they_are(data, probed, kind):
    """Kernels have a column for each row; sparse rows have no tables."""
    X, y = data[0][:300], data[1][:300]
    rows = {
        "pairwise": rbf_kernel(X),
        "sparse": sparse.csr_array(X),
    }[kind]
    kernel = "precomputed" if kind == "pairwise" else "rbf"
    RaceGridSearchCV(SVC(kernel=kernel), {"C": [0.1, 1.0, 10.0]}).plan(rows, y)
    assert probed
    assert all(source.data.X.shape[0] == 300 for source, _ in probed)


class Hidden(Rounds):
    """Rows show only when there are many of them, as with trees on binned columns."""

    def fit(self, X, y):
        CLOCK.now += 0.1 + 1e-5 * len(y)
        self.classes_ = np.unique(y)
        return self


def test_where_rows_are_hidden_the_second_look_is_at_many(data, probed, monkeypatch):
    """Twice the rows would take .12 s after .11: by these 16,000 take a moment.

    .64 s are left by then. A look at 32 times the rows would take .64 s if it grew with
    the power of .4, half of what such learners do at least and usually.
    """
    monkeypatch.setattr(_costs, "growth_of", lambda *_: BINNED)
    X, y = (np.concatenate([one] * 5) for one in data)
    plan = RaceGridSearchCV(Hidden(), {"rounds": [1, 2, 3, 4]}).plan(X, y)
    sizes = [look.n_train for _, look in probed]
    first, second = sizes[0], next(size for size in sizes if size > sizes[0])
    assert second >= 16 * first
    assert plan.refit_seconds == pytest.approx(1.1, rel=0.5)
    assert CLOCK.now <= 1


@pytest.mark.parametrize(
    ("others", "share"),
    [([], 1.0), ([0, 0, 9], 1.0), ([1], 1.0), ([2, 2, 0], 2 / 3)],
)
def test_looks_on_a_crowded_machine_are_forecast_by_fair_shares(
    others, share, monkeypatch
):
    """Two processors, and as many threads of others: a look had one to itself."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    watch = Watch(SimpleNamespace(n_jobs=1), CLOCK, walls=1.0, processor=1.0)
    watch.others = [float(one) for one in others]
    look = Look(slice(0, 10), slice(10, 20), 10, np.array([0]))
    ones = np.ones(1)
    (found,) = watch.level([Timing(look, 1.0, 1.0, ones, ones, ones[None])])
    assert found.wall == pytest.approx(1 / share)
    assert found.fit == pytest.approx(1 / share)


@pytest.mark.parametrize(
    ("processor", "others", "share"),
    [
        (0.5, 2, 2 / 3),  # the looks waited: in the long run three are fair
        (0.95, 2, 2 / 3),  # and they were lucky
        (1.0, 4, 2 / 3),  # too much for luck: the others may have to stand back
        (0.3, 2, 0.45),  # too little: something else holds it back
        (0.7, 0, 0.7),  # nobody is in the way: fits that wait will wait again
        (0.12, 15, 0.125),  # a crowd is no reason to think that others work for it
    ],
)
def test_looks_that_were_lucky_or_not_are_forecast_by_fair_shares(
    processor, others, share, monkeypatch
):
    """Two processors; seconds of a processor are those of the race to come."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    watch = Watch(
        SimpleNamespace(n_jobs=1), CLOCK, walls=1.0, best=1.0, processor=processor
    )
    watch.others = [float(others)]
    look = Look(slice(0, 10), slice(10, 20), 10, np.array([0]))
    ones = np.ones(1)
    (found,) = watch.level([Timing(look, 1.0, processor, ones, ones, ones[None])])
    assert watch.share == pytest.approx(share)
    assert found.wall == pytest.approx(processor / share)


@pytest.mark.parametrize(
    ("fit", "forecast"),
    [
        (0.001, 0.002),  # the look waited between its fits
        (0.009, 0.008),  # it waited in a fit, and the processor knows how long
        (0.004, 0.008),
    ],
)
def test_a_short_look_waits_in_a_fit_or_beside_it(fit, forecast, monkeypatch):
    """4 ms of the processor took 12; in the long run they will take 8."""
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    watch = Watch(SimpleNamespace(n_jobs=1), CLOCK, walls=1.0, best=1.0, processor=0.5)
    watch.others = [1.0]
    look = Look(slice(0, 10), slice(10, 20), 10, np.array([0]))
    none, one = np.zeros(1), np.ones(1)
    (found,) = watch.level([Timing(look, 0.012, 0.004, fit * one, none, one[None])])
    assert found.wall == pytest.approx(0.008)
    assert found.fit == pytest.approx(forecast)


def test_of_repeated_looks_the_least_disturbed_fits_count(monkeypatch):
    """One of two fits waits in each of three looks, but none in all of them."""
    look = Look(slice(0, 10), slice(10, 20), 10, np.arange(2))
    fits = iter([[0.009, 0.001], [0.001, 0.009], [0.009, 0.002]])

    def once(self, look):
        fit = np.array(next(fits))
        return Timing(look, 0.015, 0.003, fit, fit / 2, np.zeros((2, 10)))

    monkeypatch.setattr(Watch, "once", once)
    found = Watch(SimpleNamespace(n_jobs=1), CLOCK).time(look)
    assert found.fit.tolist() == [0.001, 0.001]
    assert found.score.tolist() == [0.0005, 0.0005]


def test_a_lone_fit_is_compared_with_those_of_its_own_kind(data):
    """The middle of the grid is cheap: alone it is not cheaper than in the look."""
    grid = [{"rounds": [30]}, {"rounds": [1]}, {"rounds": [30]}]
    search = RaceGridSearchCV(Rounds(call=1e-3), grid, strategy="cross_validation")
    plan = search.plan(*data)
    assert plan.refit_seconds == pytest.approx(plan.fit_cost(len(data[0])), rel=0.05)


class Uneven(Rounds):
    """Costs what it says, and grows with less than the rows."""

    def fit(self, X, y):
        CLOCK.now += self.rounds * 0.04 * (len(y) / 1000) ** 0.72
        self.classes_ = np.unique(y)
        return self


def test_looks_that_have_no_configuration_in_common_are_not_compared(data):
    """A cheap middle gives way to others, and one of these is timed on more rows."""
    costs = [0.92, 0.99, 0.69, 1.65, 0.25, 0.60, 1.42, 0.67, 2.41, 1.30, 0.64, 1.95]
    costs += [0.12, 1.43, 0.71, 0.713, 1.55, 10.8, 0.65, 0.61, 1.50, 2.90, 0.62, 1.53]
    search = RaceGridSearchCV(
        Uneven(), {"rounds": [*costs, 0.18]}, strategy="cross_validation"
    )
    search.set_params(time_budget=120).fit(*data)
    assert CLOCK.now <= 120


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(),
        make_pipeline(StandardScaler(), SVC()),
        TransformedTargetRegressor(
            KernelRidge(kernel="rbf"), transformer=StandardScaler()
        ),
    ],
)
def test_the_share_of_the_memory_bounds_the_tables_of_probes(
    data, monkeypatch, estimator
):
    """Also below the steps of a pipeline, and for targets of its own."""
    limits = []

    class Noted(_rows.Budget):
        def __init__(self, limit):
            limits.append(limit)
            super().__init__(limit)

    monkeypatch.setattr(_rows, "Budget", Noted)
    (gamma,) = [name for name in estimator.get_params() if name.endswith("gamma")]
    X, y = data
    RaceGridSearchCV(estimator, {gamma: [0.01, 0.1, 1.0]}).plan(X[:1500], y[:1500])
    assert limits
    assert min(limits) < 0.1 * _rows.LARGEST_TABLE_BYTES


class Lone:
    """A watch that takes as long for one of a group as for all."""

    def time(self, look):
        count = len(look.configurations)
        seconds = np.full(count, 1e-3 / count), np.full(count, 0.08 / count)
        return Timing(look, 0.081, 0.081, *seconds, np.zeros((count, 50)))

    def undisturbed(self, timing):
        return timing


def test_predicting_is_timed_without_the_group_that_shares_it():
    """As for neighbours: what the search for them takes is there for the last, too."""
    watch = Lone()
    own = watch.time(
        Look(slice(0, 100), slice(100, 150), 100, np.arange(4), stage="probe")
    )
    assert predicted_alone(watch, own, 2, room=1.0) == pytest.approx(4)
    # There is no time for it, it is hidden behind fits, or it is alone anyway.
    assert predicted_alone(watch, own, 2, room=0.05) == 1
    assert predicted_alone(watch, replace(own, fit=own.score + 1), 2, room=1.0) == 1
    assert predicted_alone(watch, own.part([2]), 2, room=1.0) == 1


def test_what_a_group_shares_of_predictions_counts_when_it_has_gone(data, monkeypatch):
    """The last of 60 in one group takes a third as long as all of them."""
    monkeypatch.setattr(_costs, "predicted_alone", lambda *_: 20.0)
    X, y = data
    search = RaceGridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]})
    options = search._options()
    configurations = list(ParameterGrid({"n_neighbors": [1, 5, 9]}))
    setup = prepare(options, configurations, search._read(X[:900], y[:900], {}))
    model = measure_costs(
        *(setup.source, setup.problem),
        seconds=1.0,
        allowed=lambda _: 1.0,
        clock=options.clock,
    )
    assert model.lonely_predict == 20
    none = PowerCurve(0.0, 0.0, 1.0)
    shared = CostModel(
        none, LINE, none, n_configurations=60, n_groups=1, lonely_predict=20.0
    )
    assert shared.look(10, 5, 60) == pytest.approx(3 * shared.look(10, 5, 1))
    assert shared.look(10, 5, 60) == pytest.approx(60 * 50)


def test_rows_that_one_group_predicts_are_those_of_all_in_the_mean():
    """The group that was timed on more rows predicts three times as fast as another."""

    def timing(n_train, members, score):
        rows = slice(0, n_train), slice(n_train, n_train + 100)
        look = Look(*rows, n_train, np.array(members), stage="probe")
        count = len(members)
        losses = np.zeros((count, 100))
        return Timing(look, 1.0, 1.0, np.zeros(count), np.array(score), losses)

    spread = timing(100, [0, 1, 2, 3], [0.1, 0.1, 0.3, 0.3])
    larger = timing(400, [0, 1], [0.2, 0.2])
    assert larger.mean_row_seconds(spread) == pytest.approx(2 * 0.2 / 100)
    assert spread.mean_row_seconds(spread) == pytest.approx(spread.row_seconds)
    # A coarse clock saw nothing.
    blind = timing(100, [0, 1, 2, 3], [0.0] * 4)
    assert larger.mean_row_seconds(blind) == pytest.approx(larger.row_seconds)
