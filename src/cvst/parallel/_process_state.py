"""What belongs to the whole process, changed for a while and put back.

Two searches may run in two threads. Each would save what the other has set, and the
last one to end would leave it behind; so the last one to leave puts back what the
first one found.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Literal

from threadpoolctl import ThreadpoolController

__all__ = [
    "filtered_warnings",
    "kept_filters",
    "one_blas_thread",
    "thread_pools",
    "without_warnings",
]


class _Limits:
    """The limits in force, and what wants them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.guests: set[object] = set()
        self.pools: ThreadpoolController | None = None
        self.limiters: list[Any] = []

    def enter(self, guest: object) -> None:
        with self.lock:
            pools = thread_pools("blas")
            # Libraries may have come since the first one entered.
            if not self.guests or pools is not self.pools:
                self.limiters.append(pools.limit(limits=1))
                self.pools = pools
            self.guests.add(guest)

    def leave(self, guest: object) -> None:
        """Let a guest go; it may be said twice, for the first may be interrupted."""
        with self.lock:
            self.guests.discard(guest)
            while not self.guests and self.limiters:
                # An interrupt in between restores the same limits once more.
                self.limiters[-1].restore_original_limits()
                self.limiters.pop()

    def forked(self) -> None:
        # Another thread may have held it when the process was copied.
        self.lock = threading.Lock()


class _Filters:
    """The filters of warnings as the first of several guests found them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.guests: set[object] = set()
        self.ignored: set[type[Warning]] = set()
        self.found: warnings.catch_warnings[Any] | None = None

    def enter(self, guest: object, ignored: type[Warning] | None = None) -> None:
        """Let a guest in, who may want one kind of warnings to be ignored."""
        with self.lock:
            if not self.guests:
                self.found = warnings.catch_warnings()
                self.found.__enter__()
                self.ignored.clear()
            self.guests.add(guest)
            if ignored is not None and ignored not in self.ignored:
                self.ignored.add(ignored)
                warnings.simplefilter("ignore", ignored)

    def leave(self, guest: object) -> None:
        """Let a guest go; it may be said twice, for the first may be interrupted."""
        with self.lock:
            self.guests.discard(guest)
            if not self.guests and self.found is not None:
                found, self.found = self.found, None
                found.__exit__(None, None, None)

    def forked(self) -> None:
        # The fits of other threads are not there, nor is one that held the lock.
        self.__init__()  # type: ignore[misc]


_LIMITS = _Limits()
_FILTERS = _Filters()
_QUIET = _Filters()
_WARNINGS = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LIMITS.forked)
    os.register_at_fork(after_in_child=_FILTERS.forked)
    os.register_at_fork(after_in_child=_QUIET.forked)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS have one thread in this process while any search asks for it."""
    guest = object()
    try:
        _LIMITS.enter(guest)
        yield
    finally:
        # Ctrl-C at this very call would leave the process at one thread for good. Here
        # and not in a function for all such calls, whose own call may be interrupted.
        try:
            _LIMITS.leave(guest)
        except BaseException:
            _LIMITS.leave(guest)
            raise


@contextmanager
def kept_filters() -> Iterator[None]:
    """Leave the filters of warnings as they were before the first of several fits.

    Learners change them for a while too, as checks of scikit-learn do: where two do so
    by turns in two threads, the filters of one would stay for good.
    """
    guest = object()
    try:
        _FILTERS.enter(guest)
        yield
    finally:
        try:
            _FILTERS.leave(guest)
        except BaseException:
            _FILTERS.leave(guest)
            raise


@contextmanager
def without_warnings(kind: type[Warning] = Warning) -> Iterator[None]:
    """Ignore warnings of a kind while any thread is in here.

    No lock is held meanwhile: a fit may start other threads that need it, and wait for
    them.
    """
    guest = object()
    try:
        # Not while another thread has changed the filters for a moment.
        with _WARNINGS:
            _QUIET.enter(guest, kind)
        yield
    finally:
        try:
            _leave_quiet(guest)
        except BaseException:
            _leave_quiet(guest)
            raise


def _leave_quiet(guest: object) -> None:
    with _WARNINGS:
        _QUIET.leave(guest)


@contextmanager
def filtered_warnings() -> Iterator[None]:
    """Put filters of warnings back afterwards, one thread after the other.

    ``warnings.catch_warnings`` alone would leave the filters of one thread to all if
    two of them enter and leave by turns.
    """
    with _WARNINGS, warnings.catch_warnings():
        yield


def thread_pools(kind: Literal["blas", "openmp"]) -> ThreadpoolController:
    """Return the thread pools of a kind, of all libraries that are loaded by now.

    Of one kind only: a limit puts back all pools that it was made from, and those of
    another kind may have been changed meanwhile.
    """
    # To find them takes as long as many a fit. Libraries come with modules, so there
    # is nothing new to find until another module is imported.
    return _thread_pools_with(len(sys.modules))[kind]


@lru_cache(maxsize=1)
def _thread_pools_with(n_modules: int) -> dict[str, ThreadpoolController]:
    del n_modules
    found = ThreadpoolController()
    return {kind: found.select(user_api=kind) for kind in ("blas", "openmp")}
