"""Saving takes a small share of the time, whatever the disk."""

from __future__ import annotations

import pytest

from cvst.search.checkpoint import _pace
from cvst.search.checkpoint._pace import Pace


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def share(monkeypatch):
    monkeypatch.setattr(_pace, "SHARE", 0.02)
    return 0.02


@pytest.mark.parametrize("save_seconds", [0.0005, 0.01, 0.3])
@pytest.mark.parametrize("group_seconds", [0.001, 0.05, 2.0])
@pytest.mark.parametrize("n_bytes", [100, 5 * 10**7])
def test_the_share_is_kept(share, save_seconds, group_seconds, n_bytes):
    """Groups of all lengths, disks of all speeds; the last save is not counted."""
    clock = Clock()
    pace = Pace(clock)
    spent, n_saves = [], 0
    while clock.now < 300:
        clock.now += group_seconds
        if pace.wait(n_bytes) <= 0:
            with pace.saving(n_bytes):
                clock.now += save_seconds
            spent.append(save_seconds)
            n_saves += 1
    assert sum(spent[:-1]) <= share * clock.now
    # And time that may be used is used.
    assert n_saves >= 0.4 * min(300 / group_seconds, 300 * share / save_seconds)


def test_long_groups_are_saved_one_by_one(share):
    clock = Clock()
    pace = Pace(clock)
    for _ in range(20):
        clock.now += 1.0
        assert pace.wait(8000) <= 0
        with pace.saving(8000):
            clock.now += 0.005


def test_opening_counts(share):
    clock = Clock()
    pace = Pace(clock)
    with pace.opening():
        clock.now += 1.0
    assert pace.wait() > 45
