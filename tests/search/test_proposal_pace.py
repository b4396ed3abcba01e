"""Proposers that take too long make room for quicker ones, by a clock of their own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import uniform

from cvst.proposals import RandomProposer
from cvst.race import Trial
from cvst.search._proposal_source import CREDIT, LARGEST_SHARES, ProposalSource
from cvst.spaces import Space


class Clock:
    """Seconds that pass only while a proposer thinks."""

    now = 0.0


class Thinking(RandomProposer):
    """Draws at random, after some seconds."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.n_asked = 0

    def propose(self, n_choices, history, count, rng):
        self.n_asked += 1
        Clock.now += self.seconds
        return super().propose(n_choices, history, count, rng)


@pytest.fixture(autouse=True)
def _own_clock(monkeypatch):
    monkeypatch.setattr(Clock, "now", 0.0)
    monkeypatch.setattr("cvst.search._proposal_source.perf_counter", lambda: Clock.now)


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
    assert np.isclose(Clock.now, 30 * 0.05)
