"""A polite request to end is Ctrl-C: what is known is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["termination_as_interrupt"]


@contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Let SIGTERM, which batch systems and ``kill`` send, interrupt like Ctrl-C."""
    # Only the main thread may set handlers, and only it is interrupted.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _interrupt(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise KeyboardInterrupt
