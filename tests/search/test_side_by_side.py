"""Searches within a time budget on several workers: looks overlap, nothing is lost."""

from __future__ import annotations

import os
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import uniform
from shifted_mean import ShiftedMean

from cvst import RaceSearchCV
from cvst.race import Problem, RaceState
from cvst.race._proposal_times import OWN_SHARE
from cvst.race.machinery import ProposeAndConfirm
from cvst.search._proposal_source import ProposalSource


class Shifted(ShiftedMean):
    """Predicts the mean plus a shift; what else it does depends on the mood."""

    def __init__(self, shift=0.0, mood=None):
        super().__init__(shift)
        self.mood = mood

    def fit(self, X, y):
        if self.mood is not None:
            self.mood(self.shift)
        return super().fit(X, y)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 2)), rng.normal(size=200)


@pytest.fixture
def threads():
    """Let workers be threads, which start at once and share what they know."""
    with parallel_config(backend="threading"):
        yield


def search(mood=None, space=None, **options):
    space = {"shift": uniform(-1, 2)} if space is None else space
    options = {"time_budget": 3.0, "n_jobs": 2, "random_state": 0, **options}
    return RaceSearchCV(Shifted(mood=mood), space, **options)


class LongFit:
    """The first fit of another shift than 0 goes on until it is told to end."""

    def __init__(self):
        self.lock = threading.Lock()
        self.shift = None
        self.may_end = threading.Event()

    def __deepcopy__(self, memo):
        return self

    def __call__(self, shift):
        with self.lock:
            if shift and self.shift is None:
                self.shift = shift
        if shift == self.shift:
            assert self.may_end.wait(30)


@pytest.mark.usefixtures("threads")
def test_a_long_fit_holds_no_other_up(data, monkeypatch):
    """Others are proposed, fitted and judged in the meantime: it ends after five."""
    mood, propose, meanwhile = LongFit(), ProposalSource.propose, []

    def counted(self, trials, count, seed):
        meanwhile.extend([count] * (mood.shift is not None))
        if len(meanwhile) == 5:
            mood.may_end.set()
        return propose(self, trials, count, seed)

    monkeypatch.setattr(ProposalSource, "propose", counted)
    found = search(mood, time_budget=60.0, max_looks=30).fit(*data)

    looks = [one.look.configurations.tolist() for one in found.race_.observations]
    shifts = [one["shift"] for one in found.cv_results_["params"]]
    first = [shifts.index(mood.shift) in look for look in looks].index(True)
    # The warm-up, and what was proposed while it went on.
    assert first >= 4
    assert len(meanwhile) >= 5


@pytest.mark.usefixtures("threads")
def test_seconds_of_looks_never_add_up_to_more_than_has_passed(data):
    state = search(time_budget=2.0).fit(*data).race_
    seconds = [one.seconds for one in state.observations]
    elapsed = [one.elapsed for one in state.observations]
    assert min(seconds) >= 0
    assert np.all(np.cumsum(seconds) <= np.array(elapsed) + 1e-6)
    assert np.all(np.diff(elapsed) >= 0)


def dies_at_one_half(shift):
    if shift == 0.5:
        os._exit(3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_worker_that_dies_is_a_failed_configuration(data):
    space = {"shift": [0.0, 0.1, 0.5]}
    options = {"time_budget": 600.0, "n_iter": 3, "n_folds": 2}
    found = search(dies_at_one_half, space, **options).fit(*data)
    state = found.race_
    params = found.cv_results_["params"]
    (bad,) = [n for n, one in enumerate(params) if one["shift"] == 0.5]
    failures = [one.failures[bad] for one in state.observations if bad in one.failures]
    assert failures[0].startswith("WorkerDied")
    good = [n for n in range(len(params)) if n != bad]
    assert all(np.isfinite(found.cv_results_["mean_test_score"][good]))


PRESSED = threading.Event()


def presses_ctrl_c(shift):
    """Interrupt the fit with the shift .5, the first time."""
    if shift == 0.5 and not PRESSED.is_set():
        PRESSED.set()
        raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def _not_pressed():
    PRESSED.clear()


SPACE = {"shift": [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]}


@pytest.mark.usefixtures("threads")
def test_ctrl_c_keeps_what_is_known(data):
    broken = search(presses_ctrl_c, SPACE, time_budget=30.0)
    with pytest.raises(KeyboardInterrupt):
        broken.fit(*data)
    assert broken.stop_reason_ == "interrupted"
    assert not broken.race_.pending
    assert broken.race_.n_looks >= 1
    assert broken.best_params_["shift"] == 0.0


@pytest.mark.usefixtures("threads")
def test_a_search_that_was_broken_off_goes_on_from_its_file(data, tmp_path):
    """With the looks that were over, and what was done of those under way."""
    options = {"time_budget": 30.0, "n_iter": 8, "checkpoint": tmp_path / "race.cvst"}
    broken = search(presses_ctrl_c, SPACE, **options)
    with pytest.raises(KeyboardInterrupt):
        broken.fit(*data)
    before = broken.race_

    broken.fit(*data)

    after = broken.race_
    assert after.n_looks > before.n_looks >= 1
    for one, other in zip(before.observations, after.observations, strict=False):
        np.testing.assert_array_equal(one.mean_losses, other.mean_losses)
        numbers = one.look.configurations, other.look.configurations
        np.testing.assert_array_equal(*numbers)
    tried = zip(
        broken.cv_results_["params"], broken.cv_results_["n_looks"], strict=True
    )
    assert {one["shift"] for one, n in tried if n} == set(SPACE["shift"])


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize(("seconds", "at_once"), [(None, 1), (1.0, 2)])
def test_looks_overlap_within_a_budget_only(data, seconds, at_once, tmp_path):
    """Without one the result must not depend on which is done first, resumed or not."""
    found = search(time_budget=seconds, n_iter=6, checkpoint=tmp_path / "race.cvst")
    for _ in range(2):
        assert found.fit(*data).race_.problem.n_at_once == at_once


class Costs(ProposeAndConfirm):
    """Fits take a tenth of a second on the fewest rows, and four times that above."""

    own = 0.05

    def _record(self, state):
        return SimpleNamespace(mean_seconds=lambda: {2: 0.1})

    def _seconds(self, state, number, rung):
        return 0.1 * 4.0 ** (2 - rung)

    def _base(self, state):
        return 2

    def _wall(self, state):
        return 1.0

    def _own(self, state):
        return self.own


@pytest.mark.parametrize("rung", [0, 1, 2])
def test_looks_that_overlap_have_one_family_or_are_short(rung):
    """They have one worker and are judged as a whole: one of several must be short."""
    costs = Costs(source=None)

    def together(n_at_once, rung=None):
        problem = Problem(2, 100, seconds=1000.0, n_at_once=n_at_once)
        return costs._n_together(RaceState(problem), rung)

    assert together(2) == 8
    count = together(2, rung)
    longest = costs.own / (2 * OWN_SHARE)
    assert count == 1 or count * costs._seconds(None, 0, rung) <= longest
    assert count == {0: 1, 1: 2, 2: 8}[rung]
    # One after the other they are kept group by group.
    assert together(1, rung) == together(1)
