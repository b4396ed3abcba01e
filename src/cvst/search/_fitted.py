"""What a fitted search knows and can do: attributes, score, history, pickles."""

from __future__ import annotations

import logging
import numbers
from collections.abc import Mapping
from copy import copy
from html import escape
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils.validation import check_is_fitted

from cvst._sklearn_compat import (
    BaseSearchCV,
    has_callbacks,
    multimetric_scorer,
    routed_score_params,
    routing_enabled,
)
from cvst._text import repr_text
from cvst.evaluation import PointwiseLoss
from cvst.evaluation.losses import named_scores, raced_name
from cvst.race import RaceState
from cvst.race.machinery import deciding_looks
from cvst.report import history, notebook_html
from cvst.report.machinery import EARLY_ENDS, settled_reason, tie_of
from cvst.search._results import (
    check_scores,
    ranked_by_score,
    recorded_names,
    results_table,
)
from cvst.search._setup import Setup
from cvst.search._wording import described
from cvst.search.estimate import ScoreEstimate, look_again_at, score_estimate

__all__ = ["FittedRace"]

LOGGER = logging.getLogger("cvst")


class FittedRace(BaseSearchCV):
    """The half of a search that begins where the race ends."""

    # Whether a search that was put away can go on, for which it needs all losses.
    _resumes: ClassVar[bool] = False

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Score the best estimator on given rows, by the score that it was chosen by.

        Parameters
        ----------
        X, y : array-like
            Rows and targets.
        **params : dict
            Passed on to the scorer as far as it requests them, where metadata routing
            is enabled.

        Returns
        -------
        float
            The score.
        """
        if not getattr(self, "multimetric_", False):
            found = super().score(X, y, **params)
            return float(found["score"] if isinstance(found, Mapping) else found)
        if params and isinstance(self.scorer_, dict) and routing_enabled():
            name = self.best_score_name_
            asked = routed_score_params(self, name, params)
            return float(self.scorer_[name](self.best_estimator_, X, y, **asked))
        # With race_by, refit need not be the name of a score.
        search = copy(self).set_params(refit=self.best_score_name_)
        return float(super(FittedRace, search).score(X, y, **params))

    def _scorers(self) -> Any:
        """Return the scorer, a dictionary of several, or the callable that has them."""
        scores = named_scores(self.scoring)
        if scores is None:
            return self._get_scorers()[0]
        return {name: self._scorer(one) for name, one in scores.items()}

    def _scorer(self, scoring: Any) -> Any:
        if isinstance(scoring, PointwiseLoss):
            return scoring
        return check_scoring(self.estimator, scoring)

    def _get_scorers(self) -> tuple[Any, str]:
        # scikit-learn asks for this one to route metadata and to choose methods.
        scores = named_scores(self.scoring)
        if scores is None:
            return self._scorer(self.scoring), "score"
        name = raced_name(self.scoring, self.refit, self.race_by)
        return multimetric_scorer(self._scorers()), name

    @property
    def history_(self) -> Any:
        """One row per look at a configuration, in order, as a pandas.DataFrame."""
        check_is_fitted(self, "race_")
        import pandas as pd

        return pd.DataFrame(history(self))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: no pointwise losses, unless they are asked for.

        Their number is that of the rows times that of the fits. All that is drawn or
        reported of a race is kept.
        """
        kept = dict(super().__getstate__())
        if "race_" in kept and not (self.return_pointwise or self._resumes):
            kept["race_"] = self.race_.without_losses()
        return kept

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the search as scikit-learn writes it, where it can."""
        # Python writes no whole number of thousands of digits, and scikit-learn tries.
        try:
            return str(super().__repr__(N_CHAR_MAX))
        except ValueError:
            return described(self, N_CHAR_MAX)

    def _html_repr(self) -> str:
        """Return what a notebook shows: the race, once there is one, and the parts."""
        race = notebook_html(self) if hasattr(self, "race_") else ""
        try:
            return race + str(super()._html_repr())
        except ValueError:  # for the same reason
            return race or f"<pre>{escape(repr(self))}</pre>"

    def _store(self, setup: Setup, state: RaceState, reason: str) -> None:
        """Set the fitted attributes of a race."""
        scores = state.scores
        ranking, ranks = ranked_by_score(setup.strategy, state, scores)
        self.race_ = state
        self.n_looks_ = state.n_looks
        self.n_splits_ = 1
        self.strategy_ = setup.strategy
        self.rescale_ = setup.source.rescaling.exponents
        # A callable that returns a "score" and others says so when it is called.
        self.multimetric_ = setup.scoring.several or bool(recorded_names(state))
        self.scorer_ = self._scorers()
        self.score_name_ = name = setup.scoring.name
        # ``refit`` may name another one to choose by.
        self.best_score_name_ = chosen_by = setup.scoring.chosen_by
        self.cv_results_ = results_table(
            state,
            ranks,
            scores,
            state.configurations,
            self.error_score,
            name,
            chosen_by,
        )
        self.best_index_ = self._choose(int(ranking[0]))
        self.best_params_ = state.configurations[self.best_index_]
        self.best_score_ = float(
            self.cv_results_[f"mean_test_{chosen_by}"][self.best_index_]
        )
        # Not known yet, and never if the user interrupts what finds it out.
        self.best_score_estimate_: ScoreEstimate | None = None
        # With the leader of the race, also where ``refit`` has chosen another one.
        self.tie_ = tie_of(state, int(ranking[0]), setup.strategy)
        self.stop_reason_ = settled_reason(reason, self.tie_, self.strategy_)
        # ``refit`` may choose one that was dropped early.
        looks = np.flatnonzero(state.present[self.best_index_])
        decided = deciding_looks(state, looks)
        self.best_score_n_train_ = int(state.subset_sizes[decided[-1]])
        self.surviving_params_ = [
            state.configurations[index] for index in ranking.tolist()
        ]
        if self.return_pointwise:
            self.pointwise_losses_ = [
                (configurations, setup.order_of(observation.look.test), losses)
                for observation, (configurations, losses) in zip(
                    state.observations, setup.source.kept, strict=False
                )
            ]
        if chosen_by != name:
            scores = state.scores_named(chosen_by)
        check_scores(state, scores, self.best_index_)

    def _estimate(self, setup: Setup, state: RaceState, reason: str) -> None:
        """Say what the winner is worth on new rows, as far as the race tells."""
        if self.best_score_name_ != self.score_name_:
            return  # values of single rows are kept for the score of the race alone
        # Models that go on learning, and callbacks that watch every fit, belong to the
        # race alone. Whoever ends it early, or sets it a time, wants no further fits.
        watched = getattr(self, "incremental", False) or has_callbacks(self.estimator)
        early = reason in EARLY_ENDS or self.time_budget is not None
        try:
            self.best_score_estimate_ = score_estimate(
                state,
                self.best_index_,
                setup.source.data.score_weights,
                None if early or watched else look_again_at(setup.source),
                setup.source.loss.explains_variance,
                setup.source.loss.score_range,
                setup.source.loss.is_asked,
            )
        except MemoryError:
            # The race is over and has its winner, with or without an estimate.
            LOGGER.info("There is no memory left for best_score_estimate_")

    def _choose(self, winner: int) -> int:
        if not callable(self.refit):
            name = self.best_score_name_
            if name == self.score_name_:
                return winner
            best = int(np.argmin(self.cv_results_[f"rank_test_{name}"]))
            # Where that score is undefined, it cannot choose.
            unknown = np.isnan(self.cv_results_[f"mean_test_{name}"][best])
            return winner if unknown else best
        index = self.refit(self.cv_results_)
        if not isinstance(index, numbers.Integral):
            raise TypeError(
                f"refit returned {repr_text(index)}, which is not a whole number. "
                "Return the index of a configuration."
            )
        if not 0 <= int(index) < len(self.cv_results_["params"]):
            raise IndexError(
                f"refit returned {repr_text(index)}, but there are "
                f"{len(self.cv_results_['params'])} configurations, counted from 0."
            )
        return int(index)
