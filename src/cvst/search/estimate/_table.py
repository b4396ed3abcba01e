"""Values of single rows on the scale of the score, for all that met the winner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cvst._typing import FloatArray, IntArray, Rows
from cvst.race import Look, RaceState
from cvst.race.machinery import BitTable, Meeting

__all__ = ["Table", "as_array", "on_score_scale", "score_at"]

# Of more configurations the best are taken: the others are never chosen by luck.
MOST_MEMBERS = 200


@dataclass(frozen=True)
class Table:
    """Values of rows on the scale of the score, for all that met the winner.

    Attributes
    ----------
    members : ndarray of int
        The configurations, ascending: all that ran one of the looks, or the best.
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
    n_met : int
        How many ran one of the looks.
    """

    members: IntArray
    values: FloatArray
    shares: FloatArray
    rows: IntArray
    cell_of: IntArray
    scores: FloatArray
    looks: tuple[Look, ...]
    top: float | None
    n_met: int

    @classmethod
    def of(
        cls,
        state: RaceState,
        meeting: Meeting,
        weights: FloatArray | None,
        chosen: int,
    ) -> Table | None:
        """Put the values of a meeting together; None where the winner has no score.

        On rows that a configuration has not run, it is as good as the winner: it left
        before its luck there could count. Of too many, those with the best scores are
        taken.
        """
        if chosen not in meeting.members:
            return None
        base = np.array([score_at(*one) for one in meeting.places(chosen)])
        if not np.isfinite(base).all():
            return None
        scores = {}
        for number in meeting.guests.tolist():
            own = base.copy()
            own[meeting.met(number)] = [
                score_at(*one) for one in meeting.places(number)
            ]
            if np.isfinite(own).all():
                scores[number] = own
        members = _best(scores, chosen)
        parts = [_counted(one.look, weights) for one in meeting.looks]
        ends = np.cumsum([0, *(len(rows) for rows, _ in parts)])
        mine = _values(meeting, chosen, parts)
        values = np.tile(np.concatenate(mine), (len(members), 1))
        for row, number in enumerate(members):
            known = _values(meeting, number, parts)
            for n, own in zip(meeting.met(number), known, strict=True):
                values[row, ends[n] : ends[n + 1]] = own
        rows = np.concatenate([part[0] for part in parts])
        return cls(
            np.array(members),
            values,
            np.concatenate([part[1] for part in parts]) / len(parts),
            rows,
            _cells(state, rows),
            np.array([scores[number] for number in members]),
            tuple(one.look for one in meeting.looks),
            _top(meeting, chosen),
            len(scores),
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


def _values(
    meeting: Meeting, number: int, parts: list[tuple[IntArray, FloatArray]]
) -> list[FloatArray]:
    """Return the values of a configuration at those looks that it has met."""
    return [
        on_score_scale(seen, place, losses, parts[n][1])
        for n, (seen, place), losses in zip(
            meeting.met(number),
            meeting.places(number),
            meeting.losses(number),
            strict=True,
        )
    ]


def _best(scores: dict[int, FloatArray], chosen: int) -> list[int]:
    """Return the configurations with the best scores and the winner, ascending."""
    ordered = sorted(scores, key=lambda number: -float(scores[number].mean()))
    return sorted({chosen, *ordered[: MOST_MEMBERS - 1]})


def _top(meeting: Meeting, number: int) -> float | None:
    """Return the score of a row without loss, None if losses are not 0 or 1."""
    if not all(isinstance(one.losses, BitTable) for one in meeting.looks):
        return None
    seen, place = meeting.places(number)[0]
    return score_at(seen, place) + float(seen.mean_losses[place])


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
