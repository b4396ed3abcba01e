"""One comparable loss for each point, from looks of several fidelities.

A point looked at cheaply first and then in full has two losses, and only the latter
counts. A point looked at cheaply alone is judged by its cheap loss plus what the look
usually misses: the median difference among points that were looked at both ways.
So a model sees every point once, whatever the mixture of looks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.proposals._history import History

__all__ = ["Evidence", "gather_evidence"]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What a model learns from: points, each once.

    Attributes
    ----------
    points : ndarray of shape (m, d)
        Different points, in the order in which they came.
    losses : ndarray of shape (m,)
        Losses as of the highest fidelity; failed points have the worst of them.
    fidelities : ndarray of shape (m,)
        The highest fidelity of each point.
    seconds : ndarray of shape (m,)
        What a full evaluation takes, by proportion; NaN if not known.
    failed : ndarray of shape (m,), bool
        Points whose last look failed.
    """

    points: FloatArray
    losses: FloatArray
    fidelities: FloatArray
    seconds: FloatArray
    failed: BoolArray

    def __len__(self) -> int:
        return len(self.losses)

    def subset(self, index: IntArray) -> Evidence:
        """Return some of the points."""
        return Evidence(
            self.points[index],
            self.losses[index],
            self.fidelities[index],
            self.seconds[index],
            self.failed[index],
        )

    @property
    def n_succeeded(self) -> int:
        """The number of points with a loss."""
        return len(self.losses) - int(self.failed.sum())

    @property
    def flat(self) -> bool:
        """Whether there is nothing to learn, since all losses are equal."""
        return len(self.losses) == 0 or bool(np.ptp(self.losses) == 0)


def gather_evidence(history: History) -> Evidence:
    """Merge the looks at each point and align the losses of cheap looks."""
    owners, first = _owners(history.points)
    n_points = len(first)
    losses = np.full(n_points, np.nan)
    fidelities = np.zeros(n_points)
    seconds = np.zeros(n_points)
    shift = 0.0
    # Looks whose work differs by a few per cent are of one level.
    levels = np.round(8 * np.log2(history.fidelities))
    # From dear to cheap, so that each level is aligned with what stands already.
    for level in np.unique(levels)[::-1]:
        rows = np.flatnonzero(levels == level)
        here, mean = _merging(owners[rows])
        values = mean(history.losses[rows])
        known = np.isfinite(losses[here]) & np.isfinite(values)
        # Without a point seen at both levels the last shift is the best guess.
        if known.any():
            shift = float(np.median(losses[here[known]] - values[known]))
        # A point that failed in full stays failed, even if a cheap look went well.
        new = fidelities[here] == 0
        losses[here[new]] = values[new] + shift
        shares, times = mean(history.fidelities[rows]), mean(history.seconds[rows])
        fidelities[here[new]] = shares[new]
        seconds[here[new]] = times[new] / shares[new]
    failed = ~np.isfinite(losses)
    # If all failed the number does not matter: equal losses teach nothing.
    worst = losses[~failed].max() if not failed.all() else 0.0
    return Evidence(
        points=history.points[first],
        losses=np.where(failed, worst, losses),
        fidelities=fidelities,
        seconds=seconds,
        failed=failed,
    )


def _owners(points: FloatArray) -> tuple[IntArray, IntArray]:
    """Give equal points one number, by first appearance; return also where it was."""
    numbers: dict[bytes, int] = {}
    # No parameter has the value -1; adding 0 turns -0.0 into 0.0.
    rows = np.ascontiguousarray(np.where(np.isnan(points), -1.0, points) + 0.0)
    owners = np.array(
        [numbers.setdefault(row.tobytes(), len(numbers)) for row in rows], dtype=np.intp
    )
    _, first = np.unique(owners, return_index=True)
    return owners, first


def _merging(
    owners: IntArray,
) -> tuple[IntArray, Callable[[FloatArray], FloatArray]]:
    """Return which points were looked at, and a mean over the looks at each of them.

    One failure fails all looks at a point.
    """
    here, inverse, counts = np.unique(owners, return_inverse=True, return_counts=True)

    def mean(values: FloatArray) -> FloatArray:
        # NaN spreads through the sum, which is how one failure fails the mean.
        finite = np.where(np.isfinite(values), values, np.nan)
        return np.asarray(np.bincount(inverse, weights=finite) / counts)

    return here, mean
