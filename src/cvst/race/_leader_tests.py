"""Each configuration against the leader: one-sided paired tests on the scored loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.race._look import Look, LookLosses, Verdict
from cvst.race._state import RaceState
from cvst.statistics import (
    mcnemar_exact,
    paired_excess_test,
    symmetric_excess_test,
)

__all__ = [
    "BY_RANK",
    "BY_TEST",
    "TEST_SENTENCES",
    "Excesses",
    "drop_worse",
    "excess_p_values",
    "level_of_each",
    "rejected",
    "tested",
]

# Reasons of a drop: shown to be worse, or not among the best that go on.
BY_TEST, BY_RANK = "paired test", "rank"
TEST_SENTENCES = {
    BY_TEST: "a paired test found it significantly worse than the leader",
    BY_RANK: "it passed the test, but too many others did so with a lower loss",
}

# Most differences that are tested at a time: tests need some eight copies of them.
LARGEST_BLOCK = 500_000


def excess_p_values(
    differences: Sequence[FloatArray], *, any_tails: bool = False
) -> FloatArray:
    """Test for each configuration whether its mean loss exceeds the leader's.

    Losses of 0 and 1 are compared by McNemar's exact test, others by a paired t that
    does not trust an excess made by a handful of rows.

    Parameters
    ----------
    differences : sequence of ndarray
        Loss minus the leader's loss, on the rows they have in common; the leader and
        failed fits (NaN) are not tested.
    any_tails : bool
        Whether the p-values of other losses than 0 and 1 must also hold, without
        approximation, for symmetric differences with any tails.

    Returns
    -------
    ndarray of shape (n_configurations,)
        One-sided p-values, NaN where nothing was tested.

    Examples
    --------
    >>> rows = [np.zeros(50), np.ones(50), np.full(50, np.nan)]
    >>> excess_p_values(rows).round(3)
    array([nan,  0., nan])
    """
    if isinstance(differences, Excesses) and not any_tails:
        found = differences.tested_where_they_are()
        if found is not None:
            return found
    p_values = np.full(len(differences), np.nan)
    # Rows of one length are tested together, but a few at a time: a large grid on many
    # rows would fill the memory several times over.
    for length, alike in _by_length(differences).items():
        size = max(1, LARGEST_BLOCK // max(1, length))
        blocks = [alike[start : start + size] for start in range(0, len(alike), size)]
        # A single block is made once; several are made twice, one at a time.
        kept = _stacked(differences, alike) if len(blocks) == 1 else None
        tables = (
            [kept] if kept is not None else (_stacked(differences, b) for b in blocks)
        )
        # One test for all of them, so one that is not binary decides for the others.
        kinds = [_kinds(table) for table in tables]
        binary = all(kind[1] for kind in kinds)
        for block, (can_be_tested, _) in zip(blocks, kinds, strict=True):
            if can_be_tested.any():
                table = _stacked(differences, block) if kept is None else kept
                table = table if can_be_tested.all() else table[can_be_tested]
                positions = np.array(block)[can_be_tested]
                p_values[positions] = _excess_test(table, binary, any_tails)
    return p_values


class Excesses(Sequence[FloatArray]):
    """Losses minus those of the leader, row by row, made when asked for.

    Parameters
    ----------
    losses : ndarray of shape (n_configurations, n_points)
        The losses.
    leader : int
        Which row is the leader's.
    on_device : array of the same shape or None
        The same losses on a device, where that is faster.
    """

    def __init__(self, losses: FloatArray, leader: int, on_device: Any = None) -> None:
        self._losses = losses
        self._leader = leader
        self._on_device = on_device

    @property
    def length(self) -> int:
        """Number of points."""
        return int(self._losses.shape[1])

    def stacked(self, places: list[int]) -> FloatArray:
        """Return some rows as a table."""
        rows, leader = self._losses[places], self._losses[self._leader]
        table: FloatArray = np.subtract(rows, leader, dtype=float)
        return table

    def tested_where_they_are(self) -> FloatArray | None:
        """Return p-values from a device; None if there is none, or another test."""
        if self._on_device is None:
            return None
        # A few columns tell that losses are not 0 and 1, which have an exact test.
        first = self._losses[:, :8] - self._losses[self._leader, :8]
        if np.all((first == 0) | (np.abs(first) == 1)):
            return None
        differs = np.any(self._losses != self._losses[self._leader], axis=1)
        leader = slice(self._leader, self._leader + 1)
        try:
            p_values = paired_excess_test(self._on_device - self._on_device[leader, :])
        except RuntimeError:
            # Others may have filled the device since the look; the host has the losses.
            return None
        return np.where(differs, p_values, np.nan)

    def __len__(self) -> int:
        return len(self._losses)

    def __getitem__(self, place: Any) -> Any:
        """Return one row."""
        row, leader = self._losses[place], self._losses[self._leader]
        return np.subtract(row, leader, dtype=float)


def _by_length(differences: Sequence[FloatArray]) -> dict[int, list[int]]:
    if isinstance(differences, Excesses):
        return {differences.length: list(range(len(differences)))}
    by_length: dict[int, list[int]] = {}
    for position, row in enumerate(differences):
        by_length.setdefault(len(row), []).append(position)
    return by_length


def _stacked(differences: Sequence[FloatArray], places: list[int]) -> FloatArray:
    if isinstance(differences, Excesses):
        return differences.stacked(places)
    return np.stack([differences[place] for place in places])


def _kinds(table: FloatArray) -> tuple[BoolArray, bool]:
    """Return which rows can be tested, and whether these hold -1, 0 and 1 only."""
    # Without any difference there is no variance to test with.
    tested = np.asarray(~np.isnan(table).any(axis=1) & table.any(axis=1))
    table = table[tested]
    return tested, bool(np.all((table == 0) | (np.abs(table) == 1)))


def _excess_test(table: FloatArray, binary: bool, any_tails: bool) -> FloatArray:
    if binary:
        return _mcnemar(table)
    p_values = paired_excess_test(table)
    if not any_tails:
        return p_values
    # The larger one holds where either of the two does.
    return np.maximum(p_values, symmetric_excess_test(table))


def _mcnemar(table: FloatArray) -> FloatArray:
    """Test all differences of -1, 0 and 1 at once."""
    # The leader of each row is another one. On points of its own, where the leader
    # never errs, a row counts what is worse; on others, where it always errs, the rest.
    never_then_always = np.repeat([False, True], table.shape[1])
    return mcnemar_exact(np.hstack([table > 0, table >= 0]), never_then_always)


def rejected(p_values: FloatArray, level: float) -> BoolArray:
    """Return which are worse than the leader, all tests together at the given level.

    Any of the others might be the leader by chance, so the level is divided by their
    number: then the bound of ``level`` holds for the one that is truly best.

    Examples
    --------
    >>> rejected(np.array([np.nan, 0.001, 0.03]), 0.05)
    array([False,  True, False])
    """
    n_others = max(1, int(np.isfinite(p_values).sum()))
    return np.nan_to_num(p_values, nan=1.0) <= level / n_others


def level_of_each(level: float, n_looks: int, n_configurations: int) -> float:
    """Return the level of one test of one look if they share that of a whole run.

    The number of configurations in a look depends on the rows seen before, and some of
    those are tested again. So the level is divided by all that could be the leader.

    Examples
    --------
    >>> level_of_each(0.05, n_looks=5, n_configurations=101)
    0.0001
    """
    return level / (n_looks * max(1, n_configurations - 1))


def tested(
    differences: Sequence[FloatArray],
    level: float,
    n_sharing: int,
    n_configurations: int,
) -> tuple[FloatArray, BoolArray]:
    """Return p-values against the leader, and which are worse than it.

    Parameters
    ----------
    differences : sequence of ndarray
        Loss minus the leader's loss.
    level : float
        Level of this look, or of the run.
    n_sharing : int
        Number of looks that share the level of the run; 0 if it is that of this look.
    n_configurations : int
        Number of configurations in the race.
    """
    p_values = excess_p_values(differences, any_tails=n_sharing > 0)
    if not n_sharing:
        return p_values, rejected(p_values, level)
    # Strictly below, so that a stage with level 0 drops nothing.
    limit = level_of_each(level, n_sharing, n_configurations)
    return p_values, np.nan_to_num(p_values, nan=1.0) < limit


def drop_worse(
    state: RaceState,
    look: Look,
    seen: LookLosses,
    p_values: FloatArray,
    worse: BoolArray,
    set_aside: Callable[[RaceState], IntArray] | None,
) -> Verdict:
    """Drop what failed or is worse than the leader, then what is set aside.

    Parameters
    ----------
    state : RaceState
        The race before the look.
    look, seen : Look and LookLosses
        The look.
    p_values : ndarray of float
        Of the tests against the leader.
    worse : ndarray of bool
        Which are significantly worse than the leader.
    set_aside : callable or None
        Given the state after these drops, returns further configurations that do not
        go on; None if there are none.
    """
    worse = worse | np.isnan(seen.mean_losses)
    drops = {
        number: seen.failures.get(number, BY_TEST)
        for number in look.configurations[worse].tolist()
    }
    verdict = Verdict(~worse, p_values, drops)
    if set_aside is None:
        return verdict
    after = state.observe(look, seen, verdict)
    aside = dict.fromkeys(set_aside(after).tolist(), BY_RANK)
    return Verdict(~worse, p_values, drops | aside)
