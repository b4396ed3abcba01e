"""What evaluators keep for a race or for one of its looks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["Scratch"]

T = TypeVar("T")


class Scratch:
    """What evaluators keep between the looks of one race, such as a distance matrix.

    Shared by threads, never sent to another process.

    Parameters
    ----------
    limit : int or None
        Bytes that each kind of thing may take; None for bounds of its own.
    nests : bool
        Whether looks to come find again what is kept.
    race : Scratch or None
        The scratch of the race, where this one is for a single look of it.
    share : float
        Share of the usual bytes for tables of pairs: a small look that stands for large
        ones must not keep what these cannot.

    Examples
    --------
    >>> scratch = Scratch()
    >>> scratch.get("answer", lambda: 42)
    42
    >>> scratch.get("answer", lambda: 0)
    42

    A look that is worked on beside the present one keeps its own things to itself:

    >>> beside = scratch.for_a_look()
    >>> beside.get("answer", lambda: 0)
    0
    >>> beside.get("answer", lambda: 0, for_race=True)
    42
    """

    # Tables of pairs are filled in blocks of rows that begin at multiples of this. The
    # last bits of a product depend on its shape, and must not depend on which looks
    # came before: a race that goes on after a break has not made them.
    table_block = 128

    def __init__(
        self,
        limit: int | None = None,
        nests: bool = True,
        race: Scratch | None = None,
        share: float = 1.0,
    ) -> None:
        self.limit = limit
        self.nests = nests
        self.share = share
        self._race = race
        self._values: dict[Any, Any] = {}
        # Reentrant, so that what is being made may ask for other keys.
        self._lock = threading.RLock()

    def room(self, n_bytes: int) -> int:
        """Return these bytes, or fewer if the user has bounded the memory."""
        return n_bytes if self.limit is None else min(n_bytes, self.limit)

    def room_for_pairs(self, n_bytes: int) -> int:
        """Return the bytes that tables of pairs may take."""
        return int(self.share * self.room(n_bytes))

    def get(self, key: Any, make: Callable[[], T], *, for_race: bool = False) -> T:
        """Return what is kept under the key, made on first use.

        Parameters
        ----------
        key : hashable
            Its name.
        make : callable
            Makes it.
        for_race : bool, default=False
            Whether it is the same for all looks of the race.
        """
        if for_race and self._race is not None:
            return self._race.get(key, make)
        with self._lock:
            if key not in self._values:
                self._values[key] = make()
            value: T = self._values[key]
            return value

    def drop(self, key: Any) -> None:
        """Forget what is kept under the key."""
        with self._lock:
            self._values.pop(key, None)

    def for_a_look(self, nests: bool | None = None) -> Scratch:
        """Return a scratch for one look, with what is kept for all looks in this one.

        Parameters
        ----------
        nests : bool or None
            As of the class; None for that of this one.
        """
        nests = self.nests if nests is None else nests
        return Scratch(self.limit, nests, self, self.share)

    def __reduce__(self) -> tuple[type[Scratch], tuple[Any, ...]]:
        # Empty in another process: what is kept may be far larger than the rows. There
        # it lasts for one look.
        return Scratch, (self.limit, False, None, self.share)
