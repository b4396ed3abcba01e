"""Plain k-fold comparison of all configurations, as a strategy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.exceptions import InvalidInputError
from cvst.race._look import Look, LookLosses, Verdict
from cvst.race._planned import PlannedLook, planned_folds
from cvst.race._problem import Problem
from cvst.race._state import RaceState
from cvst.race._strategy import Strategy

__all__ = ["CrossValidation"]


class CrossValidation(Strategy):
    """Train every configuration on every fold; the lowest mean loss wins.

    What a race falls back to when there are too few rows to race, and the yardstick
    it is measured against.

    Parameters
    ----------
    n_folds : int, default=5
        Number of folds.
    """

    def __init__(self, n_folds: int = 5) -> None:
        self.n_folds = n_folds

    @property
    def fold_counts(self) -> tuple[int, ...]:
        """Ask for one set of folds."""
        return (self.n_folds,)

    @property
    def keeps_order(self) -> bool:
        """Fit as :class:`GridSearchCV` does: some learners depend on the order."""
        return True

    @property
    def takes_all_folds(self) -> bool:
        """Say so: nothing is dropped."""
        return True

    def check(self, problem: Problem) -> None:
        """Raise an error if the number of folds makes no sense."""
        del problem
        whole = isinstance(self.n_folds, int | np.integer)
        if not whole or isinstance(self.n_folds, bool) or self.n_folds < 2:
            raise InvalidInputError(
                f"n_folds={self.n_folds!r} must be a whole number of at least 2; 5 and "
                "10 are usual."
            )

    def planned_looks(self, problem: Problem) -> tuple[PlannedLook, ...]:
        """Return one look per fold with all configurations."""
        folds = problem.folds[self.n_folds]
        return planned_folds(folds, "folds", problem.n_configurations)

    def stop_reason(self, state: RaceState) -> str | None:
        """Stop after the last fold."""
        folds = state.problem.folds[self.n_folds]
        return "all_folds" if state.n_looks >= len(folds) else None

    def next_look(self, state: RaceState) -> Look:
        """Look at the next fold with all configurations."""
        train, test = state.problem.folds[self.n_folds][state.n_looks]
        members = np.arange(state.n_configurations)
        return Look(
            *(train, test, len(train), members, "folds"),
            keep_losses=state.problem.may_keep(len(members) * state.problem.n_samples),
            is_fold=True,
        )

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Drop nothing; the best of the fold is top."""
        del state, look
        top = seen.mean_losses == np.nanmin(seen.mean_losses)
        return Verdict(top=top, p_values=np.full(len(top), np.nan))

    def ranking(self, state: RaceState) -> IntArray:
        """Order by the mean over folds; those that failed in any come last."""
        # A failed fold is NaN and makes the mean NaN, which sorts last.
        means: FloatArray = state.mean_losses.mean(axis=1)
        # Scores that differ by rounding alone are ordered as scikit-learn orders them.
        scores: FloatArray = state.scores.mean(axis=1)
        # Scores and losses cannot be mixed in one order.
        known = np.isfinite(scores) | np.isnan(means)
        return np.argsort(-scores if known.all() else means, kind="stable")

    def ranks_by_mean(self, state: RaceState) -> bool:
        """Rank by means alone."""
        del state
        return True

    @property
    def sentences(self) -> Mapping[str, str]:
        """What its reason to stop means."""
        return {"all_folds": "all folds are done"}

    def criterion(self, state: RaceState) -> str:
        """Say by what the winner ranks first."""
        del state
        return "by its mean loss over all folds"
