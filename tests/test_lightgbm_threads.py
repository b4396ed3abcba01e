"""The threads of LightGBM in workers: one in each, where a search keeps time."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest

from cvst import RaceGridSearchCV, RaceSearchCV
from cvst.parallel import Cluster, Crew, Guard, _spare, run_chunks, spare_threads
from cvst.parallel._lightgbm import LIGHTGBM, LightGBM, with_one_lightgbm_thread

lightgbm = pytest.importorskip("lightgbm")

pytestmark = pytest.mark.skipif(
    LightGBM.library() is None, reason="an older LightGBM, which has no such limit"
)

NO_LIMIT, SEVERAL = -1, 4


def most():
    """Return the most threads that LightGBM may have in this process."""
    found = ctypes.c_int()
    LightGBM.library().LGBM_GetMaxThreads(ctypes.byref(found))
    return found.value


def seen_by_worker():
    """Return a function of a chunk that says what a worker may have."""
    # A local function travels by value, and brings the module as an estimator does.
    module = lightgbm.basic

    def seen(chunk, rows=None):
        import ctypes

        del chunk, rows
        found = ctypes.c_int()
        module._LIB.LGBM_GetMaxThreads(ctypes.byref(found))
        return [found.value]

    return seen


def lost(chunk, reason):
    raise AssertionError((chunk, reason))


class InTurn:
    """An engine of a cluster that makes each call when it is asked for the result."""

    name = "in turn"

    def n_workers(self):
        return 1

    def share(self, value):
        return value

    def forget(self, shared):
        pass

    def submit(self, function, *args):
        return lambda: function(*args)

    def finished(self, waiting):
        return list(waiting)

    def result(self, call):
        return call()

    def cancel(self, waiting):
        pass


CHUNKS = [[[0]], [[1]], [[2]]]


def by_chunks(prefer):
    return run_chunks(seen_by_worker(), CHUNKS, 2, prefer)


def by_crew(prefer):
    with Crew(2, prefer, lost) as crew:
        for number, chunk in enumerate(CHUNKS):
            crew.begin(number, seen_by_worker(), chunk)
        return [crew.take()[1] for _ in CHUNKS]


def by_guard(_):
    guard = Guard(1, 300.0)
    try:
        return list(guard.run(seen_by_worker(), CHUNKS, lost))
    finally:
        guard.close()


def by_cluster(_):
    return list(Cluster(InTurn(), None).run(seen_by_worker(), CHUNKS, lost))


POOLS = [
    (by_chunks, "threads"),
    (by_chunks, "processes"),
    (by_crew, "threads"),
    (by_crew, "processes"),
    (by_guard, "processes"),
    (by_cluster, "threads"),
]


@pytest.mark.parametrize(("pool", "prefer"), POOLS)
def test_each_worker_has_one_where_time_is_kept(pool, prefer):
    """Elsewhere the last bits count; the same workers are asked before and after."""

    def seen():
        return {one for result in pool(prefer) for one in result}

    assert seen() == {NO_LIMIT}
    with spare_threads():
        # As where processors are to spare, for fits that are timed alone.
        _spare._SPARE.get()._set(SEVERAL)
        assert most() == SEVERAL
        assert seen() == {1}
        assert most() == SEVERAL
    assert seen() == {NO_LIMIT}
    # As for a learner whose bits do not depend on its threads, with others beside it.
    with spare_threads(keeps_time=False):
        assert most() == NO_LIMIT
        assert seen() == {NO_LIMIT}
    assert most() == NO_LIMIT


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_errors_and_interrupts_leave_no_limit_behind(error):
    def fails():
        assert most() == 1
        raise error

    with pytest.raises(error):
        with_one_lightgbm_thread(fails)
    assert most() == NO_LIMIT
    assert not LIGHTGBM.guests


def test_an_interrupt_while_the_limit_is_lifted_is_no_way_to_keep_it(monkeypatch):
    pressed = []

    def interrupted(limit, guests):
        if not guests and not pressed:
            pressed.append(True)
            raise KeyboardInterrupt
        set_limit(limit, guests)

    set_limit = LightGBM._set
    monkeypatch.setattr(LightGBM, "_set", interrupted)
    with pytest.raises(KeyboardInterrupt):
        with_one_lightgbm_thread(most)
    assert pressed
    assert most() == NO_LIMIT
    assert not LIGHTGBM.guests


def test_two_threads_leave_by_turns():
    """The limit holds until the last one has left."""
    begun, may_end = threading.Barrier(3), [threading.Event(), threading.Event()]

    def works(own):
        begun.wait(60)
        assert own.wait(60)

    with ThreadPoolExecutor(2) as pool:
        first, second = (
            pool.submit(with_one_lightgbm_thread, works, own) for own in may_end
        )
        begun.wait(60)
        may_end[0].set()
        first.result(60)
        assert most() == 1
        may_end[1].set()
        second.result(60)
    assert most() == NO_LIMIT


FORKED = """
import ctypes, os, threading
import lightgbm
from cvst.parallel._lightgbm import LIGHTGBM, with_one_lightgbm_thread

def most():
    found = ctypes.c_int()
    lightgbm.basic._LIB.LGBM_GetMaxThreads(ctypes.byref(found))
    return found.value

def told_by_child(how):
    child = os.fork()
    if not child:
        inside = how()
        print(inside, most(), len(LIGHTGBM.guests), LIGHTGBM.lock.locked(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)

begun, over = threading.Event(), threading.Event()
work = lambda: (begun.set(), over.wait())
other = threading.Thread(target=with_one_lightgbm_thread, args=(work,))
other.start()
begun.wait()
with LIGHTGBM.lock:
    told_by_child(most)
told_by_child(lambda: with_one_lightgbm_thread(most))
over.set()
other.join()
with_one_lightgbm_thread(told_by_child, most)
print(most())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is forked there")
def test_a_forked_process_has_the_limits_of_its_own_thread():
    """Who worked in another thread is not there, and would never leave."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "-1 -1 0 False",
        "1 -1 0 False",
        "1 1 1 False",
        "-1",
    ]


class LimitSeen(lightgbm.LGBMClassifier):
    """Remembers the limit that its fits found in workers."""

    seen: list[int] = []  # noqa: RUF012 - all fits write into it

    def fit(self, X, y):
        """Note the limit."""
        if threading.current_thread() is not threading.main_thread():
            self.seen.append(most())
        return super().fit(X, y)


SEARCHES = [
    lambda **given: RaceGridSearchCV(
        LimitSeen(n_estimators=2, verbose=-1),
        {"num_leaves": [2, 4, 8]},
        max_looks=2,
        **given,
    ),
    lambda **given: RaceSearchCV(
        LimitSeen(n_estimators=2, verbose=-1),
        {"num_leaves": (2, 9)},
        n_iter=None if "time_budget" in given else 4,
        **given,
    ),
]


@pytest.mark.filterwarnings("ignore::cvst.exceptions.FallbackWarning")
@pytest.mark.parametrize("search", SEARCHES)
def test_fits_in_workers_of_a_search(search, monkeypatch):
    """Also where fits of the search itself may have several.

    Without a budget nothing is limited: the last bits would depend on ``n_jobs``.
    """
    monkeypatch.setattr(_spare._Spare, "begin", lambda self: self._set(SEVERAL))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    with joblib.parallel_config(backend="threading"):
        for limited in ({"time_budget": 2}, {}):
            LimitSeen.seen.clear()
            search(n_jobs=2, **limited).fit(X, y)
            assert set(LimitSeen.seen) == {1 if limited else NO_LIMIT}
            assert most() == NO_LIMIT
