"""Race over configurations that are proposed while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isclose
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cvst._sklearn_compat import HasMethods, Interval, StrOptions
from cvst._typing import Configuration
from cvst.evaluation.machinery import covered_by_one_fit
from cvst.exceptions import InvalidInputError
from cvst.parallel import effective_n_jobs
from cvst.proposals import (
    LocalProposer,
    MixedProposer,
    ParzenProposer,
    resolve_proposer,
)
from cvst.race import RaceState
from cvst.race.machinery import ProposeAndConfirm, count_screened
from cvst.search._base import BaseRaceSearch
from cvst.search._options import SearchOptions
from cvst.search._proposal_source import (
    ProposalSource,
    members_of,
    rounds_of,
    with_fewer_rounds,
)
from cvst.search._setup import with_seed
from cvst.search.budget import early_exponent, steep_exponent
from cvst.search.checkpoint import Part, data_fingerprint, difference
from cvst.search.rows import Inputs
from cvst.spaces import Space, suggest

__all__ = ["RaceSearchCV"]

# Without a time budget and a number.
DEFAULT_N_ITER = 60

# Asked where fits are so short that a model would take longer.
QUICKEST = MixedProposer(LocalProposer())

# Trees that tell which settings of a forest are good.
SCREEN_ROUNDS = 50

# Configurations per look without a clock, whatever the number of workers: the result
# must not depend on that.
BATCH = 4

# Members of an ensemble in a time budget: more gain little.
MOST_MEMBERS = 8

# Parameters with more values than that are numbers.
MOST_LISTED = 10_000


class RaceSearchCV(BaseRaceSearch):
    """The best configuration in the time there is, proposed while racing.

    Configurations are screened on one fold or a part of it; a model of what was seen
    proposes the next ones; the best are confirmed on the other folds, which is a race.
    Only those fresh folds decide. The estimator's own parameters always take part, and
    they are returned unless beaten.

    Parameters
    ----------
    estimator : estimator object
        Any scikit-learn estimator with ``fit`` and ``predict``.
    param_distributions : "auto", dict or list of dict, default="auto"
        For each parameter a list of values or a distribution (of scipy, Optuna,
        ConfigSpace or :mod:`cvst.spaces`); a list of dictionaries has branches.
        ``"auto"`` takes :func:`cvst.spaces.suggest`.
    time_budget : float or None, default=None
        Seconds for the whole ``fit``, final fit included. It is used to the end. The
        result depends on how fast the machine is and, with several workers, on which of
        them is done first.
    n_iter : int or None, default=None
        Number of configurations to screen, for a result that depends on the seed alone.
        60 if neither is given; with both, whichever ends first.
    start : sequence of dict, default=()
        Configurations that are screened first.
    proposer : {"auto", "random", "parzen", "forest", "gaussian", "local"} or object, \
            default="auto"
        Says where to look next; an object has a method ``propose``
        (:class:`cvst.proposals.Proposer`).
    n_folds : int, default=5
        Number of folds; ``cv`` gives your own.
    warm_start : bool, default=False
        Let ``fit`` on the same data go on where the last ``fit`` ended, with more time
        or more configurations. It needs a ``random_state`` that is a number.
        :meth:`resume` does the same in one call.
    scoring, ordering, cv, refit, race_by, n_jobs, error_score, return_pointwise, \
return_predictions, ensemble, random_state, verbose, on_interrupt, max_looks, \
fit_timeout, device, max_memory, checkpoint, pre_dispatch, return_train_score
        As in :class:`RaceGridSearchCV`, which lists the fitted attributes too. With
        ``ensemble=True`` up to three tenths of a time budget are kept for it: for
        members on their folds and for their final fits.

    Attributes
    ----------
    space_ : Space
        What was searched.
    history_ : pandas.DataFrame
        One row per look at a configuration, in order.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from cvst import RaceSearchCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    >>> space = {"learning_rate": [0.03, 0.1, 0.3], "max_leaf_nodes": [4, 8, 31]}
    >>> search = RaceSearchCV(model, space, n_iter=6, random_state=0).fit(X, y)
    >>> search.best_score_ > 0.9
    True
    """

    _resumes: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseRaceSearch._parameter_constraints,
        "param_distributions": [StrOptions({"auto"}), dict, list, object],
        "n_iter": [Interval(Integral, 1, None, closed="left"), None],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "start": [list, tuple],
        "warm_start": ["boolean"],
        "proposer": [str, HasMethods(["propose"])],
    }
    for _name in ("strategy", "rescale", "incremental"):
        _parameter_constraints.pop(_name)

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any = "auto",
        *,
        time_budget: float | None = None,
        n_iter: int | None = None,
        start: Sequence[Configuration] = (),
        proposer: Any = "auto",
        n_folds: int = 5,
        warm_start: bool = False,
        scoring: Any = None,
        ordering: str = "auto",
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
        on_interrupt: str = "raise",
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
        self.time_budget = time_budget
        self.n_iter = n_iter
        self.start = start
        self.proposer = proposer
        self.n_folds = n_folds
        self.warm_start = warm_start
        self.scoring = scoring
        self.ordering = ordering
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
        self.on_interrupt = on_interrupt
        self.max_looks = max_looks
        self.fit_timeout = fit_timeout
        self.device = device
        self.max_memory = max_memory
        self.checkpoint = checkpoint
        self.pre_dispatch = pre_dispatch
        self.return_train_score = return_train_score

    def resume(
        self,
        X: Any,
        y: Any = None,
        *,
        time_budget: float | None = None,
        n_iter: int | None = None,
        **params: Any,
    ) -> Self:
        """Go on where the last ``fit`` ended.

        Parameters
        ----------
        X, y, **params
            What was passed to ``fit``: a search does not keep its data.
        time_budget : float or None
            Seconds to add.
        n_iter : int or None
            Configurations to add.

        Returns
        -------
        self : object
            The search, fitted as if it had been given more to begin with.
        """
        if not hasattr(self, "race_"):
            raise InvalidInputError(
                "This search has no race to resume. Call fit first."
            )
        # Put back below: resume must leave the search as the user has set it.
        before = self.get_params(deep=False)
        more = None if n_iter is None else n_iter + self._n_screened()
        self.set_params(warm_start=True, time_budget=time_budget, n_iter=more)
        try:
            self.fit(X, y, **params)
        finally:
            names = "warm_start", "time_budget", "n_iter"
            self.set_params(**{name: before[name] for name in names})
        return self

    def _begun(self, inputs: Inputs) -> tuple[dict[str, Part], RaceState | None]:
        known_by = data_fingerprint(inputs)
        if not self.warm_start or not hasattr(self, "race_"):
            return known_by, None
        if not isinstance(self.random_state, Integral):
            raise InvalidInputError(
                f"warm_start=True with random_state={self.random_state!r}: the order "
                "of the rows would be another one. Set random_state to a number before "
                "the first fit."
            )
        known = getattr(self, "_fingerprint", None)
        if not isinstance(known, dict):
            raise InvalidInputError(
                "warm_start=True, but this search was fitted by another version of "
                "cvst. Fit it anew with warm_start=False."
            )
        if differs := difference(known, known_by):
            raise InvalidInputError(
                "warm_start=True, but these are not the data of the last fit: "
                f"{differs}. Pass the same, or set warm_start=False."
            )
        return known_by, self.race_

    @property
    def space_(self) -> Space:
        """What was searched."""
        check_is_fitted(self, "race_")
        return self._space()

    def _configurations(self) -> list[Configuration]:
        """Return the estimator's own parameters, those to start with, and a portfolio.

        Each comes with the members of its family that cost nothing more.
        """
        space = self._space()
        firsts = [self._own(space), *self._starts(), *self._portfolio(space)]
        covered = self._rounds()
        families = [with_fewer_rounds(one, covered) for one in firsts]
        known: list[Configuration] = []
        for one in (member for family in families for member in family):
            # By equality, since values may have no hash.
            if one not in known:
                known.append(one)
        return known

    def _options(self) -> SearchOptions:
        n_iter = self.n_iter
        if n_iter is None and self.time_budget is None:
            n_iter = DEFAULT_N_ITER
        members = members_of(self.estimator, self._served_by_one_fit())
        source = ProposalSource(
            self._space(),
            resolve_proposer(self.proposer),
            self._rounds(),
            self._configurations(),
            members,
            quick=() if self.time_budget is None else (ParzenProposer(), QUICKEST),
        )
        strategy = ProposeAndConfirm(
            source,
            n_iter=n_iter,
            n_folds=self.n_folds,
            # With a clock the machine decides in any case, and no worker should idle.
            batch=BATCH if self.time_budget is None else effective_n_jobs(self.n_jobs),
            screen_rounds=SCREEN_ROUNDS if self._averages() else None,
            refits=bool(self.refit),
            n_members=MOST_MEMBERS if self.ensemble else 0,
            rounds=tuple(self._rounds()),
            own_rounds=max(members.values(), default=0),
            exponent=early_exponent(self.estimator),
            steepest=steep_exponent(self.estimator),
        )
        options = SearchOptions.of(
            self, self._clock, strategy=strategy, rescale=None, incremental=False
        )
        return replace(options, keeps_time=True)

    def _rounds(self) -> dict[str, str]:
        return rounds_of(self.estimator, self._served_by_one_fit())

    def _served_by_one_fit(self) -> dict[str, str]:
        # The race fills in a seed, and without one no fit would serve another.
        return covered_by_one_fit(with_seed(self.estimator, 0))

    def _n_screened(self) -> int:
        return count_screened(self.race_, self._rounds())

    def _averages(self) -> bool:
        """Return whether one fit serves fewer members of an average."""
        served = self._served_by_one_fit()
        smaller = [name for name, how in served.items() if how == "smaller"]
        return len(self._rounds()) < len(smaller)

    def _space(self) -> Space:
        if isinstance(self.param_distributions, str):
            return Space.of(suggest(self.estimator))
        return Space.of(self.param_distributions)

    def _space_values(self) -> list[Any]:
        """Return all values that are listed, whatever they are."""
        entries = [one for branch in self._space().branches for one in branch.entries]
        return [
            value
            for entry in entries
            if entry.marginal.n_values <= MOST_LISTED
            for value in entry.marginal.all_values()
        ]

    def _own(self, space: Space) -> Configuration:
        """Return the estimator's own values of the parameters that are searched."""
        own = self.estimator.get_params(deep=True)
        return {name: own[name] for name in space.names if name in own}

    def _starts(self) -> list[Configuration]:
        for one in self.start:
            if not isinstance(one, dict):
                raise InvalidInputError(
                    f"start holds {one!r}, which is not a dictionary of parameters. "
                    "Give each configuration as a dictionary."
                )
        return [dict(one) for one in self.start]

    def _portfolio(self, space: Space) -> list[Configuration]:
        """Return settings that are often good, moved into the space."""
        try:
            suggested = suggest(self.estimator)
        except InvalidInputError:
            return []
        own = self._own(space)
        chosen = []
        for one in suggested.start:
            shared = {name: one[name] for name in space.names if name in one}
            # A setting that says little about this space is no better than a random
            # one, and of several branches it does not say which.
            if 2 * len(shared) < len(space.names) or len(space.branches) > 1:
                continue
            meant = {**own, **shared}
            point = space.encode(meant, clip=True)
            if not np.isnan(point).any():
                chosen.append(_unrounded(space.decode(point), meant))
        # Few rounds first: they are cheap, and the race learns what rounds cost.
        rounds = self._served_by_one_fit()
        return sorted(chosen, key=lambda one: [one.get(name, 0) for name in rounds])


def _unrounded(found: Configuration, meant: Configuration) -> Configuration:
    """Return a decoded configuration with the numbers that were encoded.

    .05 comes back as .05000000000000001, which nobody wants to read.
    """
    return {
        name: float(meant[name]) if _is_nearly(value, meant.get(name)) else value
        for name, value in found.items()
    }


def _is_nearly(value: Any, meant: Any) -> bool:
    return (
        isinstance(value, float)
        and isinstance(meant, float | int)
        and isclose(value, meant, rel_tol=1e-9)
    )
