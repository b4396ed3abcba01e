"""A clock that tests move themselves, so that nothing depends on the machine."""

from __future__ import annotations

from cvst.search._base import BaseRaceSearch

READERS = "cvst.evaluation._one_by_one", "cvst.search._proposal_source"


class Clock:
    """Seconds that pass only when a test says so."""

    def __init__(self, now=0.0):
        self.now = now

    def __call__(self):
        return self.now


def read_by_searches(clock, monkeypatch):
    """Let searches and evaluators read a clock that fits alone move."""
    clock.now = 0.0
    monkeypatch.setattr(BaseRaceSearch, "_clock", staticmethod(clock))
    for module in READERS:
        monkeypatch.setattr(f"{module}.perf_counter", clock)
    return clock
