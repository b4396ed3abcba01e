"""Whoever gives a budget is told when the final fit alone will not keep it."""

from __future__ import annotations

import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator, RegressorMixin

from cvst import RaceSearchCV
from cvst.exceptions import FallbackWarning
from cvst.search.budget import _final_fit, warn_of_long_final_fit

X = np.random.default_rng(0).normal(size=(2000, 2))
y = X[:, 0]


class Slow(RegressorMixin, BaseEstimator):
    """Takes half a millisecond for each row, and as long on a busy machine."""

    def __init__(self, x=0.5):
        self.x = x

    def fit(self, X, y):
        time.sleep(5e-4 * len(X))
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_ + self.x)


def told(needed, elapsed, seconds=20.0):
    strategy = SimpleNamespace(refit_seconds=lambda state: needed)
    state = SimpleNamespace(elapsed=elapsed, problem=SimpleNamespace(seconds=seconds))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_long_final_fit(strategy, state)
    return [str(one.message) for one in caught]


def test_the_sentence_says_both_times_and_the_ways_out():
    (sentence,) = told(needed=60.0, elapsed=12.0)
    assert "about 1 min" in sentence
    assert "only 8.0 s of the time budget are left" in sentence
    assert "refit=False" in sentence


def test_a_budget_that_is_used_up_is_called_so():
    (sentence,) = told(needed=60.0, elapsed=21.0)
    assert "but the time budget is used up, and" in sentence


@pytest.mark.parametrize(("needed", "count"), [(0.002, 0), (0.9, 0), (1.1, 1)])
def test_less_than_a_second_is_not_worth_a_word(needed, count):
    assert len(told(needed, elapsed=0.1, seconds=0.1)) == count


@pytest.mark.parametrize(
    ("needed", "elapsed", "count"),
    [(8.0, 12.0, 0), (17.9, 12.0, 0), (18.1, 12.0, 1), (9.0, 30.0, 0), (11.0, 30.0, 1)],
)
def test_half_of_the_budget_more_is_worth_a_word(needed, elapsed, count):
    """What is late already cannot be helped: then the final fit alone counts."""
    assert len(told(needed, elapsed)) == count


def test_nothing_is_said_without_a_forecast_or_a_budget():
    assert told(None, 0.0) == []
    assert told(60.0, 0.0, seconds=None) == []


def test_a_search_warns_before_its_final_fit(monkeypatch):
    """Of a budget of .4 s, a fit on all rows takes one second."""
    # However late it is on a machine that stood still.
    monkeypatch.setattr(_final_fit, "LATE", 0.0)
    monkeypatch.setattr(_final_fit, "LEAST", 0.0)
    search = RaceSearchCV(Slow(), {"x": uniform(0, 1)}, time_budget=0.4)
    with pytest.warns(FallbackWarning, match="The final fit will take") as told:
        search.fit(X, y)
    assert told[0].filename == __file__
    assert search.refit_time_ >= 1.0


def test_a_search_that_goes_on_warns_at_the_same_place(monkeypatch):
    """The line of the user's is another frame away."""
    # However long the first part was.
    monkeypatch.setattr(_final_fit, "LATE", 0.0)
    monkeypatch.setattr(_final_fit, "LEAST", 0.0)
    space = {"x": uniform(0, 1)}
    search = RaceSearchCV(Slow(), space, time_budget=0.3, random_state=0, refit=False)
    search.fit(X, y).set_params(refit=True)
    with pytest.warns(FallbackWarning, match="The final fit will take") as told:
        search.resume(X, y, time_budget=0.4)
    assert [one.filename for one in told] == [__file__] * len(told)


def test_a_search_without_a_final_fit_does_not_warn():
    search = RaceSearchCV(Slow(), {"x": uniform(0, 1)}, time_budget=0.4, refit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        search.fit(X, y)
