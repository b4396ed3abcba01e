"""What evaluators say in the log of a race: each sentence once.

Nobody reads the log of a worker in another process. What is said there comes back with
the results, and is logged where the race is.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, Protocol

from cvst.evaluation._protocol import Task

__all__ = ["Note", "Told", "say", "tell_alone"]

LOGGER = logging.getLogger("cvst")


class Note(NamedTuple):
    """A sentence for the log.

    Attributes
    ----------
    key : hashable
        What it is about: of several notes with one key a race logs the first.
    level : int
        Of the log.
    text : str
        The sentence.
    """

    key: Hashable
    level: int
    text: str


class HasNotes(Protocol):
    """A result of a worker."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was said while it was made."""


class Told:
    """The notes that a race has logged by now.

    In another process it keeps notes instead, for the way back.

    Parameters
    ----------
    here : bool
        Whether this is the process of the race.

    Examples
    --------
    >>> far = Told(here=False)
    >>> with far.listening() as notes:
    ...     say("fits", "Ridge: fitted one by one")
    >>> notes
    [Note(key='fits', level=20, text='Ridge: fitted one by one')]
    """

    def __init__(self, here: bool = True) -> None:
        self._here = here
        self._keys: set[Hashable] = set()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[Told], tuple[bool]]:
        return Told, (False,)

    def hear(self, note: Note) -> None:
        """Log a note, unless one with its key was logged before."""
        with self._lock:
            if note.key in self._keys:
                return
            self._keys.add(note.key)
        LOGGER.log(note.level, "%s", note.text)

    def repeat(self, results: Iterable[HasNotes]) -> None:
        """Log what came back from workers with these results."""
        for result in results:
            for note in result.notes:
                self.hear(note)

    @contextmanager
    def listening(self) -> Iterator[list[Note]]:
        """Hear what is said meanwhile, in this thread.

        Yields
        ------
        list of Note
            What has to travel; empty in the process of the race.
        """
        notes: list[Note] = []
        token = _LISTENER.set(self.hear if self._here else notes.append)
        try:
            yield notes
        finally:
            _LISTENER.reset(token)


# Without a race, as where an evaluator is tried out, whatever is said is logged.
_LISTENER: ContextVar[Callable[[Note], None] | None] = ContextVar(
    "_LISTENER", default=None
)


def say(key: Hashable, text: str, level: int = logging.INFO) -> None:
    """Say something that a race logs once.

    Parameters
    ----------
    key : hashable
        What it is about.
    text : str
        The sentence.
    level : int
        Of the log.
    """
    listener = _LISTENER.get()
    if listener is None:
        LOGGER.log(level, "%s", text)
    else:
        listener(Note(key, level, text))


def tell_alone(
    task: Task, reason: str, level: int = logging.INFO, count: int | None = None
) -> None:
    """Say why configurations are fitted one by one.

    Parameters
    ----------
    task : Task
        What is fitted.
    reason : str
        Why nothing is shared; a race logs each reason once per class.
    level : int
        Of the log.
    count : int or None
        How many configurations; None for all of a kind.
    """
    name = type(task.estimator).__name__
    say((name, reason), f"{name}: {_alone(count)}: {reason}", level)


def _alone(count: int | None) -> str:
    if count == 1:
        return "1 configuration is fitted by itself"
    number = "" if count is None else f"{count} "
    return f"{number}configurations are fitted one by one"
