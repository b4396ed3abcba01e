"""Ensembles in a time budget: who takes part, and that all is over in time."""

from __future__ import annotations

import numpy as np
import pytest
from fake_clock import Clock, read_by_searches
from scipy.stats import uniform
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import VotingRegressor

from cvst import RaceGridSearchCV, RaceSearchCV
from cvst.exceptions import InvalidInputError
from cvst.search._members import MembersInTime

CLOCK = Clock()


class Wavy(RegressorMixin, BaseEstimator):
    """Errs by a wave of its own, so that means of several err less.

    A fit takes seconds in proportion to its rows.
    """

    def __init__(self, wave=0.5, slow=1.0):
        self.wave = wave
        self.slow = slow

    def fit(self, X, y):
        CLOCK.now += self.slow * len(X) / 1000
        self.offset_ = np.mean(y - X[:, 0])
        return self

    def predict(self, X):
        return X[:, 0] + self.offset_ + np.sin(1000 * self.wave * (1 + X[:, 1]))


SPACE = {"wave": uniform(0.1, 10)}


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(400, 2))
    return X, X[:, 0] + rng.normal(scale=0.1, size=400)


@pytest.fixture
def clock(monkeypatch):
    return read_by_searches(CLOCK, monkeypatch)


def searched(data, *, slow=1.0, **options):
    options = {"time_budget": 40.0, "ensemble": True, "random_state": 0, **options}
    return RaceSearchCV(Wavy(slow=slow), SPACE, **options).fit(*data)


@pytest.mark.parametrize("seconds", [15.0, 40.0, 120.0])
def test_a_better_ensemble_is_found_and_fitted_in_the_time(data, clock, seconds):
    """Fits of a whole are .4 seconds, so there is time for two members and more."""
    search = searched(data, time_budget=seconds)
    assert 0.85 * seconds <= clock.now <= 1.02 * seconds
    chosen = search.ensemble_
    assert chosen.kept, chosen.reason
    assert 2 <= len(chosen.configurations) <= 8
    assert search.race_.elapsed < 0.9 * seconds  # the rest was kept for it
    ensemble = search.ensemble_estimator_
    loss, alone = (
        np.mean((model.predict(data[0]) - data[1]) ** 2)
        for model in (ensemble, search.best_estimator_)
    )
    assert loss < 0.8 * alone


def test_it_predicts_as_a_vote_of_the_same_members_does(data, clock):
    """Witness: scikit-learn's, fitted by itself. The winner is not fitted again."""
    search = searched(data)
    chosen, ensemble = search.ensemble_, search.ensemble_estimator_
    members = [(str(n), Wavy().set_params(**p)) for n, p in enumerate(chosen.params)]
    voting = VotingRegressor(members, weights=chosen.weights).fit(*data)
    X = data[0][:50]
    np.testing.assert_allclose(ensemble.predict(X), voting.predict(X))
    place = chosen.configurations.tolist().index(search.best_index_)
    assert ensemble.estimators_[place] is search.best_estimator_
    # Elsewhere it is a clone like the others.
    again = clone(ensemble).fit(*data)
    assert again.estimators_[place] is not search.best_estimator_
    np.testing.assert_allclose(again.predict(X), voting.predict(X))


def test_members_are_predicted_for_on_folds_they_were_not_trained_on(data, clock):
    """Witness: each fitted by hand on the training rows of each fold."""
    search = searched(data)
    known, (X, y) = search.out_of_fold_predictions_, data
    assert known.configurations[0] == search.best_index_
    assert len(set(known.configurations.tolist())) == len(known.configurations)
    for fold in range(known.fold.max() + 1):
        test = known.fold == fold
        for params, predicted in zip(known.params, known.predictions, strict=True):
            model = Wavy().set_params(**params).fit(X[~test], y[~test])
            np.testing.assert_allclose(predicted[test], model.predict(X[test]))


def test_where_there_is_no_time_for_two_the_race_has_all_of_it(data, clock):
    """A fit takes a sixth of the time: looks are those of a search without."""
    search = searched(data, slow=10.0, time_budget=24.0)
    assert not search.ensemble_.kept
    assert search.ensemble_.reason == "there was no time for other members"
    assert search.ensemble_.params == (search.best_params_,)
    assert search.out_of_fold_predictions_ is None
    assert search.ensemble_estimator_ is search.best_estimator_
    plain = searched(data, slow=10.0, time_budget=24.0, ensemble=False)
    assert [seen.look.n_train for seen in plain.race_.observations] == [
        seen.look.n_train for seen in search.race_.observations
    ]
    assert plain.best_params_ == search.best_params_


def test_a_finished_search_makes_its_ensemble_again_from_a_checkpoint(
    data, clock, tmp_path
):
    options = {"checkpoint": tmp_path / "wavy.race"}
    first = searched(data, **options)
    again = searched(data, **options)
    assert again.race_.n_looks == first.race_.n_looks
    assert again.ensemble_.kept
    assert again.ensemble_.params == first.ensemble_.params


def test_what_keeps_no_budget_is_refused_with_the_way_out(data):
    grid = {"wave": [1.0, 2.0]}
    search = RaceGridSearchCV(Wavy(), grid, time_budget=5, ensemble=True)
    with pytest.raises(InvalidInputError, match=r"ensemble=True.*RaceSearchCV with"):
        search.fit(*data)
    search = RaceSearchCV(Wavy(), SPACE, time_budget=5, return_predictions=True)
    with pytest.raises(InvalidInputError, match="return_predictions=True fits"):
        search.fit(*data)


def followed(time, shares, pace):
    """Let each step take a pace times its forecast, and return the steps."""
    seconds, steps = dict(time.eligible), []
    for some, fold in time.fits(shares):
        time.clock.now += pace * shares[fold] * sum(seconds[one] for one in some)
        steps.append((some, fold))
    return steps


ELIGIBLE = [(7, 1.0), (3, 1.0), (9, 1.0), (4, 1.0)]


def test_one_that_is_too_dear_keeps_no_other_out():
    dear = [(7, 1.0), (3, 50.0), (9, 1.0)]
    time = MembersInTime(dear, 7, 10.0, Clock())
    followed(time, [0.5, 0.5], 1.0)
    assert time.members == [7, 9]


def test_a_machine_that_is_slower_than_forecast_gets_fewer_members():
    """Final fits are counted at the pace of those before."""
    asforecast = MembersInTime(ELIGIBLE, 7, 12.0, Clock())
    followed(asforecast, [0.5] * 4, 1.0)
    assert asforecast.affordable() == [7, 3, 9, 4]
    slow = MembersInTime(ELIGIBLE, 7, 12.0, Clock())
    steps = followed(slow, [0.5] * 4, 2.0)
    assert slow.affordable() == [7, 3, 9][: len(slow.members)]
    assert len(slow.members) < 4
    assert slow.clock.now + 2.0 * len(slow.members) <= 12.0
    assert steps[:2] == [([7], 0), ([7], 1)]


def test_members_that_can_no_longer_be_fitted_in_time_are_let_go():
    time = MembersInTime(ELIGIBLE, 7, 12.0, Clock())
    followed(time, [0.5, 0.5], 1.0)
    assert time.members == [7, 3, 9, 4]
    time.clock.now = 9.5
    assert time.affordable() == [7, 3]


def test_workers_fit_several_at_once_and_other_folds_come_last():
    time = MembersInTime(ELIGIBLE, 7, 100.0, Clock(), n_at_once=2)
    assert list(time.fits([0.5] * 3)) == [
        ([7], 0),
        ([7], 1),
        ([3, 9], 0),
        ([3, 9], 1),
        ([4], 0),
        ([4], 1),
        ([7, 3, 9, 4], 2),
    ]


def test_the_winner_alone_is_not_predicted_for():
    time = MembersInTime(ELIGIBLE, 7, 3.0, Clock())
    assert list(time.fits([0.8] * 5)) == []
    assert time.affordable() == []
    assert list(MembersInTime([], 5, 100.0, Clock()).fits([0.8])) == []
