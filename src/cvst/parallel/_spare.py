"""Threads inside a fit, on a machine that others use too.

Threads of OpenMP wait for each other many times in a fit. Where another process has one
of their processors, or the system keeps two of them on one, all wait until the
scheduler comes round: two threads on two processors can take forty times as long as
one. So fits have as many threads as there are processors to spare, as long as these
threads get more than one of them; and a search that has to keep its time begins with
one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, sleep
from typing import Any

import joblib

from cvst.parallel._lightgbm import LIGHTGBM
from cvst.parallel._process_state import thread_pools

__all__ = [
    "keeps_time",
    "others_running",
    "sharing_processors",
    "spare_processors",
    "spare_threads",
]

# The fourth word counts the threads that run. It is read that many times, that many
# seconds apart.
RUNNING, GLANCES, GLANCE = Path("/proc/loadavg"), 5, 0.003

# The threads of this process: the word after the name says whether one runs.
OWN = Path("/proc/self/task")

# Others come and go: seconds after which it is read again.
PERIOD = 2.0

# Seconds with one thread: at first, when fits are small, and after threads got no more
# than that many processors in at least that many seconds. Then twice as long each time,
# up to the most.
FIRST, WAIT, LONGEST_WAIT = 0.5, 5.0, 20.0
TOO_FEW, ENOUGH = 1.15, 0.1


class _Spare:
    """The threads that fits of this thread may have, for the time being."""

    def __init__(self, keeps_time: bool) -> None:
        self.thread = threading.get_ident()
        self.keeps_time = keeps_time
        # What each pool had before, and the pools that there were when it was set.
        self._found: dict[str, tuple[Any, int]] = {}
        self._pools: Any = None
        self._n_threads = 0
        self._is_fitting = False
        self._ask_at, self._wait = perf_counter() + FIRST * keeps_time, WAIT
        self._seconds = self._processor = 0.0
        self._n_most = 1

    def begin(self) -> None:
        """Begin with one thread."""
        self._n_most = self._set(1)

    @contextmanager
    def fitting(self, last: bool) -> Iterator[None]:
        """Adapt the threads before a fit, and see afterwards what they were worth."""
        # A fit may be a search itself; what counts is the fit as a whole.
        if self._is_fitting or self._n_most < 2:
            yield
            return
        if last or perf_counter() >= self._ask_at:
            self._set(int(max(1, min(self._n_most, spare_processors()))))
            self._ask_at = perf_counter() + PERIOD
        elif self._pools is not thread_pools("openmp"):
            self._set(self._n_threads)
        begun, busy = perf_counter(), process_time()
        self._is_fitting = True
        try:
            yield
        finally:
            self._is_fitting = False
        if self._n_threads > 1:
            self._judge(perf_counter() - begun, process_time() - busy)

    def put_back(self) -> None:
        """Let all pools have what they had."""
        LIGHTGBM.leave(self)
        for pool, n_threads in self._found.values():
            pool.set_num_threads(n_threads)

    def _judge(self, seconds: float, processor: float) -> None:
        self._seconds += seconds
        self._processor += processor
        if self._seconds < ENOUGH:
            return
        if self._processor < TOO_FEW * self._seconds:
            self._set(1)
            self._ask_at = perf_counter() + self._wait
            self._wait = min(2 * self._wait, LONGEST_WAIT)
        else:
            self._wait = WAIT
        self._seconds = self._processor = 0.0

    def _set(self, n_threads: int) -> int:
        """Limit all pools, also those of libraries that came since; return the most."""
        self._pools = thread_pools("openmp")
        for pool in self._pools.lib_controllers:
            # Noted before anything is changed: an interrupt may come at any time.
            _, own = self._found.setdefault(pool.filepath, (pool, pool.num_threads))
            pool.set_num_threads(min(own, n_threads))
        if self.keeps_time:
            LIGHTGBM.limit(self, n_threads)
        if n_threads != self._n_threads:
            self._n_threads, self._seconds, self._processor = n_threads, 0.0, 0.0
        asked = max((own for _, own in self._found.values()), default=1)
        return min(int(asked), int(joblib.cpu_count()))


_SPARE: ContextVar[_Spare | None] = ContextVar("spare", default=None)


@contextmanager
def spare_threads(wanted: bool = True, *, keeps_time: bool = True) -> Iterator[None]:
    """Let fits of this thread have the processors that nobody else uses.

    Parameters
    ----------
    wanted : bool, default=True
        Whether to do so.
    keeps_time : bool, default=True
        Whether what is done depends on the clock anyway. Then the first fits have one
        thread, and LightGBM is limited too, whose last bits depend on its threads.
    """
    if not wanted:
        yield
        return
    before, spare = _SPARE.get(), None
    try:
        spare = _Spare(keeps_time)
        _SPARE.set(spare)
        spare.begin()
        yield
    finally:
        # As with other limits: an interrupt must not leave them behind.
        try:
            _leave(spare, before)
        except BaseException:
            _leave(spare, before)
            raise


def _leave(spare: _Spare | None, before: _Spare | None) -> None:
    if spare is not None:
        spare.put_back()
    _SPARE.set(before)


@contextmanager
def sharing_processors(*, last: bool = False) -> Iterator[None]:
    """Around fits in this thread: adapt their threads, where that is wanted.

    Parameters
    ----------
    last : bool, default=False
        Whether it is worth asking anew, as for the final fit.
    """
    spare = _spare_here()
    with nullcontext() if spare is None else spare.fitting(last):
        yield


def keeps_time() -> bool:
    """Return whether this thread does what depends on the clock anyway."""
    spare = _spare_here()
    return spare is not None and spare.keeps_time


def _spare_here() -> _Spare | None:
    spare = _SPARE.get()
    # Limits belong to a thread, and some threads have the context of another.
    is_here = spare is not None and spare.thread == threading.get_ident()
    return spare if is_here else None


def spare_processors() -> float:
    """Return the number of processors that nobody else uses at the moment.

    Linux says how many threads run, those that wait for a processor included. Where
    nothing says so, all processors are thought to be free.
    """
    seen: list[float] = []
    while len(seen) < GLANCES:
        sleep(GLANCE)
        seen.append(others_running())
    return (os.cpu_count() or 1) - median(seen)


def others_running() -> float:
    """Return how many threads of others run or wait for a processor at the moment.

    Where nothing says so, none.
    """
    try:
        running = RUNNING.read_text().split()[3].partition("/")[0]
        return float(max(0, int(running) - _own_running()))
    except (OSError, ValueError, IndexError):
        return 0.0


def _own_running() -> int:
    """Return how many threads of this process run, this one included.

    Those of the last fit may wait for the next one without going to sleep.
    """
    states = []
    for thread in OWN.iterdir():
        try:
            states.append((thread / "stat").read_text().rpartition(")")[2].split()[0])
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
    return states.count("R")
