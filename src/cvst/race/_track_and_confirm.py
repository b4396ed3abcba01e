"""A race that is not fooled by small subsets: track the optimum, confirm by folds."""

from __future__ import annotations

import sys

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.exceptions import InvalidInputError
from cvst.race._contrast import excess_p_values, rejected
from cvst.race._folds import FoldRecord, Folds, largest_first, n_looks_of, same_folds
from cvst.race._parameters import Parametrised
from cvst.race._planned import PlannedLook, planned_folds, planned_prefix
from cvst.race._ranking import last_finite
from cvst.race._returning import known_losses, returning
from cvst.race._state import Look, LookLosses, Problem, RaceState, Verdict
from cvst.race._tracking import (
    best_fits,
    late_candidates,
    most_candidates,
    most_siblings,
    n_fits,
    neighbours_of,
    tracked_candidates,
    with_siblings,
)

__all__ = ["TrackAndConfirm"]

FIRST, LATE, CONFIRM, FINAL = "first look", "late look", "confirm", "final"

# Reasons of a drop: shown to be worse, or not among the best that may go on.
BY_TEST, BY_RANK = "paired test", "rank"

# The second number where all went to the folds at once: more are close there.
N_FINALISTS, N_FINALISTS_OF_FEW = 2, 3

# So few go straight to the folds of the final: the confirmation would save little.
FEWEST_FITS = 5

# At least so many go on to the next fold of the confirmation unless a test drops them,
# and whose excess over the leader is less sure than this.
FEWEST_RACED, DOUBTFUL = 5, 0.1

# The smallest numbers that make sense.
COUNTS = "min_rows", "max_survivors", "n_tracked", "n_leaders", "n_raced"
FEWEST = dict.fromkeys(COUNTS, 1) | dict.fromkeys(("n_folds", "final_folds"), 2)

# No look on a subset takes more of the rows.
LARGEST_FRACTION = 0.6


class TrackAndConfirm(Parametrised):
    """Look twice on subsets, follow the optimum, confirm the best by raced folds.

    Small subsets mislead: the best configuration on all rows is often bad on a tenth
    of them. So whoever falls on a subset can come back. After a first look at all
    configurations, a late look sees the survivors and *one representative for every
    value of every hyper-parameter*; the best of them and their neighbours on the grid
    are confirmed by cross-validation on all rows, which is a race too.

    Where one fit serves several configurations (trees of a forest, rounds of boosting)
    they take part together, and all numbers below count fits.

    Parameters
    ----------
    first_fraction, late_fraction : float, default=0.2 and 0.4
        Training rows of the two looks, as a fraction of all.
    min_rows : int, default=150
        Smallest look; more where it takes more for five rows of each class. Where
        this is more than 0.6 of the rows, all configurations go to the folds.
    max_survivors : int, default=40
        Most configurations that go from the first to the late look on their own.
    n_tracked, n_leaders : int, default=10 and 3
        How many of the late look are confirmed, and of how many the neighbours too.
    wide : bool, default=True
        Let the neighbours of representatives that passed the first test in, too.
    n_hedges : int, default=10
        Bins of each axis whose best configuration enters the first fold too, in case
        the late look was still too small to show its worth; 0 is none.
    n_folds : int, default=5
        Folds of the confirmation.
    n_raced : int, default=15
        After the first fold of the confirmation so many go on, half as many after the
        second and so on, but at least five, and whoever is about as good by the test
        (p > 0.1), which ends the final too. 0, or all going to the folds, is no limit.
    final_folds : int, default=10
        Further cross-validation of the last two, of three where all went to the folds
        at once, with that many folds; 0 is none.
    climbs : int, default=4
        Most rounds in which unseen neighbours of the winner are confirmed too.
    level : float, default=0.05
        Bound, for each look, on the chance that the configuration with the smallest
        expected loss there is dropped by a test; approximate in folds and climbs.
    few : int, default=30
        Fewer configurations than this go straight to the folds, five or fewer to
        those of the final.

    Examples
    --------
    >>> TrackAndConfirm(n_folds=3, n_raced=0)
    TrackAndConfirm(n_folds=3, n_raced=0)
    """

    n_orders = 0
    needs_residuals = False
    rescales = False

    def __init__(
        self,
        first_fraction: float = 0.2,
        late_fraction: float = 0.4,
        min_rows: int = 150,
        max_survivors: int = 40,
        n_tracked: int = 10,
        n_leaders: int = 3,
        wide: bool = True,
        n_hedges: int = 10,
        n_folds: int = 5,
        n_raced: int = 15,
        final_folds: int = 10,
        climbs: int = 4,
        level: float = 0.05,
        few: int = 30,
    ) -> None:
        self.first_fraction = first_fraction
        self.late_fraction = late_fraction
        self.min_rows = min_rows
        self.max_survivors = max_survivors
        self.n_tracked = n_tracked
        self.n_leaders = n_leaders
        self.wide = wide
        self.n_hedges = n_hedges
        self.n_folds = n_folds
        self.n_raced = n_raced
        self.final_folds = final_folds
        self.climbs = climbs
        self.level = level
        self.few = few

    @property
    def fold_counts(self) -> tuple[int, ...]:
        """Ask for the folds of the confirmation and of the final."""
        return (self.n_folds, self.final_folds) if self.final_folds else (self.n_folds,)

    def check(self, problem: Problem) -> None:  # noqa: ARG002 - the protocol's
        """Raise an error that explains why this race cannot be run, if so."""
        if not 0 < self.first_fraction < self.late_fraction < 1:
            raise InvalidInputError(
                f"first_fraction={self.first_fraction} and "
                f"late_fraction={self.late_fraction} must satisfy 0 < first < late < 1."
            )
        if not 0 < self.level < 1:
            raise InvalidInputError(
                f"level={self.level!r} must lie strictly between 0 and 1."
            )
        for name, least in FEWEST.items():
            value = getattr(self, name)
            # A limit or a final that 0 switches off.
            if value < least and not (
                name in ("n_raced", "final_folds") and value == 0
            ):
                raise InvalidInputError(
                    f"{name}={value!r} is too small. Use a whole number of at least "
                    f"{least}."
                )

    def look_sizes(self, problem: Problem) -> dict[str, int]:
        """Return the training rows of the looks on subsets, by stage."""
        n_samples = problem.n_samples
        smallest = max(self.min_rows, problem.min_rows)
        if n_fits(problem) < self.few or smallest > LARGEST_FRACTION * n_samples:
            return {}
        first, late = (
            problem.cut(max(smallest, int(fraction * n_samples)), smallest)
            for fraction in (self.first_fraction, self.late_fraction)
        )
        if late == n_samples:  # one group has nearly all rows
            return {}
        # Small data: a first look as large as the late one takes its place.
        return {FIRST: first, LATE: late} if first < 0.8 * late else {FIRST: late}

    def planned_looks(self, problem: Problem) -> tuple[PlannedLook, ...]:
        """Return the looks on subsets and the folds of the longest race."""
        looks = [
            planned_prefix(problem, n_train, stage, problem.n_configurations)
            for stage, n_train in self.look_sizes(problem).items()
        ]
        for stage, most in self._largest_stages(problem).items():
            if problem.n_validation:
                n_samples = problem.n_samples
                looks.append(planned_prefix(problem, n_samples, stage, most))
            else:
                looks.extend(planned_folds(self._folds(problem, stage), stage, most))
        return tuple(looks)

    def stop_reason(self, state: RaceState) -> str | None:
        """Stop when the winner is confirmed."""
        return "confirmed" if self._next_stage(state) is None else None

    def next_look(self, state: RaceState) -> Look:
        """Return the next subset or fold, with those of interest there."""
        stage = self._next_stage(state)
        assert stage is not None
        problem = state.problem
        on_subset = stage in (FIRST, LATE)
        n_train = self.look_sizes(problem).get(stage, problem.n_samples)
        train, test = problem.prefix(n_train)
        is_fold = not (on_subset or problem.n_validation)
        if is_fold:
            train, test = self._folds(problem, stage)[n_looks_of(state, stage)]
            n_train = len(train)
        return Look(
            *(train, test, n_train, self._candidates(state, stage), stage),
            keep_losses=not on_subset,
            is_fold=is_fold,
            may_fail=stage not in (CONFIRM, FINAL),
        )

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Test everybody against the leader, on all rows seen in this stage so far."""
        if look.stage in (FIRST, LATE):
            if np.isnan(seen.mean_losses).all():
                return Verdict(np.zeros(len(seen.losses), dtype=bool), seen.mean_losses)
            leader = int(np.nanargmin(seen.mean_losses))
            p_values = excess_p_values(list(seen.losses - seen.losses[leader]))
        else:
            p_values = self._fold_p_values(state, look, seen)
        worse = rejected(p_values, self.level) | np.isnan(seen.mean_losses)
        drops = {
            index: seen.failures.get(index, BY_TEST)
            for index in look.configurations[worse].tolist()
        }
        after = state.observe(look, seen, Verdict(~worse, p_values, drops))
        aside = dict.fromkeys(self._set_aside(after).tolist(), BY_RANK)
        return Verdict(~worse, p_values, drops | aside)

    def ranking(self, state: RaceState) -> IntArray:
        """Return the survivors: by folds where there are any, then by the last look."""
        rest = state.active.copy()
        chosen = []
        for stages in self._ranking_stages(state):
            record = FoldRecord.of(state, stages)
            runners = np.flatnonzero(rest & record.seen)
            chosen.append(record.ranking(runners))
            rest[runners] = False
        if rest.any():
            others = np.flatnonzero(rest)
            last = last_finite(state.mean_losses)[others]
            chosen.append(others[np.argsort(last, kind="stable")])
        return np.concatenate(chosen)

    def _fold_p_values(
        self, state: RaceState, look: Look, seen: LookLosses
    ) -> FloatArray:
        everybody = np.ones(len(look.configurations), dtype=bool)
        unknown = np.full(len(everybody), np.nan)
        after = state.observe(look, seen, Verdict(everybody, unknown))
        record = FoldRecord.of(after, self._fold_stages(look.stage))
        leader = int(record.ranking(np.flatnonzero(record.seen & after.active))[0])
        return excess_p_values(record.differences(look.configurations, leader))

    def _set_aside(self, state: RaceState) -> IntArray:
        """Return who passed all tests but does not go on, after the last look."""
        stage = state.observations[-1].look.stage
        losses = state.observations[-1].mean_losses
        survivors = np.flatnonzero(state.active)
        if stage == FIRST and LATE in self.look_sizes(state.problem):
            order = survivors[np.argsort(losses[survivors], kind="stable")]
            best = best_fits(state.problem.space, order, self.max_survivors)
            return np.setdiff1d(survivors, with_siblings(state.problem, best))
        if stage in (FIRST, LATE):
            return np.setdiff1d(survivors, self._candidates(state, CONFIRM))
        runners = state.observations[-1].look.configurations
        aside = np.setdiff1d(survivors, runners if stage == FINAL else survivors)
        if stage in (CONFIRM, FINAL) and self.look_sizes(state.problem):
            behind = self._behind(state, stage, np.intersect1d(runners, survivors))
            return np.union1d(aside, behind)
        return aside

    def _behind(self, state: RaceState, stage: str, runners: IntArray) -> IntArray:
        """Return which of the runners are too far behind for another fold."""
        limit = self._most_after(stage, n_looks_of(state, stage))
        order = FoldRecord.of(state, (stage,)).ranking(runners)
        best = best_fits(state.problem.space, order, limit)
        close = order[state.observations[-1].p_values[order] > DOUBTFUL]
        kept = with_siblings(state.problem, np.union1d(best, close))
        return np.setdiff1d(runners, kept)

    def _most_after(self, stage: str, n_looks: int) -> int:
        """Return how many fits go on in any case after so many folds."""
        # A final that has only begun says less than the confirmation before it.
        if not self.n_raced or (stage == FINAL and n_looks < self.n_folds):
            return sys.maxsize
        return 1 if stage == FINAL else max(FEWEST_RACED, self.n_raced // n_looks)

    def _next_stage(self, state: RaceState) -> str | None:
        """Return the stage of the next look, None when all are done."""
        for stage in self.look_sizes(state.problem):
            if not n_looks_of(state, stage):
                return stage
        stages = self._confirming_stages(state.problem)
        # A final that has begun is the end: who climbed then could not win it.
        for stage in stages[-1:] if n_looks_of(state, FINAL) else stages:
            n_looks = self._n_looks(state.problem, stage)
            fewest = 2 if stage == FINAL and state.observations else 1
            if n_looks_of(state, stage) < n_looks and (
                len(self._candidates(state, stage)) >= fewest
            ):
                return stage
        return None

    def _candidates(self, state: RaceState, stage: str) -> IntArray:
        """Return who takes part in the next look of a stage."""
        looks = [o for o in state.observations if o.look.stage == stage]
        if looks:
            members = looks[0].look.configurations
            return members[state.active[members]]
        problem = state.problem
        if not state.observations:
            return np.arange(problem.n_configurations)
        if stage == FINAL:
            ranking = self.ranking(state)
            best = best_fits(problem.space, ranking, self._n_finalists(problem))
            return np.intersect1d(with_siblings(problem, best), ranking)
        if stage not in (LATE, CONFIRM):
            return self._unseen_neighbours(state)
        losses = known_losses(state)
        if losses is None:  # nobody could be fitted on so few rows
            return np.arange(problem.n_configurations)
        if stage == LATE:
            survivors = np.flatnonzero(state.active)
            promising = state.observations[-1].top & bool(self.wide)
            chosen = late_candidates(problem, losses, survivors, promising)
            return np.union1d(chosen, returning(state, self.max_survivors))
        numbers = self.n_tracked, self.n_leaders, self.n_hedges
        chosen = tracked_candidates(problem, losses, *numbers)
        room = most_candidates(problem, *numbers)[0] - len(chosen)
        again = returning(state, room // most_siblings(problem))
        return np.union1d(chosen, again)

    def _unseen_neighbours(self, state: RaceState) -> IntArray:
        record = FoldRecord.of(state, self._fold_stages(CONFIRM))
        near = neighbours_of(state.problem, self.ranking(state)[:1], 1)
        around = with_siblings(state.problem, near[~record.seen[near]])
        return around[~record.seen[around]]

    def _ranking_stages(self, state: RaceState) -> list[tuple[str, ...]]:
        """Return the stages whose folds rank, the weightiest first."""
        stages = [self._fold_stages(CONFIRM)]
        if n_looks_of(state, FINAL) >= min(self.n_folds, self.final_folds):
            return [(FINAL,), *stages]
        return [*stages, (FINAL,)]

    def _confirming_stages(self, problem: Problem) -> tuple[str, ...]:
        """Return the stages with folds, in order."""
        has_final = bool(self.final_folds) and not problem.n_validation
        if has_final and n_fits(problem) <= FEWEST_FITS:
            return (FINAL,)
        stages = self._fold_stages(CONFIRM)
        # The user's own folds are the same in both; twice is no evidence.
        if has_final and not same_folds(
            problem.folds[self.n_folds], problem.folds[self.final_folds]
        ):
            return (*stages, FINAL)
        return stages

    def _largest_stages(self, problem: Problem) -> dict[str, int]:
        """Return how many configurations each stage with folds can have at most."""
        n_configurations = problem.n_configurations
        stages = self._confirming_stages(problem)
        most = dict.fromkeys(stages, n_configurations)
        numbers = self.n_tracked, self.n_leaders, self.n_hedges
        tracked, climbing = most_candidates(problem, *numbers)
        if len(stages) > 1 and FINAL in most:
            finalists = self._n_finalists(problem) * most_siblings(problem)
            most[FINAL] = min(n_configurations, finalists)
        if self.look_sizes(problem):
            most[CONFIRM] = min(n_configurations, tracked)
        for stage in stages:
            if stage.startswith("climb"):
                most[stage] = min(n_configurations - most[CONFIRM], climbing)
        return {stage: count for stage, count in most.items() if count}

    def _n_finalists(self, problem: Problem) -> int:
        return N_FINALISTS if self.look_sizes(problem) else N_FINALISTS_OF_FEW

    def _fold_stages(self, stage: str) -> tuple[str, ...]:
        if stage == FINAL:
            return (FINAL,)
        return (CONFIRM, *(f"climb {n + 1}" for n in range(self.climbs)))

    def _folds(self, problem: Problem, stage: str) -> Folds:
        """Return the folds of a stage, those with most training rows first."""
        folds = problem.folds[self.final_folds if stage == FINAL else self.n_folds]
        return largest_first(folds)

    def _n_looks(self, problem: Problem, stage: str) -> int:
        return 1 if problem.n_validation else len(self._folds(problem, stage))
