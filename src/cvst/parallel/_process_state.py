"""What belongs to the whole process, changed for a while and put back.

Two searches may run in two threads. Each would save what the other has set, and the
last one to end would leave it behind; so they count, and the last one puts back what
the first one found.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["filtered_warnings", "one_blas_thread", "thread_pools"]


class _Limits:
    """The limits in force, and how many want them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.pools: ThreadpoolController | None = None
        self.limiters: list[Any] = []

    def enter(self) -> None:
        with self.lock:
            pools = thread_pools()
            # Libraries may have come since the first one entered.
            if not self.count or pools is not self.pools:
                self.limiters.append(pools.limit(limits=1, user_api="blas"))
                self.pools = pools
            self.count += 1

    def leave(self) -> None:
        with self.lock:
            self.count -= 1
            while not self.count and self.limiters:
                self.limiters.pop().restore_original_limits()

    def forked(self) -> None:
        # Another thread may have held it when the process was copied.
        self.lock = threading.Lock()


_LIMITS = _Limits()
_WARNINGS = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LIMITS.forked)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS have one thread in this process while any search asks for it."""
    _LIMITS.enter()
    try:
        yield
    finally:
        _LIMITS.leave()


@contextmanager
def filtered_warnings() -> Iterator[None]:
    """Put filters of warnings back afterwards, one thread after the other.

    ``warnings.catch_warnings`` alone would leave the filters of one thread to all if
    two of them enter and leave by turns.
    """
    with _WARNINGS, warnings.catch_warnings():
        yield


def thread_pools() -> ThreadpoolController:
    """Return the thread pools of all libraries that are loaded by now."""
    # To find them takes as long as many a fit. Libraries come with modules, so there
    # is nothing new to find until another module is imported.
    return _thread_pools_with(len(sys.modules))


@lru_cache(maxsize=1)
def _thread_pools_with(n_modules: int) -> ThreadpoolController:
    del n_modules
    return ThreadpoolController()
