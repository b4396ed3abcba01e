"""Interrupts that have come, though a fit in compiled code goes on.

Python hears of Ctrl-C once the main thread is back from compiled code, which may take
seconds. The signal itself writes a byte at once, and whoever draws may read it.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["noticed_interrupts"]

ENDING = {signal.SIGINT, signal.SIGTERM}


@contextmanager
def noticed_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield what says, in any thread, whether somebody asked to end.

    Examples
    --------
    >>> with noticed_interrupts() as is_interrupted:
    ...     is_interrupted()
    False
    """
    # Only the main thread may ask for the bytes.
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    reading, writing = socket.socketpair()
    with reading, writing:
        reading.setblocking(False)
        writing.setblocking(False)
        before = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
        if before != -1:
            # An event loop listens there already.
            signal.set_wakeup_fd(before)
        seen: set[int] = set()

        def is_interrupted() -> bool:
            # Nothing new, or read to the end by another thread.
            with suppress(OSError):
                seen.update(reading.recv(4096))
            return not ENDING.isdisjoint(seen)

        try:
            yield is_interrupted
        finally:
            if before == -1:
                signal.set_wakeup_fd(-1)
