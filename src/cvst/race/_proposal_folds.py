"""Folds of a race that proposes: what runs others than the first, and when.

The best of many run them on the way, the best few in a final, and what beats the winner
later challenges it there.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np

from cvst._typing import FloatArray
from cvst.race._families import CONFIRM, Family
from cvst.race._leader_tests import excess_p_values
from cvst.race._proposal_parts import Plan
from cvst.race._proposal_times import GOING_ON, ProposalTimes
from cvst.race._state import RaceState

__all__ = ["PROMOTED", "SCREEN", "ProposalFolds"]

SCREEN = "screen"

# Share of a rung that is promoted to the next one.
PROMOTED = 1 / 3

# So many may be seen on the first fold before the best run others too: the best of few
# are not yet chosen for their luck.
FEW = 100

# Other folds may take this many times as long as the first one before the final. Where
# few trees are grown on the first fold, and all on the others, those are dear.
PROMOTED_SHARE = 0.5


class ProposalFolds(ProposalTimes):
    """Knows what runs which fold next.

    The parameters are those of :class:`ProposeAndConfirm`.
    """

    def _more_folds(self, state: RaceState) -> Plan | None:
        """Promote the best third of many to the next fold, and so on.

        The best of many on one fold are the best for that fold.
        """
        record, busy = self._record(state), self._under_way(state)
        if not self._may_promote(state):
            return None
        for fold in range(1, len(self._folds(state.problem))):
            ranked = record.on_level(fold - 1)
            count = int(PROMOTED * max(0, len(ranked) - (FEW if fold == 1 else 0)))
            ready = [
                number
                for number in ranked[:count]
                if len(record.families[number].folds) == fold - 1
                and number not in busy
                and self._is_left(state, number)
            ]
            # The best change, and those that were promoted before count too. Where
            # looks have many, they wait for others.
            together = self._n_together(state, 0)
            n_coming = len(self._under_way(state, fold))
            room = min(count - len(record.on_level(fold)) - n_coming, together)
            if min(len(ready), room) > together // 4:
                return Plan(SCREEN, tuple(ready[:room]), fold=fold)
        return None

    def _may_promote(self, state: RaceState) -> bool:
        """Return whether other folds have taken less than their share of the time."""
        if state.problem.seconds is None:
            return True
        record = self._record(state)
        first = sum(sum(seconds) for seconds in record.seconds.values())
        return record.promoted_seconds <= PROMOTED_SHARE * first

    def _confirm(self, state: RaceState) -> Plan | None:
        """Return the next fold of the confirmation, None when it is over."""
        record = self._record(state)
        runners = self._runners(state)
        for fold in range(1, len(self._folds(state.problem))):
            families = [n for n in runners if fold not in record.families[n].folds]
            # One alone has none to beat, unless others were there before.
            fewest = 2 if len(families) == len(runners) else 1
            while len(families) >= fewest:
                plan = Plan(CONFIRM, tuple(families), fold=fold, alone=True)
                if self._fits(state, plan):
                    return plan
                families.pop()
        return None

    def _challenge(self, state: RaceState) -> Plan | None:
        """Return the next fold of what beat the winner on the first one."""
        record, busy = self._record(state), self._under_way(state)
        winner = record.families[self._leader(state)]
        if 0 not in winner.rungs or not winner.folds:
            return None
        for number in record.on_rung(0):
            one = record.families[number]
            if one.rungs[0].loss >= winner.rungs[0].loss:
                return None
            if one is winner or number in busy or not self._is_left(state, number):
                continue
            fold = next((f for f in sorted(winner.folds) if f not in one.folds), None)
            if fold is not None and _mean_excess(one, winner) <= 0:
                return Plan(CONFIRM, (number,), fold=fold)
        return None

    def _entrants(self, state: RaceState) -> list[int]:
        """Return the best few families, and the first of all.

        What you have is confirmed too, unless clearly beaten on the first fold.
        """
        best = self._best_few(state)
        return best if self._is_beaten(state, best[0]) else _with_first(best)

    def _best_few(self, state: RaceState) -> list[int]:
        """Return those that ran most folds, the best first."""
        record = self._record(state)
        levels = range(len(self._folds(state.problem)) - 1, -1, -1)
        above = [n for level in levels for n in record.on_level(level)]
        ranked = [n for n in dict.fromkeys(above) if self._is_left(state, n)]
        if not ranked:
            rung = min(one.highest for one in record.families if one.is_seen)
            ranked = [n for n in record.on_rung(rung) if self._is_left(state, n)]
        best = ranked[: self.n_confirmed]
        return best[: max(2, self._affordable(state, best))]

    def _is_beaten(self, state: RaceState, number: int) -> bool:
        """Return whether a family is surely better than the first one on rung 0."""
        losses = [self._kept_losses(state, one, 0) for one in (0, number)]
        if losses[0] is None or losses[1] is None:
            return False
        return bool(excess_p_values([losses[0] - losses[1]])[0] < self.level)

    def _entered(self, state: RaceState) -> list[int]:
        """Return the families that entered the confirmation."""
        first = self._record(state).final
        if first is None:
            return self._entrants(state)
        known, look = getattr(self, "_began", None), state.observations[first].look
        if known is None or known[0] is not look:
            before = replace(state, observations=state.observations[:first])
            with self._aside():
                best = self._best_few(before)
            # Whether the first of all was beaten cannot be asked again where a race
            # was put away without its losses; but its folds tell.
            if self._record(state).families[0].folds:
                best = _with_first(best)
            known = self._began = (look, best)
        entered: list[int] = known[1]
        return entered

    def _runners(self, state: RaceState) -> list[int]:
        """Return the families that are left in the confirmation, the best first.

        They are compared on the folds that all of them have run, and the more these
        are, the fewer go on.
        """
        families = self._record(state).families
        entered = self._entered(state)
        left = [n for n in entered if self._is_left(state, n)]
        n_common = min((len(families[n].folds) for n in left), default=0)
        ranked = sorted(
            left, key=lambda n: (self._mean_of_folds(state, n, n_common), n)
        )
        if not 0 < n_common <= len(GOING_ON):
            return ranked
        return ranked[: max(2, ceil(GOING_ON[n_common - 1] * len(entered)))]

    def _mean_of_folds(self, state: RaceState, number: int, n_folds: int) -> float:
        """Return the mean loss of the best member on the first of the other folds."""
        record = self._record(state)
        losses = [
            record.fold_losses.get(n, {})
            for n in record.families[number].members
            if state.active[n]
        ]
        means = [
            sum(one.get(fold, np.inf) for fold in range(1, n_folds + 1)) / n_folds
            for one in losses
            if n_folds
        ]
        return min(means, default=0.0)

    def _kept_losses(
        self, state: RaceState, number: int, rung: int
    ) -> FloatArray | None:
        """Return the losses of a family's best member, if it led the rung when seen.

        Those of others are kept while there is room, and the race must not go another
        way where there is none.
        """
        record = self._record(state)
        sight = record.families[number].rungs.get(rung)
        if sight is None or record.leaders.get(sight.look) != sight.best:
            return None
        seen = state.observations[sight.look]
        place = np.flatnonzero(seen.kept == sight.best)
        return seen.losses[place[0]] if seen.losses is not None and len(place) else None


def _with_first(best: list[int]) -> list[int]:
    """Let the first family of all take the place of the last."""
    return best if 0 in best else [*best[: max(1, len(best) - 1)], 0]


def _mean_excess(one: Family, winner: Family) -> float:
    """Return how much worse a family is on the folds that it shares with the winner."""
    common = [fold for fold in one.folds if fold in winner.folds]
    gaps = [one.folds[fold].loss - winner.folds[fold].loss for fold in common]
    return float(np.mean(gaps)) if gaps else 0.0
