"""What is done of a look, handed to whoever keeps it before the look is finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from cvst.race import Look

__all__ = ["Keeper", "Listener", "paced_chunks"]

# Chunks that are kept one by one last about that long: to hand out shorter ones would
# take a noticeable part of the time.
CHUNK_SECONDS = 0.1


class Keeper(Protocol):
    """Keeps what is done of a look, and knows what was done of it before."""

    def known(
        self, look: Look, groups: Sequence[list[int]], *, beside: bool = False
    ) -> list[dict[str, Any]]:
        """Return the results that are there already, each as a dict of its fields.

        Parameters
        ----------
        look : Look
            The look that begins.
        groups : sequence of list of int
            Which of its configurations are worked on together.
        beside : bool
            Whether others are under way at the same time.
        """
        ...

    def keep(self, outcomes: Sequence[Any], look: Look | None = None) -> None:
        """Take results of some configurations; those taken before are ignored.

        Parameters
        ----------
        outcomes : sequence of Scored
            The results.
        look : Look or None
            The look they are of, where others are under way beside it; then they are
            one group. None for the only look that is under way.
        """
        ...


class Listener:
    """Hears of each group as soon as it is done; deaf in another process."""

    def __init__(self, hear: Callable[[Sequence[Any]], None] | None = None) -> None:
        self._hear = hear

    def __call__(self, outcomes: Sequence[Any]) -> None:
        """Pass results on."""
        if self._hear is not None:
            self._hear(outcomes)

    def __reduce__(self) -> tuple[type[Listener], tuple[()]]:
        # Results come back from there with the chunk.
        return Listener, ()


def paced_chunks(
    groups: Sequence[list[int]],
    largest: int,
    n_done: Callable[[], int],
    clock: Callable[[], float] = perf_counter,
) -> Iterator[list[list[int]]]:
    """Yield chunks of whole groups, one at first, more where they are quickly done.

    Parameters
    ----------
    groups : sequence of list of int
        Groups of configurations.
    largest : int
        Most configurations of a chunk of several groups.
    n_done : callable
        Returns how many configurations are done.
    clock : callable
        Returns seconds.

    Examples
    --------
    >>> list(paced_chunks([[0, 1], [2], [3]], 8, lambda: 0))
    [[[0, 1]], [[2]], [[3]]]
    """
    start = clock()
    waiting = list(reversed(groups))
    while waiting:
        rate = n_done() / max(clock() - start, 1e-9)
        room = min(largest, int(CHUNK_SECONDS * rate))
        chunk = [waiting.pop()]
        room -= len(chunk[0])
        while waiting and len(waiting[-1]) <= room:
            room -= len(waiting[-1])
            chunk.append(waiting.pop())
        yield chunk
