"""What a race looks at, what it sees there, and what it knows so far.

A race is a sequence of looks. A look trains some configurations on some rows and
tests them on others; the rows may be a growing prefix, a fold, or anything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

import numpy as np
from scipy.optimize import linear_sum_assignment

from cvst._typing import BoolArray, FloatArray, IntArray, Rows
from cvst.race._space import SearchSpace

__all__ = ["Look", "LookLosses", "Observation", "Problem", "RaceState", "Verdict"]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is known before the first look.

    Attributes
    ----------
    n_configurations : int
        Size of the grid.
    n_samples : int
        Rows that may be trained on, numbered in race order; the paper's :math:`N`.
    n_validation : int
        Rows of a separate test set, numbered after the training rows.
    boundaries : ndarray or None
        Subset sizes at which a cut splits no group; None if any cut will do.
    folds : mapping of int to tuple of (train, test)
        Folds over the training rows by their number, where a strategy asked for them.
    orders : tuple of ndarray of shape (n_samples,)
        A fresh permutation per step, where a strategy asked for them.
    seed : int
        For whatever a strategy draws at random.
    space : SearchSpace or None
        The configurations as points on axes, where that is known.
    constant_loss : float or None
        Mean loss of the best constant prediction, where that is known.
    min_rows : int
        Rows from which on a subset has a few of every class; 0 if there are none.
    """

    n_configurations: int
    n_samples: int
    n_validation: int = 0
    boundaries: IntArray | None = None
    folds: Mapping[int, tuple[tuple[IntArray, IntArray], ...]] = field(
        default_factory=dict
    )
    orders: tuple[IntArray, ...] = ()
    seed: int = 0
    space: SearchSpace | None = None
    constant_loss: float | None = None
    min_rows: int = 0

    @property
    def n_groups(self) -> int | None:
        """Number of groups of rows, None if there are none."""
        return None if self.boundaries is None else len(self.boundaries) + 1

    @property
    def allowed_cuts(self) -> IntArray | None:
        """Subset sizes that split no group, all rows too if others test; or None."""
        if self.boundaries is None or not self.n_validation:
            return self.boundaries
        return np.append(self.boundaries, self.n_samples)

    def cut(self, n_train: int, at_least: int = 0) -> int:
        """Move a subset size to the nearest one that splits no group.

        Where a smaller one than ``at_least`` is nearest, the next larger one is taken;
        all rows if there is none.
        """
        allowed = self.allowed_cuts
        if allowed is not None and at_least:
            allowed = np.append(allowed[allowed >= at_least], self.n_samples)
        if allowed is None or not len(allowed):
            return n_train
        return int(allowed[np.argmin(np.abs(allowed - n_train))])

    def cuts(self, sizes: Sequence[int]) -> list[int]:
        """Move growing subset sizes to boundaries, so that they still grow.

        Each goes to its nearest one, unless a large group lies there: then they share
        the boundaries nearby with the least moving. Too few boundaries stay too few.

        Examples
        --------
        >>> Problem(1, 100, boundaries=np.array([5, 10, 90])).cuts([20, 40, 80])
        [5, 10, 90]
        """
        nearest = [self.cut(size) for size in sizes]
        allowed = self.allowed_cuts
        distinct = len(set(nearest)) == len(sizes)
        if allowed is None or distinct or len(allowed) < len(sizes):
            return nearest
        distances = np.abs(np.asarray(sizes)[:, None] - allowed)
        return sorted(allowed[linear_sum_assignment(distances)[1]].tolist())

    def prefix(self, n_train: int, order: IntArray | None = None) -> tuple[Rows, Rows]:
        """Return the first rows for training and the others (or the test set)."""
        train, rest = slice(0, n_train), slice(n_train, self.n_samples)
        validation = slice(self.n_samples, self.n_samples + self.n_validation)
        if order is None:
            return train, validation if self.n_validation else rest
        return order[train], validation if self.n_validation else order[rest]


@dataclass(frozen=True, slots=True)
class Look:
    """Which configurations are trained on which rows and tested on which others.

    Attributes
    ----------
    train, test : slice or ndarray of int
        Rows in race order.
    n_train : int
        Number of training rows.
    configurations : ndarray of int
        Indices into the grid, ascending.
    stage : str
        Name of the part of the race, for people.
    keep_losses : bool
        Whether the strategy will need the pointwise losses again.
    is_fold : bool
        Whether the look is a fold of a cross-validation, to be averaged with the
        others of its stage.
    may_fail : bool
        Whether the race can go on if nobody can be fitted here.
    rounds : int or None
        Learners with rounds, such as boosting, train at most this many; None for all.
    """

    train: Rows
    test: Rows
    n_train: int
    configurations: IntArray
    stage: str = "race"
    keep_losses: bool = False
    is_fold: bool = False
    may_fail: bool = False
    rounds: int | None = None


@dataclass(frozen=True, slots=True)
class LookLosses:
    """What a source of losses reports of one look.

    Attributes
    ----------
    losses : ndarray of shape (n_configurations, n_points)
        Pointwise losses of the look's configurations; a row of NaN is a failed fit.
    mean_losses : ndarray of shape (n_configurations,)
        Their (weighted) means.
    residuals : ndarray of shape (n_configurations, n_points) or None
        Signed residuals, only where a strategy asked for them.
    fit_seconds, score_seconds : ndarray of shape (n_configurations,)
        Time spent; work shared by several configurations is split evenly.
    failures : mapping of int to str
        Reason of each failed fit, by index into the grid.
    standard_errors : ndarray of shape (n_configurations,) or None
        Standard errors of the means; None where the source does not know them.
    """

    losses: FloatArray
    mean_losses: FloatArray
    fit_seconds: FloatArray
    score_seconds: FloatArray
    residuals: FloatArray | None = None
    failures: Mapping[int, str] = field(default_factory=dict)
    standard_errors: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a strategy makes of a look; arrays run over the look's configurations.

    Attributes
    ----------
    top : ndarray of bool
        Top (True) or flop (False).
    p_values : ndarray of float
        The p-value that decided, NaN where nothing was tested.
    drops : mapping of int to str
        Reason of each drop, by index into the grid.
    """

    top: BoolArray
    p_values: FloatArray
    drops: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observation:
    """A look and its outcome; arrays run over all configurations of the grid.

    Attributes
    ----------
    look : Look
        Where the race looked.
    mean_losses, p_values, fit_seconds, score_seconds : ndarray of float
        NaN where a configuration was absent (or failed, or was not tested).
    top : ndarray of bool
        False where a configuration was absent.
    drops, failures : mapping of int to str
        Reasons by configuration.
    losses : ndarray of shape (n_configurations of the look, n_points) or None
        Pointwise losses, where the look asked to keep them.
    standard_errors : ndarray of float or None
        Standard errors of the mean losses, where the source reported them.
    """

    look: Look
    mean_losses: FloatArray
    top: BoolArray
    p_values: FloatArray
    fit_seconds: FloatArray
    score_seconds: FloatArray
    drops: Mapping[int, str]
    failures: Mapping[int, str]
    losses: FloatArray | None = None
    standard_errors: FloatArray | None = None


@dataclass(frozen=True)
class RaceState:
    """All that a race knows: enough to plot, report or resume it.

    Attributes
    ----------
    problem : Problem
        What was known before.
    observations : tuple of Observation
        The looks so far, oldest first.

    Examples
    --------
    >>> state = RaceState(Problem(n_configurations=3, n_samples=100))
    >>> state.active
    array([ True,  True,  True])
    """

    problem: Problem
    observations: tuple[Observation, ...] = ()

    @property
    def n_steps(self) -> int:
        """Number of looks so far."""
        return len(self.observations)

    @cached_property
    def active(self) -> BoolArray:
        """Configurations not dropped, or back after a drop; read-only."""
        everybody = np.ones(self.problem.n_configurations, dtype=bool)
        everybody.flags.writeable = False
        return reduce(_active_after, self.observations, everybody)

    @property
    def present(self) -> BoolArray:
        """Who took part in which look: (n_configurations, n_steps)."""
        present = np.zeros((self.problem.n_configurations, self.n_steps), dtype=bool)
        for step, observation in enumerate(self.observations):
            present[observation.look.configurations, step] = True
        return present

    @property
    def traces(self) -> BoolArray:
        """Top (True) or flop in each look, the paper's :math:`T_S`."""
        return self._columns("top", dtype=bool)

    @property
    def mean_losses(self) -> FloatArray:
        """Mean loss in each look, the paper's :math:`P_S`; NaN if absent or failed."""
        return self._columns("mean_losses", dtype=float)

    @property
    def standard_errors(self) -> FloatArray:
        """Standard error of the mean loss in each look, NaN where it is not known."""
        unknown = np.full(self.problem.n_configurations, np.nan)
        columns = [
            unknown if look.standard_errors is None else look.standard_errors
            for look in self.observations
        ]
        return np.column_stack(columns) if columns else np.empty((len(unknown), 0))

    @property
    def p_values(self) -> FloatArray:
        """The p-value that decided in each look, NaN where nothing was tested."""
        return self._columns("p_values", dtype=float)

    @property
    def subset_sizes(self) -> IntArray:
        """Training rows of each look."""
        sizes = [observation.look.n_train for observation in self.observations]
        return np.array(sizes, dtype=np.intp)

    @property
    def dropped_at(self) -> IntArray:
        """Look (from 1) of each configuration's last drop, 0 if it is active."""
        dropped = np.zeros(self.problem.n_configurations, dtype=np.intp)
        for step, observation in enumerate(self.observations, start=1):
            dropped[list(observation.drops)] = step
        dropped[self.active] = 0
        return dropped

    @property
    def drop_reasons(self) -> dict[int, str]:
        """Why each dropped configuration fell, by index."""
        reasons: dict[int, str] = {}
        for observation in self.observations:
            reasons.update(observation.drops)
        active = self.active
        return {index: text for index, text in reasons.items() if not active[index]}

    def observe(self, look: Look, seen: LookLosses, verdict: Verdict) -> RaceState:
        """Return the state after a look, without drops that would leave nobody."""
        n_configurations = self.problem.n_configurations

        def spread(values: FloatArray) -> FloatArray:
            column = np.full(n_configurations, np.nan)
            column[look.configurations] = values
            return column

        top = np.zeros(n_configurations, dtype=bool)
        top[look.configurations] = verdict.top
        observation = Observation(
            look=look,
            mean_losses=spread(seen.mean_losses),
            top=top,
            p_values=spread(verdict.p_values),
            fit_seconds=spread(seen.fit_seconds),
            score_seconds=spread(seen.score_seconds),
            drops=dict(verdict.drops),
            failures=dict(seen.failures),
            losses=seen.losses if look.keep_losses else None,
            standard_errors=None
            if seen.standard_errors is None
            else spread(seen.standard_errors),
        )
        state = self._with(observation)
        if state.active.any():
            return state
        # Rules come from users too: the best of the look stays, whatever they say.
        best = look.configurations[int(np.nanargmin(seen.mean_losses))]
        drops = {i: why for i, why in verdict.drops.items() if i != best}
        return self._with(replace(observation, drops=drops))

    def _with(self, observation: Observation) -> RaceState:
        state = replace(self, observations=(*self.observations, observation))
        # A shortcut for the cached property, which would go through the whole race.
        vars(state)["active"] = _active_after(self.active, observation)
        return state

    def _columns(self, name: str, dtype: type) -> np.ndarray:
        columns = [getattr(observation, name) for observation in self.observations]
        if not columns:
            return np.empty((self.problem.n_configurations, 0), dtype=dtype)
        return np.column_stack(columns)


def _active_after(active: BoolArray, observation: Observation) -> BoolArray:
    active = active.copy()
    active[observation.look.configurations] = True
    active[list(observation.drops)] = False
    active.flags.writeable = False
    return active
