"""While a race goes on from a file, its values are doubted before anything else is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cvst._text import shortened
from cvst._typing import Configuration
from cvst.exceptions import CheckpointError, CVSTError
from cvst.race import Look, RaceState
from cvst.race.machinery import Limit
from cvst.search.checkpoint._story import WRONG

__all__ = ["Doubtful", "doubted"]


@contextmanager
def doubted(path: Path | None) -> Iterator[None]:
    """Turn errors at values of a file into one that names the file."""
    try:
        yield
    except WRONG as error:
        # Errors of the library are sentences, and without a file nothing was read.
        if path is None or isinstance(error, CVSTError):
            raise
        why = shortened(f"{type(error).__name__}: {error}", 300)
        raise CheckpointError(
            f"'{path}' holds values that no search writes, and the race cannot go on "
            f"from there ({why}). Name another file to begin anew."
        ) from error


@dataclass(frozen=True)
class Doubtful(Limit):
    """Decides what comes first after the looks of a file; later errors are its own.

    Parameters
    ----------
    decider : Decider
        What decides.
    path : Path or None
        The file.
    n_looks : int
        How many looks it has.
    """

    path: Path | None
    n_looks: int

    def stop_reason(self, state: RaceState) -> str | None:
        """Say why the race is over, or None while it is not."""
        with doubted(self._file(state)):
            return self.decider.stop_reason(state)

    def propose(self, state: RaceState) -> Sequence[Configuration]:
        """Return configurations that join the race now."""
        with doubted(self._file(state)):
            return self.decider.propose(state)

    def looks_alone(self, state: RaceState) -> bool:
        """Say whether the next look has to wait for those under way."""
        with doubted(self._file(state)):
            return self.decider.looks_alone(state)

    def next_look(self, state: RaceState) -> Look:
        """Return where to look next."""
        with doubted(self._file(state)):
            return self.decider.next_look(state)

    def _file(self, state: RaceState) -> Path | None:
        """Return the file while nothing has been looked at since."""
        fresh = state.pending or state.n_looks > self.n_looks
        return None if fresh else self.path
