"""A race that proposes its configurations: a cheap look first, then raced folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Protocol

import numpy as np

from cvst._typing import Configuration, FloatArray, IntArray
from cvst.exceptions import InvalidInputError
from cvst.race._families import Family, Record, record_of
from cvst.race._folds import FoldRecord, largest_first
from cvst.race._leader_tests import BY_RANK, BY_TEST, excess_p_values, rejected
from cvst.race._look import Look, LookLosses, Verdict
from cvst.race._problem import Problem
from cvst.race._state import RaceState
from cvst.race._strategy import Strategy

__all__ = ["ProposeAndConfirm", "Source", "Trial"]

WARM_UP, SCREEN, CONFIRM = "warm up", "screen", "confirm"

SENTENCES = {
    "time_budget": "the time is up",
    "n_iter": "all configurations that were asked for have been proposed and confirmed",
    "all_seen": "the space has no other configurations",
    BY_TEST: "a paired test found it significantly worse than the leader",
    BY_RANK: "others did better on the same rows",
}

# Each rung has this many times the training rows of the one below.
GROWTH = 4

# A rung is worth it if its fits take at most this share of those one rung above.
WORTH_IT = 0.6

# Fewest fits that the time for screening should allow; else a smaller rung is taken.
WANTED_TRIALS = 40

# Without a clock: no more rows than this on the rung where configurations are screened.
LARGEST_SCREEN = 20_000

# Share of a rung that is promoted to the next one.
PROMOTED = 1 / 3

# A first look may take this share of the time left, and forecasts of it are learnt from
# this many others.
DEAREST, FEWEST_TRIALS = 0.4, 6

# A fit takes at least this share of one with many times the rounds.
LEAST_WORK = 0.1

# Fewer than this are not confirmed if time is short.
FEWEST_CONFIRMED = 3

# Share of those confirmed that go on after each fold.
GOING_ON = (0.6, 0.4, 0.3)

# With a clock: about how many looks the screening has at most, and their largest size.
MOST_LOOKS, LARGEST_BATCH = 400, 32

# The first look is repeated if it took a share of the time between these: less does not
# matter, more is not to be had twice.
ONCE = 0.01, 0.15

# Forecasts err: a look begins only if this many times its forecast is left, the second
# number if none of its configurations was looked at before.
MARGIN, UNSEEN_MARGIN = 1.15, 1.35

# Share of the time that is left for what comes after the last look.
CLOSING = 0.01


@dataclass(frozen=True, slots=True)
class Trial:
    """What a source of proposals learns of one look at one configuration.

    Attributes
    ----------
    configuration : dict
        The member of a family with most rounds.
    loss : float
        Mean loss of the best member, infinite if the fit failed.
    fidelity : float
        Training rows as a share of the largest rung.
    seconds : float
        What the look took.
    """

    configuration: Configuration
    loss: float
    fidelity: float
    seconds: float


class Source(Protocol):
    """Where new configurations come from."""

    def propose(
        self, trials: Sequence[Trial], count: int, seed: Sequence[int]
    ) -> list[list[Configuration]]:
        """Return families of new configurations, fewer if there are no more.

        Parameters
        ----------
        trials : sequence of Trial
            All looks so far, in order.
        count : int
            How many families are wanted.
        seed : sequence of int
            The only source of randomness.
        """
        ...

    def seconds(
        self, configurations: Sequence[Configuration], trials: Sequence[Trial]
    ) -> FloatArray:
        """Forecast what looks at unseen configurations take, by others like them."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What the next look is about: families that are known, or new ones.

    Attributes
    ----------
    stage : str
        Name of the part of the race.
    families : tuple of int
        Who takes part; empty if new ones are to be proposed.
    rung, fold : int
        Where.
    """

    stage: str
    families: tuple[int, ...]
    rung: int = 0
    fold: int = 0


class ProposeAndConfirm(Strategy):
    """Screen proposals on one fold or a part of it, confirm the best on the others.

    1. *Warm up*: the first configuration, on subsets of the first fold that grow. They
       tell what rows cost, and so on how many of them the others are screened.
    2. *Screen*: proposed configurations, on these rows. The best third is promoted to
       four times the rows, up to the whole first fold, unless a paired test finds it
       worse than the leader there.
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
        few of their members tell which settings are good. None is no limit.
    refits : bool
        Whether time is kept for a final fit.
    """

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

    @property
    def fold_counts(self) -> tuple[int, ...]:
        """Ask for one set of folds."""
        return (self.n_folds,)

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
        if self._record(state).n_confirming:
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

    def propose(self, state: RaceState) -> Sequence[Configuration]:
        """Return new configurations if they are next."""
        plan = self._plan(state)
        if isinstance(plan, str) or plan.families:
            return ()
        return [one for family in self._new(state) for one in family]

    def next_look(self, state: RaceState) -> Look:
        """Return the next rung or fold, and who takes part."""
        plan = self._plan(state)
        assert not isinstance(plan, str)
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
            plan.stage,
            keep_losses=True,
            is_fold=plan.stage == CONFIRM,
            may_fail=True,
            rounds=None if plan.fold else self.screen_rounds,
            fold=plan.fold,
        )

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Test against the leader on the same rows; drop what is worse."""
        if np.isnan(seen.mean_losses).all():
            return self._verdict(state, look, seen, np.full(len(seen.losses), np.nan))
        if look.stage == CONFIRM:
            return self._judge_fold(state, look, seen)
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

    def _leader(self, state: RaceState) -> int:
        """Return the family that would win now."""
        record = self._record(state)
        if record.n_confirming:
            confirmed = {record.family_of[n] for n in record.fold_losses}
            left = [n for n in confirmed if self._is_left(state, n)]
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

    # What comes next ----------------------------------------------------------------

    def _plan(self, state: RaceState) -> Plan | str:
        """Return what the next look is, or why there is none."""
        key = (id(state.observations), state.n_looks, state.n_configurations)
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
        if not self._record(state).n_confirming and self._is_screening(state):
            screen = self._screen(state)
            if screen is not None and self._fits(state, screen):
                return screen
        confirm = self._confirm(state)
        if confirm is not None:
            return confirm
        if self.n_iter is not None and self.n_screened(state) >= self.n_iter:
            return "n_iter"
        challenge = self._challenge(state) or self._screen(state)
        if challenge is None:
            return "all_seen"
        return challenge if self._fits(state, challenge) else "time_budget"

    def _warm_up(self, state: RaceState) -> Plan | None:
        """Look at the first configuration on growing rows, while that is cheap."""
        record, sizes = self._record(state), self._sizes(state.problem)
        rungs = record.families[0].rungs
        rung = min(rungs, default=len(sizes)) - 1
        if state.problem.seconds is None:
            # Without a clock there is nothing to measure: one look where all are seen.
            rung = self._base(state)
            return None if rungs else Plan(WARM_UP, (0,), rung)
        if self.n_screened(state) > 1:
            return None
        share = state.elapsed / state.problem.seconds
        if state.n_looks == 1 and ONCE[0] < share < ONCE[1]:
            # Imports and the like are part of the first look only.
            return Plan(WARM_UP, (0,), rung + 1)
        if rung < 0:
            return None
        if rungs and self._seconds(state, 0, rung) > 0.2 * self._left(state):
            return None
        return Plan(WARM_UP, (0,), rung)

    def _is_screening(self, state: RaceState) -> bool:
        if self.n_iter is not None:
            return self.n_screened(state) < self.n_iter
        left, share = self._left(state), self._share(state)
        # A confirmation of two is not worth its time: then all of it is for screening.
        if self._confirm_seconds(state, FEWEST_CONFIRMED) > share:
            return self._fits(state, self._screen(state) or Plan(SCREEN, ()))
        return left > min(self._confirm_seconds(state, self.n_confirmed), share)

    def _screen(self, state: RaceState) -> Plan | None:
        """Promote, or look at what has not been seen, or ask for new ones."""
        record, base = self._record(state), self._base(state)
        for rung in range(1, base + 1):
            ranked = record.on_rung(rung)
            best = ranked[: int(PROMOTED * len(ranked))]
            ready = [
                number
                for number in best
                if record.families[number].highest == rung
                and self._is_left(state, number)
            ]
            if ready:
                return Plan(SCREEN, tuple(ready[: self._n_together(state)]), rung - 1)
        if record.waiting:
            waiting = list(record.waiting)[: self._n_together(state)]
            return Plan(SCREEN, tuple(waiting), base)
        return Plan(SCREEN, (), base) if self._new(state) else None

    def _confirm(self, state: RaceState) -> Plan | None:
        """Return the next fold of the confirmation, None when it is over."""
        record = self._record(state)
        fold = record.n_confirming + 1
        if fold >= len(self._folds(state.problem)):
            return None
        families = self._runners(state) if record.entered else self._entrants(state)
        while len(families) > 1 and not self._fits(
            state, Plan(CONFIRM, tuple(families), fold=fold)
        ):
            families.pop()
        return Plan(CONFIRM, tuple(families), fold=fold) if len(families) > 1 else None

    def _challenge(self, state: RaceState) -> Plan | None:
        """Return the next fold of what beat the winner on the first one."""
        record = self._record(state)
        winner = record.families[self._leader(state)]
        if 0 not in winner.rungs or not winner.folds:
            return None
        for number in record.on_rung(0):
            one = record.families[number]
            if one.rungs[0].loss >= winner.rungs[0].loss:
                return None
            if one is winner or not self._is_left(state, number):
                continue
            fold = next((f for f in sorted(winner.folds) if f not in one.folds), None)
            if fold is not None and _mean_excess(one, winner) <= 0:
                return Plan(CONFIRM, (number,), fold=fold)
        return None

    def _entrants(self, state: RaceState) -> list[int]:
        """Return the best families of the first fold, and the first of all."""
        record = self._record(state)
        ranked = [n for n in record.on_rung(0) if self._is_left(state, n)]
        if not ranked:
            rung = min(one.highest for one in record.families if one.is_seen)
            ranked = [n for n in record.on_rung(rung) if self._is_left(state, n)]
        best = ranked[: self.n_confirmed]
        best = best[: max(2, self._affordable(state, best))]
        # What you have is confirmed too, unless clearly beaten on the first fold.
        if 0 not in best and not self._is_beaten(state, best[0]):
            best = [*best[: max(1, len(best) - 1)], 0]
        return best

    def _is_beaten(self, state: RaceState, number: int) -> bool:
        """Return whether a family is surely better than the first one on rung 0."""
        losses = [self._kept_losses(state, one, 0) for one in (0, number)]
        if losses[0] is None or losses[1] is None:
            return False
        return bool(excess_p_values([losses[0] - losses[1]])[0] < self.level)

    def _runners(self, state: RaceState) -> list[int]:
        """Return the families that are left in the confirmation, the best first."""
        record = self._record(state)
        left = [n for n in record.entered if self._is_left(state, n)]

        def key(number: int) -> tuple[float, ...]:
            members = record.families[number].members
            return min(record.mean_fold_loss(n) for n in members if state.active[n])

        return sorted(left, key=key)

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

    def _trials(self, state: RaceState) -> list[Trial]:
        record, sizes = self._record(state), self._sizes(state.problem)
        seen = [
            (sight.look, family.members[0], sight, sizes[rung] / sizes[0])
            for family in record.families
            for rung, sight in family.rungs.items()
        ]
        known = state.configurations
        # Without a clock nothing may depend on how fast the machine is.
        clock = state.problem.seconds is not None
        return [
            Trial(known[first], one.loss, fidelity, one.seconds if clock else 1.0)
            for _, first, one, fidelity in sorted(seen, key=lambda item: item[:2])
        ]

    # Judging ------------------------------------------------------------------------

    def _leader_losses(self, state: RaceState, look: Look) -> FloatArray | None:
        """Return the losses of the best so far on the rung of a look."""
        record = self._record(state)
        rung = self._sizes(state.problem).index(look.n_train)
        known = (self._kept_losses(state, n, rung) for n in record.on_rung(rung))
        return next((losses for losses in known if losses is not None), None)

    def _kept_losses(
        self, state: RaceState, number: int, rung: int
    ) -> FloatArray | None:
        """Return the losses of the best member of a family on a rung, if kept."""
        sight = self._record(state).families[number].rungs.get(rung)
        if sight is None:
            return None
        seen = state.observations[sight.look]
        place = np.flatnonzero(seen.kept == sight.best)
        return seen.losses[place[0]] if seen.losses is not None and len(place) else None

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
        keep = self._is_best_so_far(state, look, seen)
        return Verdict(~worse, p_values, drops, keep)

    def _is_best_so_far(
        self, state: RaceState, look: Look, seen: LookLosses
    ) -> np.ndarray:
        """Return which one, if any, leads its rung now: its losses will be needed."""
        keep = np.zeros(len(seen.mean_losses), dtype=bool)
        if np.isnan(seen.mean_losses).all():
            return keep
        best = int(np.nanargmin(seen.mean_losses))
        record = self._record(state)
        rung = self._sizes(state.problem).index(look.n_train)
        ranked = record.on_rung(rung)
        known = record.families[ranked[0]].rungs[rung].loss if ranked else np.inf
        keep[best] = seen.mean_losses[best] < known
        return keep

    def _judge_fold(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        unknown = np.full(len(seen.losses), np.nan)
        after = state.observe(look, seen, Verdict(unknown > 0, unknown))
        record = FoldRecord.of(after, (CONFIRM,))
        leader = int(record.ranking(np.flatnonzero(record.seen & after.active))[0])
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
        record = self._record(state)
        n_done = record.n_confirming
        if n_done > len(GOING_ON) or len(look.configurations) < 2:
            return []
        most = max(2, ceil(GOING_ON[n_done - 1] * len(record.entered)))
        out = set(self._runners(state)[most:])
        return [n for n in look.configurations.tolist() if record.family_of[n] in out]

    # Time ---------------------------------------------------------------------------

    def _left(self, state: RaceState) -> float:
        """Return the seconds that are left before the final fit."""
        if state.problem.seconds is None:
            return np.inf
        seconds = (1 - CLOSING) * state.problem.seconds
        return seconds - state.elapsed - self._reserve(state)

    def _reserve(self, state: RaceState) -> float:
        """Return the seconds that the final fit will take, with a margin."""
        if not self.refits or not state.observations:
            return 0.0
        record, sizes = self._record(state), self._sizes(state.problem)
        family = record.families[self._leader(state)]
        sight = family.rungs[family.highest]
        growth = state.problem.n_samples / sizes[family.highest]
        whole = self._whole(state, family.members[0])
        return MARGIN * sight.fit_seconds * growth * whole

    def _whole(self, state: RaceState, number: int) -> float:
        """Return how many times the rounds of the screening a configuration has."""
        if self.screen_rounds is None:
            return 1.0
        return max(
            1.0, _rounds(state, state.configurations[number]) / self.screen_rounds
        )

    def _fold_seconds(self, state: RaceState, number: int) -> float:
        """Return what a family will take on a fold that confirms."""
        family = self._record(state).families[number]
        if family.folds:
            return float(np.mean([sight.seconds for sight in family.folds.values()]))
        return self._seconds(state, number, 0) * self._whole(state, family.members[0])

    def _seconds(self, state: RaceState, number: int, rung: int) -> float:
        """Return what a family will take on a rung, by what it took on others."""
        record = self._record(state)
        family = record.families[number]
        if rung in family.rungs:
            return family.rungs[rung].seconds
        known = self._record(state).mean_seconds()
        if not family.is_seen:
            first = self._first_members(state, family, rung)[0]
            return self._unseen_seconds(state, state.configurations[first], rung)
        near = min(family.rungs, key=lambda one: abs(one - rung))
        own = family.rungs[near].seconds
        if rung in known:
            return own * known[rung] / max(known[near], 1e-9)
        steps = near - rung
        return own * float(min(GROWTH, self._growth(known)) ** steps)

    def _unseen_seconds(
        self, state: RaceState, configuration: Configuration, rung: int
    ) -> float:
        """Return what a configuration that no look has seen will take."""
        fidelity = self._fidelity(state, rung)
        trials = [one for one in self._trials(state) if one.fidelity == fidelity]
        if len(trials) >= FEWEST_TRIALS:
            return float(self.source.seconds([configuration], trials)[0])
        # Too few to learn from: as the first one, in proportion to the rounds.
        first = self._record(state).families[0]
        if not first.is_seen:
            return 0.0
        own = _rounds(state, state.configurations[first.members[0]])
        ratio = _rounds(state, configuration) / own
        return self._seconds(state, 0, rung) * max(LEAST_WORK, ratio)

    def _first_members(self, state: RaceState, family: Family, rung: int) -> list[int]:
        """Return the members for a first look: without those with too many rounds."""
        if state.problem.seconds is None or len(family.members) == 1:
            return family.members
        most = DEAREST * self._left(state)
        for place, number in enumerate(family.members):
            one = state.configurations[number]
            if self._unseen_seconds(state, one, rung) <= most:
                return family.members[place:]
        return family.members[-1:]

    def _fidelity(self, state: RaceState, rung: int) -> float:
        sizes = self._sizes(state.problem)
        return sizes[rung] / sizes[0]

    def _growth(self, known: Mapping[int, float]) -> float:
        """Return how many times longer a fit takes on a rung with more rows."""
        pairs = [(known[r], known[r + 1]) for r in known if r + 1 in known]
        if not pairs:
            return float(GROWTH)
        larger, smaller = pairs[0]
        return float(np.clip(larger / max(smaller, 1e-9), 1.0, 1.5 * GROWTH))

    def _wall(self, state: RaceState) -> float:
        """Return seconds on the clock for each second of work."""
        record = self._record(state)
        if not (record.worked > 0 and record.spent > 0):
            return 1.0
        return float(np.clip(record.spent / record.worked, 0.05, 2.0))

    def _forecast(self, state: RaceState, plan: Plan) -> float:
        if plan.fold:
            seconds = sum(self._fold_seconds(state, one) for one in plan.families)
        elif plan.families:
            seconds = sum(self._seconds(state, one, plan.rung) for one in plan.families)
        else:
            # As much of them as will be looked at: see _first_members.
            most = DEAREST * self._left(state)
            new = [(family[0], family[-1]) for family in self._new(state)]
            seconds = sum(
                max(
                    min(self._unseen_seconds(state, first, plan.rung), most),
                    self._unseen_seconds(state, last, plan.rung),
                )
                for first, last in new
            )
        record = self._record(state)
        unseen = all(not record.families[one].is_seen for one in plan.families)
        return (UNSEEN_MARGIN if unseen else MARGIN) * self._wall(state) * seconds

    def _fits(self, state: RaceState, plan: Plan) -> bool:
        return self._forecast(state, plan) <= self._left(state)

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
            if not slow or known[base + 1] > WORTH_IT * known[base]:
                break
            base += 1
        return base

    # Rows and families --------------------------------------------------------------

    def _folds(self, problem: Problem) -> list[tuple[IntArray, IntArray]]:
        if problem.n_validation:
            train, test = problem.prefix(problem.n_samples)
            rows = np.arange(problem.n_samples + problem.n_validation)
            return [(rows[train], rows[test])]
        return list(largest_first(problem.folds[self.n_folds]))

    def _sizes(self, problem: Problem) -> list[int]:
        """Return the training rows of the rungs, those of the whole fold first."""
        sizes = [len(self._folds(problem)[0][0])]
        fewest = max(self.min_rows, problem.min_rows)
        while sizes[-1] // GROWTH >= fewest:
            sizes.append(sizes[-1] // GROWTH)
        return sizes

    def _record(self, state: RaceState) -> Record:
        known: Record | None = getattr(self, "_known", None)
        self._known = record_of(state, self._sizes(state.problem), known)
        return self._known

    def n_screened(self, state: RaceState) -> int:
        """Return how many families have been looked at."""
        record = self._record(state)
        return len(record.families) - len(record.waiting)

    def _n_together(self, state: RaceState) -> int:
        """Return how many families a look of the screening has."""
        if state.problem.seconds is None:
            return self.batch
        # Where fits are very short, looks of many keep the race's own work small.
        each = self._record(state).mean_seconds().get(self._base(state), np.inf)
        short = state.problem.seconds / MOST_LOOKS / max(each, 1e-6)
        return max(self.batch, min(LARGEST_BATCH, int(short)))

    def _is_left(self, state: RaceState, number: int) -> bool:
        members = self._record(state).families[number].members
        return bool(state.active[members].any())

    def _members(self, state: RaceState, number: int, rung: int) -> list[int]:
        """Return the members worth another look: up to the one above the best."""
        family = self._record(state).families[number]
        if not family.is_seen:
            return self._first_members(state, family, rung)
        best = family.rungs[family.highest].best
        # Members come with most rounds first: those above the next larger cost more
        # and were no better.
        place = family.members.index(best)
        return family.members[max(0, place - 1) :]


def _mean_excess(one: Family, winner: Family) -> float:
    """Return how much worse a family is on the folds that it shares with the winner."""
    common = [fold for fold in one.folds if fold in winner.folds]
    gaps = [one.folds[fold].loss - winner.folds[fold].loss for fold in common]
    return float(np.mean(gaps)) if gaps else 0.0


def _rounds(state: RaceState, configuration: Configuration) -> float:
    """Return the rounds of a configuration, 1 if it does not say."""
    names = [name for name in state.problem.covered if name in configuration]
    rounds = [configuration[name] for name in names]
    return float(max((n for n in rounds if isinstance(n, int | np.integer)), default=1))
