"""Warn of an example that takes long: a reader should get its picture in seconds."""

from __future__ import annotations

from time import process_time
from typing import Any

__all__ = ["LONGEST", "watch"]

# Seconds of the processor that one example may take. By the clock an example may take
# many times as long beside other work, which says nothing about it.
LONGEST = 30.0

_began: dict[str, float] = {}


def _warn(text: str) -> None:
    # The tests import this module, and have no Sphinx.
    from sphinx.util import logging

    logging.getLogger(__name__).warning(text)


def watch(gallery_conf: Any, fname: Any, when: str) -> None:
    """Take the time before an example, and warn after it if it took too long.

    sphinx-gallery calls this as one of its ``reset_modules``, the only functions that
    it calls around every example.
    """
    del gallery_conf
    now = process_time()
    if when == "before":
        _began[str(fname)] = now
        return
    taken = now - _began.pop(str(fname), now)
    if taken > LONGEST:
        _warn(
            f"{fname} took {taken:.0f} s of the processor, and an example may take "
            f"{LONGEST:.0f}: give it fewer rows or a smaller grid."
        )
