"""The search as scikit-learn knows it: order, race, choose, refit."""

from __future__ import annotations

import numbers
import warnings
from abc import abstractmethod
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from math import inf
from os import PathLike
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from cvst._sklearn_compat import (
    SEARCH_CONSTRAINTS,
    CallbackTree,
    Interval,
    StrOptions,
    check_parameters,
    fit_context,
    routed_fit_params,
)
from cvst._typing import Configuration, IntArray
from cvst._users_line import users_line
from cvst.evaluation import PointwiseLoss
from cvst.evaluation.machinery import configured, failure_warning, workers_start
from cvst.exceptions import AllFitsFailedError, FallbackWarning
from cvst.parallel import kept_filters, one_blas_thread, sharing_processors
from cvst.race import AtMost, Decider, LookCutError, RaceState, race
from cvst.race.machinery import Alone
from cvst.report.machinery import score_name, stop_sentence
from cvst.search._ensemble import check_ensemble, choose_ensemble, fitted_ensemble
from cvst.search._fitted import FittedRace
from cvst.search._interrupts import warn_of_what_is_missing
from cvst.search._log import log_end, log_look, log_rows, log_start
from cvst.search._members import members_in_time
from cvst.search._options import SECONDS, SearchOptions, warn_of_unused_arguments
from cvst.search._plan import RacePlan, plan_race
from cvst.search._predictions import check_predictions, out_of_fold_predictions
from cvst.search._progress import verbose_logging
from cvst.search._setup import Setup, prepare, resolve_strategy, shared_rows
from cvst.search._simplest import check_refit
from cvst.search._watched import WatchedSource
from cvst.search.budget import (
    TimeBudget,
    Within,
    balanced_order,
    budget_settings,
    in_legs,
    resumed_budget,
    start_again,
    start_budget,
    told_budget,
    waiting_in,
    warn_of_long_final_fit,
    with_workers,
)
from cvst.search.checkpoint import (
    Part,
    Recorder,
    recorded,
)
from cvst.search.rows import Inputs, read_inputs, rows_to_refit

__all__ = ["BaseRaceSearch"]

# Whoever asks for more has made a mistake, and no engine could count so far.
MOST_WORKERS = 10_000


class BaseRaceSearch(FittedRace):
    """What the grid and the random search have in common."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SEARCH_CONSTRAINTS,
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
        "return_predictions": ["boolean"],
        "ensemble": ["boolean"],
        "incremental": ["boolean"],
        "on_interrupt": [StrOptions({"raise", "return"})],
        "time_budget": SECONDS,
        "fit_timeout": SECONDS,
        "max_looks": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "device": [str],
        # ``bytes_of`` checks texts, with an error that says what to do.
        "max_memory": [Interval(numbers.Integral, 1, None, closed="left"), str, None],
        "random_state": ["random_state"],
        "n_jobs": [
            Interval(numbers.Integral, -MOST_WORKERS, MOST_WORKERS, closed="both"),
            None,
        ],
        "checkpoint": [str, PathLike, None],
    }

    @abstractmethod
    def _configurations(self) -> list[Configuration]:
        """Return the configurations to race, in a fixed order."""

    def _preferred(self, setup: Setup) -> IntArray:
        """Return which configurations come first where there is no time for all."""
        return balanced_order(setup)

    def _more_draws(self) -> list[Configuration]:
        """Return what can be raced besides if time is left."""
        return []

    def _space_values(self) -> list[Any]:
        """Return the values that configurations which join may have, if listed."""
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
            Everything else goes to ``fit``, or to what requests it (metadata routing).

        Returns
        -------
        self : object
            The fitted search.
        """
        started = self._clock()
        options = self._options()
        with kept_filters(), options.spare_threads():
            warn_of_unused_arguments(self)
            inputs = self._read(X, y, params)
            configurations = list(self._configurations())
            check_predictions(options)
            check_ensemble(options, configurations, inputs.y)
            setup = prepare(options, configurations, inputs)
            check_refit(self.refit, setup.problem.configurations)
            metadata = {k: v for k, v in params.items() if k == "sample_weight"}
            # Before anything is forgotten: a warm start goes on from the last race.
            known_by, begun = self._begun(inputs)
            with (
                verbose_logging(self.verbose),
                recorded(
                    self, inputs, setup, lambda: self._clock() - started
                ) as recorder,
                shared_rows(setup, options) as shared,
            ):
                # Only now: bad input must not wipe out an earlier fit.
                self._forget()
                self._fingerprint = known_by
                setup, budget = self._timed(options, shared, started, begun, recorder)
                left = budget.race_seconds(recorder.race_spent) if budget else None
                n_tasks = self._announce(setup, left) + bool(self.refit)
                tasks = CallbackTree(self, n_tasks, X, y, metadata or None)
                interrupt = self._run(setup, tasks, budget, begun, recorder)
                if self.refit and interrupt is None:
                    warn_of_long_final_fit(self.strategy_, self.race_)
                    interrupt = self._refit(setup, inputs, tasks)
        if interrupt is not None and (
            self.on_interrupt == "raise" or not isinstance(interrupt, KeyboardInterrupt)
        ):
            # After the attributes are set, so that nothing of the race is lost.
            raise interrupt
        warn_of_what_is_missing(self, self.interrupted_in_)
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
        check_parameters(search)
        started = self._clock()
        options = search._options()
        inputs = search._read(X, y, params)
        setup = prepare(options, list(search._configurations()), inputs)
        prepared, clock = options.clock() - started, options.clock
        plain = options.keeps_time or options.time_budget is None
        alone = plain and options.fit_timeout is None
        rows = nullcontext(setup) if alone else shared_rows(setup, options)
        with options.spare_threads(), rows as shared:
            if plain:
                if not alone:
                    workers_start(shared.source, inf)
                seconds = options.time_budget
                return plan_race(shared, n_folds, clock, prepared, seconds=seconds)
            # The race to plan is the one that the budget chooses, where workers have
            # started as they do in ``fit``.
            shared = with_workers(options, shared, started)
            chosen, _ = start_budget(options, shared, started, search._preferred)
            return plan_race(chosen, n_folds, clock, prepared, looks_again=False)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of a strategy given by name are reachable too."""
        if any(name.startswith("strategy__") for name in params):
            strategy = params.get("strategy", self.strategy)
            params["strategy"] = (
                resolve_strategy(strategy) if isinstance(strategy, str) else strategy
            )
        super().set_params(**params)
        return self

    def _announce(self, setup: Setup, seconds: float | None) -> int:
        """Say which looks may come, in which time, and return how many."""
        strategy, problem = setup.strategy, setup.problem
        planned = strategy.planned_looks(problem)[: self.max_looks]
        log_start(problem, planned, strategy, seconds)
        log_rows(problem, strategy.remarks(problem))
        return len(planned)

    @staticmethod
    def _clock() -> float:
        """Return the seconds that a time budget is measured in."""
        return perf_counter()

    def _forget(self) -> None:
        """Remove what an earlier fit left: an interrupt must not mix the two."""
        # A list first: attributes are deleted while the loop runs.
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
        recorder: Recorder,
    ) -> tuple[Setup, TimeBudget | None]:
        """Let a budget or the strategy itself keep the time."""
        setup, known = with_workers(options, setup, started), recorder.story.begin
        if known is not None:
            # What was measured once decides: a race goes on, another time is left.
            setup = setup.begun_as(known["problem"])
            started -= recorder.spent
            setup, budget = resumed_budget(options, setup, started, known["budget"])
            return setup.until(options.ends(started)), budget
        if not options.keeps_time:
            return start_budget(options, setup, started, self._preferred)
        ends = options.ends(started)
        if ends is None:
            return setup, None
        left = ends - options.clock() + (0.0 if begun is None else begun.elapsed)
        return setup.within(left).until(ends), None

    def _begun(self, inputs: Inputs) -> tuple[dict[str, Part], RaceState | None]:
        """Return what the data are known by, and the race to go on with, if any."""
        del inputs
        return {}, None

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
        recorder: Recorder,
    ) -> BaseException | None:
        """Race until the end or an interrupt, and keep what is known by then."""
        try:
            draws = self._more_draws()
            recorder.begin(setup, told_budget(recorder.numbers, setup, budget))
            legs = in_legs(setup, budget, draws, recorder.batch_sizes)
            first = RaceState(legs.problem)
            if begun is None:
                waiting = waiting_in(legs, budget, draws)
                begun = recorder.state(legs.problem, waiting)
            if begun is not None:
                # The source must know all configurations of the looks that are behind.
                legs.source.admit(begun.proposed)
                first = replace(begun, problem=legs.problem)
            legs = recorder.attached(legs)
            recorder.recall(first, partial(self._tell, legs, budget))
            state, reason, interrupt = self._race(legs, tasks, budget, first, recorder)
        except LookCutError:
            assert budget is not None
            recorder.again()
            options = self._options()
            setup, budget = start_again(options, setup, budget, self._preferred)
            return self._run(setup, tasks, budget, None, recorder)
        place = None if interrupt is None else "race"
        try:
            setup = replace(legs, strategy=legs.strategy.settled())
            self._keep(setup, state, reason, recorder)
        except KeyboardInterrupt as now:
            # The race is over: nothing but a second interrupt may cost its results.
            interrupt, place = now, place or "estimate"
            setup = replace(legs, strategy=legs.strategy.settled())
            self._keep(setup, state, reason, recorder)
        self.interrupted_in_ = place
        try:
            self._estimate(setup, state, reason)
            recorder.estimated(self.best_index_, self.best_score_estimate_)
        except KeyboardInterrupt as now:
            interrupt, self.interrupted_in_ = now, place or "estimate"
        if self.time_budget is not None and not setup.strategy.proposes:
            self.budget_settings_ = {
                **budget_settings(budget, setup, state, reason),
                **self._settings_of(list(state.configurations)),
            }
        told = stop_sentence(reason, state.n_looks, self.strategy_, self.tie_)
        log_end(self.stop_reason_, told, state, self.best_params_)
        return interrupt or self._predict(setup, state)

    def _keep(
        self, setup: Setup, state: RaceState, reason: str, recorder: Recorder
    ) -> None:
        """Set what is known at the end of a race."""
        recorder.end(reason, setup, state)
        if np.isnan(state.mean_losses).all():
            first = state.observations[0].failures[0]
            raise AllFitsFailedError(
                f"No configuration could be fitted in this race ({reason}). The first "
                f"one failed with {first.removesuffix('.')}."
            )
        self._store(setup, state, reason)

    def _predict(self, setup: Setup, state: RaceState) -> KeyboardInterrupt | None:
        """Keep out-of-fold predictions and choose an ensemble, if asked to."""
        if not (self.return_predictions or self.ensemble):
            return None
        ranks = self.cv_results_[f"rank_test_{self.score_name_}"]
        ranking = np.argsort(ranks, kind="stable").tolist()
        best, clock = self.best_index_, self._clock
        try:
            self.out_of_fold_predictions_ = known = out_of_fold_predictions(
                setup, state, best, ranking, members_in_time(setup, state, best, clock)
            )
            if self.ensemble:
                params = state.configurations[best]
                self.ensemble_ = choose_ensemble(setup, best, params, known)
        except KeyboardInterrupt as interrupt:
            self.interrupted_in_ = "predictions"
            return interrupt
        return None

    def _race(
        self,
        setup: Setup,
        tasks: CallbackTree,
        budget: TimeBudget | None,
        last: RaceState,
        recorder: Recorder,
    ) -> tuple[RaceState, str, BaseException | None]:
        """Follow the race; return its last state, why it ended, and the interrupt."""
        decider = recorder.ended(self._limited(setup, budget))
        before = partial(tasks.begin, "look")
        n_at_once = setup.problem.n_at_once
        source = WatchedSource(
            setup.source, self._clock, before, budget, last, recorder, n_at_once
        )
        try:
            # However it ends, workers must not go on.
            # And BLAS has one thread throughout: to set that at each look takes longer.
            with closing(source), one_blas_thread():
                for state in race(last, source, decider):
                    last = state.settled()
                    self._tell(setup, budget, last)
                    recorder.look(setup, last)
                    if tasks.end():
                        return last, "callback", None
                return last, str(decider.stop_reason(last)), None
        except LookCutError:
            if not last.observations and budget is not None:
                raise  # to start again with fewer
            return last, "time_budget", None
        except BaseException as interrupt:
            # Too little memory, a broken pool or an exit must not cost earlier looks,
            # nor a panic of compiled code, which often is no Exception.
            if not last.observations:
                raise
            told = isinstance(interrupt, KeyboardInterrupt)
            return last, "interrupted" if told else "failed", interrupt

    def _limited(self, setup: Setup, budget: TimeBudget | None) -> Decider:
        """Return the strategy within the limits that the user set."""
        decider: Decider = setup.strategy
        if setup.problem.n_configurations == 1 and not setup.strategy.proposes:
            if budget is None:  # a budget that leaves one has said so
                warnings.warn(
                    "There is one configuration only: it is scored, and nothing is "
                    "raced.",
                    FallbackWarning,
                    stacklevel=users_line(),
                )
            decider = Alone(decider)
        decider = AtMost(decider, self.max_looks)
        return decider if budget is None else Within(decider, budget, setup)

    def _tell(self, setup: Setup, budget: TimeBudget | None, state: RaceState) -> None:
        """Let everything that follows the race know of the look just made."""
        if budget is not None:
            budget.learn(state)
        self._warn_of_failures(state)
        log_look(state, setup.strategy, partial(score_name, self))

    def _refit(
        self, setup: Setup, inputs: Inputs, tasks: CallbackTree
    ) -> KeyboardInterrupt | None:
        """Fit the winner on all rows; an interrupt leaves the rest as it is."""
        # With a seed the winner is repeatable too; without one it is the user's own.
        template = self.estimator if self.random_state is None else setup.template
        # Cloned, so that a fitted step does not end up in best_params_.
        model = configured(template, clone(self.best_params_, safe=False))
        start = perf_counter()
        latest, problem = self.ordering == "given", setup.problem
        try:
            rows = rows_to_refit(
                model, inputs, problem.refit_rows, setup.order, latest, problem.seed
            )
            with sharing_processors(last=True):
                tasks.fit(model, rows.X, rows.y, dict(rows.fit_params))
        except KeyboardInterrupt as interrupt:
            self.interrupted_in_ = "final_fit"
            return interrupt
        self.refit_time_ = perf_counter() - start
        self.best_estimator_ = model
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        return self._fit_ensemble(inputs, template) if self.ensemble else None

    def _fit_ensemble(self, inputs: Inputs, template: Any) -> KeyboardInterrupt | None:
        """Fit the members on all rows, if the ensemble is worth it."""
        chosen, best = self.ensemble_, self.best_estimator_
        self.ensemble_estimator_ = best
        if not chosen.kept:
            return None
        try:
            self.ensemble_estimator_ = fitted_ensemble(
                chosen, template, inputs, self.best_index_, best
            )
        except KeyboardInterrupt as interrupt:
            self.interrupted_in_ = "ensemble_fit"
            return interrupt
        return None

    def _warn_of_failures(self, state: RaceState) -> None:
        observation = state.observations[-1]
        if not observation.failures:
            return
        # Once for each configuration: it would fail in every look.
        known = {i for look in state.observations[:-1] for i in look.failures}
        fresh = {i: why for i, why in observation.failures.items() if i not in known}
        if fresh:
            text = failure_warning(observation.look, fresh, state.configurations)
            warnings.warn(text, stacklevel=users_line())
