"""Values of single rows on the scale of the score, for all that met the winner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cvst._typing import FloatArray, IntArray, Rows
from cvst.race import Look, RaceState
from cvst.race.machinery import BitTable, Meeting

__all__ = ["Table", "as_array", "on_score_scale", "score_at"]


@dataclass(frozen=True)
class Table:
    """Values of rows on the scale of the score, for all that met the winner.

    Attributes
    ----------
    members : ndarray of int
        The configurations, ascending.
    values : ndarray of shape (n_members, n_points)
        Their (weighted) mean over the rows of a look is the score there.
    shares : ndarray of shape (n_points,)
        Share of each row in the mean over all looks, which count alike.
    rows, cell_of : ndarray of shape (n_points,), int
        The row, and the row or group that is drawn as one.
    scores : ndarray of shape (n_members, n_looks)
        Scores of the looks.
    looks : tuple of Look
        The looks of the winner.
    top : float or None
        Score of a row without loss if all losses are 0 or 1, else None.
    """

    members: IntArray
    values: FloatArray
    shares: FloatArray
    rows: IntArray
    cell_of: IntArray
    scores: FloatArray
    looks: tuple[Look, ...]
    top: float | None

    @classmethod
    def of(
        cls, state: RaceState, meeting: Meeting, weights: FloatArray | None
    ) -> Table | None:
        """Put the values of a meeting together; None without a score."""
        scores = np.array(
            [
                [score_at(seen, place) for seen, place in meeting.places(number)]
                for number in meeting.members.tolist()
            ]
        )
        known = np.isfinite(scores).all(axis=1) if len(scores) else np.empty(0, bool)
        if not known.any():
            return None
        members = meeting.members[known]
        parts = [_counted(one.look, weights) for one in meeting.looks]
        values = [
            np.concatenate(
                [
                    on_score_scale(seen, place, losses, shares)
                    for (seen, place), losses, (_, shares) in zip(
                        meeting.places(number),
                        meeting.losses(number),
                        parts,
                        strict=True,
                    )
                ]
            )
            for number in members.tolist()
        ]
        rows = np.concatenate([part[0] for part in parts])
        return cls(
            members,
            np.array(values),
            np.concatenate([part[1] for part in parts]) / len(parts),
            rows,
            _cells(state, rows),
            scores[known],
            tuple(one.look for one in meeting.looks),
            _top(meeting, float(scores[known][0, 0]), int(members[0])),
        )

    def row_of(self, number: int) -> int:
        """Return the place of a configuration."""
        return int(np.searchsorted(self.members, number))

    def cells(self) -> tuple[FloatArray, FloatArray]:
        """Return means and shares of the cells: rows, or groups of them."""
        _, inverse = np.unique(self.cell_of, return_inverse=True)
        totals = np.asarray(np.bincount(inverse, weights=self.shares), dtype=float)
        if len(totals) == len(self.shares):
            return self.values, self.shares
        sums = np.array(
            [np.bincount(inverse, weights=row * self.shares) for row in self.values]
        )
        return sums / totals, totals


def _top(meeting: Meeting, score: float, number: int) -> float | None:
    """Return the score of a row without loss, None if losses are not 0 or 1."""
    if not all(isinstance(one.losses, BitTable) for one in meeting.looks):
        return None
    seen, place = meeting.places(number)[0]
    return score + float(seen.mean_losses[place])


def score_at(seen: Any, place: int) -> float:
    return float("nan") if seen.scores is None else float(seen.scores[place])


def _counted(look: Look, weights: FloatArray | None) -> tuple[IntArray, FloatArray]:
    """Return the rows of a look that have a loss, and their shares in its mean."""
    rows = as_array(look.test)
    if weights is None:
        return rows, np.full(len(rows), 1 / len(rows))
    counted = weights[rows]
    rows, counted = rows[counted > 0], counted[counted > 0]
    return rows, counted / counted.sum()


def as_array(rows: Rows) -> IntArray:
    if isinstance(rows, slice):
        return np.arange(rows.start or 0, rows.stop)
    return np.asarray(rows)


def on_score_scale(
    seen: Any, place: int, losses: FloatArray, shares: FloatArray
) -> FloatArray:
    """Return values whose mean is the score and whose spread is that of the score."""
    centred = losses - losses @ shares
    slope = 1.0
    if seen.standard_errors is not None and len(losses) > 1:
        # The score may be a curve of the mean loss, as a root is. The standard error
        # on its scale tells the slope.
        raw = np.sqrt(np.sum((centred * shares) ** 2) * len(losses) / (len(losses) - 1))
        known = float(seen.standard_errors[place])
        slope = known / raw if raw > 0 and np.isfinite(known) else slope
    return np.asarray(float(seen.scores[place]) - slope * centred)


def _cells(state: RaceState, rows: IntArray) -> IntArray:
    """Return what is drawn as one: groups of rows, or the rows themselves."""
    problem = state.problem
    if problem.boundaries is None:
        return rows
    groups = np.searchsorted(problem.boundaries, rows, side="right")
    # Rows of a separate test set have no groups.
    return np.where(rows < problem.n_samples, groups, rows + problem.n_samples)
