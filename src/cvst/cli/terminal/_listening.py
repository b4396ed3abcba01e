"""Listening to a race: handlers of the logger ``"cvst"`` while it runs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["listening"]

LOGGER = logging.getLogger("cvst")


@contextmanager
def listening(handler: logging.Handler) -> Iterator[None]:
    """Pass all events of the library to a handler, and to no other that prints them.

    Examples
    --------
    >>> class Keeper(logging.Handler):
    ...     seen: list[str] = []
    ...     def emit(self, record):
    ...         self.seen.append(record.getMessage())
    >>> keeper = Keeper()
    >>> with listening(keeper):
    ...     LOGGER.debug("look %d", 1)
    >>> keeper.seen
    ['look 1']
    """
    level, propagate = LOGGER.level, LOGGER.propagate
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
    # A handler at the root would print into the live table.
    LOGGER.propagate = False
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
        LOGGER.propagate = propagate
