"""How much longer one configuration takes without the others of its group."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cvst.exceptions import AllFitsFailedError
from cvst.search.budget._watch import Timing, Watch

__all__ = ["Alone", "fitted_alone", "predicted_alone"]


class Alone(NamedTuple):
    """How much longer a fit, and predicting a row, takes than among its group."""

    fit: float = 1.0
    predict: float = 1.0


def fitted_alone(
    watch: Watch, own: Timing, index: int, n_members: int, likely: float, room: float
) -> float:
    """Return how much longer a fit takes as the final fit is done.

    Outside of the source: no worker's limit on threads, nothing shared.

    Parameters
    ----------
    watch : Watch
        Times the fit.
    own : Timing
        A look at the group, as it would have been had nothing been in its way.
    index : int
        The member that is fitted.
    n_members : int
        Of the group.
    likely : float
        What is probable; the fit is not timed if by that it takes too long, or fails.
    room : float
        The most seconds that it may take.
    """
    mean = float(own.fit.mean())
    if likely * mean > room:
        return likely
    try:
        seconds = watch.lone_fit(index, own.n_train)
    except Exception:
        # The look itself has its own way with fits that fail.
        return likely
    # A group shares its work in the books, evenly or not. Alone, a member may take
    # as long as all; threads may change that by some factor.
    return float(np.clip(seconds / max(mean, 1e-9), 0.1, 2.0 * n_members))


def predicted_alone(watch: Watch, own: Timing, index: int, room: float) -> float:
    """Return how much longer predicting a row takes for one of a group alone.

    Neighbours are searched once for all numbers of them. So predicting takes as long
    when the others are gone, and that is nearly all that such looks take.

    Parameters
    ----------
    watch : Watch
        Times the look.
    own : Timing
        A look at the group.
    index : int
        The member that is looked at.
    room : float
        The most seconds that it may take, which is as long as the look at all.
    """
    members = own.look.configurations
    hidden = own.score.sum() < own.fit.sum()
    if len(members) == 1 or hidden or own.wall > room or index not in members:
        return 1.0
    try:
        lone = watch.time(replace(own.part([index]).look, may_fail=False))
    except AllFitsFailedError:
        return 1.0
    mine, theirs = (watch.undisturbed(one).score.mean() for one in (lone, own))
    return float(np.clip(mine / max(theirs, 1e-12), 1.0, len(members)))
