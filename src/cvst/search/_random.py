"""Race over configurations drawn at random."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import ParameterSampler

from cvst._sklearn_compat import Interval
from cvst._typing import Configuration, IntArray
from cvst.search._base import BaseRaceSearch
from cvst.search._setup import DEFAULT_STRATEGY, Setup

__all__ = ["RaceRandomSearchCV"]

# With a time budget that is not used up there are this many times ``n_iter`` draws.
MOST_DRAWS = 20


class RaceRandomSearchCV(BaseRaceSearch):
    """Random search that drops losing configurations along the way.

    A drop-in for :class:`sklearn.model_selection.RandomizedSearchCV`. A race drops bad
    draws early, so ``n_iter`` may be far larger than one would dare otherwise.

    Parameters
    ----------
    estimator : estimator object
        Any scikit-learn estimator with ``fit`` and ``predict``.
    param_distributions : dict or list of dict
        For each parameter a list of values or a distribution with ``rvs``.
    n_iter : int, default=100
        Number of configurations to draw. With ``time_budget`` they are taken in turn if
        there is no time for a look at all, and more are drawn if time is left.
    random_state : int, RandomState or None, default=None
        Seeds the draws, the order of the rows and the estimators. With None the draws
        differ from ``fit`` to ``fit``; the order of the rows is a fixed one.
    scoring, strategy, ordering, rescale, cv, refit, race_by, n_jobs, error_score, \
return_pointwise, return_predictions, ensemble, verbose, incremental, on_interrupt, \
time_budget, max_looks, fit_timeout, device, max_memory, checkpoint, pre_dispatch, \
return_train_score
        As in :class:`RaceGridSearchCV`, which lists the fitted attributes too.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from cvst import RaceRandomSearchCV
    >>> from cvst.datasets import make_noisy_sinc
    >>> X, y = make_noisy_sinc(500, random_state=0)
    >>> space = {"alpha": loguniform(1e-3, 1e2), "gamma": loguniform(1e-2, 1e3)}
    >>> search = RaceRandomSearchCV(
    ...     KernelRidge(kernel="rbf"), space, n_iter=30, random_state=0
    ... )
    >>> len(search.fit(X, y).cv_results_["params"])
    30
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseRaceSearch._parameter_constraints,
        "param_distributions": [dict, list],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 100,
        scoring: Any = None,
        strategy: Any = DEFAULT_STRATEGY,
        ordering: str = "auto",
        rescale: Any = "auto",
        cv: Any = None,
        refit: Any = True,
        race_by: str | None = None,
        n_jobs: int | None = None,
        error_score: Any = np.nan,
        return_pointwise: bool = False,
        return_predictions: bool = False,
        ensemble: bool = False,
        random_state: Any = None,
        verbose: int = 0,
        incremental: bool = False,
        on_interrupt: str = "raise",
        time_budget: float | None = None,
        max_looks: int | None = None,
        fit_timeout: float | None = None,
        device: str = "cpu",
        max_memory: int | str | None = None,
        checkpoint: Any = None,
        pre_dispatch: Any = "2*n_jobs",
        return_train_score: bool = False,
    ) -> None:
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.scoring = scoring
        self.strategy = strategy
        self.ordering = ordering
        self.rescale = rescale
        self.cv = cv
        self.refit = refit
        self.race_by = race_by
        self.n_jobs = n_jobs
        self.error_score = error_score
        self.return_pointwise = return_pointwise
        self.return_predictions = return_predictions
        self.ensemble = ensemble
        self.random_state = random_state
        self.verbose = verbose
        self.incremental = incremental
        self.on_interrupt = on_interrupt
        self.time_budget = time_budget
        self.max_looks = max_looks
        self.fit_timeout = fit_timeout
        self.device = device
        self.max_memory = max_memory
        self.checkpoint = checkpoint
        self.pre_dispatch = pre_dispatch
        self.return_train_score = return_train_score

    def _configurations(self) -> list[Configuration]:
        if isinstance(self.param_distributions, list) and not self.param_distributions:
            return []  # the sampler would stumble over it
        sampler = ParameterSampler(
            self.param_distributions, self.n_iter, random_state=self.random_state
        )
        return list(sampler)

    def _preferred(self, setup: Setup) -> IntArray:
        """Return the draws in their order: the first are as random as any."""
        return np.arange(setup.problem.n_configurations)

    def _more_draws(self) -> list[Configuration]:
        """Return further draws, which a budget may have time for."""
        spaces = self.param_distributions
        spaces = [spaces] if isinstance(spaces, dict) else spaces
        # Of lists alone scikit-learn draws without repetition, and there a longer draw
        # does not continue a shorter one.
        drawn = any(hasattr(one, "rvs") for space in spaces for one in space.values())
        if self.time_budget is None or not drawn or self.n_iter == 1:
            return []
        sampler = ParameterSampler(
            self.param_distributions,
            MOST_DRAWS * self.n_iter,
            random_state=self.random_state,
        )
        # With the same seed the first draws are those that are raced already.
        return list(sampler)[self.n_iter :]

    def _settings_of(self, raced: list[Configuration]) -> dict[str, Any]:
        """Return the parameters that race these draws alone; none if they are all."""
        if len(raced) == self.n_iter:
            return {}
        return {"n_iter": len(raced)}
