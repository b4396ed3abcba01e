"""Threads inside a fit, on a machine that others use too."""

from __future__ import annotations

import os
import sys
from time import perf_counter

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import ThreadpoolController, threadpool_limits

from cvst import RaceGridSearchCV, RaceSearchCV
from cvst.parallel import _spare, run_chunks, spare_threads
from cvst.parallel._spare import spare_processors
from cvst.search._options import SearchOptions

SEVERAL = 4


def openmp_threads(_=None):
    """Return the number of threads that OpenMP has now."""
    pools = ThreadpoolController().select(user_api="openmp").lib_controllers
    return max(pool.num_threads for pool in pools)


@pytest.fixture
def machine(monkeypatch):
    """Return a machine whose clocks, and whose spare processors, are known."""

    class Machine:
        spare, now, processor = float(SEVERAL), 0.0, 0.0

        def spend(self, seconds, processors):
            """Let time go by in which threads have that many processors."""
            self.now += seconds
            self.processor += seconds * processors

    machine = Machine()
    monkeypatch.setattr(_spare.joblib, "cpu_count", lambda: SEVERAL)
    monkeypatch.setattr(_spare, "spare_processors", lambda: machine.spare)
    monkeypatch.setattr(_spare, "perf_counter", lambda: machine.now)
    monkeypatch.setattr(_spare, "process_time", lambda: machine.processor)
    with threadpool_limits(limits=SEVERAL, user_api="openmp"):
        yield machine


def threads_after(machine, seconds, processors):
    """Return the threads of a fit, which then takes that long."""
    (found,) = run_chunks(
        lambda _: (openmp_threads(), machine.spend(seconds, processors))[0],
        [0],
        1,
        "threads",
    )
    return found


def test_small_fits_have_one_thread_and_later_ones_what_is_free(machine):
    """At the end everything is as it was."""
    with spare_threads():
        assert threads_after(machine, 0.6, 1) == 1
        assert threads_after(machine, 3, SEVERAL) == SEVERAL
        machine.spare = 2.0
        assert threads_after(machine, 3, 2) == 2
        machine.spare = -3.0
        assert threads_after(machine, 3, 1) == 1
        machine.spare = float(SEVERAL)
        assert threads_after(machine, 3, SEVERAL) == SEVERAL
    assert openmp_threads() == SEVERAL


def test_threads_that_share_a_processor_are_given_up_for_a_while(machine):
    """Each time for twice as long."""
    with spare_threads():
        assert threads_after(machine, 0.6, 1) == 1
        for wait in (5.0, 10.0):
            assert threads_after(machine, 1.0, 1.1) == SEVERAL
            assert threads_after(machine, wait - 0.1, 1) == 1
            assert threads_after(machine, 0.2, 1) == 1
        # Too short to judge, until they add up.
        assert [threads_after(machine, 0.04, 0.5) for _ in range(3)] == [SEVERAL] * 3
        assert threads_after(machine, 1.0, 1) == 1


def test_nothing_changes_where_nobody_asked(machine):
    """Nor where one thread is all there is."""
    with spare_threads(False):
        assert threads_after(machine, 9, 0.1) == SEVERAL
        assert threads_after(machine, 9, 0.1) == SEVERAL
    with threadpool_limits(limits=1, user_api="openmp"), spare_threads():
        assert threads_after(machine, 9, 0.1) == 1
        assert threads_after(machine, 9, 0.1) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_linux_tells_how_many_processors_are_free(tmp_path, monkeypatch):
    """Without an answer all of them are thought to be."""
    told = tmp_path / "loadavg"
    told.write_text("0.50 0.40 0.30 4/517 12345\n")
    monkeypatch.setattr(_spare, "RUNNING", told)
    assert spare_processors() == os.cpu_count() - 3
    told.write_text("nonsense")
    assert spare_processors() == np.inf
    monkeypatch.setattr(_spare, "RUNNING", tmp_path / "missing")
    assert spare_processors() == np.inf


def test_which_searches_adapt_their_threads():
    """Those that keep a budget, and those of a learner whose bits stay the same."""

    def adapts(estimator, **given):
        search = RaceGridSearchCV(estimator, {}, **given)
        return SearchOptions.of(search, perf_counter).adapts_threads

    boosting = HistGradientBoostingClassifier()
    assert adapts(boosting)
    assert adapts(make_pipeline(StandardScaler(), boosting))
    assert not adapts(SVC())
    assert adapts(SVC(), time_budget=10)


@pytest.mark.parametrize("seed", [0, 1])
def test_threads_change_no_bit_of_a_histogram_booster(seed):
    """On which the choice for searches without a budget rests."""
    X, y = make_classification(3_000, 10, n_informative=6, n_classes=3, flip_y=0.1)
    model = HistGradientBoostingClassifier(max_iter=15, random_state=seed)
    found = []
    for n_threads in (1, 2, 3):
        with threadpool_limits(limits=n_threads, user_api="openmp"):
            found.append(model.fit(X, y).predict_proba(X))
    assert all(np.array_equal(found[0], other) for other in found[1:])


class ThreadsSeen(ClassifierMixin, BaseEstimator):
    """Remembers the threads that its fits had."""

    seen: list[int] = []  # noqa: RUF012 - all fits write into it

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        """Note the threads."""
        self.seen.append(openmp_threads())
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """Return a class by a threshold."""
        return self.classes_[(X[:, 0] > self.shift).astype(int)]


@pytest.mark.parametrize(
    "search",
    [
        lambda: RaceGridSearchCV(
            ThreadsSeen(), {"shift": np.linspace(-1, 1, 12)}, time_budget=0.3
        ),
        lambda: RaceSearchCV(ThreadsSeen(), {"shift": (-1.0, 1.0)}, time_budget=0.3),
    ],
)
def test_fits_of_a_search_with_a_budget_begin_with_one_thread(search, monkeypatch):
    """The final fit and the timed ones too; afterwards all is as it was."""
    monkeypatch.setattr(_spare.joblib, "cpu_count", lambda: SEVERAL)
    monkeypatch.setattr(_spare, "FIRST", 1e9)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    ThreadsSeen.seen.clear()
    with threadpool_limits(limits=SEVERAL, user_api="openmp"):
        search().fit(X, y)
        assert openmp_threads() == SEVERAL
    assert set(ThreadsSeen.seen) == {1}
