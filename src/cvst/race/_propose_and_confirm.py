"""A race that proposes its configurations: a cheap look first, then raced folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cvst._typing import Configuration, FloatArray, IntArray
from cvst.exceptions import InvalidInputError
from cvst.race._families import CONFIRM, is_final
from cvst.race._folds import FoldRecord
from cvst.race._leader_tests import (
    BY_RANK,
    BY_TEST,
    TEST_SENTENCES,
    excess_p_values,
    rejected,
)
from cvst.race._look import Look, LookLosses, Verdict
from cvst.race._problem import Problem
from cvst.race._proposal_folds import PROMOTED, SCREEN, ProposalFolds
from cvst.race._proposal_parts import Plan
from cvst.race._proposal_times import MARGIN
from cvst.race._state import RaceState

__all__ = ["ProposeAndConfirm"]

WARM_UP = "warm up"

SENTENCES = {
    "time_budget": "the time is up",
    "n_iter": "all configurations that were asked for have been proposed and confirmed",
    "all_seen": "the space has no other configurations",
    **TEST_SENTENCES,
    BY_RANK: "others did better on the same rows",
}

# Of more rows a sample is drawn: a fold of it is as large as a look needs to be.
MOST_ROWS = 500_000

# Fewer than this are not confirmed if time is short.
FEWEST_CONFIRMED = 3

# Share of the time that is worth looks at fewer rows, if it is too short for others.
ENOUGH = 0.1

# Most configurations that wait because they are too dear, if new ones are proposed.
MOST_WAITING = 12

# The first look is repeated if it took a share of the time between these: less does not
# matter, more is not to be had twice. What is done once takes some seconds at most:
# shorter looks are repeated up to the second share.
ONCE, ONCE_SHORT, SHORT = (0.01, 0.15), 0.3, 3.0

# A look on more rows may take that share of the time left. One size says nothing about
# growth, and boosters grow far less than their rows: the second may take more, and more
# still if there are larger ones, so that a search does not end for fear of a final fit
# that takes a moment.
WARM_SHARE, SECOND_SHARE, SECOND_OF_MORE = 0.2, 0.3, 0.5


class ProposeAndConfirm(ProposalFolds):
    """Screen proposals on one fold or a part of it, confirm the best on the others.

    1. *Warm up*: the first configuration, on subsets of the first fold that grow. They
       tell what rows cost, and so on how many of them the others are screened.
    2. *Screen*: proposed configurations, on these rows. The best third is promoted to
       four times the rows, up to the whole first fold, unless a paired test finds it
       worse than the leader there. Of more than a hundred on the whole first fold the
       best third runs a second one too, the best third of these a third one, and so
       on: the best of very many on one fold are the best for that fold.
    3. *Confirm*: the best few and the first configuration run the other folds, which is
       a race. Only these fresh folds decide which one wins.
    4. If there is time left, more is proposed; what beats the winner on the first fold
       challenges it on the others, fold by fold.

    Parameters
    ----------
    source : Source
        Where new configurations come from.
    n_iter : int or None
        How many configurations are screened (one per fit); None if the time decides.
    n_folds : int
        Number of folds.
    n_confirmed : int
        Most configurations (one per fit) that enter the confirmation.
    confirm_share : float
        Share of the time that is kept for the confirmation, at most.
    min_rows : int
        Fewest training rows of a look.
    max_test : int
        Most test rows of a look: more would add work, but no power.
    level : float
        Level of the paired tests.
    batch : int
        How many configurations are screened in one look.
    screen_rounds : int or None
        Most rounds or trees of a look of the screening, for ensembles that average:
        few of their members tell which settings are good. None means no limit.
    refits : bool
        Whether time is kept for a final fit.
    n_members : int
        Most members of an ensemble that time is kept for, if there is enough of it.
    rounds : collection of str
        Hyper-parameters in which members of a family differ: what shares a fit.
    own_rounds : int
        Rounds or trees of configurations that do not say: those of the estimator.
    exponent : float
        Power of the rows that fits are expected to take, until two sizes are known.
    steepest : float
        Largest power that is believed beyond the sizes that are known.
    """

    @property
    def fold_counts(self) -> tuple[int, ...]:
        """Ask for one set of folds."""
        return (self.n_folds,)

    @property
    def most_rows(self) -> int | None:
        """Race no more rows than this."""
        return MOST_ROWS

    @property
    def proposes(self) -> bool:
        """Most configurations join during the race."""
        return True

    @property
    def sentences(self) -> Mapping[str, str]:
        """What its reasons mean."""
        return SENTENCES

    def criterion(self, state: RaceState) -> str:
        """Say by what the winner ranks first."""
        if self._record(state).fold_losses:
            return "by its mean loss over the folds that confirm"
        return "by its mean loss on the most rows"

    def check(self, problem: Problem) -> None:
        """Raise an error that explains why this race cannot be run, if so."""
        if problem.seconds is None and self.n_iter is None:
            raise InvalidInputError(
                "n_iter=None and no time budget: the race would never end. Set one of "
                "the two."
            )
        for name in ("n_folds", "n_confirmed"):
            if getattr(self, name) < 2:
                raise InvalidInputError(
                    f"{name}={getattr(self, name)!r} is too small. Use at least 2."
                )

    # The race -----------------------------------------------------------------------

    def stop_reason(self, state: RaceState) -> str | None:
        """Stop when the time is up, or when all is proposed and confirmed."""
        plan = self._plan(state)
        return plan if isinstance(plan, str) else None

    def looks_alone(self, state: RaceState) -> bool:
        """Let looks of the screening overlap where workers would wait otherwise."""
        plan = self._plan(state)
        return state.problem.n_at_once == 1 or isinstance(plan, str) or plan.alone

    def propose(self, state: RaceState) -> Sequence[Configuration]:
        """Return new configurations if they are next."""
        proposed: list[Configuration] = []
        while self._asks(state):
            new = [one for family in self._new(state) for one in family]
            proposed += new
            # Those may turn out to be too dear; then there are others.
            state = state.admit(new)
        return proposed

    def _asks(self, state: RaceState) -> bool:
        plan = self._plan(state)
        return not (isinstance(plan, str) or plan.families)

    def next_look(self, state: RaceState) -> Look:
        """Return the next rung or fold, and which configurations take part."""
        plan = self._plan(state)
        if isinstance(plan, str) or not plan.families:
            # Those that have just joined were to be looked at, and are.
            plan = Plan(SCREEN, tuple(self._record(state).waiting), self._base(state))
        train, test = self._folds(state.problem)[plan.fold]
        n_train = self._sizes(state.problem)[plan.rung] if not plan.fold else len(train)
        members = [
            n for one in plan.families for n in self._members(state, one, plan.rung)
        ]
        return Look(
            # The last rows: in the order of time they are the nearest to the test.
            train[len(train) - n_train :],
            test[: self.max_test],
            n_train,
            np.array(sorted(members), dtype=np.intp),
            CONFIRM if plan.fold else plan.stage,
            # The losses of folds on the way are not needed again: see is_final.
            keep_losses=plan.stage == CONFIRM or not plan.fold,
            is_fold=plan.fold > 0,
            may_fail=True,
            rounds=None if plan.fold else self.screen_rounds,
            fold=plan.fold,
        )

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Test against the leader on the same rows; drop what is worse."""
        if np.isnan(seen.mean_losses).all():
            return self._verdict(state, look, seen, np.full(len(seen.losses), np.nan))
        if look.stage == CONFIRM:
            final = is_final(look)
            return (
                self._judge_fold(state, look, seen) if final else _failures(look, seen)
            )
        leader = self._leader_losses(state, look)
        if leader is None:
            leader = seen.losses[int(np.nanargmin(seen.mean_losses))]
        p_values = excess_p_values(list(seen.losses - leader))
        return self._verdict(state, look, seen, p_values)

    def ranking(self, state: RaceState) -> IntArray:
        """Return those left: by confirming folds, then by the most rows they ran on."""
        record = self._record(state)
        last = {family: n for n, family in enumerate(self._family_ranking(state))}
        active = np.flatnonzero(state.active).tolist()

        def key(number: int) -> tuple[float, ...]:
            family = record.families[record.family_of[number]]
            best = bool(family.rungs) and family.rungs[family.highest].best == number
            place = last.get(record.family_of[number], len(last))
            return (place, *record.mean_fold_loss(number), not best, number)

        # Members of a family that confirms stand together, the best of them first.
        return np.array(sorted(active, key=key), dtype=np.intp)

    def ensemble_members(self, state: RaceState) -> list[tuple[int, float]]:
        """Return the best member of each family that ran the whole first fold."""
        families = self._record(state).families
        if not self.n_members:
            return []
        best = {
            self._best_member(state, number): number
            for number in self._family_ranking(state)
            if 0 in families[number].rungs
        }
        return [
            (member, self._refit_seconds(state, number, member) / MARGIN)
            for member, number in [*best.items()][: self.n_members]
        ]

    def ranks_by_mean(self, state: RaceState) -> bool:
        """Return True: what ran the same rows compares by its mean there."""
        del state
        return True

    def _family_ranking(self, state: RaceState) -> list[int]:
        """Return all families that were seen, the best first."""
        record = self._record(state)

        def key(number: int) -> tuple[float, ...]:
            family = record.families[number]
            members = [n for n in family.members if state.active[n]]
            folds = min(
                (record.mean_fold_loss(n) for n in members), default=(0, np.inf)
            )
            return (
                not members,
                *folds,
                family.highest,
                family.rungs[family.highest].loss,
            )

        seen = [n for n, family in enumerate(record.families) if family.is_seen]
        return sorted(seen, key=key)

    # What comes next ----------------------------------------------------------------

    def _plan(self, state: RaceState) -> Plan | str:
        """Return what the next look is, or why there is none."""
        pending = len(state.pending)
        key = (id(state.observations), state.n_looks, state.n_configurations, pending)
        memo = getattr(self, "_memo", None)
        if memo is None or memo[0] != key or memo[1] is not state.observations:
            # Asked three times for each look, and answered once. The state is kept
            # with the answer, so that its address cannot be that of another.
            self._memo = (key, state.observations, self._fresh_plan(state))
        answer: Plan | str = self._memo[2]
        return answer

    def _fresh_plan(self, state: RaceState) -> Plan | str:
        warm_up = self._warm_up(state)
        if warm_up is not None:
            return warm_up
        if self._record(state).final is None and self._is_screening(state):
            screen = self._fitting_screen(state)
            if screen is not None:
                return screen
        confirm = self._confirm(state)
        if confirm is not None:
            return confirm
        if self.n_iter is not None and self.n_screened(state) >= self.n_iter:
            return "n_iter"
        challenge = self._challenge(state)
        if challenge is not None and self._fits(state, challenge):
            return challenge
        screen = self._fitting_screen(state)
        if screen is None and challenge is None and self._screen(state) is None:
            return "all_seen"
        return screen or "time_budget"

    def _warm_up(self, state: RaceState) -> Plan | None:
        """Look at the first configuration on growing rows, while that is cheap."""
        record, sizes = self._record(state), self._sizes(state.problem)
        rungs = record.families[0].rungs
        rung = min(rungs, default=len(sizes)) - 1
        if state.problem.seconds is None:
            # Without a clock there is nothing to measure: one look where all are seen.
            rung = self._base(state)
            return None if rungs else Plan(WARM_UP, (0,), rung, alone=True)
        if self.n_screened(state) > 1:
            return None
        share = state.elapsed / state.problem.seconds
        most = ONCE_SHORT if state.elapsed < SHORT else ONCE[1]
        if state.n_looks == 1 and ONCE[0] < share < most:
            # Imports and the like are part of the first look only.
            return Plan(WARM_UP, (0,), rung + 1, alone=True)
        if rung < 0:
            return None
        # One size says nothing about others, so the final fit is not counted yet.
        left = self._left(state) if len(rungs) > 1 else self._left_in_all(state)
        most = SECOND_OF_MORE if rung else SECOND_SHARE
        most = WARM_SHARE if len(rungs) > 1 else most
        if rungs and self._seconds(state, 0, rung) > most * left:
            return None
        return Plan(WARM_UP, (0,), rung, alone=True)

    def _is_screening(self, state: RaceState) -> bool:
        if self.n_iter is not None:
            return self.n_screened(state) < self.n_iter
        left, share = self._left(state), self._share(state)
        # A confirmation of two is not worth its time: then all of it is for screening.
        if self._confirm_seconds(state, FEWEST_CONFIRMED) > share:
            return self._fitting_screen(state) is not None
        return left > min(self._confirm_seconds(state, self.n_confirmed), share)

    def _fitting_screen(self, state: RaceState) -> Plan | None:
        """Return the next look of the screening for which there is time."""
        known = getattr(self, "_fitting", None)
        if known is None or known[0] is not state:
            known = self._fitting = (state, self._fresh_fitting_screen(state))
        plan: Plan | None = known[1]
        return plan

    def _fresh_fitting_screen(self, state: RaceState) -> Plan | None:
        plan = self._screen(state)
        if plan is None or self._fits(state, plan):
            return plan
        # It is too dear, but others may not be, or not on fewer rows.
        others: list[tuple[int, ...]] = [(n,) for n in self._waiting(state)]
        # New ones are proposed while only a few are too dear to be looked at.
        if len(others) < MOST_WAITING and self._new(state):
            others.append(())
        rungs = range(self._base(state), len(self._sizes(state.problem)))
        enough = self._left(state) > ENOUGH * (state.problem.seconds or 0.0)
        plans = (
            Plan(SCREEN, one, rung)
            for rung in rungs[: None if enough else 1]
            for one in others
        )
        return next((one for one in plans if self._fits(state, one)), None)

    def _screen(self, state: RaceState) -> Plan | None:
        """Promote, or look at what has not been seen, or ask for new ones."""
        record, base = self._record(state), self._base(state)
        busy = self._under_way(state)
        for rung in range(1, len(self._sizes(state.problem))):
            ranked = record.on_rung(rung)
            best = ranked[: int(PROMOTED * len(ranked))]
            ready = [
                number
                for number in best
                if record.families[number].highest == rung
                and number not in busy
                and self._is_left(state, number)
            ]
            if ready:
                count = self._n_together(state, rung - 1)
                return Plan(SCREEN, tuple(ready[:count]), rung - 1)
        more = self._more_folds(state)
        if more is not None:
            return more
        waiting = self._waiting(state)
        if waiting:
            return Plan(SCREEN, tuple(waiting[: self._n_together(state)]), base)
        return Plan(SCREEN, (), base) if self._new(state) else None

    # Judging ------------------------------------------------------------------------

    def _leader_losses(self, state: RaceState, look: Look) -> FloatArray | None:
        """Return the losses of the best so far on the rung of a look."""
        record = self._record(state)
        rung = self._sizes(state.problem).index(look.n_train)
        known = (self._kept_losses(state, n, rung) for n in record.on_rung(rung))
        return next((losses for losses in known if losses is not None), None)

    def _verdict(
        self, state: RaceState, look: Look, seen: LookLosses, p_values: np.ndarray
    ) -> Verdict:
        failed = np.isnan(seen.mean_losses)
        worse = rejected(p_values, self.level) | failed
        record = self._record(state)
        families = np.array([record.family_of[n] for n in look.configurations.tolist()])
        drops = {}
        for number in np.unique(families[families > 0]).tolist():
            mine = families == number
            # A family stays whole while any of it is good; the first one always stays.
            if worse[mine].all():
                for one in look.configurations[mine].tolist():
                    drops[one] = seen.failures.get(one, BY_TEST)
        if self._keeps_all(state, look):
            return Verdict(~worse, p_values, drops, ~failed)
        # The race itself needs those of the best so far, and no others.
        keep = look.configurations == record.new_leader(look, seen.mean_losses)
        return Verdict(~worse, p_values, drops, keep)

    def _keeps_all(self, state: RaceState, look: Look) -> bool:
        """Return whether all losses of a look at a rung stay, for tests at the end.

        If the race ends before others confirm, its leader is compared on this fold.
        """
        if self._record(state).final is not None:
            return False
        kept = sum(len(one.kept) * one.look.n_test for one in state.observations)
        return state.problem.may_keep(kept + len(look.configurations) * look.n_test)

    def _judge_fold(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        unknown = np.full(len(seen.losses), np.nan)
        after = state.observe(look, seen, Verdict(unknown > 0, unknown))
        record = FoldRecord.of(after, (CONFIRM,))
        # What ran this fold while screening is not among them: its losses were let go.
        here = record.only(look.fold or 0).seen & after.active
        leader = int(record.ranking(np.flatnonzero(here))[0])
        p_values = excess_p_values(record.differences(look.configurations, leader))
        worse = rejected(p_values, self.level) | np.isnan(seen.mean_losses)
        drops = {
            number: seen.failures.get(number, BY_TEST)
            for number in look.configurations[worse].tolist()
        }
        after = state.observe(look, seen, Verdict(~worse, p_values, drops))
        for number in self._behind(after, look):
            drops.setdefault(number, BY_RANK)
        return Verdict(~worse, p_values, drops)

    def _behind(self, state: RaceState, look: Look) -> list[int]:
        """Return members of families that rank too low for another fold."""
        with self._aside():
            record, entered = self._record(state), set(self._entered(state))
            out = entered.difference(self._runners(state))
        return [n for n in look.configurations.tolist() if record.family_of[n] in out]


def _failures(look: Look, seen: LookLosses) -> Verdict:
    """Drop what failed, and keep no losses."""
    failed = np.isnan(seen.mean_losses)
    numbers = look.configurations[failed].tolist()
    drops = {number: seen.failures.get(number, BY_TEST) for number in numbers}
    return Verdict(
        ~failed, np.full(len(failed), np.nan), drops, np.zeros(len(failed), dtype=bool)
    )
