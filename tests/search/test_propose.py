"""Proposing while racing: budgets, seeds, spaces, failures, going on."""

from __future__ import annotations

import logging
import pickle
import time
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fake_clock import Clock, read_by_searches
from scipy import sparse
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cvst import RaceSearchCV
from cvst.exceptions import AllFitsFailedError, InvalidInputError
from cvst.proposals import RandomProposer
from cvst.race import Problem
from cvst.race.machinery import ProposeAndConfirm
from cvst.report import summary
from cvst.search._proposal_source import ProposalSource
from cvst.search.checkpoint import _fingerprint
from cvst.spaces import Space, integers, suggest
from cvst.statistics import paired_excess_test

TREES = {"max_depth": randint(1, 12), "min_samples_leaf": integers(1, 64, log=True)}


CLOCK = Clock()


class Timed(RegressorMixin, BaseEstimator):
    """Predicts a shifted mean; a fit takes seconds in proportion to its rows."""

    def __init__(self, shift=0.0, slow=1.0, full=1.0):
        self.shift = shift
        self.slow = slow
        self.full = full

    def fit(self, X, y):
        CLOCK.now += self.slow * self.full * len(X) / 1000
        self.mean_ = y.mean() + self.shift
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class Moody(Timed):
    """Fails, or predicts NaN, for some parameters."""

    def fit(self, X, y):
        if self.shift > 0.5:
            raise ValueError("too far")
        return super().fit(X, y)

    def predict(self, X):
        return super().predict(X) * (np.nan if self.shift < -0.5 else 1)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(400, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(scale=0.3, size=400)


@pytest.fixture
def clock(monkeypatch):
    return read_by_searches(CLOCK, monkeypatch)


def tree_search(**options):
    defaults = {"n_iter": 12, "random_state": 0}
    return RaceSearchCV(DecisionTreeRegressor(), TREES, **(defaults | options))


def stages(search):
    return [seen.look.stage for seen in search.race_.observations]


def test_the_winner_was_confirmed_on_fresh_folds(data):
    search = tree_search().fit(*data)
    assert stages(search)[0] == "warm up"
    assert stages(search)[-1] == "confirm"
    state = search.race_
    winner = [
        seen.look.fold
        for seen in state.observations
        if search.best_index_ in seen.look.configurations and seen.look.fold
    ]
    assert winner == [1, 2, 3, 4]
    first = state.problem.folds[5][0][1]
    for seen in state.observations:
        if seen.look.stage == "confirm":
            assert not set(seen.look.test.tolist()) & set(first.tolist())
    assert search.stop_reason_ == "n_iter"
    score = search.cv_results_["mean_test_score"][search.best_index_]
    assert search.best_score_ == score
    assert search.predict(data[0]).shape == (400,)


def test_the_estimators_own_parameters_take_part(data):
    own = DecisionTreeRegressor(max_depth=3, min_samples_leaf=5)
    search = RaceSearchCV(own, TREES, n_iter=8, random_state=0).fit(*data)
    params = search.cv_results_["params"][0]
    assert params == {"max_depth": 3, "min_samples_leaf": 5}
    assert search.cv_results_["n_looks"][0] > 0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_result_depends_on_the_seed_alone(data, n_jobs):
    one = tree_search().fit(*data)
    other = tree_search(n_jobs=n_jobs).fit(*data)
    for name, column in one.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(other.cv_results_[name], column)
    different = tree_search(random_state=1).fit(*data)
    assert different.cv_results_["params"] != one.cv_results_["params"]


def test_n_iter_counts_what_was_screened(data):
    for n_iter in (1, 5, 17):
        search = tree_search(n_iter=n_iter).fit(*data)
        assert len(search.cv_results_["params"]) >= n_iter
        looked = search.cv_results_["n_looks"] > 0
        # Members of a family, here the portfolio's, count once; trees have none.
        assert looked.sum() == n_iter


@pytest.mark.parametrize(
    ("budget", "refit"), [(3.0, True), (20.0, False), (40.0, True)]
)
def test_a_budget_is_kept_and_used_to_the_end(data, clock, budget, refit):
    """Fits take up to 0.4 s each on all rows, and nothing else takes any time."""
    space = {"shift": uniform(-1, 2), "slow": uniform(0.5, 0.5)}
    search = RaceSearchCV(Timed(), space, time_budget=budget, refit=refit)
    search.set_params(random_state=0).fit(*data)
    assert clock.now <= 1.05 * budget
    assert clock.now >= budget - 1.2
    assert abs(search.best_params_["shift"]) < 0.5
    assert search.stop_reason_ == "time_budget"


def test_a_budget_for_a_few_fits_gives_the_best_of_them(data, clock):
    search = RaceSearchCV(
        Timed(full=20), {"shift": uniform(-1, 2)}, time_budget=25, random_state=0
    ).fit(*data)
    assert search.cv_results_["n_looks"].sum() >= 1
    assert clock.now <= 26


def test_all_that_ran_on_the_first_fold_are_tested_where_nothing_confirms(data, clock):
    """Witness: the pointwise losses, kept for the user on a way of their own."""
    search = RaceSearchCV(
        Timed(),
        {"shift": uniform(-1, 2)},
        time_budget=4,
        return_pointwise=True,
        random_state=0,
    ).fit(*data)
    assert "confirm" not in stages(search)
    losses = {
        number: row
        for configurations, _, table in search.pointwise_losses_
        for number, row in zip(configurations.tolist(), table, strict=True)
    }
    best = losses[search.best_index_]
    expected = np.array(
        [paired_excess_test(losses[n][None] - best)[0] for n in range(len(losses))]
    )
    expected[search.best_index_] = 1.0
    found = search.cv_results_["p_value_against_best"]
    np.testing.assert_allclose(found, expected)
    level = 0.05 / (len(losses) - 1)
    assert search.tie_.n_tied == (expected > level).sum() - 1 == 7


@pytest.mark.parametrize("timed", [False, True])
def test_a_race_goes_the_same_way_without_room_for_the_losses_of_all(
    data, clock, monkeypatch, timed
):
    """Equal trees have equal losses; and a clock has the first look taken twice."""
    X, y = data
    trees = DecisionTreeClassifier(random_state=0)
    space = {"max_depth": randint(2, 6), "min_samples_leaf": randint(1, 5)}
    searches = []
    for room in (True, False):
        monkeypatch.setattr(Problem, "may_keep", lambda *_, room=room: room)
        clock.now = 0.0
        search = RaceSearchCV(trees, space, n_iter=12, random_state=0)
        if timed:
            search = RaceSearchCV(
                Timed(shift=3.0), {"shift": uniform(-1, 2)}, time_budget=20
            ).set_params(random_state=0)
        searches.append(search.fit(X, y if timed else y > 0))
    assert "confirm" in stages(searches[0])
    kept = [sum(len(o.kept) for o in one.race_.observations) for one in searches]
    assert kept[0] > kept[1]
    for one, other in zip(*(s.race_.observations for s in searches), strict=True):
        assert one.look.stage == other.look.stage
        np.testing.assert_array_equal(
            one.look.configurations, other.look.configurations
        )
        np.testing.assert_array_equal(one.p_values, other.p_values)
    ranks = [one.cv_results_["rank_test_score"] for one in searches]
    np.testing.assert_array_equal(*ranks)


class Loading(Timed):
    """Takes half a second more when it is fitted for the first time."""

    loaded = False

    def fit(self, X, y):
        CLOCK.now += 0.0 if Loading.loaded else 0.5
        Loading.loaded = True
        return super().fit(X, y)


def test_what_is_done_once_is_not_taken_for_the_time_of_a_fit(data, clock, monkeypatch):
    """A fifth of the time: taken for a fit, the final one would need all the rest."""
    monkeypatch.setattr(Loading, "loaded", False)
    space = {"shift": uniform(-1, 2)}
    search = RaceSearchCV(Loading(full=0.05), space, time_budget=2.5, random_state=0)
    search.fit(np.tile(data[0], (10, 1)), np.tile(data[1], 10))
    assert stages(search)[:2] == ["warm up", "warm up"]
    assert 0.95 * 2.5 <= clock.now <= 1.05 * 2.5


class Costly(Timed):
    """Takes as long for few rows as for thousands, and hardly more for all."""

    def fit(self, X, y):
        CLOCK.now += self.slow
        return super().fit(X, y)


def test_fits_on_few_rows_do_not_make_the_final_fit_dear(data, clock):
    """In proportion to the rows it would take 100 s; it takes 1.8."""
    X, y = np.tile(data[0], (100, 1)), np.tile(data[1], 100)
    space = {"shift": uniform(-1, 2)}
    search = RaceSearchCV(Costly(full=0.02), space, time_budget=40, random_state=0)
    search.fit(X, y)
    assert 0.9 * 40 <= clock.now <= 1.05 * 40
    assert search.race_.n_looks > 15


def test_what_is_too_dear_does_not_end_the_race(data, clock, monkeypatch):
    """A forecast keeps the second configuration waiting, and others go on."""
    forecast = ProposeAndConfirm._forecast

    def dear(strategy, state, plan):
        return np.inf if 1 in plan.families else forecast(strategy, state, plan)

    monkeypatch.setattr(ProposeAndConfirm, "_forecast", dear)
    search = RaceSearchCV(Timed(), {"shift": uniform(-1, 2)}, start=[{"shift": 0.5}])
    search.set_params(time_budget=30, random_state=0).fit(*data)
    assert search.cv_results_["n_looks"][1] == 0
    assert 0.9 * 30 <= clock.now <= 1.05 * 30


def test_a_winner_that_is_dear_to_fit_leaves_time_for_that(data, clock):
    """The best takes three times as long, on all rows and in the final fit."""
    X, y = np.tile(data[0], (10, 1)), np.tile(data[1], 10)
    space = {"shift": uniform(0.9, 0.1), "slow": [1.0]}
    alike = [{"shift": shift, "slow": 1.0} for shift in (0.95, 0.9)]
    search = RaceSearchCV(Timed(shift=1.0), space, time_budget=28, random_state=0)
    search.set_params(start=[*alike, {"shift": 0.0, "slow": 3.0}]).fit(X, y)
    assert clock.now <= 1.05 * 28


def test_one_that_is_dear_does_not_change_where_others_are_screened(data, clock):
    """Rows are compared by what one configuration took on few and on all of them."""
    X, y = np.tile(data[0], (10, 1)), np.tile(data[1], 10)
    space = {"shift": uniform(0.9, 0.1), "slow": [1.0]}
    search = RaceSearchCV(Timed(shift=1.0), space, time_budget=40, random_state=0)
    search.set_params(start=[{"shift": 0.95, "slow": 4.0}, {"shift": 0.9}]).fit(X, y)
    first = {}
    for seen in search.race_.observations:
        for number in seen.look.configurations.tolist():
            first.setdefault(number, seen.look.n_train)
    assert set(list(first.values())[:6]) == {800}


def test_dear_proposals_do_not_break_the_budget(data, clock):
    """Some configurations take a hundred times as long as others."""
    space = {"shift": uniform(-1, 2), "slow": loguniform(0.1, 10)}
    search = RaceSearchCV(Timed(), space, time_budget=40, random_state=0).fit(*data)
    assert clock.now <= 44
    assert search.race_.n_looks > 10


class Slow(RandomProposer):
    """Takes ten fits' time to think, however many points it is asked for."""

    def propose(self, n_choices, history, count, rng):
        CLOCK.now += 0.1
        return super().propose(n_choices, history, count, rng)


@pytest.mark.parametrize(
    ("proposer", "together"), [(Slow(), True), (RandomProposer(), False)]
)
def test_looks_have_several_configurations_where_proposals_take_long(
    data, clock, proposer, together
):
    """Fits take about 10 ms. One by one, proposals would take ten times as much."""
    search = RaceSearchCV(
        Timed(full=1 / 30), {"shift": uniform(-1, 2)}, proposer=proposer
    )
    search.set_params(time_budget=3, random_state=0).fit(*data)
    screened = [one for one in search.race_.observations if one.look.stage == "screen"]
    widths = [len(one.look.configurations) for one in screened]
    assert (max(widths) > 4) == together


@pytest.mark.parametrize(
    ("estimator", "space"),
    [
        (Ridge(), {"alpha": loguniform(1e-3, 1e3)}),
        (Ridge(), {"alpha": [0.1, 1.0, 10.0]}),
        (
            KernelRidge(),
            [
                {"kernel": ["rbf"], "gamma": loguniform(0.01, 10)},
                {"kernel": ["linear"]},
            ],
        ),
        (
            make_pipeline(StandardScaler(), Ridge()),
            {
                "ridge__alpha": loguniform(1e-3, 1e3),
                "standardscaler": [StandardScaler(), "passthrough"],
            },
        ),
        (
            GradientBoostingRegressor(n_estimators=20),
            {"n_estimators": randint(5, 40), "learning_rate": loguniform(0.01, 1)},
        ),
        (Ridge(), "auto"),
    ],
)
def test_every_kind_of_space(data, estimator, space):
    search = RaceSearchCV(estimator, space, n_iter=9, random_state=0).fit(*data)
    assert search.best_params_ in search.cv_results_["params"]
    for params in search.cv_results_["params"]:
        clone(estimator).set_params(**params)
    summary(search)


def test_a_finite_space_is_searched_to_its_end(data):
    search = RaceSearchCV(
        DecisionTreeRegressor(), {"max_depth": [1, 2, 3, 4]}, n_iter=50, random_state=0
    ).fit(*data)
    tried = [one["max_depth"] for one in search.cv_results_["params"]]
    assert sorted(x for x in tried if x is not None) == [1, 2, 3, 4]
    assert search.stop_reason_ == "all_seen"


@pytest.mark.parametrize("seed", [0, None])
def test_rounds_come_for_nothing(data, seed):
    """Whether or not the estimator has a seed: the race fills one in."""
    model = GradientBoostingRegressor(n_estimators=30, random_state=seed)
    search = RaceSearchCV(
        model, {"n_estimators": randint(20, 60)}, n_iter=6, random_state=0
    ).fit(*data)
    seen = search.race_.observations[0]
    rounds = [
        search.cv_results_["params"][n]["n_estimators"]
        for n in seen.look.configurations.tolist()
    ]
    assert len(rounds) > 3
    assert len(set(rounds)) == len(rounds)
    assert search.best_params_["n_estimators"] in {
        one["n_estimators"] for one in search.cv_results_["params"]
    }


@pytest.mark.parametrize("seed", [0, None])
def test_forests_are_screened_by_a_few_trees_and_confirmed_whole(seed):
    X, y = make_classification(200, 6, random_state=0)
    search = RaceSearchCV(
        RandomForestClassifier(n_estimators=60, random_state=seed),
        {"n_estimators": [60], "max_features": uniform(0.2, 0.8)},
        n_iter=4,
        scoring="neg_log_loss",
        random_state=0,
    ).fit(X, y)
    rounds = {seen.look.stage: seen.look.rounds for seen in search.race_.observations}
    assert rounds["screen"] == 50
    assert rounds["confirm"] is None
    assert len(search.best_estimator_.estimators_) == 60


def test_the_estimator_as_it_is_takes_part_on_all_sizes(data, clock):
    """Though fewer rounds are better on few rows, more rows may want more."""
    X, y = np.tile(data[0], (8, 1)), np.tile(data[1], 8)
    y = y + np.random.default_rng(1).normal(scale=3, size=len(y))
    model = GradientBoostingRegressor(learning_rate=0.9, n_estimators=30)
    search = RaceSearchCV(
        model, {"n_estimators": randint(20, 60)}, time_budget=60, random_state=0
    )
    search._clock = time.perf_counter
    search.set_params(n_iter=4).fit(X, y)
    warm_up = [one for one in search.race_.observations if one.look.stage == "warm up"]
    best = [int(np.argmin(one.mean_losses)) for one in warm_up]
    assert len({one.look.n_train for one in warm_up}) > 1
    assert best[0] > 1
    assert all(0 in one.look.configurations for one in warm_up)


def test_failures_are_dropped_with_a_reason(data):
    with pytest.warns(FitFailedWarning, match="failed"):
        search = RaceSearchCV(
            Moody(), {"shift": uniform(-1, 2)}, n_iter=15, random_state=0
        ).fit(*data)
    assert -0.5 <= search.best_params_["shift"] <= 0.5
    assert any("too far" in text for text in search.cv_results_["failure"])
    assert any("NaN" in text for text in search.cv_results_["failure"])


def test_if_all_fail_it_is_one_clear_error(data):
    with (
        pytest.warns(FitFailedWarning, match="failed"),
        pytest.raises(AllFitsFailedError, match="too far"),
    ):
        RaceSearchCV(
            Moody(shift=1.0), {"shift": uniform(1, 2)}, n_iter=5, random_state=0
        ).fit(*data)


def test_one_configuration_and_all_equal(data):
    lone = RaceSearchCV(Ridge(), {"alpha": [1.0]}, n_iter=5, random_state=0).fit(*data)
    assert lone.best_params_ == {"alpha": 1.0}
    space = {"slow": uniform(0, 1)}
    equal = RaceSearchCV(Timed(), space, n_iter=8, random_state=0).fit(*data)
    assert equal.best_params_ == {"slow": 1.0}


class Broken:
    """A proposer with a bug."""

    def propose(self, n_choices, history, count, rng):
        raise RuntimeError("no idea")


def test_a_proposer_that_fails_is_replaced_by_chance(data, caplog):
    caplog.set_level(logging.WARNING, "cvst")
    search = tree_search(proposer=Broken()).fit(*data)
    assert "the proposer failed (RuntimeError: no idea)" in caplog.text
    assert len(search.cv_results_["params"]) >= 12


def test_own_proposers_and_names(data):
    for proposer in ("random", "parzen", RandomProposer()):
        assert tree_search(proposer=proposer, n_iter=8).fit(*data).best_params_
    with pytest.raises(InvalidInputError, match="proposer='magic' is not known"):
        tree_search(proposer="magic").fit(*data)


def test_what_you_start_with_is_tried_first(data):
    start = [{"max_depth": 4, "min_samples_leaf": 3}]
    search = tree_search(start=start).fit(*data)
    assert search.cv_results_["params"][1] == start[0]
    with pytest.raises(InvalidInputError, match="start holds 3"):
        tree_search(start=[3]).fit(*data)


def test_a_search_goes_on_where_it_ended(data):
    """More configurations: the looks so far are kept to the last bit."""
    search = tree_search(n_iter=8).fit(*data)
    before = search.race_
    search.resume(*data, n_iter=6)
    after = search.race_
    assert after.n_looks > before.n_looks
    for old, new in zip(before.observations, after.observations, strict=False):
        assert old is new
    looked = (search.cv_results_["n_looks"] > 0).sum()
    assert looked == 14
    assert search.n_iter == 8
    assert not search.warm_start


def test_a_search_goes_on_with_more_time(data, clock):
    space = {"shift": uniform(-1, 2)}
    search = RaceSearchCV(Timed(), space, time_budget=6, random_state=0).fit(*data)
    spent = clock.now
    search.resume(*data, time_budget=6)
    assert spent < clock.now <= spent + 6.3
    assert search.time_budget == 6


def other(values, row):
    changed = values.copy()
    changed[row] += 1
    return changed


@pytest.mark.parametrize("name", ["X", "y", "sample_weight", "groups"])
def test_going_on_with_other_data_says_which(data, name):
    X, y = data
    given = {
        "X": X,
        "y": y,
        "sample_weight": np.ones(len(y)),
        "groups": np.arange(len(y)) % 9,
    }
    search = tree_search(n_iter=5).fit(**given)
    search.resume(**{key: value.copy() for key, value in given.items()}, n_iter=1)
    with pytest.raises(InvalidInputError, match=rf"last fit: {name} \("):
        search.resume(**given | {name: other(given[name], -1)}, n_iter=3)


def test_of_many_rows_the_first_and_the_last_are_looked_at(monkeypatch, data):
    """And not all in between; of those with a checkpoint all are."""
    monkeypatch.setattr(_fingerprint, "MOST_ROWS", 3)
    X, y = data
    search = tree_search(n_iter=2).fit(X, y)
    for row in (0, len(X) - 1):
        with pytest.raises(InvalidInputError, match=r"X \(400 by 3\) does not have"):
            search.resume(other(X, row), y, n_iter=1)
    search.resume(other(X, 7), y, n_iter=1)


class Endless:
    """Refuses to be read."""

    def __getstate__(self):
        raise RuntimeError("no")

    def __reduce_ex__(self, protocol):
        raise RuntimeError("no")


class AnyRows(Timed):
    def fit(self, X, y, notes=None):
        self.mean_ = y.mean() + self.shift
        return self


def test_odd_rows_do_not_stop_a_fit(data):
    """Nobody has asked yet whether these are the data of the last fit."""
    deep = []
    for _ in range(5_000):
        deep = [deep]
    y = data[1][:60]
    moments = pd.date_range("2020", periods=60, tz="UTC")
    rows = {
        "moments": pd.DataFrame({"t": moments, "o": moments.astype(object)}),
        "objects": [Endless() for _ in range(60)],
        "deep": [deep for _ in range(60)],
    }
    space = {"shift": [0.0, 1.0]}
    for X in rows.values():
        search = RaceSearchCV(AnyRows(), space, n_iter=2, random_state=0)
        search.fit(X, y, groups=list(moments)).resume(X, y, groups=list(moments))
        assert search.best_params_ == {"shift": 0.0}


def test_sparse_rows_to_test_on_may_have_any_format(monkeypatch, data):
    monkeypatch.setattr(_fingerprint, "MOST_ROWS", 20)
    X, y = data
    for kind in (sparse.coo_matrix, sparse.bsr_array):
        search, tested = tree_search(n_iter=2), {"y_val": y[300:]}
        search.fit(X[:300], y[:300], X_val=kind(X[300:]), **tested)
        with pytest.raises(InvalidInputError, match=r"last fit: X_val \(100 by 3\)"):
            search.resume(X[:300], y[:300], X_val=kind(other(X[300:], 0)), **tested)


def test_a_search_of_another_version_is_not_continued(data):
    search = tree_search(n_iter=2).fit(*data)
    for known in (None, (400, 3)):
        search._fingerprint = known
        with pytest.raises(InvalidInputError, match="another version"):
            search.resume(*data, n_iter=2)


def test_going_on_needs_the_same_data_and_a_seed(data):
    X, y = data
    search = tree_search(n_iter=5).fit(X, y)
    for _ in range(2):  # a refused one is not the last fit
        with pytest.raises(
            InvalidInputError, match=r"last fit: y \(400\) does not have"
        ):
            search.resume(X, y + 1, n_iter=3)
    with pytest.raises(InvalidInputError, match="no race to resume"):
        tree_search().resume(X, y)
    unseeded = tree_search(n_iter=5, random_state=None).fit(X, y)
    with pytest.raises(InvalidInputError, match="random_state=None"):
        unseeded.resume(X, y, n_iter=3)


def test_a_separate_test_set_takes_the_place_of_the_folds(data):
    X, y = data
    search = tree_search().fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    assert set(stages(search)) == {"warm up", "screen"}
    for seen in search.race_.observations:
        assert seen.look.test.tolist() == list(range(300, 400))


def test_groups_and_classes(data):
    X, y = make_classification(300, 6, n_classes=3, n_informative=4, random_state=0)
    groups = np.arange(300) // 5
    search = RaceSearchCV(
        make_pipeline(StandardScaler(), SVC()), "auto", n_iter=6, random_state=0
    ).fit(X, y, groups=groups)
    assert set(search.predict(X)) <= {0, 1, 2}
    assert RaceSearchCV(LogisticRegression(), n_iter=5, random_state=0).fit(X, y)


def test_a_fitted_search_can_be_stored(data):
    search = tree_search().fit(*data)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(data[0]), search.predict(data[0]))
    assert again.best_params_ == search.best_params_


def test_the_history_is_a_table(data):
    pytest.importorskip("pandas")
    search = tree_search().fit(*data)
    history = search.history_
    looks = [len(one.look.configurations) for one in search.race_.observations]
    assert len(history) == sum(looks)
    assert {"look", "stage", "mean_loss"} <= set(history.columns)


def test_the_space_is_what_was_searched(data):
    search = tree_search()
    with pytest.raises(NotFittedError):
        _ = search.space_
    assert search.fit(*data).space_.names == Space.of(TREES).names


def test_unknown_estimators_need_a_space(data):
    with pytest.raises(InvalidInputError, match="param_distributions"):
        RaceSearchCV(Timed(), n_iter=3).fit(*data)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (randint(5, 60), {40, 59}),
        ([5, 10, 30, 80], {30, 80}),
        ([5, 10, 20], {20}),
    ],
)
def test_forests_are_proposed_with_as_many_trees_as_they_have(counts, expected):
    """More are never worse, and a look at a few of them could not tell."""
    X, y = make_classification(120, 6, random_state=0)
    space = {"n_estimators": counts, "max_features": uniform(0.1, 0.9)}
    forest = RandomForestClassifier(n_estimators=40, random_state=0)
    search = RaceSearchCV(forest, space, n_iter=10, random_state=0).fit(X, y)
    counts = {one["n_estimators"] for one in search.cv_results_["params"][1:]}
    assert min(counts) in expected
    assert max(counts) <= max(expected)


def test_the_portfolio_has_the_numbers_that_were_meant():
    """Not .05000000000000001, as they come back from the space."""
    space = {
        "learning_rate": loguniform(0.01, 0.5),
        "l2_regularization": loguniform(1e-6, 5),
        "max_leaf_nodes": randint(4, 100),
    }
    model = HistGradientBoostingRegressor()
    found = RaceSearchCV(model, space)._configurations()
    meant = [*suggest(model).start, model.get_params()]
    for name in ("learning_rate", "l2_regularization"):
        # More than 5 is moved into the space.
        allowed = {min(one[name], 5.0) for one in meant if name in one}
        assert {one[name] for one in found} <= allowed
    assert len({one["learning_rate"] for one in found}) > 3


@pytest.mark.parametrize(("n_members", "expected"), [(0, 40), (50, 50), (1000, 59)])
def test_forests_are_proposed_with_more_trees_where_there_is_time(n_members, expected):
    """As many as the race has time for, at least their own, at most those allowed."""
    space = {"n_estimators": randint(5, 60), "max_features": uniform(0.1, 0.9)}
    forest = RandomForestClassifier(n_estimators=40, random_state=0)
    source = RaceSearchCV(forest, space, time_budget=5)._options().strategy.source
    source.enlarge(n_members)
    drawn = source.propose([], 40, [0])
    assert min(one["n_estimators"] for (one,) in drawn) == expected


def test_seconds_are_those_of_the_rounds_that_were_looked_at(data):
    """A look at 25 of a hundred rounds says little about a hundred."""
    model = HistGradientBoostingRegressor(max_iter=100, random_state=0)
    space = {"max_iter": randint(10, 400), "learning_rate": uniform(0.01, 0.5)}
    search = RaceSearchCV(model, space, n_iter=1, random_state=0).fit(*data)
    state, strategy = search.race_, search.strategy_
    seen = state.observations[0]
    by_rounds = {
        state.configurations[number]["max_iter"]: number
        for number in seen.look.configurations.tolist()
    }
    # The portfolio has one with 200 rounds and else the same parameters.
    assert max(by_rounds) == 200
    numbers = np.array(sorted([by_rounds[25], by_rounds[15]]))
    cut = replace(
        seen,
        look=replace(seen.look, configurations=numbers),
        mean_losses=seen.mean_losses[-2:],
        fit_seconds=np.array([0.4, 0.0]),
        score_seconds=np.array([0.1, 0.0]),
    )
    problem = replace(state.problem, seconds=60.0)
    state = replace(state, problem=problem, observations=(cut,))
    wanted = [{**state.configurations[0], "max_iter": 300}]
    assert strategy._unseen_seconds(state, wanted, 0) == pytest.approx(0.5 * 300 / 25)
    assert strategy._trials(state)[0].seconds == pytest.approx(0.5 * 200 / 25)
    family = strategy._record(state).families[0]
    rounds = [state.configurations[number]["max_iter"] for number in family.members]
    assert rounds == sorted(rounds, reverse=True)


@pytest.mark.parametrize(
    ("seed", "budget", "full"),
    [(0, 20, 1), (2, 9, 2), (2, 9, 4), (8, 14, 1), (9, 9, 1)],
)
def test_no_look_is_at_nothing(data, clock, seed, budget, full):
    """There was time for looks at new ones, and none for their final fits."""
    space = {"shift": uniform(-1, 2), "slow": loguniform(0.05, 20)}
    search = RaceSearchCV(Timed(full=full), space, time_budget=budget)
    search.set_params(random_state=seed).fit(*data)
    assert all(len(seen.look.configurations) for seen in search.race_.observations)
    assert clock.now <= 1.1 * budget


def test_the_strategy_is_one_line_of_text(regression):
    """Neither what is known of each configuration nor the ranges are in it."""
    start = [{"alpha": 10.0**power} for power in range(-3, 4)]
    space = {"alpha": loguniform(1e-4, 1e4), "tol": loguniform(1e-5, 1e-2)}
    search = RaceSearchCV(Ridge(), space, n_iter=12, start=start, random_state=0)
    search.fit(*regression)
    assert repr(search.strategy_).startswith(
        "ProposeAndConfirm(source=ProposalSource(alpha, tol; AutoProposer()), n_iter=12"
    )
    assert len(repr(search.strategy_)) < 120
    many = {f"step{number}__parameter": [1, 2] for number in range(40)}
    source = ProposalSource(Space.of(many), RandomProposer(), {})
    assert len(repr(source)) < 100


def test_the_plan_of_a_search_that_proposes_is_its_budget(regression):
    grid = {"alpha": loguniform(1e-4, 1e4)}
    search = RaceSearchCV(Ridge(), grid, time_budget=500, random_state=0)

    plan = search.plan(*regression)

    assert plan.total_seconds == plan.budget_seconds == 500
    assert plan.total_range[0] == 500
    few, many = plan.budget_configurations
    assert plan.n_configurations <= few < many
    assert few <= plan.n_compared <= many
    # As many configurations on both sides, and the whole of what each takes.
    n_fits = plan.fits_by_power[1][1]
    assert n_fits == pytest.approx(plan.n_compared * plan.n_folds * 0.9)
    ratio = plan.cross_validation_seconds / plan.total_seconds
    assert plan.speedup_ceiling == ratio
    told = " ".join(str(plan).split())
    assert (
        "proposed until the time budget of 8 min 20 s is used up, the final fit "
        f"included: about {few:,} to {many:,} of them"
    ) in told
    assert "Expected: 8 min 20 s, of which" in told
    assert f"cross-validation of {plan.n_compared:,}:" in told
    assert "times as long as the time budget" in told
    assert "first looks alone" not in told


def test_a_budget_of_a_search_that_proposes_is_never_too_small_to_plan(regression):
    """It begins whatever its first look takes, and so does its plan, with no note."""
    search = RaceSearchCV(Ridge(), time_budget=1e-3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = search.plan(*regression)
    assert plan.n_configurations == len(search._configurations())
    assert plan.budget_configurations[0] >= plan.looks[0].max_configurations


def test_first_looks_compare_with_cross_validation_of_their_configurations(regression):
    search = RaceSearchCV(Ridge(), n_iter=40, random_state=0)
    plan = search.plan(*regression)
    assert plan.n_compared == plan.looks[0].max_configurations
    assert plan.budget_seconds is plan.budget_configurations is None


def test_neither_plan_nor_log_takes_the_first_looks_for_the_whole_race(
    regression, capsys
):
    search = RaceSearchCV(
        Ridge(), {"alpha": loguniform(1e-4, 1e4)}, n_iter=8, verbose=2, random_state=0
    )
    plan = search.plan(*regression)
    assert plan.proposes
    assert "first looks alone" in " ".join(str(plan).split())
    search.fit(*regression)
    told = capsys.readouterr().out
    assert f"on {len(regression[1])} rows, to begin with" in told
    assert "at most" not in told
    assert "begins with 1 configuration\n" in told
