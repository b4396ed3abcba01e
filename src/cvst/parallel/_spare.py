"""Threads inside a fit, on a machine that others use too.

Threads of OpenMP wait for each other many times in a fit. Where another process has one
of their processors, or the system keeps two of them on one, all wait until the
scheduler comes round: two threads on two processors can take forty times as long as
one. So a search that has to keep its time begins with one thread, and lets fits have
more as long as there are processors to spare and the threads get more than one of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from math import inf
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, sleep

import joblib

from cvst.parallel._process_state import thread_pools

__all__ = ["sharing_processors", "spare_processors", "spare_threads"]

# The fourth word counts the threads that run, this one included. It is read that many
# times, that many seconds apart.
RUNNING, GLANCES, GLANCE = Path("/proc/loadavg"), 5, 0.003

# Others come and go: seconds after which it is read again.
PERIOD = 2.0

# Seconds with one thread: at first, when fits are small, and after threads got no more
# than that many processors in at least that many seconds; each time twice as long.
FIRST, WAIT = 0.5, 5.0
TOO_FEW, ENOUGH = 1.15, 0.1


class _Spare:
    """The threads that fits of this thread may have, for the time being."""

    def __init__(self, limits: ExitStack) -> None:
        self._limits = limits
        self._n_most = self._n_threads = _most_threads()
        self._ask_at, self._wait = perf_counter() + FIRST, WAIT
        self._seconds = self._processor = 0.0
        self._set(1)

    @contextmanager
    def fitting(self) -> Iterator[None]:
        """Adapt the threads before a fit, and see afterwards what they were worth."""
        if self._n_most < 2:
            yield
            return
        if perf_counter() >= self._ask_at:
            self._set(int(max(1, min(self._n_most, spare_processors()))))
            self._ask_at = perf_counter() + PERIOD
        begun, busy = perf_counter(), process_time()
        yield
        if self._n_threads > 1:
            self._judge(perf_counter() - begun, process_time() - busy)

    def _judge(self, seconds: float, processor: float) -> None:
        self._seconds += seconds
        self._processor += processor
        if self._seconds < ENOUGH:
            return
        if self._processor < TOO_FEW * self._seconds:
            self._set(1)
            self._ask_at = perf_counter() + self._wait
            self._wait *= 2
        self._seconds = self._processor = 0.0

    def _set(self, n_threads: int) -> None:
        if n_threads == self._n_threads:
            return
        self._limits.close()
        if n_threads < self._n_most:
            limiter = thread_pools("openmp").limit(limits=n_threads)
            self._limits.callback(limiter.restore_original_limits)
        self._n_threads = n_threads
        self._seconds = self._processor = 0.0


_SPARE: ContextVar[_Spare | None] = ContextVar("spare", default=None)


@contextmanager
def spare_threads(wanted: bool = True) -> Iterator[None]:
    """Let fits of this thread have the processors that nobody else uses."""
    if not wanted:
        yield
        return
    with ExitStack() as limits:
        before = _SPARE.set(_Spare(limits))
        try:
            yield
        finally:
            _SPARE.reset(before)


@contextmanager
def sharing_processors() -> Iterator[None]:
    """Around a fit in this thread: adapt its threads, where that is wanted."""
    spare = _SPARE.get()
    with nullcontext() if spare is None else spare.fitting():
        yield


def spare_processors() -> float:
    """Return the number of processors that nobody else uses at the moment.

    Linux says how many threads run, those that wait for a processor included. Where
    nothing says so, all processors are thought to be free.
    """
    seen: list[int] = []
    try:
        while len(seen) < GLANCES:
            # Threads of the last fit may not have gone to sleep yet.
            sleep(GLANCE)
            running = RUNNING.read_text().split()[3].partition("/")[0]
            seen.append(int(running) - 1)
    except (OSError, ValueError, IndexError):
        return inf
    return (os.cpu_count() or 1) - max(0.0, median(seen))


def _most_threads() -> int:
    """Return the number of threads that OpenMP would start by itself."""
    pools = thread_pools("openmp").lib_controllers
    asked = max((int(pool.num_threads) for pool in pools), default=1)
    return min(asked, int(joblib.cpu_count()))
