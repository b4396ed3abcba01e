"""Sentences about a race: why it ended, why one won, why another was dropped."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cvst._text import configuration_text, counted
from cvst._typing import Configuration, IntArray
from cvst.race import RaceState, Strategy
from cvst.race.machinery import BY_TEST, deciding_looks
from cvst.report._measures import Measure
from cvst.report._ties import Tie

__all__ = [
    "EARLY_ENDS",
    "reason_text",
    "score_note",
    "settled_reason",
    "stop_sentence",
    "why_it_won",
]

# Reasons for which a search ends a race that its strategy would have gone on with.
EARLY_ENDS = ("time_budget", "interrupted", "failed", "callback")

# What reasons mean that a search adds to those of its strategy.
SEARCH_REASONS = {
    "single_configuration": "there is one configuration only",
    "time_budget": "the time is up",
    "max_looks": "no more looks were allowed",
    "interrupted": "it was interrupted",
    "failed": "an error broke it off",
    "callback": "a callback asked for it",
    "tie": "the leader is in a tie",
}

# What a search makes of a confirmed winner that was not told from others.
TIE = "tie"


def reason_text(reason: str, strategy: Strategy | None = None) -> str:
    """Say what a reason to stop or to drop means; one without a sentence is itself.

    Examples
    --------
    >>> reason_text("time_budget"), reason_text("my own reason")
    ('the time is up', 'my own reason')
    """
    own = {} if strategy is None else strategy.sentences
    # A strategy's own sentence counts first: it may mean something else by the name.
    return own.get(reason) or SEARCH_REASONS.get(reason, reason)


def settled_reason(reason: str, tie: Tie | None, strategy: Strategy) -> str:
    """Return the reason of the strategy, or ``"tie"`` if it confirmed no winner.

    The best mean among those that no test tells apart confirms nothing.

    Examples
    --------
    >>> from cvst.race import TrackAndConfirm
    >>> settled_reason("confirmed", Tie(2, 0.3, 500, 0.025), TrackAndConfirm())
    'tie'
    >>> settled_reason("time_budget", Tie(2, 0.3, 500, 0.025), TrackAndConfirm())
    'time_budget'
    """
    confirms = reason == strategy.confirming_reason
    return TIE if tie is not None and confirms else reason


def stop_sentence(
    reason: str | None,
    n_looks: int,
    strategy: Strategy | None = None,
    tie: Tie | None = None,
) -> str:
    """Say why the race is over, or that it is not, and whether it is a tie.

    Examples
    --------
    >>> from cvst.race import CVST
    >>> stop_sentence("one_survivor", 4, CVST())
    'The race ended after 4 looks: one configuration is left.'
    >>> stop_sentence(None, 1)
    'The race is under way: 1 look is done.'
    """
    if reason is None:
        are = "is" if n_looks == 1 else "are"
        return f"The race is under way: {counted(n_looks, 'look')} {are} done."
    looks = counted(n_looks, "look")
    why = reason_text(reason, strategy)
    if tie is None:
        return f"The race ended after {looks}: {why}."
    confirming = None if strategy is None else strategy.confirming_reason
    if reason in (confirming, TIE):
        # The best mean of those that are left proves nothing.
        return f"The race ended after {looks} in {tie.text}."
    return f"The race ended after {looks}: {why}. The leader is in {tie.text}."


def why_it_won(
    state: RaceState,
    configurations: Sequence[Configuration],
    ranking: IntArray,
    winner: int,
    strategy: Strategy | None = None,
    tie: Tie | None = None,
    measure: Measure | None = None,
    chosen_by: str | None = None,
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
        The configuration that was chosen.
    strategy : Strategy, optional
        What decided.
    tie : Tie, optional
        Others that were not found worse.
    measure : Measure, optional
        What to compare by; mean losses by default.
    chosen_by : str, optional
        Name of the score that chose another one than the first of the ranking; by
        default it was a function.

    Returns
    -------
    list of str
        Sentences.
    """
    n_run = int(state.present[winner].sum())
    n_top = int(state.traces[winner].sum())
    share = "the only look" if n_run == n_top == 1 else f"{n_top} of the {n_run} looks"
    sentences = [f"It was top in {share} it ran."]
    n_left, n_waiting = state.n_left, state.n_waiting
    # The tests speak for the first of the ranking, not for another choice.
    if winner != int(ranking[0]):
        best = configuration_text(configurations[int(ranking[0])], 200)
        what = "The refit function" if chosen_by is None else f"Mean {chosen_by}"
        sentences.append(f"{what} chose it; the race ranked {best} first.")
        return sentences
    if n_left > 1:
        criterion = (
            "in the order of the strategy"
            if strategy is None
            else strategy.criterion(state)
        )
        if measure is not None:
            # The score that was asked for, in its own words.
            criterion = criterion.replace("mean loss", f"mean {measure.name}")
        sentences.append(
            f"It ranks first among the {n_left:,} configurations that were "
            f"{'looked at and ' if n_waiting else ''}not dropped, {criterion}."
        )
        sentences += _runner_up(state, configurations, ranking, winner, measure)
    elif state.n_configurations - n_waiting > 1:
        sentences.append(_others_dropped(state, tie))
    if n_waiting:
        others = "other was" if n_waiting == 1 else "others were"
        sentences.append(f"{n_waiting:,} {others} not looked at.")
    return [*sentences, *_how_sure(n_left, tie)]


def _others_dropped(state: RaceState, tie: Tie | None) -> str:
    """Say that none is left, and in a tie that this is not the work of tests alone."""
    if tie is None:
        looked = " that were looked at" if state.n_waiting else ""
        return f"All others{looked} were dropped."
    n_tested = list(state.drop_reasons.values()).count(BY_TEST)
    n_others = state.n_configurations - state.n_waiting - 1
    n_untested = n_others - n_tested
    were = "was" if n_untested == 1 else "were"
    worse = f"a paired test found {n_tested:,} of them worse, " if n_tested else ""
    return (
        f"None of the {n_others:,} others is left: {worse}{n_untested:,} {were} "
        "dropped for other reasons."
        if n_others > 1
        else "The other one is not left, but no paired test found it worse."
    )


def _how_sure(n_left: int, tie: Tie | None) -> list[str]:
    others = "None of the others left was found significantly worse"
    if tie is not None:
        others = f"It is in {tie.text}"
    elif n_left == 1:
        return []
    return [f"{others}: the winner is the best of them here, not proven better."]


def _runner_up(
    state: RaceState,
    configurations: Sequence[Configuration],
    ranking: IntArray,
    winner: int,
    measure: Measure | None,
) -> list[str]:
    second = int(ranking[1])
    table = state.mean_losses if measure is None else measure.table
    # Means over different looks are means over different rows, and say nothing.
    common = np.flatnonzero(np.isfinite(table[[winner, second]]).all(axis=0))
    if not len(common):
        return []
    text = configuration_text(configurations[second], 200)
    name = "loss" if measure is None else measure.name
    looks = deciding_looks(state, common).tolist()
    theirs, mine = table[np.ix_([second, winner], looks)].mean(axis=1)
    if looks[-1] < common[-1]:
        # Later folds were too few to decide.
        ran = f"over the {counted(len(looks), 'fold')} that decided"
    elif len(looks) > 1:
        ran = f"over the last {len(looks)} folds that both ran"
    else:
        ran = f"in look {looks[0] + 1}, the last that both ran"
    against = f"its mean {name} was {theirs:.5g} against {mine:.5g}"
    return [f"Second is {text}: {ran}, {against}."]


def score_note(
    n_train: str, n_samples: int, n_configurations: int, has_estimate: bool
) -> str:
    """Say what the score of a winner is not, and where to find that."""
    other = "there is best_score_estimate_, or" if has_estimate else "you need"
    return (
        f"This score was measured after training on {n_train} of {n_samples:,} rows, "
        f"and it belongs to the best of {n_configurations:,} configurations on these "
        "very rows. It is not an estimate of how well the winner, fitted on all rows, "
        f"will do on new data. For that {other} a test set kept apart."
    )
