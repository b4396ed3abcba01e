"""A clock that tests move themselves, so that nothing depends on the machine."""

from __future__ import annotations


class Clock:
    """Seconds that pass only when a test says so."""

    def __init__(self, now=0.0):
        self.now = now

    def __call__(self):
        return self.now
