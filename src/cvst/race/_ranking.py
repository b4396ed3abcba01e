"""All configurations in one order, those dropped along the way too."""

from __future__ import annotations

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.race._deciding import (
    deciding_losses,
    deciding_means,
    shared_deciding_looks,
)
from cvst.race._evidence import evidence
from cvst.race._rounding import without_rounding
from cvst.race._state import RaceState

__all__ = [
    "failed_last",
    "last_finite",
    "rank_all",
    "rank_by_means",
    "within_equal_looks",
]


def rank_all(
    state: RaceState,
    ranking: IntArray,
    means: FloatArray | None = None,
    by_mean: bool = False,
) -> IntArray:
    """Rank all configurations: survivors as given, then by how far they came.

    Parameters
    ----------
    state : RaceState
        The race.
    ranking : ndarray of int
        Survivors, the winner first.
    means : ndarray of shape (n_configurations,), optional
        What to compare those with equal evidence by, low is good; by default the mean
        of their losses over the looks that decide (:func:`deciding_losses`).
    by_mean : bool
        Whether survivors too, but for the winner, rank by their evidence and then by
        that mean; one that a test dropped at the very end may then rank before one
        that it could not tell from the winner.

    Returns
    -------
    ndarray of shape (n_configurations,)
        Ranks from 1, each once. More folds come first, then more training rows; among
        equals the lower mean (:func:`evidence`), and where means are equal but for
        rounding, the order that is given. Those whose last fit failed, and thus have no
        score, come next, and last those that never had a loss.

    Examples
    --------
    >>> from cvst.race import Problem
    >>> state = RaceState(Problem(n_configurations=3, n_samples=100))
    >>> rank_all(state, np.array([2, 0, 1]))
    array([2, 3, 1])
    """
    means = deciding_losses(state) if means is None else means
    means = without_rounding(means[:, None])[:, 0]
    place = np.full(state.n_configurations, len(ranking))
    place[ranking] = np.arange(len(ranking))
    n_folds, n_train = evidence(state)
    judged = np.nan_to_num(means, nan=np.inf), -n_train, -n_folds
    lacking = failed_last(state), np.isnan(last_finite(state))
    # The last key weighs most, as ``lexsort`` has it.
    keys = (place, *judged) if by_mean else (*judged, place)
    order = np.lexsort((*keys, *lacking))
    # Whatever others have, the winner is the one that was chosen.
    first = ranking[:1]
    order = np.concatenate([first, order[~np.isin(order, first)]])
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


def rank_by_means(
    state: RaceState,
    ranking: IntArray,
    scores: FloatArray | None,
    by_mean: bool,
) -> IntArray:
    """Rank all configurations by their scores where these are known, else by losses.

    Parameters
    ----------
    state : RaceState
        The race.
    ranking : ndarray of int
        Survivors, the winner first.
    scores : ndarray of shape (n_configurations, n_looks) or None
        Scores with scikit-learn's sign.
    by_mean : bool
        Whether survivors too rank by their means, as :func:`rank_all` has it.
    """
    known = scores is not None and np.isfinite(scores).any()
    means = -deciding_means(state, scores) if known else None  # type: ignore[arg-type]
    return rank_all(state, ranking, means, by_mean)


def within_equal_looks(
    state: RaceState, order: IntArray, means: FloatArray
) -> IntArray:
    """Sort configurations that were judged by the same looks among themselves.

    Parameters
    ----------
    state : RaceState
        The race.
    order : ndarray of int
        Some configurations. The places of those with the same looks are dealt to them
        anew; failed fits keep theirs.
    means : ndarray of shape (n_configurations,)
        What to sort by, low first; what is equal but for rounding keeps its order.
    """
    order, means = order.copy(), without_rounding(means[:, None])[:, 0]
    together: dict[tuple[int, ...], list[int]] = {}
    for members, _, deciding in shared_deciding_looks(state):
        together.setdefault(tuple(deciding.tolist()), []).extend(members.tolist())
    sortable = np.isfinite(means) & ~failed_last(state)
    for alike_members in together.values():
        places = np.flatnonzero(np.isin(order, alike_members) & sortable[order])
        alike = order[places]
        order[places] = alike[np.argsort(means[alike], kind="stable")]
    return order


def failed_last(state: RaceState) -> BoolArray:
    """Return which configurations failed in the last look they took part in."""
    failed = np.zeros(state.n_configurations, dtype=bool)
    for seen in state.observations:
        failed[seen.look.configurations] = np.isnan(seen.mean_losses)
    return failed


def last_finite(state: RaceState) -> FloatArray:
    """Return the last finite mean loss of each configuration, NaN without one."""
    last = np.full(state.n_configurations, np.nan)
    for seen in state.observations:
        # A later failure does not wipe out what was known before.
        finite = np.isfinite(seen.mean_losses)
        last[seen.look.configurations[finite]] = seen.mean_losses[finite]
    return last
