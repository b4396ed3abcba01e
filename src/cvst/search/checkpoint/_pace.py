"""How often a race is saved: as often as a small share of the time allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

__all__ = ["Pace"]

# What saving may take of the time. Where fits are so short that it would take more,
# several groups are saved together: then that much of the work is soon done again.
SHARE = 0.015

# What a save takes at least, and how fast bytes are written, before any was timed.
LEAST_SAVE, FASTEST = 1e-3, 2e8

# Fewer do not tell how fast a disk is.
MANY_BYTES = 2**20


class Pace:
    """Saves as often as a small share of the time allows.

    Parameters
    ----------
    clock : callable
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._began = clock()
        self._spent = 0.0
        self._each, self._rate = LEAST_SAVE, FASTEST

    def wait(self, n_bytes: int = 0) -> float:
        """Return the seconds after which this number of bytes can be saved."""
        elapsed = self._clock() - self._began
        expected = self._each + n_bytes / self._rate
        return (self._spent + expected) / SHARE - elapsed

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Count the time of something else than a save."""
        start = self._clock()
        yield
        self._spent += self._clock() - start

    @contextmanager
    def saving(self, n_bytes: int = 0) -> Iterator[None]:
        """Count the time of a save, and learn from it."""
        start = self._clock()
        try:
            yield
        finally:
            seconds = self._clock() - start
            self._spent += seconds
            if n_bytes >= MANY_BYTES:
                self._rate = min(FASTEST, n_bytes / max(seconds, 1e-9))
            else:
                # Disks hesitate now and then: one long save must not stop all others.
                self._each = max(seconds, 0.5 * self._each, LEAST_SAVE)
