"""What is asked of a strategy.

:class:`Strategy` is the whole protocol: what the loop of a race asks (a
:class:`Decider`), and what searches, plans, forecasts, budgets, reports and
explanations ask as well. Everything but a next look, a verdict and an end has a
default, so your own can be short.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvst._typing import Configuration, FloatArray, IntArray, Rows
from cvst.race._look import Look, LookLosses, Verdict
from cvst.race._parameters import Parametrised
from cvst.race._planned import PlannedLook
from cvst.race._problem import Problem
from cvst.race._ranking import last_finite
from cvst.race._rehearsal import MOST_LOOKS, rehearse
from cvst.race._state import RaceState

if TYPE_CHECKING:
    from cvst.statistics import SpicerTest, WaldTest

__all__ = ["Strategy"]


class Strategy(Parametrised, ABC):
    """Decides where to look next, which configurations are dropped, and which wins.

    Derive from it, store the arguments of ``__init__`` under their own names, and write
    :meth:`next_look`, :meth:`judge` and :meth:`stop_reason`. The rest has defaults.
    """

    # Level of its tests, for what a report calls a tie.
    level: float = 0.05

    # The reason to stop that calls the winner better than all others: where a test
    # cannot tell it from some, the race ends in a tie instead. None without one.
    confirming_reason: str | None = None

    # The race -----------------------------------------------------------------------

    @abstractmethod
    def stop_reason(self, state: RaceState) -> str | None:
        """Say why the race is over, or None while it is not."""

    @abstractmethod
    def next_look(self, state: RaceState) -> Look:
        """Return where to look next; asked only while the race is not over."""

    @abstractmethod
    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Call top and flop, and drop."""

    def looks_alone(self, state: RaceState) -> bool:
        """Say whether the next look has to wait for those under way; so by default.

        A strategy that says no is asked again while looks are under way, and finds them
        in ``state.pending``.
        """
        del state
        return True

    def propose(self, state: RaceState) -> Sequence[Configuration]:
        """Return configurations that join the race now; none by default.

        They are numbered after those known so far, and asked for before each look.
        """
        del state
        return ()

    def ranking(self, state: RaceState) -> IntArray:
        """Return the configurations left, the winner first.

        By default in the order of the last mean loss of each.
        """
        survivors = np.flatnonzero(state.active)
        last = last_finite(state)[survivors]
        return survivors[np.argsort(last, kind="stable")]

    def ranks_by_mean(self, state: RaceState) -> bool:
        """Return whether all but the winner rank by their evidence and then by means.

        Then a search orders those with as many folds and rows by their mean score, as
        :class:`GridSearchCV` would: over several folds that is not always the order of
        the mean losses. Where nothing is proposed, the winner too is the best of those
        that ran the very looks it ran. By default the order of the strategy stays as
        it is.
        """
        del state
        return False

    # What it needs ------------------------------------------------------------------

    @property
    def fold_counts(self) -> tuple[int, ...]:
        """Numbers of folds that ``problem.folds`` must offer."""
        return ()

    @property
    def takes_turns(self) -> bool:
        """Whether configurations may join in turn if time is short for a look at all.

        They are then screened on part of the first fold, and the best confirmed on the
        others; else fewer are raced by the strategy itself.
        """
        return False

    @property
    def n_orders(self) -> int:
        """Number of fresh permutations that ``problem.orders`` must offer."""
        return 0

    @property
    def keeps_order(self) -> bool:
        """Whether it looks at folds only, which then train in the user's order.

        By default they train in the order of the race, of which subsets are prefixes.
        """
        return False

    @property
    def takes_all_folds(self) -> bool:
        """Whether every configuration takes every fold, whatever comes out.

        Workers that have nothing to do then go on with any of the folds to come.
        """
        return False

    @property
    def most_rows(self) -> int | None:
        """Most rows worth racing; of more, a sample of this size. By default all."""
        return None

    @property
    def proposes(self) -> bool:
        """Whether it may propose configurations, so that even one is worth a race.

        By default every strategy with a :meth:`propose` of its own.
        """
        return type(self).propose is not Strategy.propose

    @property
    def needs_residuals(self) -> bool:
        """Whether looks must report signed residuals."""
        return False

    @property
    def binary_test(self) -> str | None:
        """Name of a test that compares losses of 0 and 1 only, None without one."""
        return None

    @property
    def row_test(self) -> str | None:
        """Name of a test that needs losses of single rows, None without one.

        A score of all rows together, such as ROC AUC, has none.
        """
        return self.binary_test

    @property
    def bounds_run(self) -> bool:
        """Whether its level is to hold for the whole race.

        That is proved for rows that are independent and count alike, and for scores
        that are a mean over rows: a search warns where it races others.
        """
        return False

    @property
    def rescales(self) -> bool:
        """Whether ``rescale="auto"`` lets hyper-parameters follow the subset size."""
        return False

    def check(self, problem: Problem) -> None:
        """Raise an error that explains why this race cannot be run, if so."""
        del problem

    # What can be known beforehand ---------------------------------------------------

    def planned_looks(self, problem: Problem) -> tuple[PlannedLook, ...]:
        """Return the looks of the longest race.

        By default the race is rehearsed: the looks are those of configurations that
        all do equally well. Write it yourself where a race of others can be longer. Of
        a strategy that proposes only the first look can be known.
        """
        # A search asks often, and a rehearsal is not free.
        kept = getattr(self, "__dict__", {})
        asked, name, looks = kept.get("_rehearsed", (None, "", ()))
        if asked is not problem or name != repr(self):
            looks = rehearse(self, problem, 1 if self.proposes else MOST_LOOKS)
            kept["_rehearsed"] = problem, repr(self), looks
        planned: tuple[PlannedLook, ...] = looks
        return planned

    @property
    def rehearses(self) -> bool:
        """Whether its plan is a rehearsal, so that a race may have other looks."""
        return type(self).planned_looks is Strategy.planned_looks

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what was rehearsed: it holds all that is known of the rows."""
        return {k: v for k, v in vars(self).items() if k != "_rehearsed"}

    def subset_sizes(self, problem: Problem) -> Sequence[int]:
        """Return the training rows of the looks on first rows that can come."""
        del problem
        return ()

    def subsets(self, problem: Problem) -> list[tuple[Rows, Rows]]:
        """Return the training and test rows of the looks of :meth:`subset_sizes`."""
        return [problem.prefix(size) for size in self.subset_sizes(problem)]

    def expected_configurations(self, problem: Problem) -> FloatArray:
        """Return how many configurations each planned look is expected to see.

        By default as many as can take part at most.
        """
        looks = self.planned_looks(problem)
        return np.array([look.max_configurations for look in looks], dtype=float)

    def expected_looks(self, problem: Problem) -> int:
        """Return how many looks a race is expected to have; by default all planned."""
        # Too many rather than too few: a forecast must not promise an early end.
        return len(self.planned_looks(problem))

    def look_chances(self, problem: Problem) -> FloatArray:
        """Return how probable it is that each planned look is made; by default 1.

        A look that the race may be over before counts as that part of itself in
        forecasts of time.
        """
        return np.ones(len(self.planned_looks(problem)))

    def fewest_looks(self, problem: Problem) -> int:
        """Return after how many looks a lucky race may be over; by default all."""
        return len(self.planned_looks(problem))

    def may_stop_early(self, problem: Problem) -> bool:
        """Return whether a race can be over before the last of the planned looks."""
        return self.fewest_looks(problem) < len(self.planned_looks(problem))

    def variants(self, problem: Problem) -> Iterator[Sequence[Strategy]]:
        """Yield groups of variants that a time budget may choose from.

        The first group with a variant that fits is taken, and of it the one with most
        looks. By default there are none, and the clock ends the race.
        """
        del problem
        return iter(())

    def refit_seconds(self, state: RaceState) -> float | None:
        """Return what the final fit will probably take, by default None: not known."""
        del state
        return None

    def ensemble_members(self, state: RaceState) -> Sequence[tuple[int, float]]:
        """Return who may be in an ensemble for which the race has kept time.

        Configurations, the best first, each with the seconds that a fit on all rows
        will probably take; by default nobody, as no time is kept.
        """
        del state
        return ()

    def settled(self) -> Strategy:
        """Return the strategy as it was in the end, by default itself."""
        return self

    def repeatable(self, problem: Problem) -> Strategy | None:
        """Return what repeats a race that a time budget chose, None if it is the same.

        By default itself, if there are variants to choose from.
        """
        return self if any(True for _ in self.variants(problem)) else None

    @property
    def sequential_test(self) -> WaldTest | SpicerTest | None:
        """The sequential test that drops configurations, None without one."""
        return None

    @property
    def first_drop(self) -> int | None:
        """Look in which the first drop is possible, None if any may drop."""
        return None

    def drop_error_bounds(
        self, win_probabilities: Sequence[float]
    ) -> dict[float, float]:
        """Bound the chance that a stable winner is dropped, where a bound is known."""
        del win_probabilities
        return {}

    # What to say about it -----------------------------------------------------------

    @property
    def window(self) -> int:
        """Number of last looks that decide about the winner; 0 where that is open."""
        return 0

    @property
    def sentences(self) -> Mapping[str, str]:
        """What its reasons to stop and to drop mean, by reason.

        A reason to stop completes "The race ended after 4 looks: …", a reason to drop
        "It was dropped: …". Reasons without a sentence are shown as they are.
        """
        return {}

    def remarks(self, problem: Problem) -> Sequence[str]:
        """Return sentences for the log about what it makes of these data."""
        del problem
        return ()

    def criterion(self, state: RaceState) -> str:
        """Complete the sentence "It ranks first …"."""
        del state
        return "in the order of the strategy"
