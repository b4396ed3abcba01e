"""A look: what the race asks for, what it sees, and what a strategy makes of it.

A look trains some configurations on some rows and tests them on others; the rows may
be a growing prefix, a fold, or anything else. All arrays run over the configurations
of the look, in its order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from cvst._text import counted, repr_text
from cvst._typing import BoolArray, FloatArray, IntArray, Rows, count_rows
from cvst.exceptions import InvalidInputError
from cvst.race._bits import BitTable, compact

__all__ = ["Look", "LookLosses", "Observation", "Verdict", "checked_look"]


def _no_configurations() -> IntArray:
    return np.empty(0, dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Look:
    """Some configurations, the rows to train them on, and the rows to test them on.

    Attributes
    ----------
    train, test : slice or ndarray of int
        Rows in race order.
    n_train : int
        Number of training rows.
    configurations : ndarray of int
        Numbers of the configurations, ascending. A number names the same configuration
        throughout a race.
    stage : str
        Name of the part of the race, for people.
    keep_losses : bool
        Whether the strategy will need the pointwise losses again.
    is_fold : bool
        Whether the look is a fold of a cross-validation, to be averaged with the
        others of its stage.
    may_fail : bool
        Whether the race can go on if every fit fails here.
    rounds : int or None
        Most rounds (of boosting) or trees that learners train here; None for no limit.
        Learners without rounds ignore it.
    fold : int or None
        Which fold it is, from 0, where a strategy does not take them in order.
    fewest_folds : int
        Fewer folds of its stage than this decide nothing, unless they leave one of
        those that entered: until then the stage before makes scores and ranks.
    """

    train: Rows
    test: Rows
    n_train: int
    configurations: IntArray
    stage: str = "race"
    # Off by default: the losses of a large grid fill the memory.
    keep_losses: bool = False
    is_fold: bool = False
    may_fail: bool = False
    rounds: int | None = None
    fold: int | None = None
    fewest_folds: int = 1

    @property
    def n_test(self) -> int:
        """Number of test rows."""
        return count_rows(self.test)

    def __repr__(self) -> str:
        # Rows and numbers would fill pages; so below.
        members = counted(len(self.configurations), "configuration")
        return f"<Look: {self._words()}, {members}>"

    def _words(self) -> str:
        fold = "" if self.fold is None else f", fold {self.fold}"
        return f"stage {self.stage!r}{fold}, {counted(self.n_train, 'row')}"

    def places(self, configurations: IntArray) -> IntArray:
        """Return where some configurations of this look stand in its arrays.

        Examples
        --------
        >>> look = Look(slice(0, 5), slice(5, 9), 5, np.array([2, 4, 7]))
        >>> look.places(np.array([7, 2]))
        array([2, 0])
        """
        # A search by halves is right because the numbers ascend.
        return np.searchsorted(self.configurations, configurations)


@dataclass(frozen=True, slots=True)
class LookLosses:
    """What a source of losses reports of one look.

    Attributes
    ----------
    losses : ndarray of shape (n_configurations, n_points)
        Pointwise losses of the look's configurations; a row of NaN is a failed fit.
    mean_losses : ndarray of shape (n_configurations,)
        What is ranked, and averaged over folds: their (weighted) means, or what the
        score makes of them.
    residuals : ndarray of shape (n_configurations, n_points) or None
        Signed residuals, only where a strategy asked for them.
    fit_seconds, score_seconds : ndarray of shape (n_configurations,)
        Time spent; work shared by several configurations is split evenly.
    failures : mapping of int to str
        Reason of each failed fit, by configuration.
    standard_errors : ndarray of shape (n_configurations,) or None
        Standard errors of the means; None where the source does not know them.
    seconds : float
        What the look took on the clock; NaN where the source does not say.
    elapsed : float
        Reading of the clock after the look, from the start of the race on.
    scores : ndarray of shape (n_configurations,) or None
        The scores that the losses stand for, higher is better; NaN where undefined.
    other_scores : mapping of str to ndarray of shape (n_configurations,)
        Scores that were recorded besides, by name.
    rankable : bool
        Whether the losses of single points can be ranked. Those of a score of all
        points together cannot: only their mean and their spread mean something.
    on_device : array of shape (n_configurations, n_points) or None
        The same losses on a device, where tests had better read them there.
    """

    losses: FloatArray
    mean_losses: FloatArray
    fit_seconds: FloatArray
    score_seconds: FloatArray
    residuals: FloatArray | None = None
    failures: Mapping[int, str] = field(default_factory=dict)
    standard_errors: FloatArray | None = None
    seconds: float = np.nan
    elapsed: float = np.nan
    scores: FloatArray | None = None
    other_scores: Mapping[str, FloatArray] = field(default_factory=dict)
    rankable: bool = True
    on_device: Any = None

    def __repr__(self) -> str:
        members = counted(len(self.mean_losses), "configuration")
        failed = f", {len(self.failures):,} failed" if self.failures else ""
        return f"<LookLosses: {members}{failed}>"


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
        Reason of each drop, by configuration.
    keep : ndarray of bool or None
        Configurations whose pointwise losses stay in the state, if the look keeps any;
        None for all.
    """

    top: BoolArray
    p_values: FloatArray
    drops: Mapping[int, str] = field(default_factory=dict)
    keep: BoolArray | None = None

    def __repr__(self) -> str:
        members = counted(len(self.top), "configuration")
        n_top, n_dropped = np.count_nonzero(self.top), len(self.drops)
        return f"<Verdict: {members}, {n_top:,} top, {n_dropped:,} dropped>"


@dataclass(frozen=True, slots=True)
class Observation:
    """A look and its outcome; arrays run over the look's configurations.

    Attributes
    ----------
    look : Look
        Where the race looked.
    mean_losses, p_values, fit_seconds, score_seconds : ndarray of float
        NaN for a failed fit, or where nothing was tested.
    top : ndarray of bool
        Top (True) or flop (False).
    drops, failures : mapping of int to str
        Reasons by configuration.
    losses : ndarray or BitTable of shape (n_kept, n_points), or None
        Pointwise losses of the configurations in ``kept``, where any were kept; those
        of 0 and 1 as bits, which read like an array of floats.
    kept : ndarray of int
        Configurations whose pointwise losses were kept, ascending.
    standard_errors : ndarray of float or None
        Standard errors of the mean losses, where the source reported them.
    seconds : float
        What the look took on the clock; NaN where the source does not say.
    elapsed : float
        Reading of the clock after the look, from the start of the race on; NaN where
        the source does not say.
    scores : ndarray of float or None
        The scores that the losses stand for, where the source knows them.
    other_scores : mapping of str to ndarray of float
        Scores that were recorded besides, by name.
    """

    look: Look
    mean_losses: FloatArray
    top: BoolArray
    p_values: FloatArray
    fit_seconds: FloatArray
    score_seconds: FloatArray
    drops: Mapping[int, str]
    failures: Mapping[int, str]
    losses: FloatArray | BitTable | None = None
    kept: IntArray = field(default_factory=_no_configurations)
    standard_errors: FloatArray | None = None
    seconds: float = np.nan
    elapsed: float = np.nan
    scores: FloatArray | None = None
    other_scores: Mapping[str, FloatArray] = field(default_factory=dict)

    def __repr__(self) -> str:
        members = counted(len(self.look.configurations), "configuration")
        failed = f", {len(self.failures):,} failed" if self.failures else ""
        return (
            f"<Observation: {self.look._words()}, {members}, "
            f"{len(self.drops):,} dropped{failed}>"
        )

    @classmethod
    def of(cls, look: Look, seen: LookLosses, verdict: Verdict) -> Observation:
        """Put a look, what was seen there and the verdict together."""
        _check_verdict(look, verdict)
        keep = np.full(len(verdict.top), look.keep_losses)
        if verdict.keep is not None:
            keep &= verdict.keep
        return cls(
            look=look,
            mean_losses=seen.mean_losses,
            top=verdict.top,
            p_values=verdict.p_values,
            fit_seconds=seen.fit_seconds,
            score_seconds=seen.score_seconds,
            # Copies, since the dictionaries of a source or strategy may change later.
            drops=dict(verdict.drops),
            failures=dict(seen.failures),
            losses=_kept(seen.losses, keep),
            kept=look.configurations[keep],
            standard_errors=seen.standard_errors,
            seconds=seen.seconds,
            elapsed=seen.elapsed,
            scores=seen.scores,
            other_scores=dict(seen.other_scores),
        )


def checked_look(look: Look) -> Look:
    """Return the look, or refuse what is not one: strategies come from users."""
    if not isinstance(look, Look):
        raise InvalidInputError(
            f"next_look() returned {look!r}, which is not a look. Return a "
            "cvst.race.Look."
        )
    return look


def _check_verdict(look: Look, verdict: Verdict) -> None:
    """Refuse a verdict that does not fit to its look: strategies come from users."""
    if not isinstance(verdict, Verdict):
        raise InvalidInputError(
            f"judge() returned {verdict!r}, which is not a verdict. Return a "
            "cvst.race.Verdict."
        )
    n_looked = len(look.configurations)
    for name in ("top", "p_values", "keep"):
        values = getattr(verdict, name)
        if values is not None and np.shape(values) != (n_looked,):
            raise InvalidInputError(
                f"judge() returned a verdict whose {name} has shape "
                f"{np.shape(values)}, for a look at {n_looked} configurations. Return "
                "one value for each number in look.configurations."
            )
    drops = verdict.drops
    if not isinstance(drops, Mapping) or not all(
        isinstance(number, Integral) for number in drops
    ):
        raise InvalidInputError(
            f"judge() returned a verdict whose drops are {repr_text(drops)}. Return a "
            "dictionary with the reason of each drop, such as {3: 'test'}, by the "
            "number of the configuration."
        )


def _kept(losses: FloatArray, keep: BoolArray) -> FloatArray | BitTable | None:
    if not keep.any():
        return None
    # Usually all are kept, and then no copy is needed.
    return compact(losses if keep.all() else losses[keep])
