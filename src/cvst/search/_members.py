"""Who may be in an ensemble in the time that is left, and is fitted on which folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cvst.parallel import effective_n_jobs
from cvst.race import RaceState
from cvst.search._setup import Setup

__all__ = ["MembersInTime", "members_in_time"]

# Forecasts err: this many times the forecast has to be left.
MARGIN = 1.1

# This many folds come before another member, and the others after all members.
WORTHWHILE_FOLDS = 2


@dataclass
class MembersInTime:
    """Says who is fitted on which fold next, while there is time for it.

    Parameters
    ----------
    eligible : sequence of (int, float)
        Who may take part, the best first, and the seconds of a fit on all rows.
    winner : int
        The choice of the search: it takes part, and is fitted in any case.
    ends : float
        Reading of the clock when everything has to be over, final fits included.
    clock : callable
        Returns the seconds that the budget is measured in.
    n_at_once : int
        How many are fitted side by side.

    Attributes
    ----------
    members : list of int
        Those who take part, the winner first.

    Examples
    --------
    >>> seconds = [(7, 1.0), (3, 2.0), (5, 9.0), (1, 1.0)]
    >>> time = MembersInTime(seconds, winner=7, ends=12.0, clock=lambda: 0.0)
    >>> list(time.fits([0.5, 0.5, 0.5]))
    [([7], 0), ([7], 1), ([3], 0), ([3], 1), ([1], 0), ([1], 1), ([7, 3, 1], 2)]
    >>> time.members
    [7, 3, 1]
    """

    eligible: Sequence[tuple[int, float]]
    winner: int
    ends: float
    clock: Callable[[], float]
    n_at_once: int = 1
    members: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        known = dict(self.eligible)
        # A function of the user's own may have chosen any configuration.
        own = known.get(self.winner, max(known.values(), default=0.0))
        self._seconds = {self.winner: own, **known}
        self._forecast = self._took = 0.0

    def fits(self, shares: Sequence[float]) -> Iterator[tuple[list[int], int]]:
        """Yield who is fitted on which fold next; how long it takes is measured.

        Parameters
        ----------
        shares : sequence of float
            For each fold the share of all rows that it trains on.
        """
        first, others = [self.winner], [n for n in self._seconds if n != self.winner]
        early = range(min(WORTHWHILE_FOLDS, len(shares)))
        # The winner alone is no ensemble.
        if not any(self._has_time([self.winner, one], shares, early) for one in others):
            return
        while first or others:
            some = first or self._next(others, shares, early)
            for fold in early if some else ():
                yield from self._timed(some, shares, fold)
            self.members += some
            first, others = [], [n for n in others if n not in some] if some else []
        for fold in range(len(early), len(shares)):
            if not self._has_time(self.members, shares, [fold], joined=True):
                return
            yield from self._timed([*self.members], shares, fold)

    def affordable(self) -> list[int]:
        """Return the members, without the last ones if time is short to fit all."""
        while len(self.members) > 1:
            if self._pace * self._sum(self.members) <= self._left:
                break
            self.members.pop()
        return self.members

    def _next(
        self, others: Sequence[int], shares: Sequence[float], folds: Iterable[int]
    ) -> list[int]:
        """Return those that join next; one that is too dear keeps no other out."""
        some: list[int] = []
        for one in others:
            if self._has_time([*some, one], shares, folds):
                some.append(one)
            if len(some) == self.n_at_once:
                break
        return some

    def _has_time(
        self,
        some: Sequence[int],
        shares: Sequence[float],
        folds: Iterable[int],
        *,
        joined: bool = False,
    ) -> bool:
        """Return whether there is time for folds, and then for all final fits."""
        seconds = sum(shares[fold] for fold in folds) * self._sum(some)
        finals = {*self.members, *(() if joined else some), self.winner}
        return MARGIN * self._pace * (seconds + self._sum(finals)) <= self._left

    def _timed(
        self, some: list[int], shares: Sequence[float], fold: int
    ) -> Iterator[tuple[list[int], int]]:
        started = self.clock()
        yield some, fold
        self._took += self.clock() - started
        self._forecast += shares[fold] * self._sum(some)

    def _sum(self, some: Iterable[int]) -> float:
        return sum(self._seconds[one] for one in some)

    @property
    def _pace(self) -> float:
        """Seconds that fits took for each second of the forecast."""
        return self._took / self._forecast if self._took and self._forecast else 1.0

    @property
    def _left(self) -> float:
        return self.ends - self.clock()


def members_in_time(
    setup: Setup, state: RaceState, winner: int, clock: Callable[[], float]
) -> MembersInTime | None:
    """Return who may take part in the time that is left, None if it has no end."""
    if setup.ends is None:
        return None
    known = setup.strategy.ensemble_members(state)
    n_at_once = effective_n_jobs(setup.source.n_jobs)
    return MembersInTime(known, winner, setup.ends, clock, n_at_once)
