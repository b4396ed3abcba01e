"""A race that is not fooled by small subsets: track the optimum, confirm by folds."""

from __future__ import annotations

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.exceptions import InvalidInputError
from cvst.race._contrast import excess_p_values
from cvst.race._folds import FoldRecord
from cvst.race._parameters import Parametrised
from cvst.race._planned import PlannedLook, planned_folds, planned_prefix
from cvst.race._state import Look, LookLosses, Problem, RaceState, Verdict

__all__ = ["TrackAndConfirm"]

FIRST, LATE, CONFIRM, FINAL = "first look", "late look", "confirm", "final"

# A representative may be worse than the leader by this many times the lead of the
# leader over a constant prediction; beyond that it has shown nothing at all.
LARGEST_EXCESS = 3.0

# Without a constant prediction to compare with: as many times the leader's loss.
LARGEST_RATIO = 10.0


class TrackAndConfirm(Parametrised):
    """Look twice on subsets, follow the optimum, confirm the best by raced folds.

    Small subsets mislead: the best configuration on all rows is often bad on a tenth
    of them. So nobody is dropped for good on a subset. After a first look at all
    configurations, a late look sees the survivors and *one representative for every
    value of every hyper-parameter*; the best of them and their neighbours on the grid
    are confirmed by cross-validation on all rows, which is a race too.

    Parameters
    ----------
    first_fraction, late_fraction : float, default=0.2 and 0.4
        Training rows of the two looks, as a fraction of all.
    min_rows : int, default=150
        Smallest look. Where the late look would be smaller it is the only one; where
        this is more than 0.6 of the rows, all configurations go to the folds.
    max_survivors : int, default=40
        Most configurations that go from the first to the late look on their own.
    n_tracked, n_leaders : int, default=15 and 5
        How many of the late look are confirmed, and of how many the neighbours too.
    wide : bool, default=True
        Let the neighbours of representatives into the late look.
    n_hedges : int, default=10
        Bins of each axis whose best configuration enters the first fold too, in case
        the late look was still too small to show its worth; 0 is none.
    n_folds : int, default=5
        Folds of the confirmation.
    final_folds : int, default=10
        Further cross-validation of the last three with that many folds; 0 is none.
    climbs : int, default=4
        Most rounds in which unseen neighbours of the winner are confirmed too.
    level : float, default=0.05
        Bound, for each look, on the chance that the configuration with the smallest
        expected loss there is dropped by a test.
    few : int, default=30
        Fewer configurations than this go straight to the folds.

    Examples
    --------
    >>> TrackAndConfirm(n_folds=3, n_tracked=10, n_leaders=3, wide=False)
    TrackAndConfirm(n_tracked=10, n_leaders=3, wide=False, n_folds=3)
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
        n_tracked: int = 15,
        n_leaders: int = 5,
        wide: bool = True,
        n_hedges: int = 10,
        n_folds: int = 5,
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
        for name in ("min_rows", "max_survivors", "n_tracked", "n_leaders", "n_folds"):
            if getattr(self, name) < (2 if name == "n_folds" else 1):
                raise InvalidInputError(
                    f"{name}={getattr(self, name)!r} is too small. Use a whole number "
                    f"of at least {2 if name == 'n_folds' else 1}."
                )

    def look_sizes(self, problem: Problem) -> dict[str, int]:
        """Return the training rows of the looks on subsets, by stage."""
        n_samples = problem.n_samples
        if problem.n_configurations < self.few or self.min_rows > 0.6 * n_samples:
            return {}
        first = int(self.first_fraction * n_samples)
        late = max(self.min_rows, int(self.late_fraction * n_samples))
        if first < self.min_rows:
            first = self.min_rows
        sizes = {FIRST: problem.cut(first), LATE: problem.cut(late)}
        # Small data: a first look as large as the late one takes its place.
        return sizes if sizes[FIRST] < 0.8 * sizes[LATE] else {FIRST: sizes[LATE]}

    def planned_looks(self, problem: Problem) -> tuple[PlannedLook, ...]:
        """Return the looks on subsets and the folds of the longest race."""
        n_configurations = problem.n_configurations
        sizes = self.look_sizes(problem)
        looks = [
            planned_prefix(problem, n_train, stage, n_configurations)
            for stage, n_train in sizes.items()
        ]
        tracked = n_configurations
        if sizes:
            around = self.n_leaders * _most_neighbours(problem, 2)
            tracked = min(n_configurations, self.n_tracked + around)
        climbing = min(n_configurations - tracked, _most_neighbours(problem, 1))
        stages = {CONFIRM: tracked}
        stages |= {f"climb {n + 1}": climbing for n in range(self.climbs) if climbing}
        if self.final_folds and not problem.n_validation:
            stages[FINAL] = min(3, n_configurations)
        for stage, most in stages.items():
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
        candidates = self._candidates(state, stage)
        problem = state.problem
        if stage in (FIRST, LATE):
            n_train = self.look_sizes(problem)[stage]
            return Look(*problem.prefix(n_train), n_train, candidates, stage)
        if problem.n_validation:
            rows = problem.prefix(problem.n_samples)
            size = problem.n_samples
            return Look(*rows, size, candidates, stage, keep_losses=True)
        train, test = self._folds(problem, stage)[_count(state, stage)]
        options = {"keep_losses": True, "is_fold": True}
        return Look(train, test, len(train), candidates, stage, **options)

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Test everybody against the leader, on all rows seen in this stage so far."""
        if look.stage in (FIRST, LATE):
            order = np.argsort(seen.mean_losses, kind="stable")
            p_values = excess_p_values(list(seen.losses - seen.losses[order[0]]))
            worse = self._rejected(p_values)
            drops = dict.fromkeys(look.configurations[worse].tolist(), "paired test")
            if look.stage == FIRST:
                drops |= self._set_aside(look, order, worse)
            return Verdict(~worse, p_values, drops)
        everybody = np.ones(len(look.configurations), dtype=bool)
        unknown = np.full(len(everybody), np.nan)
        after = state.observe(look, seen, Verdict(everybody, unknown))
        record = FoldRecord.of(after, self._fold_stages(look.stage))
        leader = int(record.ranking(_runners(record, after))[0])
        differences = [
            record.differences(index, leader) for index in look.configurations.tolist()
        ]
        p_values = excess_p_values(differences)
        worse = self._rejected(p_values) | np.isnan(seen.mean_losses)
        reasons = {
            int(index): seen.failures.get(int(index), "paired test")
            for index in look.configurations[worse]
        }
        return Verdict(~worse, p_values, reasons)

    def ranking(self, state: RaceState) -> IntArray:
        """Return the survivors: by folds once there are any, else by the last look."""
        survivors = np.flatnonzero(state.active)
        for stages in ((FINAL,), self._fold_stages(CONFIRM)):
            record = FoldRecord.of(state, stages)
            runners = np.intersect1d(survivors, _runners(record, state))
            if len(runners):
                rest = np.setdiff1d(survivors, runners)
                return np.concatenate([record.ranking(runners), rest])
        if not state.observations:
            return survivors
        last = state.observations[-1].mean_losses[survivors]
        return survivors[np.argsort(last, kind="stable")]

    def _next_stage(self, state: RaceState) -> str | None:
        """Return the stage of the next look, None when all are done."""
        for stage in self.look_sizes(state.problem):
            if not _count(state, stage):
                return stage
        for stage in (CONFIRM, *(f"climb {n + 1}" for n in range(self.climbs))):
            n_looks = 1 if state.problem.n_validation else self._n_folds(state, stage)
            done = _count(state, stage)
            if done < n_looks and len(self._candidates(state, stage)):
                return stage
        if self.final_folds and not state.problem.n_validation:
            done = _count(state, FINAL)
            if done < self._n_folds(state, FINAL) and (
                len(self._candidates(state, FINAL)) > 1
            ):
                return FINAL
        return None

    def _candidates(self, state: RaceState, stage: str) -> IntArray:
        """Return who takes part in the next look of a stage."""
        looks = [o for o in state.observations if o.look.stage == stage]
        if looks:
            active = state.active
            members = looks[0].look.configurations
            return members[active[members]]
        if stage == FIRST:
            return np.arange(state.problem.n_configurations)
        if stage == LATE:
            return self._late_candidates(state)
        if stage == CONFIRM:
            return self._tracked(state)
        if stage == FINAL:
            return np.sort(self.ranking(state)[:3])
        return self._unseen_neighbours(state)

    def _late_candidates(self, state: RaceState) -> IntArray:
        """Return survivors and a representative of every level of every axis."""
        first = state.observations[0].mean_losses
        survivors = np.flatnonzero(state.active)
        space = state.problem.space
        if space is None:
            return survivors
        chosen = space.representatives(first, self._worth_a_look(state, first))
        if self.wide:
            around = [space.neighbours(index, 1) for index in chosen.tolist()]
            worth = self._worth_a_look(state, first)
            chosen = np.union1d(chosen, np.concatenate([*around, survivors]))
            chosen = chosen[worth[chosen] | np.isin(chosen, survivors)]
        return np.union1d(survivors, chosen).astype(np.intp)

    def _worth_a_look(self, state: RaceState, losses: FloatArray) -> BoolArray:
        leader = np.nanmin(losses)
        constant = state.problem.constant_loss
        if constant is not None and constant > leader:
            limit = leader + LARGEST_EXCESS * (constant - leader)
        else:
            limit = LARGEST_RATIO * leader
        return np.nan_to_num(losses, nan=np.inf) <= limit

    def _tracked(self, state: RaceState) -> IntArray:
        """Return the best of the last look and the neighbours of its leaders."""
        if not state.observations:
            return np.arange(state.problem.n_configurations)
        last = state.observations[-1].mean_losses
        order = np.argsort(last, kind="stable")
        order = order[np.isfinite(last[order])]
        chosen = [order[: self.n_tracked]]
        space = state.problem.space
        if space is not None:
            leaders = order[: self.n_leaders].tolist()
            chosen += [space.neighbours(index, 2) for index in leaders]
            if self.n_hedges:
                worth = self._worth_a_look(state, last)
                chosen.append(space.representatives(last, worth, self.n_hedges))
        return np.unique(np.concatenate(chosen)).astype(np.intp)

    def _unseen_neighbours(self, state: RaceState) -> IntArray:
        space = state.problem.space
        if space is None:
            return np.empty(0, dtype=np.intp)
        record = FoldRecord.of(state, self._fold_stages(CONFIRM))
        winner = int(self.ranking(state)[0])
        seen = {index for index, _ in record.losses}
        near = space.neighbours(winner, 1)
        return near[[index not in seen for index in near.tolist()]]

    def _set_aside(
        self, look: Look, order: IntArray, worse: BoolArray
    ) -> dict[int, str]:
        """Return who survived the test but not the limit on their number."""
        survivors = order[~worse[order]]
        aside = look.configurations[survivors[self.max_survivors :]]
        return dict.fromkeys(aside.tolist(), "rank")

    def _rejected(self, p_values: FloatArray) -> BoolArray:
        # Any of the others might be the leader by chance, so the level is divided by
        # their number: then the bound of ``level`` holds for whoever is truly best.
        n_others = max(1, int(np.isfinite(p_values).sum()))
        return np.nan_to_num(p_values, nan=1.0) <= self.level / n_others

    def _fold_stages(self, stage: str) -> tuple[str, ...]:
        if stage == FINAL:
            return (FINAL,)
        return (CONFIRM, *(f"climb {n + 1}" for n in range(self.climbs)))

    def _folds(
        self, problem: Problem, stage: str
    ) -> tuple[tuple[IntArray, IntArray], ...]:
        return problem.folds[self.final_folds if stage == FINAL else self.n_folds]

    def _n_folds(self, state: RaceState, stage: str) -> int:
        return len(self._folds(state.problem, stage))


def _most_neighbours(problem: Problem, distance: int) -> int:
    """Return how many neighbours a configuration can have."""
    if problem.space is None:
        return 0
    everybody = range(problem.n_configurations)
    return max(len(problem.space.neighbours(index, distance)) for index in everybody)


def _count(state: RaceState, stage: str) -> int:
    return sum(o.look.stage == stage for o in state.observations)


def _runners(record: FoldRecord, state: RaceState) -> IntArray:
    """Return who has run folds and is active."""
    active = state.active
    runners = {index for index, _ in record.losses if active[index]}
    return np.array(sorted(runners), dtype=np.intp)
