"""Time that is left is used: the winner meets fresh configurations.

The clock moves only when a model is fitted or predicts.
"""

from __future__ import annotations

import pickle
import shutil

import numpy as np
import pytest
from fake_clock import Clock
from scipy.stats import uniform
from shifted_mean import ShiftedMean
from sklearn.base import clone

from cvst import CrossValidation, RaceGridSearchCV, RaceRandomSearchCV
from cvst.exceptions import CheckpointError, FallbackWarning
from cvst.search.checkpoint import _pace, load_checkpoint

N = 1000


CLOCK = Clock()

# Called before each fit.
LISTENERS = []


class Shifted(ShiftedMean):
    """Predicts the mean plus a shift; a fit on all rows takes a second."""

    def fit(self, X, y):
        # Not of the class: a checkpoint refuses one that was edited.
        for hear in LISTENERS:
            hear()
        CLOCK.now += 0.1 + 0.9 * len(y) / N
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    CLOCK.now = 0.0
    monkeypatch.setattr("cvst.evaluation._one_by_one.perf_counter", CLOCK)
    for search in (RaceGridSearchCV, RaceRandomSearchCV):
        monkeypatch.setattr(search, "_clock", staticmethod(CLOCK))
    return CLOCK


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 1)), rng.normal(size=N)


def random_search(budget, n_iter=8, **options):
    options = {"random_state": 0, "strategy": "track_and_confirm", **options}
    space = {"shift": uniform(0, 2)}
    return RaceRandomSearchCV(
        Shifted(), space, n_iter=n_iter, time_budget=budget, **options
    )


@pytest.mark.parametrize("strategy", ["track_and_confirm", "cvst"])
def test_a_random_search_draws_on_while_there_is_time(data, clock, strategy):
    """The budget is kept, most of it is used, and more draws find a better one."""
    search = random_search(100.0, strategy=strategy).fit(*data)

    assert 0.7 * 100 <= clock.now <= 100
    assert len(search.cv_results_["params"]) > 8
    few = random_search(None, strategy=strategy).fit(*data)
    assert search.best_params_["shift"] <= few.best_params_["shift"]
    np.testing.assert_array_equal(search.cv_results_["rank_test_score"].min(), 1)
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]


def test_the_draws_are_those_of_a_search_that_was_asked_for_them(data):
    """In their order: the legs add draws, they change none."""
    search = random_search(400.0).fit(*data)
    raced = search.cv_results_["params"]
    longer = random_search(None, n_iter=len(raced))._configurations()
    assert list(raced) == longer


def test_the_winner_of_a_leg_meets_the_fresh_ones(data):
    """The first look of the second leg holds the winner of the first and no other."""
    search = random_search(400.0).fit(*data)
    first = random_search(None).fit(*data)
    looks = [one.look.configurations for one in search.race_.observations]
    second = next(look for look in looks if look.max() >= 8)
    assert second[second < 8].tolist() == [first.best_index_]


def test_a_race_in_legs_is_repeated_without_a_clock(data):
    """All configurations are there from the start, and the legs are the same."""
    search = random_search(400.0).fit(*data)
    again = clone(search).set_params(**search.budget_settings_, time_budget=None)
    again.fit(*data)
    assert again.best_params_ == search.best_params_
    np.testing.assert_array_equal(again.race_.mean_losses, search.race_.mean_losses)


def test_a_leg_that_is_cut_decides_nothing(data):
    """A search that stops in the second leg returns the winner of the first."""
    first = random_search(None).fit(*data)
    search = random_search(400.0, max_looks=first.n_looks_ + 1).fit(*data)
    assert len(search.cv_results_["params"]) > 8
    assert search.best_index_ == first.best_index_


def test_a_grid_goes_on_with_those_left_out(data, clock):
    """Fewer at first, since the first look at all would not fit; the rest later."""
    grid = {"shift": np.linspace(0, 2, 25).tolist()}
    search = RaceGridSearchCV(Shifted(), grid, strategy=CrossValidation())
    search.set_params(time_budget=24.0, random_state=0)
    with pytest.warns(FallbackWarning, match="of 25 are raced"):
        search.fit(*data)
    assert clock.now <= 24
    shifts = [one["shift"] for one in search.cv_results_["params"]]
    assert len(set(shifts)) == len(shifts) <= 25
    assert search.best_params_["shift"] == min(shifts)


def test_a_grid_without_more_to_race_just_ends(data, clock):
    grid = {"shift": [0.0, 1.0]}
    search = RaceGridSearchCV(Shifted(), grid, time_budget=500.0, random_state=0)
    search.fit(*data)
    assert clock.now < 100
    assert len(search.cv_results_["params"]) == 2


def test_a_search_in_legs_can_be_pickled(data):
    search = random_search(400.0).fit(*data)
    copy = pickle.loads(pickle.dumps(search))
    assert copy.best_params_ == search.best_params_
    assert copy.strategy_.sizes == search.strategy_.sizes


def in_legs(path):
    return random_search(100.0).set_params(checkpoint=path)


def with_fewer(path):
    return in_turn(path).set_params(strategy=CrossValidation())


def in_turn(path):
    grid = {"shift": np.linspace(0, 2, 25).tolist()}
    return RaceGridSearchCV(
        Shifted(), grid, time_budget=24.0, random_state=0, checkpoint=path
    )


@pytest.mark.filterwarnings("ignore:.*are raced")
@pytest.mark.parametrize(
    ("make", "asked"), [(in_legs, 8), (with_fewer, 25), (in_turn, 25)]
)
def test_a_break_in_any_leg_changes_nothing(
    make, asked, data, clock, tmp_path, monkeypatch
):
    """What the clock had chosen is kept; on this clock even the end is the same."""
    monkeypatch.setattr(_pace, "SHARE", np.inf)
    path, copies = tmp_path / "race", []

    def snapshot():
        copies.append(shutil.copy(path, tmp_path / str(len(copies))))

    LISTENERS.append(snapshot)
    try:
        quiet = make(path).fit(*data)
    finally:
        LISTENERS.clear()
    # More draws in a second leg, or fewer than all of the grid.
    assert quiet.race_.n_configurations != asked
    for copy in copies[-2 :: -(len(copies) // 5)]:
        try:
            known = load_checkpoint(copy)
        except CheckpointError:
            continue  # small fits were being timed
        clock.now = 0.0
        search = make(copy).fit(*data)
        np.testing.assert_array_equal(
            search.race_.mean_losses[:, : known.n_looks_],
            quiet.race_.mean_losses[: search.race_.n_configurations, : known.n_looks_],
        )
        assert clock.now + known.seconds <= quiet.time_budget
        assert search.best_params_ == quiet.best_params_
        assert search.race_.configurations == quiet.race_.configurations
