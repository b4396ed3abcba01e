"""Proposers that take too long make room for quicker ones, by a clock of their own."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from fake_clock import Clock
from scipy.stats import uniform
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.svm import SVC

from cvst import RaceSearchCV
from cvst.proposals import RandomProposer
from cvst.race import Problem
from cvst.race.machinery import Trial
from cvst.search._proposal_source import CREDIT, LARGEST_SHARES, ProposalSource
from cvst.spaces import Space

CLOCK = Clock()


class Thinking(RandomProposer):
    """Draws at random, after some seconds."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.n_asked = 0

    def propose(self, n_choices, history, count, rng):
        self.n_asked += 1
        CLOCK.now += self.seconds
        return super().propose(n_choices, history, count, rng)


@pytest.fixture(autouse=True)
def _own_clock(monkeypatch):
    CLOCK.now = 0.0
    monkeypatch.setattr("cvst.search._proposal_source.perf_counter", CLOCK)


def asked(fit_seconds, quick=(0.004, 0.0005), n_fits=400):
    """Return how often each of three was asked beside fits of these seconds."""
    proposers = [Thinking(seconds) for seconds in (0.05, *quick)]
    source = ProposalSource(
        Space.of({"x": uniform(0, 1)}), proposers[0], {}, quick=tuple(proposers[1:])
    )
    trials = []
    for number in range(n_fits):
        ((one,),) = source.propose(trials, 1, (0, number))
        trials.append(Trial(one, float(one["x"]), 1.0, fit_seconds))
    return [one.n_asked for one in proposers]


@pytest.mark.parametrize("fit_seconds", [0.005, 0.05, 0.5])
def test_each_has_its_share_of_the_time_and_uses_it(fit_seconds):
    """Whatever a fit takes, the best is asked as often as its share allows."""
    counts = asked(fit_seconds)
    total = 400 * fit_seconds + CREDIT
    for count, seconds, share in zip(
        counts, (0.05, 0.004), LARGEST_SHARES, strict=False
    ):
        assert count * seconds <= share * total + seconds
        assert count * seconds >= 0.5 * share * total or counts[0] == 400
    assert sum(counts) == 400


def test_long_fits_leave_time_for_the_best():
    """It is asked each time but the first few, when little was fitted yet."""
    best, *others = asked(10.0, n_fits=50)
    assert best >= 48
    assert sum(others) <= 2


def test_the_first_proposals_are_those_of_the_best():
    """Before any fit was timed there is a credit for it, and only so much."""
    best, *others = asked(1e-9, n_fits=20)
    assert best == int(LARGEST_SHARES[0] * CREDIT / 0.05)
    assert sum(others) == 20 - best


def test_without_others_it_is_always_asked():
    """Then the result does not depend on the clock."""
    assert asked(0.0001, quick=(), n_fits=30) == [30]
    assert np.isclose(CLOCK.now, 30 * 0.05)


@pytest.mark.parametrize(
    ("own", "configuration", "times"),
    [(100, {}, 2), (500, {}, 10), (20, {}, 1), (500, {"n_estimators": 150}, 3)],
)
def test_the_final_fit_of_a_forest_has_all_its_trees(own, configuration, times):
    """Screening fits 50 of them; what is not searched is as in the estimator."""
    forest = RandomForestClassifier(own, random_state=0)
    space = {"max_depth": [2, 4]}
    if configuration:
        space["n_estimators"] = [50, 150]
    search = RaceSearchCV(forest, space, time_budget=5)
    problem = Problem(1, 100, covered={"n_estimators": "smaller"})
    state = SimpleNamespace(configurations=[configuration], problem=problem)
    assert search._options().strategy._rounds_ratio(state, 0) == times


@pytest.mark.parametrize(
    ("estimator", "times"),
    [(HistGradientBoostingClassifier(), 4**0.6), (SVC(), 4.0), (DummyRegressor(), 4.0)],
)
def test_growth_is_that_of_the_family_until_two_sizes_are_known(estimator, times):
    """On four times as many rows; boosters grow less, what is seen counts for all."""
    search = RaceSearchCV(estimator, {"unused": [1, 2]}, time_budget=5)
    strategy = search._options().strategy
    assert strategy._growth({2: 1.0}) == pytest.approx(times)
    assert strategy._growth({2: 1.0, 1: 3.0}) == 3.0
    # Beyond what was seen, only kernel machines are believed to grow like a square.
    most = 16 if isinstance(estimator, SVC) else 4
    assert strategy._believed_growth({2: 1.0, 1: 99.0}) == pytest.approx(most)
