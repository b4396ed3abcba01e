"""Whether the winner is better than the others, or the first of a tie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cvst._text import counted
from cvst._typing import FloatArray, IntArray
from cvst.race import RaceState, Strategy
from cvst.race.machinery import BY_TEST, deciding_looks
from cvst.statistics import mcnemar_exact, paired_excess_test

__all__ = ["Tie", "tie_of"]

# Where a strategy has no level of its own.
LEVEL = 0.05

# To be called tied, a configuration has met the winner on this share of the rows that
# decided: on fewer, no test would tell them apart.
SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Tie:
    """Configurations that met the winner at the end, and were not found worse.

    Attributes
    ----------
    n_tied : int
        How many, the winner not counted.
    p_value : float
        The smallest of their one-sided p-values.
    n_rows : int
        Most rows on which any of them met the winner.
    level : float
        A smaller p-value would have told them apart: the level of all tests together,
        divided by their number.
    """

    n_tied: int
    p_value: float
    n_rows: int
    level: float

    @property
    def text(self) -> str:
        """The tie as part of a sentence."""
        others = counted(self.n_tied, "other")
        return (
            f"a tie with {others} by paired tests on {self.n_rows:,} rows (smallest "
            f"p-value {self.p_value:.2g}, where {self.level:.2g} would tell them apart)"
        )


def tie_of(
    state: RaceState, winner: int, strategy: Strategy | None = None
) -> Tie | None:
    """Test all that ran on the rows that decided against the winner.

    Parameters
    ----------
    state : RaceState
        The race.
    winner : int
        The configuration that was chosen.
    strategy : Strategy, optional
        What decided; its level is used.

    Returns
    -------
    Tie or None
        None if all are significantly worse (all tests together at the level), or where
        the race kept no losses to compare.
    """
    losses = _losses(state, winner)
    mine = losses.pop(winner, {})
    # What a test has dropped was told apart then, on fewer rows.
    for number, reason in state.drop_reasons.items():
        if reason == BY_TEST:
            losses.pop(number, None)
    n_all = sum(len(one) for one in mine.values())
    p_values, n_rows = [], []
    for theirs in losses.values():
        common = sorted(set(mine) & set(theirs))
        gaps = [_gaps(theirs[key], mine[key]) for key in common]
        excess = np.concatenate(gaps) if gaps else np.empty(0)
        if np.isfinite(excess).all() and len(excess) >= max(1, SHARE * n_all):
            p_values.append(_p_value(excess))
            n_rows.append(len(excess))
    level = (LEVEL if strategy is None else strategy.level) / max(1, len(p_values))
    tied = [place for place, p_value in enumerate(p_values) if p_value > level]
    if not tied:
        return None
    smallest = min(p_values[place] for place in tied)
    return Tie(len(tied), smallest, max(n_rows[n] for n in tied), level)


def _gaps(theirs: FloatArray, mine: FloatArray) -> FloatArray:
    # A scorer may give infinity to both: they differ by nothing.
    with np.errstate(invalid="ignore"):
        return np.where(theirs == mine, 0.0, theirs - mine)


def _losses(state: RaceState, winner: int) -> dict[int, dict[Any, FloatArray]]:
    """Return kept losses by configuration and fold, where the winner was decided."""
    looks: IntArray = np.flatnonzero(state.present[winner])
    if not len(looks):
        return {}
    decided = set(deciding_looks(state, looks).tolist())
    stage = state.observations[max(decided)].look.stage
    kept: dict[int, dict[Any, FloatArray]] = {}
    for place, seen in enumerate(state.observations):
        look = seen.look
        # The same fold may be looked at again, for configurations that join later.
        again = look.fold is not None and look.is_fold and look.stage == stage
        if seen.losses is None or not (place in decided or again):
            continue
        key = place if look.fold is None else ("fold", look.fold)
        for number, losses in zip(seen.kept.tolist(), seen.losses, strict=True):
            kept.setdefault(number, {})[key] = losses
    return kept


def _p_value(excess: FloatArray) -> float:
    """Test as the race does: losses of 0 and 1 by McNemar, others by a paired t."""
    if not excess.any():
        return 1.0
    if np.all((excess == 0) | (np.abs(excess) == 1)):
        return float(mcnemar_exact([excess > 0], excess < 0)[0])
    return float(paired_excess_test(excess[None, :])[0])
