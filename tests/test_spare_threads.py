"""Threads inside a fit, on a machine that others use too."""

from __future__ import annotations

import ctypes
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from time import perf_counter

import joblib
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
from cvst.parallel import _spare, run_chunks, sharing_processors, spare_threads
from cvst.parallel._lightgbm import LightGBM
from cvst.parallel._spare import others_running, spare_processors
from cvst.search._options import SearchOptions

SEVERAL = 4


pytestmark = pytest.mark.skipif(
    not ThreadpoolController().select(user_api="openmp").lib_controllers,
    reason="no OpenMP that anybody can count the threads of",
)


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


def test_threads_are_not_given_up_for_ever(machine):
    """The wait ends, begins anew after good fits, and is none for the final fit."""
    with spare_threads():
        threads_after(machine, 0.6, 1)
        for _ in range(5):  # as if small fits went on for long
            threads_after(machine, 1.0, 1)
            threads_after(machine, _spare.LONGEST_WAIT, 1)
        assert threads_after(machine, 3, SEVERAL) == SEVERAL
        assert threads_after(machine, 1.0, 1) == SEVERAL
        assert threads_after(machine, _spare.WAIT, 1) == 1
        assert threads_after(machine, 1.0, 1) == SEVERAL
        assert threads_after(machine, 0.1, 1) == 1
        with sharing_processors(last=True):
            assert openmp_threads() == SEVERAL


def test_a_search_without_a_budget_begins_with_what_is_free(machine):
    machine.spare = 3.0
    with spare_threads(keeps_time=False):
        assert threads_after(machine, 0.1, 3) == 3


def test_nothing_changes_where_nobody_asked(machine):
    """Nor where one thread is all there is."""
    with spare_threads(False):
        assert threads_after(machine, 9, 0.1) == SEVERAL
        assert threads_after(machine, 9, 0.1) == SEVERAL
    with threadpool_limits(limits=1, user_api="openmp"), spare_threads():
        assert threads_after(machine, 9, 0.1) == 1
        assert threads_after(machine, 9, 0.1) == 1


def test_fewer_processors_than_threads_are_a_limit_too(machine, monkeypatch):
    """As in a container that may use one of many processors."""
    monkeypatch.setattr(_spare.joblib, "cpu_count", lambda: 1)
    with spare_threads():
        assert threads_after(machine, 9, 1) == 1
        assert threads_after(machine, 9, 1) == 1
    assert openmp_threads() == SEVERAL


def test_a_fit_that_is_a_search_is_one_fit(machine):
    """What happens inside neither changes its threads nor counts twice."""
    with spare_threads():
        threads_after(machine, 0.6, 1)
        with sharing_processors():
            assert threads_after(machine, 3, SEVERAL) == SEVERAL
            machine.spare = 1.0
            assert threads_after(machine, 3, SEVERAL) == SEVERAL
        assert threads_after(machine, 3, 1) == 1


def test_threads_that_inherit_the_context_leave_it_alone(machine):
    """The limit belongs to the thread that set it, and would stay there for good."""
    with spare_threads(), ThreadPoolExecutor(1) as pool:
        machine.now += 9
        inherited = copy_context()
        with_limit = pool.submit(inherited.run, threads_after, machine, 3, SEVERAL)
        with_limit.result()
        assert openmp_threads() == 1
    assert openmp_threads() == SEVERAL


def test_errors_and_interrupts_leave_nothing_behind(machine):
    for error in (ValueError, KeyboardInterrupt, SystemExit):

        def fails(error=error):
            machine.spend(0.6, 1)
            raise error

        with pytest.raises(error), spare_threads(), sharing_processors():
            fails()
        assert _spare._SPARE.get() is None
        assert openmp_threads() == SEVERAL


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_linux_tells_how_many_processors_are_free(tmp_path, monkeypatch):
    """Without an answer all of them are thought to be."""
    told = tmp_path / "loadavg"
    told.write_text("0.50 0.40 0.30 4/517 12345\n")
    monkeypatch.setattr(_spare, "RUNNING", told)
    own = tmp_path / "task"
    for number, state in enumerate("RRSD"):
        (own / str(number)).mkdir(parents=True)
        stat = f"{number} (a (odd) name) {state} 1 2 3"
        (own / str(number) / "stat").write_text(stat)
    monkeypatch.setattr(_spare, "OWN", own)
    assert spare_processors() == os.cpu_count() - 2
    assert others_running() == 2
    told.write_text("nonsense")
    assert spare_processors() == os.cpu_count()
    assert others_running() == 0
    monkeypatch.setattr(_spare, "RUNNING", tmp_path / "missing")
    assert spare_processors() == os.cpu_count()


def test_which_searches_adapt_their_threads(machine):
    """Those that keep a budget, and those of a learner whose bits stay the same."""

    def adapts(estimator, **given):
        search = RaceGridSearchCV(estimator, {}, **given)
        with SearchOptions.of(search, perf_counter).spare_threads():
            return _spare._SPARE.get() is not None

    boosting = HistGradientBoostingClassifier()
    assert adapts(boosting)
    assert adapts(make_pipeline(StandardScaler(), boosting))
    assert not adapts(SVC())
    assert adapts(SVC(), time_budget=10)


@pytest.mark.skipif(joblib.cpu_count() < 2, reason="one thread in any case")
@pytest.mark.parametrize("early_stopping", [False, True])
def test_threads_change_no_bit_of_a_histogram_booster(early_stopping):
    """On which the choice for searches without a budget rests."""
    X, y = make_classification(
        800, 10, n_informative=6, n_classes=3, flip_y=0.1, random_state=0
    )
    model = HistGradientBoostingClassifier(
        max_iter=5, early_stopping=early_stopping, random_state=0
    )
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(limits=n_threads, user_api="openmp"):
            found.append(model.fit(X, y).predict_proba(X))
    assert np.array_equal(*found)


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


SEARCHES = [
    lambda: RaceGridSearchCV(
        ThreadsSeen(), {"shift": np.linspace(-1, 1, 12)}, time_budget=3, max_looks=4
    ),
    lambda: RaceSearchCV(ThreadsSeen(), {"shift": (-1.0, 1.0)}, time_budget=0.3),
]


@pytest.mark.filterwarnings("ignore::cvst.exceptions.FallbackWarning")
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("first", [1e9, 0.0])
def test_fits_of_a_search_with_a_budget(search, first, monkeypatch):
    """All have one thread until several are tried; afterwards all is as it was."""
    monkeypatch.setattr(_spare.joblib, "cpu_count", lambda: SEVERAL)
    monkeypatch.setattr(_spare, "spare_processors", lambda: float(SEVERAL))
    monkeypatch.setattr(_spare, "FIRST", first)
    monkeypatch.setattr(_spare, "ENOUGH", 1e9)  # nothing is judged
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    ThreadsSeen.seen.clear()
    with threadpool_limits(limits=SEVERAL, user_api="openmp"):
        search().fit(X, y)
        assert openmp_threads() == SEVERAL
    assert _spare._SPARE.get() is None
    *others, final = ThreadsSeen.seen
    # Before the final fit it is asked anew.
    assert final == SEVERAL
    assert set(others) == {1 if first else SEVERAL}


def test_a_plan_times_fits_as_the_search_makes_them(monkeypatch):
    """Those of looks, and those that are timed alone."""
    monkeypatch.setattr(_spare.joblib, "cpu_count", lambda: SEVERAL)
    monkeypatch.setattr(_spare, "FIRST", 1e9)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    ThreadsSeen.seen.clear()
    with threadpool_limits(limits=SEVERAL, user_api="openmp"):
        SEARCHES[0]().plan(X, y)
        assert openmp_threads() == SEVERAL
    assert set(ThreadsSeen.seen) == {1}


def test_lightgbm_which_asks_for_all_processors_is_limited_too(machine):
    """Whoever of two searches leaves first, it has at the end what it had before."""
    pytest.importorskip("lightgbm")
    library = LightGBM.library()
    if library is None:
        pytest.skip("an older LightGBM, which has no such limit")

    def most():
        found = ctypes.c_int()
        library.LGBM_GetMaxThreads(ctypes.byref(found))
        return found.value

    before = most()
    with spare_threads():
        assert most() == 1
        threads_after(machine, 0.6, 1)
        threads_after(machine, 3, SEVERAL)
        assert most() == SEVERAL
    assert most() == before
    first, second = spare_threads(), spare_threads()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert most() == 1
    second.__exit__(None, None, None)
    assert most() == before
