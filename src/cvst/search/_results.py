"""From the final state of a race to ``cv_results_``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvst._typing import Configuration, FloatArray, IntArray
from cvst._users_line import users_line
from cvst.exceptions import CVSTWarning
from cvst.race import RaceState, Strategy
from cvst.race.machinery import (
    deciding_looks,
    evidence,
    failed_last,
    rank_by_means,
    shared_deciding_looks,
    within_equal_looks,
)
from cvst.search._against_best import p_values_against

__all__ = [
    "check_scores",
    "final_scores",
    "ranked_by_score",
    "results_table",
]

# Races with more looks have no columns for single looks.
MOST_LOOK_COLUMNS = 60


def final_scores(state: RaceState, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return each configuration's score, and its standard deviation over looks.

    The score is that of the last look a configuration took part in; where that was a
    fold, the mean over its folds of that stage, or of the one before if that stage was
    broken off before it could decide.
    """
    final = np.full(state.n_configurations, np.nan)
    spread = np.full(state.n_configurations, np.nan)
    for members, looks, deciding in shared_deciding_looks(state):
        # The mean of one look is its score to the last bit.
        final[members] = scores[np.ix_(members, deciding)].mean(axis=1)
        on_folds = state.observations[deciding[-1]].look.is_fold
        together = deciding if on_folds else looks[looks <= deciding[-1]]
        with np.errstate(invalid="ignore"):  # a diverged model's score is infinite
            spread[members] = scores[np.ix_(members, together)].std(axis=1)
    return final, spread


def check_scores(state: RaceState, scores: FloatArray, winner: int) -> None:
    """Warn if the winner's score is not finite though its fits succeeded."""
    looks = deciding_looks(state, np.flatnonzero(state.present[winner]))
    lacking = [
        look
        for look in looks.tolist()
        if not np.isfinite(scores[winner, look])
        # Failures have had a warning of their own.
        and winner not in state.observations[look].failures
    ]
    if not lacking:
        return
    losses = state.mean_losses
    told = (
        f"the winner's score is {scores[winner, lacking[0]]} in {len(lacking)} of the "
        f"{len(looks)} looks that decide"
    )
    # A row has no r2, but a squared error, by which it can be chosen.
    if np.all(np.isnan(losses) | (losses == losses[winner])):
        told += ", and nothing tells the configurations apart"
    warnings.warn(
        # As in scikit-learn's searches, whose warnings people filter by these words.
        f"One or more of the test scores are non-finite: {told}. Check what scoring "
        "returns, and whether the folds have rows and classes enough for it.",
        CVSTWarning,
        stacklevel=users_line(),
    )


def ranked_by_score(
    strategy: Strategy, state: RaceState, scores: FloatArray
) -> tuple[IntArray, IntArray]:
    """Return the survivors, the winner first, and the rank of every configuration.

    Where the strategy ranks by means, those judged by as much evidence rank by their
    mean score, so that ``rank_test_score`` never contradicts ``mean_test_score``.
    """
    ranking = strategy.ranking(state)
    by_mean = strategy.ranks_by_mean(state)
    # A race that proposes went on by the losses of its winner, and keeps to it.
    if by_mean and not strategy.proposes:
        ranking = within_equal_looks(state, ranking, -final_scores(state, scores)[0])
    ranks = rank_by_means(state, ranking, scores, by_mean)
    return ranking[np.argsort(ranks[ranking])], ranks


def results_table(
    state: RaceState,
    ranks: IntArray,
    scores: FloatArray,
    configurations: Sequence[Configuration],
    error_score: Any,
    name: str = "score",
    chosen_by: str | None = None,
) -> dict[str, Any]:
    """Return a dictionary that loads into a data frame, one row per configuration.

    Parameters
    ----------
    state : RaceState
        The race.
    ranks : ndarray of shape (n_configurations,), int
        Ranks from 1.
    scores : ndarray of shape (n_configurations, n_looks)
        Scores with scikit-learn's sign, NaN where absent or failed.
    configurations : sequence of dict
        The grid.
    error_score : "raise" or number
        What stands for the score of a failed fit.
    name : str
        Name of the score that was raced on; others follow under their own names.
    chosen_by : str, optional
        Name of one to choose by: all that were judged by the looks that decided about
        the winner come first in its ranks.
    """
    fit_seconds, score_seconds = state.fit_seconds, state.score_seconds
    reasons, winner = state.drop_reasons, int(np.argmin(ranks))
    table: dict[str, Any] = {
        "mean_fit_time": _nanmean(fit_seconds),
        "std_fit_time": _nanstd(fit_seconds),
        "mean_score_time": _nanmean(score_seconds),
        "std_score_time": _nanstd(score_seconds),
        **_parameter_columns(configurations),
        "params": list(configurations),
    }
    # A race that proposes has hundreds of looks, most of them at a few configurations.
    shown_looks = state.subset_sizes if state.n_looks <= MOST_LOOK_COLUMNS else ()
    for look, n_train in enumerate(shown_looks, start=1):
        table[f"look{look}_n_train"] = np.full(len(configurations), n_train)
    columns = score_columns(state, scores, name, error_score)
    columns[f"rank_test_{name}"] = ranks
    table |= columns
    for other in recorded_names(state):
        recorded = state.scores_named(other)
        first = judged_with(state, winner) if other == chosen_by else None
        table |= score_columns(state, recorded, other, error_score, first)
    n_folds, n_train = evidence(state)
    table |= {
        "n_folds": n_folds,
        "score_n_train": n_train,
        "n_looks": state.present.sum(axis=1),
        "dropped_at": state.dropped_at,
        "drop_reason": np.array(
            [reasons.get(index, "") for index in range(len(configurations))],
            dtype=object,
        ),
        "failure": _failures(state),
        "p_value_against_best": p_values_against(state, winner),
    }
    return table


def recorded_names(state: RaceState) -> list[str]:
    """Return the names of the scores that were recorded besides."""
    names = (name for seen in state.observations for name in seen.other_scores)
    return list(dict.fromkeys(names))


def judged_with(state: RaceState, number: int) -> IntArray:
    """Return all that were judged by the same looks as a configuration, ascending."""
    groups = [
        (members, deciding.tolist())
        for members, _, deciding in shared_deciding_looks(state)
    ]
    mine = next(deciding for members, deciding in groups if number in members)
    return np.sort(np.concatenate([who for who, looks in groups if looks == mine]))


def score_columns(
    state: RaceState,
    scores: FloatArray,
    name: str,
    error_score: Any,
    first: IntArray | None = None,
) -> dict[str, Any]:
    """Return the columns of one score: each look, the final mean, spread and rank.

    Ranks are by the final score among those with as much evidence, after those that
    are given; equal scores share a rank, as in scikit-learn.
    """
    shown = scores.copy()
    if error_score != "raise":
        # Only failures: a look that a configuration missed stays NaN.
        shown[state.present & np.isnan(shown)] = error_score
    mean, spread = final_scores(state, shown)
    columns: dict[str, Any] = {}
    if state.n_looks <= MOST_LOOK_COLUMNS:
        for look in range(state.n_looks):
            columns[f"look{look + 1}_test_{name}"] = shown[:, look]
    return columns | {
        f"mean_test_{name}": mean,
        f"std_test_{name}": spread,
        f"rank_test_{name}": _ranks(state, mean, first),
    }


def _ranks(state: RaceState, means: FloatArray, above: IntArray | None) -> IntArray:
    n_folds, n_train = evidence(state)
    below = np.ones(len(means), dtype=np.intp)
    if above is not None:
        below[above] = 0
    known = np.nan_to_num(means, nan=-np.inf)
    keys = np.array([below, failed_last(state), -n_folds, -n_train, -known]).T
    order = np.lexsort(keys.T[::-1])
    ordered = keys[order]
    first = np.append(True, np.any(ordered[1:] != ordered[:-1], axis=1))
    ranks = np.empty(len(order), dtype=np.intp)
    # The rank of each is the place of the first one that is equal to it.
    ranks[order] = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0)) + 1
    return ranks


def _parameter_columns(configurations: Sequence[Configuration]) -> dict[str, Any]:
    names = sorted({name for configuration in configurations for name in configuration})
    columns = {}
    for name in names:
        values = np.empty(len(configurations), dtype=object)
        missing = np.ones(len(configurations), dtype=bool)
        for index, configuration in enumerate(configurations):
            if name in configuration:
                values[index] = configuration[name]
                missing[index] = False
        columns[f"param_{name}"] = np.ma.MaskedArray(_narrowed(values), mask=missing)
    return columns


def _narrowed(values: Any) -> Any:
    """Return numbers as numbers, everything else as it is."""
    given = [value for value in values if value is not None]
    if len(given) == len(values) and all(
        isinstance(value, int | float | np.number) and not isinstance(value, bool)
        for value in given
    ):
        # A column of numbers sorts and plots as numbers in a data frame.
        return np.array(list(values))
    return values


def _failures(state: RaceState) -> Any:
    texts = np.full(state.n_configurations, "", dtype=object)
    for observation in state.observations:
        for index, reason in observation.failures.items():
            if not texts[index]:
                texts[index] = reason
    return texts


def _nanmean(values: FloatArray) -> FloatArray:
    count = np.maximum(1, np.isfinite(values).sum(axis=1))
    return np.asarray(np.nansum(values, axis=1) / count)


def _nanstd(values: FloatArray) -> FloatArray:
    centred = values - _nanmean(values)[:, None]
    return np.sqrt(_nanmean(centred**2))
