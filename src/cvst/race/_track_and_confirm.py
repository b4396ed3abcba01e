"""A race that is not fooled by small subsets: track the optimum, confirm by folds."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import numpy as np

from cvst._typing import IntArray
from cvst.exceptions import InvalidInputError
from cvst.race._deciding import stage_decides
from cvst.race._fold_race import FoldRace
from cvst.race._folds import FoldRecord, rank_by_folds, same_folds
from cvst.race._leader_tests import TEST_SENTENCES
from cvst.race._parameters import check_kinds, check_least, check_limits
from cvst.race._planned import PlannedLook
from cvst.race._problem import Problem
from cvst.race._prospects import CLIMB, CONFIRM, FINAL, FIRST, LATE, with_prospects
from cvst.race._second_chance import known_losses, second_chances
from cvst.race._stage import Stage, Staged, nothing, survivors
from cvst.race._state import RaceState
from cvst.race._subset_look import SubsetLook
from cvst.race._tracking import (
    best_fits,
    most_confirmed_and_climbing,
    most_siblings,
    n_fits,
    neighbours_of,
    with_siblings,
    worth_a_late_look,
    worth_confirming,
)

__all__ = ["TrackAndConfirm"]

SENTENCES = {"confirmed": "the winner is confirmed", **TEST_SENTENCES}

N_FINALISTS = 2

# The least number that go on to the next fold of the confirmation unless a test drops
# them, and the p-value above which a configuration is about as good as the leader.
FEWEST_RACED, DOUBTFUL = 5, 0.1

# The same for scores of all rows, which tell fewer apart (docs/measurements/scores.md).
DOUBTFUL_OF_ALL_ROWS = 0.3

FRACTIONS = "first_fraction", "late_fraction", "level"

# The smallest numbers that make sense.
COUNTS = "min_rows", "max_survivors", "n_tracked", "n_leaders", "n_raced"
FEWEST = dict.fromkeys(COUNTS, 1) | dict.fromkeys(("n_folds", "final_folds"), 2)

# What the level may bound.
GUARANTEES = "look", "run"

# No look on a subset takes more of the rows.
LARGEST_FRACTION = 0.6

# Limits on rows, None for off, and their smallest values.
LIMITS = {"max_test": 1000, "max_rows": 1000}


class TrackAndConfirm(Staged):
    """Look twice on subsets, follow the optimum, confirm the best by raced folds.

    Small subsets mislead: the best configuration on all rows is often bad on a tenth
    of them. So a configuration dropped on a subset can come back. The stages:

    1. *First look*: all configurations on a subset; a paired test against the leader
       drops the worse.
    2. *Late look* on a larger subset: the survivors, and *one representative for every
       value of every hyper-parameter*, dropped or not.
    3. *Confirm*: the best of the late look and their neighbours on the grid run the
       folds of a cross-validation on all rows, which is a race too.
    4. *Climb*, up to ``climbs`` times: neighbours of the leader that have run no fold
       yet run the same folds.
    5. *Final*: the last two (three if all went to the folds at once) run other folds.

    Few configurations skip the subsets and the final: they run the folds of a plain
    search, which the race cuts short and never exceeds. What is left is a tie.

    Where one fit serves several configurations (trees of a forest, rounds of boosting)
    they take part together, and all numbers below count fits.

    Parameters
    ----------
    first_fraction, late_fraction : float, default=0.2 and 0.4
        Training rows of the two looks, as a fraction of all.
    min_rows : int, default=150
        Smallest look; more if it takes more for five rows of each class. If this is
        more than 0.6 of the rows, all configurations go to the folds.
    max_survivors : int, default=40
        Most configurations that go from the first to the late look on their own.
    n_tracked, n_leaders : int, default=10 and 3
        How many of the late look are confirmed, and of how many the neighbours too.
    widen : bool, default=True
        Bring the neighbours of representatives that passed the first test to the late
        look.
    n_hedges : int, default=10
        Bins of each axis whose best configuration is confirmed too, in case the late
        look was still too small to show its worth; 0 leaves this out.
    n_folds : int, default=5
        Folds of the confirmation.
    n_raced : int, default=15
        How many go on after the first fold of the confirmation. Half as many go on
        after the second and so on, but at least five, and every one that is about as
        good by the test (p > 0.1), which ends the final too. There is no limit if it is
        0 or all went to the folds at once. For scores of all rows, such as ROC AUC, it
        takes p > 0.3, and few configurations have a limit too.
    final_folds : int, default=10
        Folds of the final; 0 leaves it out.
    climbs : int, default=4
        Most rounds of climbing.
    level : float, default=0.05
        Bound, for each look, on the chance that the configuration with the smallest
        expected loss there is dropped by a test; approximate in folds and climbs.
    direct_below : int, default=30
        Fewer configurations than this go straight to the folds, without a final; any
        number does where there are too few rows for looks on subsets.
    guarantee : {"look", "run"}, default="look"
        What ``level`` bounds. With ``"run"`` it is the chance that a configuration
        with the smallest expected loss in all its looks is dropped anywhere in the
        race. The looks share the level, and nothing is set aside by rank, which takes
        longer; ``max_survivors`` and ``n_raced`` have no effect.
    max_test : int or None, default=100_000
        Most test rows of a look: more add work, but hardly any power.
    max_rows : int or None, default=500_000
        Most rows that are raced. Of more, this many are drawn at random, so that looks
        stay as large as they are, and the winner is fitted on all.

    Examples
    --------
    >>> TrackAndConfirm(n_folds=3, n_raced=0)
    TrackAndConfirm(n_folds=3, n_raced=0)
    """

    confirming_reason = "confirmed"

    def __init__(
        self,
        first_fraction: float = 0.2,
        late_fraction: float = 0.4,
        min_rows: int = 150,
        max_survivors: int = 40,
        n_tracked: int = 10,
        n_leaders: int = 3,
        widen: bool = True,
        n_hedges: int = 10,
        n_folds: int = 5,
        n_raced: int = 15,
        final_folds: int = 10,
        climbs: int = 4,
        level: float = 0.05,
        direct_below: int = 30,
        guarantee: str = "look",
        max_test: int | None = 100_000,
        max_rows: int | None = 500_000,
    ) -> None:
        self.first_fraction = first_fraction
        self.late_fraction = late_fraction
        self.min_rows = min_rows
        self.max_survivors = max_survivors
        self.n_tracked = n_tracked
        self.n_leaders = n_leaders
        self.widen = widen
        self.n_hedges = n_hedges
        self.n_folds = n_folds
        self.n_raced = n_raced
        self.final_folds = final_folds
        self.climbs = climbs
        self.level = level
        self.direct_below = direct_below
        self.guarantee = guarantee
        self.max_test = max_test
        self.max_rows = max_rows

    @property
    def fold_counts(self) -> tuple[int, ...]:
        """Ask for the folds of the confirmation and of the final."""
        return (self.n_folds, self.final_folds) if self.final_folds else (self.n_folds,)

    @property
    def takes_turns(self) -> bool:
        """Fewer rows, then folds: taken in turn, configurations are raced alike."""
        return True

    @property
    def bounds_run(self) -> bool:
        """Whether the level is that of the whole race."""
        return self.guarantee == "run"

    def check(self, problem: Problem) -> None:
        """Raise an error that explains why this race cannot be run, if so."""
        del problem
        check_kinds(self, FRACTIONS, (*FEWEST, "n_hedges", "climbs", "direct_below"))
        if not 0 < self.first_fraction < self.late_fraction < 1:
            raise InvalidInputError(
                f"first_fraction={self.first_fraction} and "
                f"late_fraction={self.late_fraction} must satisfy 0 < first < late < 1."
            )
        if not 0 < self.level < 1:
            raise InvalidInputError(
                f"level={self.level!r} must lie strictly between 0 and 1."
            )
        if self.guarantee not in GUARANTEES:
            raise InvalidInputError(
                f"guarantee={self.guarantee!r} is unknown. Use 'look' for a bound on "
                "each look or 'run' for one on the whole race."
            )
        check_least(self, FEWEST, off=("n_raced", "final_folds"))

    @property
    def most_rows(self) -> int | None:
        """Race no more rows than this."""
        check_limits(self, LIMITS)
        return self.max_rows

    def remarks(self, problem: Problem) -> Sequence[str]:
        """Say which limits on rows these data meet."""
        n_rows = problem.n_samples + problem.n_validation
        if self.max_test is None or n_rows <= self.max_test:
            return ()
        uncut = type(self)(**(self.get_params() | {"max_test": None}))
        all_rows, some = (one.planned_looks(problem) for one in (uncut, self))
        if [look.n_test for look in all_rows] == [look.n_test for look in some]:
            return ()
        most = f"{self.max_test:,}"
        return (f"Looks test at most {most} rows: more add no power (max_test)",)

    def stages(self, problem: Problem) -> Sequence[Stage]:
        """Return the stages of the list above, as far as these data need them."""
        n_sharing = self._n_sharing(problem)
        looks = self._subset_looks(problem, n_sharing)
        final = (self._final(n_sharing),) if self._has_final(problem) else ()
        # Where all went to the folds at once there is nowhere left to climb to.
        return (*looks, *self._confirmation(n_sharing, climb=bool(looks)), *final)

    def _subset_looks(self, problem: Problem, n_sharing: int) -> tuple[SubsetLook, ...]:
        """Return stages 1 and 2: all configurations, then those worth another look."""
        sizes = self.look_sizes(problem)
        enter = {FIRST: survivors, LATE: self._worth_a_late_look}
        return tuple(
            SubsetLook(
                n_train,
                name,
                enter=enter[name],
                # Only the last look on a subset picks what is confirmed.
                set_aside=self._beyond_the_best
                if name == FIRST and LATE in sizes
                else self._not_confirmed,
                level=self.level,
                n_sharing=n_sharing,
                max_test=self.max_test,
            )
            for name, n_train in sizes.items()
        )

    def _confirmation(self, n_sharing: int, climb: bool) -> tuple[FoldRace, ...]:
        """Return stages 3 and 4: folds for the tracked, then for their neighbours."""
        names = (CONFIRM, *(self._climbs if climb else ()))
        return tuple(
            FoldRace(
                self.n_folds,
                name,
                enter=self._tracked if name == CONFIRM else self._unseen_neighbours,
                set_aside=self._behind if name == CONFIRM else nothing,
                level=self.level,
                together=names,
                may_fail=name != CONFIRM,
                n_sharing=n_sharing,
                max_test=self.max_test,
            )
            for name in names
        )

    def _final(self, n_sharing: int) -> FoldRace:
        """Return stage 5: the last few on other folds."""
        return FoldRace(
            self.final_folds,
            FINAL,
            enter=self._finalists,
            set_aside=self._not_in_the_final,
            # With a guarantee the last two only settle which of them is first: tests
            # here would take their share of the level from the looks before.
            level=0.0 if n_sharing else self.level,
            fewest=2,
            n_sharing=n_sharing,
            max_test=self.max_test,
            # A final that has only begun says less than the confirmation before it.
            fewest_folds=min(self.n_folds, self.final_folds),
        )

    def _n_sharing(self, problem: Problem) -> int:
        """Return how many looks share the level of the run; 0 if each has its own."""
        if not self.bounds_run:
            return 0
        # Climbs test the same folds as the confirmation, so they count once.
        n_folds = 1 if problem.n_validation else len(problem.folds[self.n_folds])
        return len(self.look_sizes(problem)) + n_folds

    @property
    def _climbs(self) -> tuple[str, ...]:
        return tuple(f"{CLIMB} {n + 1}" for n in range(self.climbs))

    def _has_final(self, problem: Problem) -> bool:
        # Without looks on subsets nothing pays for a final, which tests no new rows.
        pays = bool(self.look_sizes(problem)) and not problem.n_validation
        if not (self.final_folds and pays):
            return False
        # The user's own folds are the same in both, and adding them twice proves
        # nothing.
        return not same_folds(
            problem.folds[self.n_folds], problem.folds[self.final_folds]
        )

    def _is_few(self, problem: Problem) -> bool:
        """Return whether a plain search would cost no more than subsets and a final.

        Whatever single fits cost, raced folds are never more work than plain ones. A
        final would be: its few fits may be the dearest, and it tests no new rows.
        """
        return n_fits(problem) < self.direct_below

    def _is_short(self, problem: Problem) -> bool:
        """Return whether there are too few rows for looks on subsets."""
        smallest = max(self.min_rows, problem.min_rows)
        return smallest > LARGEST_FRACTION * problem.n_samples

    def look_sizes(self, problem: Problem) -> dict[str, int]:
        """Return the training rows of the looks on subsets, by stage."""
        n_samples = problem.n_samples
        smallest = max(self.min_rows, problem.min_rows)
        if self._is_few(problem) or self._is_short(problem):
            return {}
        first, late = (
            problem.cut(max(smallest, int(fraction * n_samples)), smallest)
            for fraction in (self.first_fraction, self.late_fraction)
        )
        if late == n_samples:  # one group has nearly all rows
            return {}
        # On small data a first look as large as the late one takes its place.
        return {FIRST: first, LATE: late} if first < 0.8 * late else {FIRST: late}

    def subset_sizes(self, problem: Problem) -> Sequence[int]:
        """Return the training rows of the looks on subsets."""
        return tuple(self.look_sizes(problem).values())

    def planned_looks(self, problem: Problem) -> tuple[PlannedLook, ...]:
        """Return the looks on subsets and the folds of the longest race."""
        most, kinds = self._largest_stages(problem), dict.fromkeys(self._climbs, CLIMB)
        return tuple(
            look
            for stage in self.stages(problem)
            if (count := most[stage.name])
            for look in with_prospects(
                kinds.get(stage.name, stage.name), stage.planned_looks(problem, count)
            )
        )

    def stop_reason(self, state: RaceState) -> str | None:
        """Stop when the winner is confirmed."""
        return None if super().stop_reason(state) is None else self.confirming_reason

    def ranking(self, state: RaceState) -> IntArray:
        """Return the survivors: by folds where there are any, then by the last look."""
        confirming, final = (CONFIRM, *self._climbs), (FINAL,)
        if stage_decides(state, FINAL):
            return rank_by_folds(state, [final, confirming])
        return rank_by_folds(state, [confirming, final])

    def ranks_by_mean(self, state: RaceState) -> bool:
        """Return True: the folds that decide rank all that ran them."""
        del state
        return True

    @property
    def sentences(self) -> Mapping[str, str]:
        """What its reasons mean."""
        return SENTENCES

    def criterion(self, state: RaceState) -> str:
        """Say by what the winner ranks first."""
        if not any(seen.look.is_fold for seen in state.observations):
            return "by its mean loss at the last look"
        folds = "of the final" if stage_decides(state, FINAL) else "that confirm"
        return f"by its mean loss over the folds {folds}"

    # What enters --------------------------------------------------------------------

    def _worth_a_late_look(self, state: RaceState) -> IntArray:
        """Return survivors, representatives of every value, and a second chance."""
        losses = known_losses(state)
        if losses is None:  # every fit failed: there were too few rows
            return np.arange(state.n_configurations)
        promising = state.column("top") & bool(self.widen)
        chosen = worth_a_late_look(state.problem, losses, survivors(state), promising)
        return np.union1d(chosen, second_chances(state, self.max_survivors))

    def _tracked(self, state: RaceState) -> IntArray:
        """Return the best of the last look, neighbours of its leaders, and hedges."""
        losses = known_losses(state)
        if losses is None:
            return np.arange(state.n_configurations)
        numbers = self.n_tracked, self.n_leaders, self.n_hedges
        chosen = worth_confirming(state.problem, losses, *numbers)
        room = most_confirmed_and_climbing(state.problem, *numbers)[0] - len(chosen)
        again = second_chances(state, room // most_siblings(state.problem))
        if self.bounds_run:
            chosen = np.union1d(chosen, survivors(state))
        return np.union1d(chosen, again)

    def _unseen_neighbours(self, state: RaceState) -> IntArray:
        """Return neighbours of the leader that have run no fold yet."""
        seen = FoldRecord.of(state, (CONFIRM, *self._climbs)).seen
        near = neighbours_of(state.problem, self.ranking(state)[:1], 1)
        around = with_siblings(state.problem, near[~seen[near]])
        return around[~seen[around]]

    def _finalists(self, state: RaceState) -> IntArray:
        """Return the last few."""
        ranking = self.ranking(state)
        best = best_fits(state.problem.space, ranking, N_FINALISTS)
        return np.intersect1d(with_siblings(state.problem, best), ranking)

    # What does not go on, after the last look ---------------------------------------

    def _beyond_the_best(self, state: RaceState) -> IntArray:
        """Return survivors of the first look beyond the most that may go on."""
        if self.guarantee == "run":
            return nothing(state)
        left = survivors(state)
        losses = state.column("mean_losses")[left]
        order = left[np.argsort(losses, kind="stable")]
        best = best_fits(state.problem.space, order, self.max_survivors)
        return np.setdiff1d(left, with_siblings(state.problem, best))

    def _not_confirmed(self, state: RaceState) -> IntArray:
        """Return survivors that are not tracked."""
        return np.setdiff1d(survivors(state), self._tracked(state))

    def _not_in_the_final(self, state: RaceState) -> IntArray:
        """Return those that are not in the final, or too far behind in it."""
        if self.guarantee == "run":
            return nothing(state)
        runners = state.observations[-1].look.configurations
        aside = np.setdiff1d(survivors(state), runners)
        return np.union1d(aside, self._behind(state))

    def _behind(self, state: RaceState) -> IntArray:
        """Return runners that are too far behind for another fold."""
        problem, last = state.problem, state.observations[-1]
        if self.guarantee == "run" or not self._is_limited(problem):
            return nothing(state)
        stage, members = last.look.stage, last.look.configurations
        runners = members[state.active[members]]
        limit = self._most_after(stage, len(state.looks_of(stage)))
        order = FoldRecord.of(state, (stage,)).ranking(runners)
        best = best_fits(problem.space, order, limit)
        doubtful = DOUBTFUL_OF_ALL_ROWS if problem.of_all_rows else DOUBTFUL
        close = order[last.p_values[last.look.places(order)] > doubtful]
        kept = with_siblings(problem, np.union1d(best, close))
        return np.setdiff1d(runners, kept)

    def _is_limited(self, problem: Problem) -> bool:
        """Return whether those that are behind leave the folds without a test."""
        # By a score of all rows the test drops hardly any of few configurations.
        hardly = problem.of_all_rows and not self._is_short(problem)
        return hardly or bool(self.look_sizes(problem))

    def _most_after(self, stage: str, n_looks: int) -> int:
        """Return how many fits go on in any case after a number of folds."""
        # A final that has only begun says less than the confirmation before it.
        if not self.n_raced or (stage == FINAL and n_looks < self.n_folds):
            return sys.maxsize
        return 1 if stage == FINAL else max(FEWEST_RACED, self.n_raced // n_looks)

    # How many at most ---------------------------------------------------------------

    def _largest_stages(self, problem: Problem) -> dict[str, int]:
        """Return how many configurations each stage can have at most."""
        n_configurations = problem.n_configurations
        most = {stage.name: n_configurations for stage in self.stages(problem)}
        numbers = self.n_tracked, self.n_leaders, self.n_hedges
        tracked, climbing = most_confirmed_and_climbing(problem, *numbers)
        if FINAL in most:
            finalists = N_FINALISTS * most_siblings(problem)
            most[FINAL] = min(n_configurations, finalists)
        if self.look_sizes(problem):
            most[CONFIRM] = min(n_configurations, tracked)
        for name in most.keys() & self._climbs:
            most[name] = min(n_configurations - most[CONFIRM], climbing)
        if self.guarantee == "run" and CONFIRM in most:  # all may pass the tests
            most[CONFIRM] = n_configurations
        return most
