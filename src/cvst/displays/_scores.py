"""Another score than the one that was raced on, drawn like losses."""

from __future__ import annotations

from dataclasses import replace

from cvst._searched import FittedSearch
from cvst.exceptions import InvalidInputError
from cvst.race import RaceState

__all__ = ["LOSS", "label_of", "seen_by_score"]

# What is drawn unless a score is chosen.
LOSS = "loss"


def seen_by_score(search: FittedSearch, score: str | None) -> tuple[RaceState, str]:
    """Return a race whose losses are minus a score, and what to call them.

    Parameters
    ----------
    search : RaceGridSearchCV, RaceRandomSearchCV or RaceSearchCV
        A fitted search.
    score : str or None
        Name of a score in ``cv_results_``; None for the losses of the race.

    Returns
    -------
    state : RaceState
        The same looks and drops. Losses of a score have no standard errors.
    quantity : str
        ``"loss"``, or ``"minus roc_auc"``.
    """
    state: RaceState = search.race_
    if score is None:
        return state, LOSS
    raced = getattr(search, "score_name_", "score")
    others = {name for seen in state.observations for name in seen.other_scores}
    if score != raced and score not in others:
        names = ", ".join(map(repr, [raced, *sorted(others)]))
        raise InvalidInputError(
            f"score={score!r} was not recorded in this race. Use one of {names}, or "
            "None for the losses."
        )
    looks = tuple(
        replace(
            seen,
            # Displays take lower for better.
            mean_losses=-table[seen.look.configurations],
            # Recorded for the losses alone.
            standard_errors=None,
        )
        for seen, table in zip(
            state.observations,
            (state.scores if score == raced else state.scores_named(score)).T,
            strict=True,
        )
    )
    return replace(state, observations=looks), f"minus {score}"


def label_of(quantity: str, adjective: str) -> str:
    """Return what to write on an axis.

    Examples
    --------
    >>> label_of("loss", "mean"), label_of("minus f1", "mean")
    ('mean loss', 'minus f1')
    """
    return f"{adjective} {quantity}" if quantity == LOSS else quantity
