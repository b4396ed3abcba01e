"""Saving takes a small share of the time, whatever the disk."""

from __future__ import annotations

import threading

import pytest
from fake_clock import Clock

from cvst.search.checkpoint import _pace
from cvst.search.checkpoint._later import Later
from cvst.search.checkpoint._pace import Pace

SHARE = 0.02

# As they are when no test of this folder has set them.
WRITE_SHARE = _pace.SHARE
TOGETHER = _pace.SHARE + _pace.SYNC_SHARE


@pytest.mark.parametrize("save_seconds", [0.0005, 0.01, 0.3])
@pytest.mark.parametrize("group_seconds", [0.001, 0.05, 2.0])
@pytest.mark.parametrize("n_bytes", [100, 5 * 10**7])
def test_the_share_is_kept(save_seconds, group_seconds, n_bytes):
    """Groups of all lengths, disks of all speeds; the last save is not counted."""
    clock = Clock()
    pace = Pace(SHARE, 1e-4, clock)
    spent, n_saves = [], 0
    while clock.now < 300:
        clock.now += group_seconds
        if pace.wait(n_bytes) <= 0:
            with pace.saving(n_bytes):
                clock.now += save_seconds
            spent.append(save_seconds)
            n_saves += 1
    assert sum(spent[:-1]) <= SHARE * clock.now
    # And time that may be used is used.
    assert n_saves >= 0.4 * min(300 / group_seconds, 300 * SHARE / save_seconds)


def test_what_every_group_costs_leaves_less_for_saving():
    """Half of the share goes to every group, so half as many are saved alone."""
    clock = Clock()
    pace = Pace(SHARE, 1e-4, clock)
    spent = 0.0
    while clock.now < 100:
        clock.now += 0.05
        start = pace.now()
        clock.now += 0.0005
        spent += 0.0005
        assert pace.counted(start) == clock.now
        if pace.wait() <= 0:
            with pace.saving():
                clock.now += 0.001
                spent += 0.001
    assert 0.9 * SHARE * clock.now <= spent <= SHARE * clock.now + 0.001


@pytest.mark.parametrize("opening", [0.0005, 60.0])
def test_opening_and_ending_count_and_delay_no_save_for_long(opening, monkeypatch):
    """A short race pays the share for all; many rows to read delay it no more."""
    monkeypatch.setattr(_pace, "SHARE", WRITE_SHARE)
    pace = _pace.writing(opening)
    spent = min(2 * opening, 0.5 * WRITE_SHARE) + _pace.LEAST_WRITE
    expected = spent / WRITE_SHARE
    assert 0.17 < expected < 0.52
    assert pace.wait() == pytest.approx(expected, abs=0.02)


def test_long_groups_are_saved_one_by_one():
    clock = Clock()
    pace = Pace(SHARE, 1e-4, clock)
    for _ in range(20):
        clock.now += 1.0
        assert pace.wait(8000) <= 0
        with pace.saving(8000):
            clock.now += 0.005


def test_both_shares_together_stay_below_two_percent():
    assert TOGETHER < 0.02


def test_what_is_asked_for_later_is_done_once_and_in_time():
    done = threading.Event()
    calls = []

    def what():
        calls.append(threading.get_ident())
        done.set()

    later = Later(what)
    later.within(600)
    later.within(0.01)  # the earlier one counts
    later.within(float("inf"))
    assert done.wait(60)
    later.stop()
    assert len(calls) == 1
    assert calls[0] not in {one.ident for one in threading.enumerate()}


def test_nothing_is_done_after_the_stop():
    calls = []
    later = Later(lambda: calls.append(1))
    later.within(600)
    later.stop()
    assert calls == []
