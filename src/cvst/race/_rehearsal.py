"""A race without fits, which shows the looks that a strategy would ask for."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from copy import deepcopy
from itertools import islice

import numpy as np

from cvst._typing import Configuration
from cvst.race._decider import Decider
from cvst.race._look import Look, LookLosses, checked_look
from cvst.race._loop import race
from cvst.race._planned import PlannedLook
from cvst.race._problem import Problem
from cvst.race._state import RaceState

__all__ = ["MOST_LOOKS", "rehearse"]

LOGGER = logging.getLogger("cvst")

# A strategy that never ends on equal losses is planned up to here.
MOST_LOOKS = 50

# Most losses of a look that is rehearsed: equal ones are judged alike, however many
# there are.
MOST_LOSSES = 200_000


class _Equal:
    """Reports the same losses for all configurations."""

    def admit(self, configurations: Sequence[Configuration]) -> None:
        """Take any: all are alike."""

    def observe(self, look: Look) -> LookLosses:
        """Return losses of 1."""
        n_looked = len(look.configurations)
        n_test = min(look.n_test, max(2, MOST_LOSSES // max(1, n_looked)))
        ones, none = np.ones(n_looked), np.zeros(n_looked)
        return LookLosses(
            losses=np.ones((n_looked, n_test)),
            mean_losses=ones,
            residuals=np.ones((n_looked, n_test)),
            fit_seconds=none,
            score_seconds=none,
            standard_errors=none,
            seconds=0.0,
            elapsed=0.0,
            scores=-ones,
        )


def rehearse(
    decider: Decider, problem: Problem, most_looks: int = MOST_LOOKS
) -> tuple[PlannedLook, ...]:
    """Return the looks of a race between configurations that all do equally well.

    A strategy that fails with such losses is planned up to there, at least with its
    first look.

    Parameters
    ----------
    decider : Decider
        Asked for looks and verdicts; it stays as it is.
    problem : Problem
        What is raced.
    most_looks : int
        Where to end at the latest.

    Examples
    --------
    >>> from cvst.race import CrossValidation
    >>> folds = tuple((np.arange(2), np.arange(2, 4)) for _ in range(2))
    >>> looks = rehearse(CrossValidation(2), Problem(9, 4, folds={2: folds}))
    >>> [(look.n_train, look.max_configurations) for look in looks]
    [(2, 9), (2, 9)]
    """
    start = last = RaceState(problem)
    if most_looks == 1:
        return (_planned(checked_look(decider.next_look(start))),)
    try:
        # A copy, since strategies of users may keep things that they should not.
        states = race(start, _Equal(), deepcopy(decider))
        with np.errstate(all="ignore"):
            for state in islice(states, most_looks):
                last = state
    except Exception as error:
        LOGGER.info(
            "%r is planned up to look %d, since it cannot judge a look without fits: "
            "%s: %s",
            decider,
            max(1, last.n_looks),
            type(error).__name__,
            error,
        )
    if not last.observations:
        # What is wrong from the start is told as in the race itself.
        return (_planned(checked_look(decider.next_look(start))),)
    return tuple(_planned(seen.look) for seen in last.observations)


def _planned(look: Look) -> PlannedLook:
    return PlannedLook(look.stage, look.n_train, look.n_test, len(look.configurations))
