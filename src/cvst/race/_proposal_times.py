"""What a race that proposes can afford: rows, rungs, seconds and forecasts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cvst._typing import Configuration, FloatArray
from cvst.race._families import Family, most_rounds
from cvst.race._proposal_parts import Plan
from cvst.race._proposal_records import GROWTH, ProposalRecords, rounds_in
from cvst.race._state import RaceState

__all__ = ["GOING_ON", "MARGIN", "ProposalTimes"]

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

# Averages with more members are never worse, and the screening cannot tell: proposals
# have as many as let this many families be confirmed in the time for it.
WANTED_CONFIRMED = 4

# With a clock: a look has several configurations if the work between two looks takes
# more than this share of a fit; most of them, and about how many looks there still are.
OWN_SHARE, LARGEST_BATCH, FEWEST_LOOKS = 0.03, 64, 40

# Forecasts err: a look begins only if this many times its forecast is left, the second
# number if none of its configurations was looked at before.
MARGIN, UNSEEN_MARGIN = 1.15, 1.35

# A final fit that takes more than the first share of the time is late in any case. Then
# the second share is kept free for it.
LATE, COUNTED_IF_LATE = 0.9, 0.5

# Share of the time that is kept for an ensemble, at most. None is kept if that is not
# enough for two members that are predicted for on two folds.
MEMBERS_SHARE, FEWEST_MEMBERS, FEWEST_PREDICTED = 0.3, 2, 2

# Share of the time that is left for what comes after the last look, and seconds for the
# results of each configuration.
CLOSING, CLOSING_EACH = 0.01, 1e-4


class ProposalTimes(ProposalRecords):
    """Knows what looks at families cost, and so what comes into question.

    The parameters are those of :class:`ProposeAndConfirm`.
    """

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
        reserve = self._reserve(state)
        if plan.rung == 0:
            new = [] if plan.families else self._refits_of_new(state)
            longest = max(self._largest_refit(state, plan.families), 0.0, *new)
            reserve = max(reserve, self._counted(state, longest))
        return needed <= self._left_in_all(state) - reserve

    def _largest_refit(self, state: RaceState, numbers: Sequence[int]) -> float:
        """Return the seconds of the longest final fit of some families, 0 of none."""
        families = self._record(state).families
        seen = [n for n in numbers if families[n].is_seen]
        # The look may find that more rounds are better.
        most = {n: self._members(state, n, 0)[0] for n in seen}
        longest = max(
            (self._refit_seconds(state, *one) for one in most.items()), default=0.0
        )
        unseen = [n for n in numbers if not families[n].is_seen]
        if not (self.refits and unseen):
            return longest
        firsts = [self._first_members(state, families[n], 0)[0] for n in unseen]
        members = [state.configurations[n] for n in firsts]
        seconds = self._unseen_seconds(state, members, 0)
        whole = [self._rounds_ratio(state, families[n].members[0]) for n in unseen]
        more = MARGIN * self._more_rows(state)
        return max(longest, float((more * seconds * np.array(whole)).max()))

    def _more_rows(self, state: RaceState) -> float:
        """Return how many times the rows of a fold the final fit has."""
        return float(state.problem.refit_rows / self._sizes(state.problem)[0])

    def _forecast(self, state: RaceState, plan: Plan) -> float:
        """Return what a look will take on the clock, with a margin."""
        seconds = self._each(state, plan)
        record = self._record(state)
        unseen = all(not record.families[one].is_seen for one in plan.families)
        # A look beside others has one worker, however long that takes.
        beside = state.problem.n_at_once > 1 and not plan.alone
        wall = 1.0 if beside else self._wall(state)
        # However many workers there are, the longest fit has one of them.
        clock = max(wall * float(sum(seconds)), max(seconds, default=0.0))
        return (UNSEEN_MARGIN if unseen else MARGIN) * clock

    def _each(self, state: RaceState, plan: Plan) -> list[float]:
        """Return what the families of a look will take."""
        if plan.fold:
            return [self._fold_seconds(state, one) for one in plan.families]
        if plan.families:
            return self._seconds_of(state, plan.families, plan.rung)
        # As much of them as will be looked at: see _first_members.
        most = DEAREST * self._left(state)
        families = self._new(state)
        ends = [one for family in families for one in (family[0], family[-1])]
        first, last = self._unseen_seconds(state, ends, plan.rung).reshape(-1, 2).T
        each: list[float] = np.maximum(np.minimum(first, most), last).tolist()
        return each

    def _seconds_of(
        self, state: RaceState, numbers: Sequence[int], rung: int
    ) -> list[float]:
        """Return what some families will take, forecasts of the unseen made at once."""
        families = self._record(state).families
        unseen = [
            state.configurations[self._first_members(state, families[n], rung)[0]]
            for n in numbers
            if not families[n].is_seen
        ]
        seen = [self._seconds(state, n, rung) for n in numbers if families[n].is_seen]
        return [*self._unseen_seconds(state, unseen, rung).tolist(), *seen]

    def _seconds(self, state: RaceState, number: int, rung: int) -> float:
        """Return what a family will take on a rung, by what it took on others."""
        record = self._record(state)
        family = record.families[number]
        if rung in family.rungs:
            return family.rungs[rung].seconds
        known = self._record(state).mean_seconds()
        if not family.is_seen:
            return self._seconds_of(state, [number], rung)[0]
        near = _nearest(family, rung)
        own = family.rungs[near].seconds
        if rung in known:
            return own * self._ratio(state, rung, near)
        steps = near - rung
        return own * float(self._believed_growth(known) ** steps)

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
        own = rounds_in(state, state.configurations[sight.largest])
        rounds = [rounds_in(state, one) for one in configurations]
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
        return self._seconds(state, number, 0) * self._rounds_ratio(
            state, family.members[0]
        )

    def _rounds_ratio(self, state: RaceState, number: int) -> float:
        """Return how many times the rounds of the screening a configuration has."""
        return self._times_screened(state, state.configurations[number])

    def _times_screened(self, state: RaceState, configuration: Configuration) -> float:
        if self.screen_rounds is None:
            return 1.0
        # What is not searched is as in the estimator.
        rounds = rounds_in(state, configuration) or self.own_rounds
        return max(1.0, rounds / self.screen_rounds)

    def refit_seconds(self, state: RaceState) -> float | None:
        """Return what the final fit of the leader will probably take."""
        return self._leaders_refit(state) / MARGIN

    def _reserve(self, state: RaceState) -> float:
        """Return the seconds that the final fits will take, with a margin."""
        if not state.observations:
            return 0.0
        refit = self._leaders_refit(state)
        return self._counted(state, refit) + self._kept_for_members(state, refit)

    def _kept_for_members(self, state: RaceState, refit: float) -> float:
        """Return the seconds that are kept for an ensemble, if they are enough."""
        if not self.n_members or state.problem.seconds is None:
            return 0.0
        n_folds = len(self._folds(state.problem)) - 1

        def fits(n_members: int, n_predicted: int) -> float:
            return n_members * n_predicted / self._more_rows(state) + n_members - 1

        most = MEMBERS_SHARE * state.problem.seconds
        fewest = refit * fits(FEWEST_MEMBERS, min(FEWEST_PREDICTED, n_folds))
        return min(most, refit * fits(self.n_members, n_folds)) if fewest < most else 0

    def _counted(self, state: RaceState, refit: float) -> float:
        """Return what of a final fit is kept free: of one that will be late, less.

        It cannot be in time whatever is left out, so the search has its part too.
        """
        seconds = state.problem.seconds
        late = seconds is not None and refit > LATE * seconds
        return COUNTED_IF_LATE * seconds if seconds and late else refit

    def _leaders_refit(self, state: RaceState) -> float:
        """Return what the final fit would take if the race ended now."""
        number = self._leader(state)
        return self._refit_seconds(state, number, self._best_member(state, number))

    def _best_member(self, state: RaceState, number: int) -> int:
        """Return the member of a family that would win for it now."""
        record = self._record(state)
        family = record.families[number]
        confirmed = [one for one in family.members if one in record.fold_losses]
        if confirmed:
            return min(confirmed, key=record.mean_fold_loss)
        return family.rungs[family.highest].best if family.rungs else family.members[0]

    def _refit_seconds(self, state: RaceState, number: int, member: int) -> float:
        """Return what the final fit of a member would take, with a margin."""
        if not self.refits:
            return 0.0
        record = self._record(state)
        family = record.families[number]
        whole = MARGIN * self._more_rows(state) * self._rounds_ratio(state, member)
        if not family.is_seen:
            return whole * self._seconds(state, number, 0)
        sight = family.rungs[family.highest]
        if self.screen_rounds is None:
            whole *= self._share_of_rounds(state, member, sight.largest)
        if 0 in record.seconds:
            growth = self._seconds(state, number, 0) / max(sight.seconds, 1e-9)
        else:
            # Fits on few rows have constant costs, which hide how they grow; in
            # proportion to the rows, these costs would be multiplied.
            believed = self._believed_growth(record.mean_seconds())
            each = (max(GROWTH, believed) * believed) ** 0.5
            growth = each**family.highest
        return whole * sight.fit_seconds * growth

    def _share_of_rounds(self, state: RaceState, member: int, largest: int) -> float:
        """Return the share that a member has of the fit of another one."""
        own, all_of_them = (
            most_rounds(state.configurations[one], self.rounds)
            for one in (member, largest)
        )
        return max(LEAST_WORK, own / all_of_them) if own and all_of_them else 1.0

    def _refits_of_new(self, state: RaceState) -> list[float]:
        """Return what final fits of new families would take, as if they had joined."""
        if not self.refits:
            return []
        members = [family[0] for family in self._new(state)]
        seconds = self._unseen_seconds(state, members, 0)
        whole = np.array([self._times_screened(state, one) for one in members])
        more = MARGIN * self._more_rows(state)
        return [float(one) for one in more * whole * seconds]

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
        wall = self._wall(state)
        fits = sum(max(1.0, wall * max(2.0, share * count)) for share in shares)
        return MARGIN * float(np.mean(each)) * fits

    def _affordable(self, state: RaceState, best: list[int]) -> int:
        """Return how many families the time left can confirm."""
        if state.problem.seconds is None:
            return self.n_confirmed
        n_folds = len(self._folds(state.problem)) - 1
        each = [self._fold_seconds(state, n) for n in best or [0]]
        work = MARGIN * self._wall(state) * float(np.mean(each))
        rounds = sum([1.0, *GOING_ON][:n_folds])
        return int(min(self.n_confirmed, self._left(state) / max(work * rounds, 1e-9)))

    def _affordable_members(self, state: RaceState) -> int:
        """Return how many members of an average there is time for."""
        record = self._record(state)
        if state.problem.seconds is None or not record.families[0].is_seen:
            return 0
        best = record.on_rung(0)[:WANTED_CONFIRMED] or [0]
        each = float(np.mean([self._seconds(state, n, 0) for n in best]))
        n_folds = len(self._folds(state.problem)) - 1
        fits = self._wall(state) * WANTED_CONFIRMED * sum([1.0, *GOING_ON][:n_folds])
        fits += self._more_rows(state) if self.refits else 0.0
        # A look had this many of them.
        n_seen = min(one for one in (self.screen_rounds, self.own_rounds) if one)
        share = self.confirm_share * state.problem.seconds
        return int(n_seen * share / max(MARGIN * each * fits, 1e-9))

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

    def _n_together(self, state: RaceState, rung: int | None = None) -> int:
        """Return how many families a look of the screening has.

        Parameters
        ----------
        state : RaceState
            What is known.
        rung : int, optional
            Of the look; by default the one on which new ones are screened.
        """
        if state.problem.seconds is None:
            return self.batch
        # Where fits are short, looks of many keep the race's own work small, but never
        # so many that a proposer could not learn from most of the others.
        each = self._record(state).mean_seconds().get(self._base(state), np.inf)
        if rung is not None and state.problem.n_at_once > 1:
            # A look that overlaps has one worker, and is judged when all of it is done:
            # with several families it must be short, on more rows too.
            each = max(each, self._seconds(state, 0, rung))
        each = max(each * self._wall(state), 1e-6)
        most = min(LARGEST_BATCH, state.problem.seconds / FEWEST_LOOKS / each)
        # Where looks overlap, each has one worker, and others work in the meantime.
        at_once = state.problem.n_at_once
        fewest, share = 1 if at_once > 1 else self.batch, OWN_SHARE * min(at_once, 8)
        return max(fewest, int(min(most, self._own(state) / share / each)))

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
            return float(GROWTH**self.exponent)
        larger, smaller = pairs[0]
        most = 1.5 * GROWTH**self.steepest
        return float(np.clip(larger / max(smaller, 1e-9), 1.0, most))

    def _believed_growth(self, known: Mapping[int, float]) -> float:
        """Return the growth to more rows than were seen."""
        return min(float(GROWTH**self.steepest), self._growth(known))

    def _new(self, state: RaceState) -> list[list[Configuration]]:
        """Ask the source for new families, once for each state."""
        key = (state.n_looks, state.n_configurations, len(state.pending))
        memo = getattr(self, "_drawn", None)
        if memo is None or memo[0] != key or memo[1] is not state.observations:
            count = self._n_together(state)
            if self.n_iter is not None:
                count = min(count, self.n_iter - len(self._record(state).families))
            seed = (state.problem.seed, state.n_configurations)
            trials = [*self._trials(state), *self._supposed(state)]
            if self.screen_rounds is not None:
                self.source.enlarge(self._affordable_members(state))
            drawn = self.source.propose(trials, count, seed) if count > 0 else []
            self._drawn = (key, state.observations, drawn)
        families: list[list[Configuration]] = self._drawn[2]
        return families


def _nearest(family: Family, rung: int) -> int:
    """Return the rung a family was seen on that is nearest to another."""
    return min(family.rungs, key=lambda one: abs(one - rung))
