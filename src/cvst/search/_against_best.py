"""Every configuration against the best of the race, on the rows that both ran on."""

from __future__ import annotations

import numpy as np

from cvst._typing import FloatArray
from cvst.race import RaceState
from cvst.race.machinery import excess_p_values, meetings

__all__ = ["p_values_against"]


def p_values_against(state: RaceState, best: int) -> FloatArray:
    """Test for each configuration whether it is worse than the best of the race.

    Parameters
    ----------
    state : RaceState
        The race.
    best : int
        The configuration that ranks first.

    Returns
    -------
    ndarray of shape (n_configurations,)
        One-sided p-values of the tests of the race (McNemar's for losses of 0 and 1, a
        guarded paired t else) on all rows of the last stage in which both ran every
        fold that the best ran; 1 for the best itself and for equal losses, NaN without
        such a stage.
    """
    p_values = np.full(state.n_configurations, np.nan)
    p_values[best] = 1.0
    # From the first stage to the last: a later one has the last word.
    for meeting in reversed(meetings(state, best)):
        members = meeting.members
        if best not in members:
            continue
        mine = np.concatenate(meeting.losses(best))
        gaps = [
            np.concatenate(meeting.losses(number)) - mine for number in members.tolist()
        ]
        # Equal losses have no spread, and so no test.
        p_values[members] = np.nan_to_num(excess_p_values(gaps), nan=1.0)
    return p_values
