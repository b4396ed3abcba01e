"""Sentences about a race: why it ended, why one won, why another was dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvst._text import configuration_text
from cvst._typing import Configuration, IntArray
from cvst.race import CVST, CrossValidation, RaceState, TrackAndConfirm

__all__ = ["DROP_REASONS", "score_note", "stop_sentence", "why_it_won"]

STOP_REASONS = {
    "max_steps": "all steps are done",
    "one_survivor": "one configuration is left",
    "similar_performance": "the survivors behave alike",
    "all_folds": "all folds are done",
    "single_configuration": "there is one configuration only",
    "confirmed": "the winner is confirmed",
    "time_budget": "the time is up",
    "max_looks": "no more looks were allowed",
    "interrupted": "it was interrupted",
    "callback": "a callback asked for it",
}

# What the short reasons of the strategies mean; other reasons are shown as they are.
DROP_REASONS = {
    "sequential test": "it was flop so often that the sequential test calls it a loser",
    "paired test": "a paired test found it significantly worse than the leader",
    "rank": "it passed the test, but too many others did so with a lower loss",
    "fit failed": "its fit failed",
}


def stop_sentence(reason: str | None, n_looks: int) -> str:
    """Say why the race is over, or that it is not.

    Examples
    --------
    >>> stop_sentence("one_survivor", 4)
    'The race ended after 4 looks: one configuration is left.'
    >>> stop_sentence(None, 1)
    'The race is under way: 1 look is done.'
    """
    if reason is None:
        done = "1 look is done" if n_looks == 1 else f"{n_looks} looks are done"
        return f"The race is under way: {done}."
    looks = "1 look" if n_looks == 1 else f"{n_looks} looks"
    return f"The race ended after {looks}: {STOP_REASONS.get(reason, reason)}."


def why_it_won(
    state: RaceState,
    configurations: Sequence[Configuration],
    ranking: IntArray,
    winner: int,
    strategy: Any = None,
) -> list[str]:
    """Say what speaks for the winner, and what does not.

    Parameters
    ----------
    state : RaceState
        The race.
    configurations : sequence of dict
        Its configurations.
    ranking : ndarray of int
        Survivors, the best first.
    winner : int
        Who was chosen.
    strategy : Strategy, optional
        Who decided.

    Returns
    -------
    list of str
        Sentences.
    """
    n_run = int(state.present[winner].sum())
    n_top = int(state.traces[winner].sum())
    sentences = [f"It was top in {n_top} of the {n_run} looks it ran."]
    n_left = int(state.active.sum())
    if winner != int(ranking[0]):
        best = configuration_text(configurations[int(ranking[0])], 200)
        sentences.append(f"The refit function chose it; the race ranked {best} first.")
    elif n_left == 1:
        sentences.append("All others were dropped.")
    else:
        sentences.append(
            f"It ranks first among the {n_left:,} configurations that were not "
            f"dropped, {_criterion(state, strategy)}."
        )
        sentences += _runner_up(state, configurations, ranking, winner)
        sentences.append(
            "None of the others left was found significantly worse: the winner is the "
            "best of them here, not proven better."
        )
    return sentences


def _criterion(state: RaceState, strategy: Any) -> str:
    if isinstance(strategy, CVST) and strategy.winner == "mean_rank":
        return f"by the mean rank of its loss in the last {strategy.window} looks"
    if isinstance(strategy, TrackAndConfirm):
        stages = [seen.look.stage for seen in state.observations if seen.look.is_fold]
        if not stages:
            return "by its mean loss at the last look"
        # A final that has only begun says less than the confirmation before it.
        fewest = min(strategy.n_folds, strategy.final_folds)
        decided = 0 < fewest <= stages.count("final")
        folds = "of the final" if decided else "that confirm"
        return f"by its mean loss over the folds {folds}"
    if isinstance(strategy, CrossValidation):
        return "by its mean loss over all folds"
    return "in the order of the strategy"


def _runner_up(
    state: RaceState,
    configurations: Sequence[Configuration],
    ranking: IntArray,
    winner: int,
) -> list[str]:
    second = int(ranking[1])
    losses = state.mean_losses
    common = np.flatnonzero(np.isfinite(losses[[winner, second]]).all(axis=0))
    if not len(common):
        return []
    name = configuration_text(configurations[second], 200)
    last = state.observations[common[-1]].look
    # One fold is chance: folds are judged together.
    looks = [
        look
        for look in common.tolist()
        if look == common[-1]
        or (last.is_fold and state.observations[look].look.stage == last.stage)
    ]
    weights = [_n_test(state, look) for look in looks] if len(looks) > 1 else [1]
    second_loss, winner_loss = np.average(
        losses[np.ix_([second, winner], looks)], axis=1, weights=weights
    )
    if len(looks) > 1:
        ran = f"over the last {len(looks)} folds that both ran"
    else:
        ran = f"in look {looks[0] + 1}, the last that both ran"
    against = f"its mean loss was {second_loss:.5g} against {winner_loss:.5g}"
    return [f"Second is {name}: {ran}, {against}."]


def _n_test(state: RaceState, look: int) -> int:
    test = state.observations[look].look.test
    n_rows = state.problem.n_samples + state.problem.n_validation
    return len(range(n_rows)[test]) if isinstance(test, slice) else len(test)


def score_note(n_train: str, n_samples: int, n_configurations: int) -> str:
    """Say what the score of a winner is not."""
    return (
        f"This score was measured after training on {n_train} of {n_samples:,} rows, "
        f"and it belongs to the best of {n_configurations:,} configurations on these "
        "very rows. It is not an estimate of how well the winner, fitted on all rows, "
        "will do on new data. For that, keep a test set apart or nest the search in a "
        "cross-validation."
    )
