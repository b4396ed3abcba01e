"""What a race has seen of families: the shorter of two looks counts."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.race import Look, LookLosses, Problem, RaceState, Verdict
from cvst.race._families import record_of


def seen_in(*seconds):
    """Return what is known of one family, seen on 20 rows as often as that."""
    state = RaceState(Problem(1, 100, configurations=({"a": 1},)))
    look = Look(slice(0, 20), slice(80, 100), 20, np.array([0]), "warm up")
    for fit in seconds:
        losses = LookLosses(
            losses=np.zeros((1, 20)),
            mean_losses=np.zeros(1),
            fit_seconds=np.array([fit]),
            score_seconds=np.array([0.1]),
        )
        verdict = Verdict(np.array([True]), np.array([np.nan]))
        state = state.observe(look, losses, verdict)
    return record_of(state, (), (80, 20), None)


@pytest.mark.parametrize("seconds", [(2.0, 5.0), (5.0, 2.0)])
def test_the_shorter_of_two_looks_counts(seconds):
    """The first pays for imports, and either for what others do on the machine."""
    record = seen_in(*seconds)
    sight = record.families[0].rungs[1]
    assert sight.fit_seconds == 2.0
    assert sight.seconds == pytest.approx(2.1)
    assert record.mean_seconds() == {1: pytest.approx(2.1)}
    assert sight.look == 1
