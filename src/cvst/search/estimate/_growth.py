"""How much the score grows from the training rows of the folds to all rows.

Errors fall like a power of the rows. A look at about half as many rows as those that
decided tells how steep the fall is; the rest of the way is short. Most races have made
such a look. Where all configurations went to the folds at once there is none, and the
winner is fitted again, on half the rows of two folds, if the race has saved as much: no
search fits more rows than a plain one. Where the winner has a hundred rounds, fits of
ten count as a tenth, as far as parameters tell. Where nothing was saved, the growth is
guessed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cvst._typing import FloatArray
from cvst.race import Look, LookLosses, RaceState
from cvst.search._known_work import known_work
from cvst.search.estimate._table import Table, as_array, on_score_scale, score_at
from cvst.statistics import standard_error_of_mean

__all__ = ["Growth", "LookAgain", "growth_of", "look_again_at"]

LookAgain = Callable[[Look], LookLosses]

# Errors fall about like this power of the rows. Half the rows against all of a fold
# tell the size of the fall, so the power matters little.
POWER = 0.7

# A look tells the growth if its training rows are such a share of those that decided.
SMALLEST, LARGEST = 0.15, 0.7

# On how many folds the winner is fitted again, and the least share of their rows.
N_HALVED, LEAST_HALF = 2, 0.4

# Folds of a plain search by default.
PLAIN_FOLDS = 5

# Growth from four fifths of the rows to all of them, in standard errors of the score:
# the mean over the 42 problems of results/estimate_tuning.jsonl (from -0.2 to 0.5).
# Both fall about alike with the number of rows, so it is the same for few and for many.
USUAL, USUAL_SHARE = 0.12, 0.8

# A growth whose error is larger than this, in standard errors of the score, is guessed:
# a few rows have a log loss of 36 under a tree that was fitted on half of the rows, and
# none later. In the 2,700 races of benchmarks/estimate its error is .69 at most.
MOST_NOISE = 0.75

# Nearer to all rows than this there is nothing to grow.
NEARLY_ALL = 0.97


@dataclass(frozen=True, slots=True)
class Growth:
    """What the winner gained by more rows, and how much more is to come.

    Attributes
    ----------
    gain : float
        What it gained from the smaller look to those that decided.
    left : float
        What is still to come, as a share of the gain.
    lucky : bool
        Whether the gain holds the luck of the choice: the looks that decided chose the
        winner, and the smaller look did not.
    error : float
        Standard error of what is to come.
    """

    gain: float = 0.0
    left: float = 0.0
    lucky: bool = False
    error: float = 0.0

    def value(self, optimism: float) -> float:
        """Return what is to come, in units of the score."""
        return self.left * (self.gain - (optimism if self.lucky else 0.0))


def growth_of(
    state: RaceState,
    chosen: int,
    deciding: Table,
    look_again: LookAgain | None,
    error: float = 0.0,
) -> Growth:
    """Return how much better the final fit will be than those that decided.

    Parameters
    ----------
    state : RaceState
        The race.
    chosen : int
        The winner.
    deciding : Table
        The looks that decided.
    look_again : callable or None
        Takes another look, if that is allowed.
    error : float
        Standard error of the score, the measure of a guess.
    """
    sizes = [look.n_train for look in deciding.looks]
    n_all = state.problem.n_samples
    if np.mean(sizes) > NEARLY_ALL * n_all:
        return Growth()
    left = _fall(sizes) - _fall([n_all])
    known = _since_smaller_look(state, chosen, deciding)
    lucky = known is None
    if known is None and look_again is not None:
        room = _room(state, chosen, sizes)
        if room is not None:
            known = _since_half(chosen, deciding, look_again, room)
    if known is None or known[2] <= 0:  # half of one row is one row
        return _usual(left, n_all, error)
    gain, noise, fallen = known
    share = left / fallen
    if share * noise > MOST_NOISE * error > 0:
        return _usual(left, n_all, error)
    return Growth(gain, share, lucky, share * noise)


def _room(state: RaceState, chosen: int, fold_sizes: Sequence[int]) -> int | None:
    """Return how many rows the winner may be fitted to again, None if to none.

    What the race saved is counted twice, and the smaller number holds: as it is, and in
    units of the winner's work, as far as parameters tell.
    """
    work = known_work(state.configurations)
    by_number, by_work = np.ones(len(work)), work / work[chosen]
    fits, rows = (
        min(saved(state, fold_sizes, by_number), saved(state, fold_sizes, by_work))
        for saved in (fits_saved, rows_saved)
    )
    # Roots of leaves do not add up to whole numbers.
    if round(fits, 6) < min(N_HALVED, len(fold_sizes)):
        return None
    return int(round(rows, 6))


def _usual(left: float, n_all: int, error: float) -> Growth:
    """Guess the growth where nothing tells it; it may be none, or twice that."""
    way = left / (_fall([USUAL_SHARE * n_all]) - _fall([n_all]))
    return Growth(USUAL * error, way, False, way * USUAL * error)


def rows_saved(state: RaceState, fold_sizes: Sequence[int], work: FloatArray) -> float:
    """Return how many rows fewer a race has fitted than a plain search would have.

    Parameters
    ----------
    state : RaceState
        The race.
    fold_sizes : sequence of int
        Training rows of the folds that decided.
    work : ndarray of float
        What a row counts in a fit of each configuration.
    """
    n_folds = max(PLAIN_FOLDS, len(fold_sizes))
    plain = work.sum() * n_folds * float(np.mean(fold_sizes))
    fitted = sum(
        work[seen.look.configurations].sum() * seen.look.n_train
        for seen in state.observations
    )
    return float(plain - fitted)


def fits_saved(state: RaceState, fold_sizes: Sequence[int], work: FloatArray) -> float:
    """Return how many fits fewer a race has made than a plain search would have.

    A fit on half the rows may take nearly as long as one on all of them.

    Parameters
    ----------
    state, fold_sizes, work
        As for :func:`rows_saved`; what a whole fit counts.
    """
    plain = work.sum() * max(PLAIN_FOLDS, len(fold_sizes))
    made = sum(work[seen.look.configurations].sum() for seen in state.observations)
    return float(plain - made)


def look_again_at(source: Any) -> LookAgain:
    """Return what takes another look without telling listeners of it.

    Parameters
    ----------
    source : DataSource
        Trains and tests.
    """
    quiet = replace(
        source, keeper=None, keep_losses=False, watch=None, raise_errors=False
    )

    def look_again(look: Look) -> LookLosses:
        with warnings.catch_warnings():
            # Whatever is to be said of these fits, those of the race have said it.
            warnings.simplefilter("ignore")
            return quiet.observe(look)  # type: ignore[no-any-return]

    return look_again


def _fall(sizes: Any) -> float:
    """Return the mean of what errors are proportional to."""
    return float(np.mean(np.asarray(sizes, dtype=float) ** -POWER))


def _since_smaller_look(
    state: RaceState, chosen: int, deciding: Table
) -> tuple[float, float, float] | None:
    """Return what the winner gained since an earlier look at about half the rows.

    Returns
    -------
    tuple of (gain, error, fallen) or None
        The gain, its standard error, and how far errors fell by the power law.
    """
    sizes = [look.n_train for look in deciding.looks]
    size = float(np.mean(sizes))
    looks = [
        (seen, place)
        for seen in state.observations
        if SMALLEST * size <= seen.look.n_train <= LARGEST * size
        # A model of fewer rounds is not the same model.
        and seen.look.rounds is None
        and chosen in seen.look.configurations
        and np.isfinite(score_at(seen, place := _place(seen, chosen)))
    ]
    if not looks:
        return None
    seen, place = min(
        looks, key=lambda one: abs(np.log(2 * one[0].look.n_train / size))
    )
    # On the same rows, as far as there are any.
    common = np.isin(deciding.rows, as_array(seen.look.test))
    if not common.any():
        return None
    shares = deciding.shares[common] / deciding.shares[common].sum()
    now = float(deciding.values[deciding.row_of(chosen)][common] @ shares)
    errors = seen.standard_errors
    error = 0.0 if errors is None else float(np.nan_to_num(errors[place]))
    fallen = _fall([seen.look.n_train]) - _fall(sizes)
    return now - score_at(seen, place), error, fallen


def _place(seen: Any, chosen: int) -> int:
    return int(seen.look.places(np.array([chosen]))[0])


def _since_half(
    chosen: int, deciding: Table, look_again: LookAgain, room: int
) -> tuple[float, float, float] | None:
    """Return what the winner gained since half the rows, by fitting it to them.

    Nothing is fitted if there is no room for as many rows.
    """
    mine, start = deciding.row_of(chosen), 0
    gaps, errors, fallen = [], [], []
    looks = deciding.looks[:N_HALVED]
    sizes = [min(-(-look.n_train // 2), room // len(looks)) for look in looks]
    if any(n < LEAST_HALF * look.n_train for n, look in zip(sizes, looks, strict=True)):
        return None
    for place, (look, n_train) in enumerate(zip(looks, sizes, strict=True)):
        half = _part(look, chosen, n_train)
        seen = look_again(half)
        score = score_at(seen, 0)
        if not np.isfinite(score):
            return None
        gaps.append(float(deciding.scores[mine, place]) - score)
        rows = slice(start, start + seen.losses.shape[1])
        shares = deciding.shares[rows] / deciding.shares[rows].sum()
        before = on_score_scale(seen, 0, seen.losses[0], shares)
        gained = deciding.values[mine, rows] - before
        errors.append(standard_error_of_mean(gained, shares)[0])
        fallen.append(_fall([half.n_train]) - _fall([look.n_train]))
        start = rows.stop
    gain = float(np.mean(gaps))
    error = float(np.sqrt(np.sum(np.square(errors)))) / len(errors)
    return gain, error, float(np.mean(fallen))


def _part(look: Look, chosen: int, n_train: int) -> Look:
    """Return the look with its last training rows alone, at one configuration."""
    # In race order, of which parts are samples; in the order of time the last are the
    # nearest to the test.
    train = np.sort(as_array(look.train))[-n_train:]
    alone = np.array([chosen])
    return Look(train, look.test, n_train, alone, "growth", may_fail=True)
