"""What a race that proposes can afford: rows, rungs, seconds and forecasts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from cvst._typing import Configuration, FloatArray, IntArray
from cvst.race._families import Family, Record, most_rounds, record_of
from cvst.race._folds import largest_first
from cvst.race._problem import Problem
from cvst.race._proposal_parts import Plan, Source, Trial
from cvst.race._state import RaceState
from cvst.race._strategy import Strategy

__all__ = ["GOING_ON", "ProposalTimes"]

# Each rung has this many times the training rows of the one below.
GROWTH = 4

# A rung is worth it if its fits take at most this share of those one rung above.
WORTH_IT = 0.6

# Fewest fits that the time for screening should allow; else a smaller rung is taken.
WANTED_TRIALS = 40

# Without a clock: no more rows than this on the rung where configurations are screened.
LARGEST_SCREEN = 20_000

# A first look may take this share of the time left, and forecasts of it are learnt from
# this many others.
DEAREST, FEWEST_TRIALS = 0.4, 6

# A fit takes at least this share of one with many times the rounds.
LEAST_WORK = 0.1

# Share of those confirmed that go on after each fold.
GOING_ON = (0.6, 0.4, 0.3)

# With a clock: a look has several configurations if the work between two looks takes
# more than this share of a fit; most of them, and about how many looks there still are.
OWN_SHARE, LARGEST_BATCH, FEWEST_LOOKS = 0.04, 32, 40

# Forecasts err: a look begins only if this many times its forecast is left, the second
# number if none of its configurations was looked at before.
MARGIN, UNSEEN_MARGIN = 1.15, 1.35

# Share of the time that is left for what comes after the last look, and seconds for the
# results of each configuration.
CLOSING, CLOSING_EACH = 0.01, 1e-4


class ProposalTimes(Strategy):
    """Knows what looks at families cost, and so what comes into question.

    The parameters are those of :class:`ProposeAndConfirm`.
    """

    _is_aside = False
    _known: tuple[RaceState, Record] | None = None

    def __init__(
        self,
        source: Source,
        n_iter: int | None = None,
        n_folds: int = 5,
        n_confirmed: int = 10,
        confirm_share: float = 0.3,
        min_rows: int = 500,
        max_test: int = 10_000,
        level: float = 0.05,
        batch: int = 1,
        screen_rounds: int | None = None,
        refits: bool = True,
        rounds: Collection[str] = (),
    ) -> None:
        self.source = source
        self.n_iter = n_iter
        self.n_folds = n_folds
        self.n_confirmed = n_confirmed
        self.confirm_share = confirm_share
        self.min_rows = min_rows
        self.max_test = max_test
        self.level = level
        self.batch = batch
        self.screen_rounds = screen_rounds
        self.refits = refits
        self.rounds = rounds

    def _left(self, state: RaceState) -> float:
        """Return the seconds that are left before the final fit."""
        return self._left_in_all(state) - self._reserve(state)

    def _left_in_all(self, state: RaceState) -> float:
        if state.problem.seconds is None:
            return np.inf
        seconds = (1 - CLOSING) * state.problem.seconds
        seconds -= CLOSING_EACH * state.n_configurations
        return seconds - state.elapsed

    def _fits(self, state: RaceState, plan: Plan) -> bool:
        # What has to be worked out before a look takes its time as well, and who wins
        # a look at all rows may take longer to fit than the leader of today.
        needed = self._own(state) + self._forecast(state, plan)
        reserve = 0.0
        if plan.rung == 0:
            after = [self._refit_seconds(state, one) for one in plan.families]
            after += [] if plan.families else self._refits_of_new(state)
            reserve = max([self._reserve(state), *after])
        return needed <= min(self._left(state), self._left_in_all(state) - reserve)

    def _forecast(self, state: RaceState, plan: Plan) -> float:
        if plan.fold:
            seconds = sum(self._fold_seconds(state, one) for one in plan.families)
        elif plan.families:
            seconds = self._seconds_together(state, plan.families, plan.rung)
        else:
            # As much of them as will be looked at: see _first_members.
            most = DEAREST * self._left(state)
            families = self._new(state)
            ends = [one for family in families for one in (family[0], family[-1])]
            first, last = self._unseen_seconds(state, ends, plan.rung).reshape(-1, 2).T
            seconds = float(np.maximum(np.minimum(first, most), last).sum())
        record = self._record(state)
        unseen = all(not record.families[one].is_seen for one in plan.families)
        return (UNSEEN_MARGIN if unseen else MARGIN) * self._wall(state) * seconds

    def _seconds_together(
        self, state: RaceState, numbers: Sequence[int], rung: int
    ) -> float:
        """Return what some families will take, forecasts of the unseen made at once."""
        families = self._record(state).families
        unseen = [
            state.configurations[self._first_members(state, families[n], rung)[0]]
            for n in numbers
            if not families[n].is_seen
        ]
        seen = [self._seconds(state, n, rung) for n in numbers if families[n].is_seen]
        return float(self._unseen_seconds(state, unseen, rung).sum()) + sum(seen)

    def _seconds(self, state: RaceState, number: int, rung: int) -> float:
        """Return what a family will take on a rung, by what it took on others."""
        record = self._record(state)
        family = record.families[number]
        if rung in family.rungs:
            return family.rungs[rung].seconds
        known = self._record(state).mean_seconds()
        if not family.is_seen:
            return self._seconds_together(state, [number], rung)
        near = _nearest(family, rung)
        own = family.rungs[near].seconds
        if rung in known:
            return own * self._ratio(state, rung, near)
        steps = near - rung
        return own * float(min(GROWTH, self._growth(known)) ** steps)

    def _unseen_seconds(
        self, state: RaceState, configurations: Sequence[Configuration], rung: int
    ) -> FloatArray:
        """Return what configurations that no look has seen will take."""
        trials = self._trials_of_size(state, rung)
        if not configurations:
            return np.empty(0)
        if len(trials) >= FEWEST_TRIALS:
            return self.source.seconds(configurations, trials)
        # Too few to learn from: as the first one, in proportion to the rounds.
        first = self._record(state).families[0]
        if not first.is_seen:
            return np.zeros(len(configurations))
        sight = first.rungs[_nearest(first, rung)]
        own = _rounds(state, state.configurations[sight.largest])
        rounds = [_rounds(state, one) for one in configurations]
        ratios = [one / own if one and own else 1.0 for one in rounds]
        return self._seconds(state, 0, rung) * np.maximum(LEAST_WORK, ratios)

    def _first_members(self, state: RaceState, family: Family, rung: int) -> list[int]:
        """Return the members for a first look: without those with too many rounds."""
        if state.problem.seconds is None or len(family.members) == 1:
            return family.members
        members = [state.configurations[number] for number in family.members]
        seconds = self._unseen_seconds(state, members, rung)
        cheap = np.flatnonzero(seconds <= DEAREST * self._left(state))
        return family.members[cheap[0] if len(cheap) else -1 :]

    def _members(self, state: RaceState, number: int, rung: int) -> list[int]:
        """Return the members worth another look: up to some above the best.

        More rows want more rounds, and members come with most rounds first. Those far
        above cost more and were no better. The first family stays whole: its first
        member is what the estimator has, to be returned unless beaten.
        """
        family = self._record(state).families[number]
        if not family.is_seen:
            return self._first_members(state, family, rung)
        if number == 0:
            return family.members
        best = family.rungs[family.highest].best
        above = 1 + max(0, family.highest - rung)
        return family.members[max(0, family.members.index(best) - above) :]

    def _fold_seconds(self, state: RaceState, number: int) -> float:
        """Return what a family will take on a fold that confirms."""
        family = self._record(state).families[number]
        if family.folds:
            return float(np.mean([sight.seconds for sight in family.folds.values()]))
        return self._seconds(state, number, 0) * self._whole(state, family.members[0])

    def _whole(self, state: RaceState, number: int) -> float:
        """Return how many times the rounds of the screening a configuration has."""
        if self.screen_rounds is None:
            return 1.0
        return max(
            1.0, _rounds(state, state.configurations[number]) / self.screen_rounds
        )

    def _reserve(self, state: RaceState) -> float:
        """Return the seconds that the final fit will take, with a margin."""
        if not state.observations:
            return 0.0
        return self._refit_seconds(state, self._leader(state))

    def _refit_seconds(self, state: RaceState, number: int) -> float:
        """Return what the final fit of a family would take, with a margin."""
        if not self.refits:
            return 0.0
        record, sizes = self._record(state), self._sizes(state.problem)
        family = record.families[number]
        more_rows = state.problem.refit_rows / sizes[0]
        whole = MARGIN * more_rows * self._whole(state, family.members[0])
        if not family.is_seen:
            return whole * self._seconds(state, number, 0)
        sight = family.rungs[family.highest]
        if 0 in record.seconds:
            growth = self._seconds(state, number, 0) / max(sight.seconds, 1e-9)
        else:
            # Fits on few rows have constant costs, which hide how they grow; in
            # proportion to the rows, these costs would be multiplied.
            each = (GROWTH * min(GROWTH, self._growth(record.mean_seconds()))) ** 0.5
            growth = each**family.highest
        return whole * sight.fit_seconds * growth

    def _refits_of_new(self, state: RaceState) -> list[float]:
        """Return what final fits of new families would take, as if they had joined."""
        if not self.refits:
            return []
        members = [family[0] for family in self._new(state)]
        seconds = self._unseen_seconds(state, members, 0)
        more_rows = state.problem.refit_rows / self._sizes(state.problem)[0]
        return [MARGIN * more_rows * float(one) for one in seconds]

    def _share(self, state: RaceState) -> float:
        assert state.problem.seconds is not None
        return self.confirm_share * (state.problem.seconds - self._reserve(state))

    def _confirm_seconds(self, state: RaceState, most: int) -> float:
        """Return what the confirmation of some families would take."""
        record = self._record(state)
        best = record.on_rung(0)[:most]
        each = [self._fold_seconds(state, n) for n in best or [0]]
        n_folds = len(self._folds(state.problem)) - 1
        shares = [1.0, *GOING_ON][:n_folds]
        count = max(2, min(most, len(best)))
        work = float(np.mean(each)) * sum(max(2.0, share * count) for share in shares)
        return MARGIN * self._wall(state) * work

    def _affordable(self, state: RaceState, best: list[int]) -> int:
        """Return how many families the time left can confirm."""
        if state.problem.seconds is None:
            return self.n_confirmed
        n_folds = len(self._folds(state.problem)) - 1
        each = [self._fold_seconds(state, n) for n in best or [0]]
        work = MARGIN * self._wall(state) * float(np.mean(each))
        rounds = sum([1.0, *GOING_ON][:n_folds])
        most = int(self._left(state) / max(work * rounds, 1e-9))
        return min(self.n_confirmed, most)

    def _base(self, state: RaceState) -> int:
        """Return the rung on which new configurations are screened."""
        sizes = self._sizes(state.problem)
        if state.problem.seconds is None:
            return next(
                (r for r, n in enumerate(sizes) if n <= LARGEST_SCREEN), len(sizes) - 1
            )
        known = self._record(state).mean_seconds()
        base = min(known, default=0)
        time = (1 - self.confirm_share) * state.problem.seconds
        while base + 1 in known:
            slow = known[base] * WANTED_TRIALS * self._wall(state) > time
            if not slow or self._ratio(state, base + 1, base) > WORTH_IT:
                break
            base += 1
        return base

    def _n_together(self, state: RaceState) -> int:
        """Return how many families a look of the screening has."""
        if state.problem.seconds is None:
            return self.batch
        # Where fits are short, looks of many keep the race's own work small, but never
        # so many that a proposer could not learn from most of the others.
        each = self._record(state).mean_seconds().get(self._base(state), np.inf)
        each = max(each * self._wall(state), 1e-6)
        most = min(LARGEST_BATCH, state.problem.seconds / FEWEST_LOOKS / each)
        return max(self.batch, int(min(most, self._own(state) / OWN_SHARE / each)))

    def _own(self, state: RaceState) -> float:
        """Return the seconds between two looks."""
        if state.n_looks < 2:
            return 0.0
        between = state.elapsed - state.observations[0].elapsed
        between -= self._record(state).spent
        return max(0.0, between / (state.n_looks - 1))

    def _wall(self, state: RaceState) -> float:
        """Return seconds on the clock for each second of work."""
        record = self._record(state)
        if not (record.worked > 0 and record.spent > 0):
            return 1.0
        return float(np.clip(record.spent / record.worked, 0.05, 2.0))

    def _ratio(self, state: RaceState, rung: int, other: int) -> float:
        """Return how many times as long a look takes on one rung as on another."""
        record = self._record(state)
        first = record.families[0].rungs
        fewest = min(len(record.seconds[rung]), len(record.seconds[other]))
        if fewest < FEWEST_TRIALS and rung in first and other in first:
            # Means over a few would compare different configurations.
            return first[rung].seconds / max(first[other].seconds, 1e-9)
        known = record.mean_seconds()
        return known[rung] / max(known[other], 1e-9)

    def _growth(self, known: Mapping[int, float]) -> float:
        """Return how many times longer a fit takes on a rung with more rows."""
        pairs = [(known[r], known[r + 1]) for r in known if r + 1 in known]
        if not pairs:
            return float(GROWTH)
        larger, smaller = pairs[0]
        return float(np.clip(larger / max(smaller, 1e-9), 1.0, 1.5 * GROWTH))

    def _fidelity(self, state: RaceState, rung: int) -> float:
        """Return the share of all folds; minus their number stands for other folds."""
        sizes, n_folds = self._sizes(state.problem), len(self._folds(state.problem))
        return (1 - rung if rung < 0 else sizes[rung] / sizes[0]) / n_folds

    def _trials(self, state: RaceState) -> list[Trial]:
        """Return all looks of the screening, in order."""
        record, known = self._record(state), getattr(self, "_told", None)
        # The first look is taken back when it is repeated, so all before is made anew.
        if known is None or known[0] is not record or len(known[1]) <= 1:
            fresh: list[Trial] = []
            known = self._told = (record, fresh)
        trials: list[Trial] = known[1]
        configurations = state.configurations
        # Without a clock nothing may depend on how fast the machine is.
        clock = state.problem.seconds is not None
        for number, rung, one in record.seen[len(trials) :]:
            first = record.families[number].members[0]
            seconds = one.seconds * _times_the_rounds(state, first, one.largest)
            trials.append(
                Trial(
                    configurations[first],
                    one.loss,
                    self._fidelity(state, rung),
                    seconds if clock else 1.0,
                )
            )
        return trials

    def _trials_of_size(self, state: RaceState, rung: int) -> list[Trial]:
        """Return the looks on a rung: the same list until there are others."""
        trials, fidelity = self._trials(state), self._fidelity(state, rung)
        known = getattr(self, "_alike", None)
        if known is None or known[0] is not trials or known[1] != (len(trials), rung):
            alike = [one for one in trials if one.fidelity == fidelity]
            known = self._alike = (trials, (len(trials), rung), alike)
        chosen: list[Trial] = known[2]
        return chosen

    def _new(self, state: RaceState) -> list[list[Configuration]]:
        """Ask the source for new families, once for each state."""
        key = (state.n_looks, state.n_configurations)
        memo = getattr(self, "_drawn", None)
        if memo is None or memo[0] != key or memo[1] is not state.observations:
            count = self._n_together(state)
            if self.n_iter is not None:
                count = min(count, self.n_iter - len(self._record(state).families))
            seed = (state.problem.seed, state.n_configurations)
            trials = self._trials(state)
            drawn = self.source.propose(trials, count, seed) if count > 0 else []
            self._drawn = (key, state.observations, drawn)
        families: list[list[Configuration]] = self._drawn[2]
        return families

    def _leader(self, state: RaceState) -> int:
        """Return the family that would win now, found once for each state."""
        known = getattr(self, "_first", None)
        if known is None or known[0] is not state:
            known = self._first = (state, self._fresh_leader(state))
        leader: int = known[1]
        return leader

    def _fresh_leader(self, state: RaceState) -> int:
        record = self._record(state)
        confirmed = {record.family_of[n] for n in record.fold_losses}
        left = [n for n in confirmed if self._is_left(state, n)]
        if left:
            means = {
                n: min(record.mean_fold_loss(one) for one in record.families[n].members)
                for n in left
            }
            return min(left, key=lambda n: (*means[n], n))
        for rung in sorted(record.order):
            for number in record.on_rung(rung):
                if self._is_left(state, number):
                    return number
        return 0

    def _is_left(self, state: RaceState, number: int) -> bool:
        members = self._record(state).families[number].members
        return bool(state.active[members].any())

    def n_screened(self, state: RaceState) -> int:
        """Return how many families have been looked at."""
        record = self._record(state)
        return len(record.families) - len(record.waiting)

    def _record(self, state: RaceState) -> Record:
        # Each decision asks for it a hundred times, and the state rarely changes.
        known = self._known
        if known is None or known[0] is not state:
            before = None if known is None else known[1]
            if before is not None and self._is_aside and before.follows(state):
                record = before.supposing(state)
            else:
                before = None if self._is_aside else before
                sizes = self._sizes(state.problem)
                record = record_of(state, self.rounds, sizes, before)
            known = self._known = (state, record)
        return known[1]

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Let states be asked about that are not next; what is known stays known."""
        before = self._known, self._is_aside
        self._is_aside = True
        try:
            yield
        finally:
            self._known, self._is_aside = before

    def _folds(self, problem: Problem) -> list[tuple[IntArray, IntArray]]:
        return self._rows(problem)[0]

    def _sizes(self, problem: Problem) -> list[int]:
        """Return the training rows of the rungs, those of the whole fold first."""
        return self._rows(problem)[1]

    def _rows(
        self, problem: Problem
    ) -> tuple[list[tuple[IntArray, IntArray]], list[int]]:
        """Return folds and sizes, worked out once: each decision asks for them."""
        known = getattr(self, "_split", None)
        if known is None or known[0] is not problem:
            folds = self._fresh_folds(problem)
            sizes = [len(folds[0][0])]
            fewest = max(self.min_rows, problem.min_rows)
            while sizes[-1] // GROWTH >= fewest:
                sizes.append(sizes[-1] // GROWTH)
            known = self._split = (problem, (folds, sizes))
        rows: tuple[list[tuple[IntArray, IntArray]], list[int]] = known[1]
        return rows

    def _fresh_folds(self, problem: Problem) -> list[tuple[IntArray, IntArray]]:
        if problem.n_validation:
            train, test = problem.prefix(problem.n_samples)
            rows = np.arange(problem.n_samples + problem.n_validation)
            return [(rows[train], rows[test])]
        return list(largest_first(problem.folds[self.n_folds]))


def _nearest(family: Family, rung: int) -> int:
    """Return the rung a family was seen on that is nearest to another."""
    return min(family.rungs, key=lambda one: abs(one - rung))


def _times_the_rounds(state: RaceState, number: int, other: int) -> float:
    """Return how many times the rounds of another member one has, at least 1."""
    mine, others = (_rounds(state, state.configurations[n]) for n in (number, other))
    return max(1.0, mine / others) if others else 1.0


def _rounds(state: RaceState, configuration: Configuration) -> float:
    return most_rounds(configuration, state.problem.covered)
