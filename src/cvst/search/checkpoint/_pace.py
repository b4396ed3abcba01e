"""How often a race is written, and how often the disk is waited for.

What was handed to the system outlives the process, which costs little: each group is
written as it finishes, but for the first moments of a race, and unless groups follow
each other within milliseconds. To outlive the machine it has to reach the disk, which
takes longer and is done less often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

__all__ = ["Pace", "syncing", "writing"]

# What writing, and waiting for the disk, may take of the time. Where groups are so
# short that it would take more, several are saved together: they are soon done again.
SHARE, SYNC_SHARE = 0.006, 0.003

# What each takes at least, and how fast bytes are written, before any was timed.
LEAST_WRITE, LEAST_SYNC, FASTEST = 5e-5, 1e-3, 2e8

# Opening the file counts as writing, and so does ending it, which takes as long: races
# below a second are to keep to the share, too. This much counts at most, so that half a
# second passes before anything is written, and no more of a race can be lost.
MOST_AROUND = 0.5 * SHARE

# Fewer do not tell how fast a disk is.
MANY_BYTES = 2**20


def writing(opening: float) -> Pace:
    """Return the pace of writing, where to open the file took some seconds."""
    return Pace(SHARE, LEAST_WRITE, spent=min(2 * opening, MOST_AROUND))


def syncing() -> Pace:
    """Return the pace of waiting for the disk."""
    return Pace(SYNC_SHARE, LEAST_SYNC)


class Pace:
    """Does something as often as a small share of the time allows.

    Parameters
    ----------
    share : float
        That share.
    least : float
        Seconds that it takes at least.
    clock : callable
        Returns seconds.
    spent : float
        Seconds that were spent before, and count as all others.
    """

    def __init__(
        self,
        share: float,
        least: float,
        clock: Callable[[], float] = perf_counter,
        spent: float = 0.0,
    ) -> None:
        self._share = share
        self._least = self._each = least
        self._rate = FASTEST
        self._clock = clock
        self._began = clock()
        self._spent = spent

    def wait(self, n_bytes: int = 0) -> float:
        """Return the seconds after which this number of bytes can be saved."""
        elapsed = self._clock() - self._began
        expected = self._spent + self._each + n_bytes / self._rate
        return expected / self._share - elapsed

    def now(self) -> float:
        """Return the time."""
        return self._clock()

    def counted(self, start: float) -> float:
        """Count the time since then, and return what it is now."""
        now = self._clock()
        self._spent += now - start
        return now

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
                self._each = max(seconds, 0.5 * self._each, self._least)
