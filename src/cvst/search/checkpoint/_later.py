"""A thread that does something when its time has come."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

__all__ = ["Later"]


class Later:
    """Does something later, again and again; its thread starts when first needed.

    Parameters
    ----------
    what : callable
        What is to be done.
    """

    def __init__(self, what: Callable[[], None]) -> None:
        self._what = what
        self._due: float | None = None
        self._over = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def within(self, seconds: float) -> None:
        """Do it after these seconds, or earlier if that was asked for."""
        if seconds >= threading.TIMEOUT_MAX:
            return
        with self._changed:
            due = monotonic() + seconds
            if self._due is not None and self._due <= due:
                return
            self._due = due
            if self._thread is None or not self._thread.is_alive():
                # A process that ends does not wait for it.
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()
            self._changed.notify()

    def stop(self) -> None:
        """Do nothing any more; return when the thread has ended."""
        with self._changed:
            self._over = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while self._is_due():
            self._what()

    def _is_due(self) -> bool:
        """Wait until it is time; return False if that will not come."""
        with self._changed:
            while not self._over:
                wait = None if self._due is None else self._due - monotonic()
                if wait is not None and wait <= 0:
                    # Before it is done: what is asked for meanwhile is a new order.
                    self._due = None
                    return True
                self._changed.wait(wait)
        return False
