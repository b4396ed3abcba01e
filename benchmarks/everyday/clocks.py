"""Processor time for wall time, to measure on a machine that others use too."""

from __future__ import annotations

import signal
import sys
import time

__all__ = ["count_processor_seconds"]


def count_processor_seconds(seconds: float) -> None:
    """Let this process live by its processor time, and end it after some seconds.

    All modules that are loaded see clocks that stand still while others compute, so
    that searches with a time limit of their own keep it in processor seconds.
    """
    now, builtin = time.time(), type(time.time)
    clocks = {
        time.perf_counter: time.process_time,
        time.monotonic: time.process_time,
        time.time: lambda: now + time.process_time(),
    }
    for module in list(sys.modules.values()):
        names = vars(module) if hasattr(module, "__dict__") else {}
        for name, value in list(names.items()):
            if type(value) is builtin and value in clocks:
                setattr(module, name, clocks[value])
    # The default action of its signal ends the process, inside compiled code too.
    signal.setitimer(signal.ITIMER_PROF, seconds)
