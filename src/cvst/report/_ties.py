"""Whether the leader of a race is better than the others, or the first of a tie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from cvst._text import counted
from cvst._typing import FloatArray, IntArray
from cvst.race import RaceState, Strategy
from cvst.race.machinery import BY_TEST, BitTable, deciding_looks, rows_key
from cvst.statistics import mcnemar_exact, paired_excess_test

__all__ = ["Tie", "tie_of"]

# A table of losses, and a row of it.
_Where = tuple[FloatArray | BitTable, int]

# Where a strategy has no level of its own.
LEVEL = 0.05

# To be called tied, a configuration has met the leader on this share of the rows that
# decided: on fewer, no test would tell them apart. Before that it ran all folds.
SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Tie:
    """Configurations that met the leader at the end, and were not found worse.

    Attributes
    ----------
    n_tied : int
        How many, the leader not counted.
    p_value : float
        The smallest of their one-sided p-values.
    n_rows : int
        Most rows on which any of them met the leader.
    level : float
        A smaller p-value would have told them apart: the level of all tests together,
        divided by their number.
    n_before : int
        How many of them had no part in what decided, or too little, but met the leader
        on all folds of a stage before.
    """

    n_tied: int
    p_value: float
    n_rows: int
    level: float
    n_before: int = 0

    @property
    def text(self) -> str:
        """The tie as part of a sentence."""
        others = counted(self.n_tied, "other")
        n_last = self.n_tied - self.n_before
        where = (
            f" ({n_last:,} in the last stage, {self.n_before:,} in the folds before)"
        )
        if not n_last:
            where = " (in the folds before the last stage)"
        return (
            f"a tie with {others}{where if self.n_before else ''} by paired tests on "
            f"{self.n_rows:,} rows (smallest p-value {self.p_value:.2g}, where "
            f"{self.level:.2g} would tell them apart)"
        )


@dataclass(frozen=True, slots=True)
class _Comparison:
    """One configuration against the leader."""

    p_value: float
    n_rows: int
    before: bool


def tie_of(
    state: RaceState, leader: int, strategy: Strategy | None = None
) -> Tie | None:
    """Test all that ran on the rows that decided, or on all before, against the leader.

    Parameters
    ----------
    state : RaceState
        The race.
    leader : int
        The configuration that the race ranks first, by its score; ``refit`` of a search
        may choose another one.
    strategy : Strategy, optional
        What decided; its level is used.

    Returns
    -------
    Tie or None
        None if all are significantly worse (all tests together at the level), or where
        the race kept no losses to compare.
    """
    together = LEVEL if strategy is None else strategy.level
    stages = _stages(state, leader)
    losses = _losses(state, {key for stage in stages for key in stage})
    mine = {key: _read(where) for key, where in losses.pop(leader, {}).items()}
    by_test = {n for n, reason in state.drop_reasons.items() if reason == BY_TEST}
    met = []
    for number, theirs in losses.items():
        one = _compared(mine, theirs, stages, number in by_test)
        # A test that dropped it in an earlier stage spoke of the leader of then.
        if one is not None and not (number in by_test and one.p_value <= together):
            met.append(one)
    level = together / max(1, len(met))
    tied = [one for one in met if one.p_value > level]
    if not tied:
        return None
    return Tie(
        len(tied),
        min(one.p_value for one in tied),
        max(one.n_rows for one in tied),
        level,
        sum(one.before for one in tied),
    )


def _compared(
    mine: Mapping[Any, FloatArray],
    theirs: Mapping[Any, _Where],
    stages: Sequence[Sequence[Any]],
    dropped_by_test: bool,
) -> _Comparison | None:
    """Test one against the leader in the last stage that says enough about both."""
    for place, keys in enumerate(stages):
        wanted = [key for key in keys if key in mine]
        common = [key for key in wanted if key in theirs]
        if common and not place and dropped_by_test:
            # It was told apart then, on fewer rows.
            return None
        gaps = [_gaps(_read(theirs[key]), mine[key]) for key in common]
        excess = np.concatenate(gaps) if gaps else np.empty(0)
        if not np.isfinite(excess).all():
            return None
        n_all = sum(len(mine[key]) for key in wanted)
        if len(excess) >= max(1, n_all if place else SHARE * n_all):
            return _Comparison(_p_value(excess), len(excess), place > 0)
    return None


def _stages(state: RaceState, leader: int) -> list[list[Any]]:
    """Return the rows of the looks that decided, and of the folds of stages before."""
    looks: IntArray = np.flatnonzero(state.present[leader])
    if not len(looks):
        return []
    decided = deciding_looks(state, looks)
    rows = {place: rows_key(state.observations[place].look) for place in looks.tolist()}
    stages = [list(dict.fromkeys(rows[place] for place in decided.tolist()))]
    before: dict[str, dict[Any, None]] = {}
    for place in looks[looks < decided[0]].tolist():
        look = state.observations[place].look
        if look.is_fold:
            before.setdefault(look.stage, {})[rows[place]] = None
    return [*stages, *(list(keys) for keys in reversed(before.values()))]


def _gaps(theirs: FloatArray, mine: FloatArray) -> FloatArray:
    # A scorer may give infinity to both: they differ by nothing.
    with np.errstate(invalid="ignore"):
        return np.where(theirs == mine, 0.0, theirs - mine)


def _losses(state: RaceState, wanted: Set[Any]) -> dict[int, dict[Any, _Where]]:
    """Return where losses are kept by configuration and rows, whatever the look."""
    kept: dict[int, dict[Any, _Where]] = {}
    for seen in state.observations:
        if seen.losses is None or (key := rows_key(seen.look)) not in wanted:
            continue
        for row, number in enumerate(seen.kept.tolist()):
            kept.setdefault(number, {})[key] = seen.losses, row
    return kept


def _read(where: _Where) -> FloatArray:
    # Bits become floats only here: those of all folds at once would fill the memory.
    losses, row = where
    return np.asarray(losses[row])


def _p_value(excess: FloatArray) -> float:
    """Test as the race does: losses of 0 and 1 by McNemar, others by a paired t."""
    if not excess.any():
        return 1.0
    if np.all((excess == 0) | (np.abs(excess) == 1)):
        return float(mcnemar_exact([excess > 0], excess < 0)[0])
    return float(paired_excess_test(excess[None, :])[0])
