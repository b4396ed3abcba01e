"""The threads of LightGBM: it asks for all processors, whatever OpenMP says.

Its limit is one of the whole process, so the lowest of several guests counts, and the
last one to leave puts back what the first one found. The last bits of its models depend
on their threads, so only what depends on the clock anyway may ask for a limit.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["LIGHTGBM", "LightGBM", "with_one_lightgbm_thread"]

T = TypeVar("T")


class LightGBM:
    """The limit in force, and who wants it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        # The thread that each of them is in, and the threads it allows.
        self.guests: dict[object, tuple[int, int]] = {}
        self.found = -1  # no limit

    def limit(self, guest: object, n_threads: int) -> None:
        """Let it have no more threads than that, if it is loaded."""
        library = self.library()
        if library is None:
            return
        with self.lock:
            if not self.guests:
                found = ctypes.c_int(-1)
                library.LGBM_GetMaxThreads(ctypes.byref(found))
                self.found = found.value
            self.guests[guest] = threading.get_ident(), n_threads
            self._set(self.guests)

    def leave(self, guest: object) -> None:
        """Let a guest go; it may be said twice, for the first may be interrupted."""
        if guest not in self.guests:
            return
        with self.lock:
            self._set({k: its for k, its in self.guests.items() if k is not guest})
            self.guests.pop(guest, None)

    def forked(self) -> None:
        # The guests in other threads are not there, nor is one that held the lock.
        self.lock = threading.Lock()
        here = threading.get_ident()
        if self.guests:
            self.guests = {k: its for k, its in self.guests.items() if its[0] == here}
            self._set(self.guests)

    @staticmethod
    def library() -> Any:
        """Return the library, None if there is none that can be limited."""
        library = getattr(sys.modules.get("lightgbm.basic"), "_LIB", None)
        return library if hasattr(library, "LGBM_SetMaxThreads") else None

    def _set(self, guests: dict[object, tuple[int, int]]) -> None:
        n_threads = min((most for _, most in guests.values()), default=self.found)
        self.library().LGBM_SetMaxThreads(ctypes.c_int(n_threads))


LIGHTGBM = LightGBM()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LIGHTGBM.forked)


def with_one_lightgbm_thread(function: Callable[..., T], *args: Any) -> T:
    """Call a function while LightGBM has one thread in this process."""
    guest = object()
    try:
        LIGHTGBM.limit(guest, 1)
        return function(*args)
    finally:
        # As with other limits: an interrupt must not leave it behind.
        try:
            LIGHTGBM.leave(guest)
        except BaseException:
            LIGHTGBM.leave(guest)
            raise
