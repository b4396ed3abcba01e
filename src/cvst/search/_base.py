"""The search as scikit-learn knows it: order, race, choose, refit."""

from __future__ import annotations

import numbers
import warnings
from abc import abstractmethod
from copy import copy
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.utils.validation import check_is_fitted

from cvst._sklearn_compat import (
    BaseSearchCV,
    CallbackTree,
    Interval,
    StrOptions,
    fit_context,
    multimetric_scorer,
    routed_fit_params,
)
from cvst._typing import Configuration, IntArray
from cvst.evaluation import (
    PointwiseLoss,
    configured,
    failure_warning,
    named_scores,
    raced_name,
)
from cvst.exceptions import (
    AllFitsFailedError,
    FallbackWarning,
    InvalidInputError,
    UnusedArgumentWarning,
)
from cvst.race import AtMost, Decider, LookCutError, Once, RaceState, race
from cvst.report import history, notebook_html
from cvst.search._log import log_end, log_look, log_start, verbose_logging
from cvst.search._options import SearchOptions
from cvst.search._plan import RacePlan, plan_race
from cvst.search._results import promote, results_table
from cvst.search._setup import Setup, prepare, resolve_strategy, shared_rows
from cvst.search._watched import WatchedSource
from cvst.search.budget import (
    TimeBudget,
    Within,
    balanced_order,
    budget_settings,
    in_legs,
    start_again,
    start_budget,
)
from cvst.search.rows import Inputs, read_inputs

__all__ = ["BaseRaceSearch"]

# Arguments of scikit-learn's searches that a race has no use for, and their defaults.
UNUSED = {"pre_dispatch": "2*n_jobs", "return_train_score": False}


class BaseRaceSearch(BaseSearchCV):
    """What the grid and the random search have in common."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSearchCV._parameter_constraints,
        "scoring": [str, callable, PointwiseLoss, list, tuple, dict, None],
        # ``resolve_strategy`` checks it, with an error that says what to do.
        "strategy": "no_validation",
        "ordering": [
            StrOptions({"auto", "shuffled", "stratified", "grouped", "given"})
        ],
        "rescale": [StrOptions({"auto"}), dict, callable, None],
        "refit": ["boolean", str, callable],
        "race_by": [str, None],
        "return_pointwise": ["boolean"],
        "incremental": ["boolean"],
        "on_interrupt": [StrOptions({"raise", "return"})],
        "time_budget": [Interval(numbers.Real, 0, None, closed="neither"), None],
        "max_looks": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        "n_jobs": [numbers.Integral, None],
    }

    @abstractmethod
    def _configurations(self) -> list[Configuration]:
        """Return the configurations to race, in a fixed order."""

    def _preferred(self, setup: Setup) -> IntArray:
        """Return which configurations come first where there is no time for all."""
        return balanced_order(setup)

    def _more_draws(self, setup: Setup) -> list[Configuration]:
        """Return what can be raced besides if time is left."""
        del setup
        return []

    def _settings_of(self, raced: list[Configuration]) -> dict[str, Any]:
        """Return the parameters that race these alone; none if they are all."""
        if len(raced) == len(self._configurations()):
            return {}
        return {"param_grid": [{k: [v] for k, v in one.items()} for one in raced]}

    @fit_context()
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Race all configurations and fit the winner on all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets.
        **params : dict
            ``groups``: group of each row; no subset splits a group.
            ``sample_weight``: weighs the fits and the means over rows; the rank tests
            stay unweighted and skip rows of weight zero.
            ``X_val``, ``y_val``: a separate test set, used at every look.
            Everything else goes to the estimator's ``fit``, as in scikit-learn.

        Returns
        -------
        self : object
            The fitted search.
        """
        started = self._clock()
        options = self._options()
        self._warn_of_unused_arguments()
        inputs = self._read(X, y, params)
        setup = prepare(options, list(self._configurations()), inputs)
        metadata = {
            name: value for name, value in params.items() if name == "sample_weight"
        }
        begun = self._begun(inputs)
        # Only now: bad input must not wipe out an earlier fit.
        self._forget()
        with verbose_logging(self.verbose), shared_rows(setup) as shared:
            setup, budget = self._timed(options, shared, started, begun)
            n_tasks = self._announce(setup) + bool(self.refit)
            tasks = CallbackTree(self, n_tasks, X, y, metadata or None)
            interrupt = self._run(setup, tasks, budget, begun)
            if self.refit and interrupt is None:
                interrupt = self._refit(setup, inputs, tasks)
        if interrupt is not None and self.on_interrupt == "raise":
            # After the attributes are set, so that nothing of the race is lost.
            raise interrupt
        tasks.close()
        return self

    def plan(
        self, X: Any, y: Any = None, *, n_folds: int = 10, **params: Any
    ) -> RacePlan:
        """Say what a race on these data will be, after a second of timed small fits.

        Parameters
        ----------
        X, y
            As for :meth:`fit`.
        n_folds : int, default=10
            Folds of the cross-validation to compare with.
        **params : dict
            As for :meth:`fit`.

        Returns
        -------
        RacePlan
            Looks, safety zone, error bounds and expected times; with ``time_budget``,
            of the race chosen for it. Print it, show it in a notebook, or take its
            ``to_dict()``. The search stays as it is.
        """
        # A plan must leave no trace on the search.
        search = clone(self)
        search._validate_params()
        started = self._clock()
        options = search._options()
        inputs = search._read(X, y, params)
        setup = prepare(options, list(search._configurations()), inputs)
        # With a time budget, the race to plan is the one that it chooses.
        setup, _ = start_budget(options, setup, started, search._preferred)
        return plan_race(setup, n_folds, options.clock)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of a strategy given by name are reachable too."""
        if any(name.startswith("strategy__") for name in params):
            strategy = params.get("strategy", self.strategy)
            params["strategy"] = (
                resolve_strategy(strategy) if isinstance(strategy, str) else strategy
            )
        super().set_params(**params)
        return self

    @property
    def history_(self) -> Any:
        """One row per look at a configuration, in order, as a pandas.DataFrame."""
        check_is_fitted(self, "race_")
        import pandas as pd

        return pd.DataFrame(history(self))

    def _html_repr(self) -> str:
        """Return what a notebook shows: the race, once there is one, and the parts."""
        diagram = str(super()._html_repr())
        return notebook_html(self) + diagram if hasattr(self, "race_") else diagram

    def _announce(self, setup: Setup) -> int:
        """Say which looks may come, and return how many."""
        strategy, problem = setup.strategy, setup.problem
        planned = strategy.planned_looks(problem)[: self.max_looks]
        expected = strategy.expected_configurations(problem)[: self.max_looks]
        log_start(problem, planned, expected, strategy.expected_looks(problem))
        return len(planned)

    @staticmethod
    def _clock() -> float:
        """Return the seconds that a time budget is measured in."""
        return perf_counter()

    def _forget(self) -> None:
        """Remove what an earlier fit left: an interrupt must not mix the two."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _options(self) -> SearchOptions:
        """Return the settings of the search."""
        return SearchOptions.of(self, self._clock)

    def _timed(
        self,
        options: SearchOptions,
        setup: Setup,
        started: float,
        begun: RaceState | None,
    ) -> tuple[Setup, TimeBudget | None]:
        """Let a budget or the strategy itself keep the time."""
        if not options.keeps_time:
            return start_budget(options, setup, started, self._preferred)
        if options.time_budget is None:
            return setup, None
        left = options.time_budget - (options.clock() - started)
        left += 0.0 if begun is None else begun.elapsed
        return replace(setup, problem=replace(setup.problem, seconds=left)), None

    def _begun(self, inputs: Inputs) -> RaceState | None:
        """Return the race to go on with, None to begin a new one."""
        fingerprint = inputs.fingerprint()
        known = getattr(self, "_fingerprint", None)
        self._fingerprint = fingerprint
        if not getattr(self, "warm_start", False) or not hasattr(self, "race_"):
            return None
        if not isinstance(self.random_state, numbers.Integral):
            raise InvalidInputError(
                f"warm_start=True with random_state={self.random_state!r}: the order "
                "of the rows would be another one. Set random_state to a number before "
                "the first fit."
            )
        if known != fingerprint:
            raise InvalidInputError(
                "warm_start=True, but these are not the data of the last fit. Pass the "
                "same rows, or set warm_start=False."
            )
        state: RaceState = self.race_
        return state

    def _read(self, X: Any, y: Any, params: dict[str, Any]) -> Inputs:
        """Check what the user passed and route it."""
        return read_inputs(
            self.estimator, X, y, params, partial(routed_fit_params, self)
        )

    def _run(
        self,
        setup: Setup,
        tasks: CallbackTree,
        budget: TimeBudget | None,
        begun: RaceState | None,
    ) -> KeyboardInterrupt | None:
        """Race until the end or an interrupt, and keep what is known by then."""
        try:
            legs = in_legs(setup, budget, self._more_draws(setup))
            first = RaceState(legs.problem)
            if begun is not None:
                legs.source.admit(begun.proposed)
                first = replace(begun, problem=legs.problem)
            state, reason, interrupt = self._race(legs, tasks, budget, first)
            setup = replace(legs, strategy=legs.strategy.settled())
        except LookCutError:
            assert budget is not None
            options = self._options()
            setup, budget = start_again(options, setup, budget, self._preferred)
            return self._run(setup, tasks, budget, None)
        if np.isnan(state.mean_losses).all():
            raise AllFitsFailedError(
                f"No configuration could be fitted before the race ended by {reason}. "
                f"The first one failed with {state.observations[0].failures[0]}."
            )
        self._store(setup, state, reason)
        if self.time_budget is not None and not setup.strategy.proposes:
            self.budget_settings_ = {
                **budget_settings(budget, setup, state, reason),
                **self._settings_of(list(state.configurations)),
            }
        log_end(reason, state, self.best_params_)
        return interrupt

    def _race(
        self,
        setup: Setup,
        tasks: CallbackTree,
        budget: TimeBudget | None,
        last: RaceState,
    ) -> tuple[RaceState, str, KeyboardInterrupt | None]:
        """Follow the race; return its last state, why it ended, and the interrupt."""
        decider = self._limited(setup, budget)
        before = partial(tasks.begin, "look")
        source = WatchedSource(setup.source, self._clock, before, budget, last)
        try:
            for state in race(last, source, decider):
                last = state
                self._tell(setup, state, budget)
                if tasks.end():
                    return last, "callback", None
        except LookCutError:
            if not last.observations and budget is not None:
                raise  # to start again with fewer
            return last, "time_budget", None
        except KeyboardInterrupt as interrupt:
            if not last.observations:
                raise
            return last, "interrupted", interrupt
        return last, str(decider.stop_reason(last)), None

    def _limited(self, setup: Setup, budget: TimeBudget | None) -> Decider:
        """Return the strategy within the limits that the user set."""
        decider: Decider = setup.strategy
        if setup.problem.n_configurations == 1 and not setup.strategy.proposes:
            if budget is None:  # a budget that leaves one has said so
                warnings.warn(
                    "There is one configuration only: it is fitted, and nothing is "
                    "raced.",
                    FallbackWarning,
                    stacklevel=6,
                )
            decider = Once(decider)
        decider = AtMost(decider, self.max_looks)
        return decider if budget is None else Within(decider, budget, setup)

    def _tell(self, setup: Setup, state: RaceState, budget: TimeBudget | None) -> None:
        """Let everything that follows the race know of the look just made."""
        if budget is not None:
            budget.learn(state)
        self._warn_of_failures(state)
        log_look(state, setup.strategy)

    def _store(self, setup: Setup, state: RaceState, reason: str) -> None:
        """Set the fitted attributes of a race."""
        ranking = setup.strategy.ranking(state)
        self.race_ = state
        self.n_looks_ = state.n_looks
        self.n_splits_ = 1
        self.stop_reason_ = reason
        self.strategy_ = setup.strategy
        self.rescale_ = setup.source.rescaling.exponents
        self.multimetric_ = setup.scoring.several
        self.scorer_ = self._scorers()
        self.score_name_ = name = setup.scoring.name
        self.cv_results_ = results_table(
            state, ranking, state.scores, state.configurations, self.error_score, name
        )
        self.best_index_ = self._choose(int(ranking[0]))
        promote(self.cv_results_[f"rank_test_{name}"], self.best_index_)
        self.best_params_ = state.configurations[self.best_index_]
        self.best_score_ = float(
            self.cv_results_[f"mean_test_{name}"][self.best_index_]
        )
        # ``refit`` may choose one that was dropped early.
        looks = np.flatnonzero(state.present[self.best_index_])
        self.best_score_n_train_ = int(state.subset_sizes[looks[-1]])
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

    def _choose(self, winner: int) -> int:
        if not callable(self.refit):
            return winner
        index = self.refit(self.cv_results_)
        if not isinstance(index, numbers.Integral):
            raise TypeError(
                f"refit returned {index!r}, which is not a whole number. Return the "
                "index of a configuration."
            )
        if not 0 <= int(index) < len(self.cv_results_["params"]):
            raise IndexError(
                f"refit returned {index}, but there are "
                f"{len(self.cv_results_['params'])} configurations, counted from 0."
            )
        return int(index)

    def _refit(
        self, setup: Setup, inputs: Inputs, tasks: CallbackTree
    ) -> KeyboardInterrupt | None:
        """Fit the winner on all rows; an interrupt leaves the rest as it is."""
        # With a seed the winner is repeatable too; without one it is the user's own.
        template = self.estimator if self.random_state is None else setup.template
        model = configured(template, clone(self.best_params_, safe=False))
        start = perf_counter()
        try:
            tasks.fit(model, inputs.X, inputs.y, dict(inputs.fit_params))
        except KeyboardInterrupt as interrupt:
            return interrupt
        self.refit_time_ = perf_counter() - start
        self.best_estimator_ = model
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        return None

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Score the best estimator on given rows, by the score that was raced on.

        Parameters
        ----------
        X, y : array-like
            Rows and targets.
        **params : dict
            Passed on to the scorer, where metadata routing is enabled.

        Returns
        -------
        float
            The score.
        """
        if not getattr(self, "multimetric_", False):
            return float(super().score(X, y, **params))
        # With race_by, refit need not be the name of a score.
        search = copy(self).set_params(refit=self.score_name_)
        return float(super(BaseRaceSearch, search).score(X, y, **params))

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
        own = any(isinstance(one, PointwiseLoss) for one in scores.values())
        several = self._scorers() if own else multimetric_scorer(self._scorers())
        return several, name

    def _warn_of_unused_arguments(self) -> None:
        unused = [name for name in UNUSED if getattr(self, name) != UNUSED[name]]
        if unused:
            warnings.warn(
                f"{' and '.join(unused)} {'has' if len(unused) == 1 else 'have'} no "
                "effect on a race and can be left out.",
                UnusedArgumentWarning,
                stacklevel=4,
            )

    def _warn_of_failures(self, state: RaceState) -> None:
        observation = state.observations[-1]
        if not observation.failures:
            return
        known = {i for look in state.observations[:-1] for i in look.failures}
        fresh = {i: why for i, why in observation.failures.items() if i not in known}
        if fresh:
            text = failure_warning(observation.look, fresh, state.configurations)
            warnings.warn(text, stacklevel=7)
