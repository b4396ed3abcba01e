"""Looks that are timed, and what a busy machine did to their times."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from operator import methodcaller
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cvst._typing import FloatArray
from cvst.evaluation import Scratch
from cvst.evaluation.machinery import DataSource, RaceData, configured, take
from cvst.parallel import effective_n_jobs, others_running, sharing_processors
from cvst.race import Look

__all__ = [
    "SHORT",
    "SHORT_SHARE",
    "Clock",
    "Seconds",
    "Timing",
    "Watch",
    "undisturbed_seconds",
]

Clock = Callable[[], float]
Result = TypeVar("Result")

# Losses are smooth if more than that share of them differ from each other.
SMOOTH = 0.5

# Looks shorter than that many seconds, or than that share of the time there is, are
# timed more than once.
SHORT, SHORT_SHARE, REPEATS = 0.3, 0.06, 3

# By what share times differ when they are taken again: at least, and at most.
NOISE = 0.1, 1.0

# A machine is not believed to be slowed down by others more than that, where only
# repeated looks tell; and one look is not believed to have met that much more than all.
LARGEST_LOAD, FROM_ALL = 4.0, 3.0

# The processor is believed to have worked for the fits alone if it was busy for that
# share of their time: less means that others worked for them, more that threads did.
BUSY = 0.2, 1.1

# How far the share of a processor that looks had may be from a fair one: where it is
# further, something else than the number of others decides.
UNFAIR = 1.5


class Seconds(NamedTuple):
    """What something took: on the clock, and of the processor.

    A clock that is not the machine's own says nothing about its processor.
    """

    wall: float
    processor: float
    is_real: bool

    @property
    def undisturbed(self) -> float:
        """What it would have taken had nothing been in its way.

        Threads may do in a second what takes the processor several.
        """
        return min(self.wall, self.processor) if self.is_real else self.wall


def timed(work: Callable[[], Result], clock: Clock) -> tuple[Seconds, Result]:
    """Do something, and return what it took and what it returned."""
    outside, start, inside = perf_counter(), clock(), perf_counter()
    busy = process_time()
    result = work()
    busy = process_time() - busy
    inside = perf_counter() - inside
    wall = clock() - start
    outside = perf_counter() - outside
    # However long the machine does something else between two of these calls.
    is_real = 0.99 * inside <= wall <= 1.01 * outside
    return Seconds(max(wall, 1e-9), busy, is_real), result


def undisturbed_seconds(
    work: Callable[[], Any], clock: Clock, longest: float, n_times: int = REPEATS
) -> float:
    """Return what something takes when nothing is in its way.

    Parameters
    ----------
    work : callable
        What is timed.
    clock : callable
        Returns seconds.
    longest : float
        Once it has taken this many seconds altogether it is not done again.
    n_times : int
        How often it is done at most.
    """
    seen: list[Seconds] = []
    while not seen or (len(seen) < n_times and sum(one.wall for one in seen) < longest):
        seen.append(timed(work, clock)[0])
    return min(one.undisturbed for one in seen)


@dataclass(frozen=True, slots=True)
class Timing:
    """One look: seconds on the clock, of the processor and of each configuration."""

    look: Look
    wall: float
    processor: float
    fit: FloatArray
    score: FloatArray
    losses: FloatArray

    @property
    def n_train(self) -> int:
        return self.look.n_train

    @property
    def worked(self) -> float:
        return max(float(self.fit.sum() + self.score.sum()), 1e-9)

    @property
    def row_seconds(self) -> float:
        """Seconds of predicting a row."""
        return float(self.score.mean()) / max(1, self.look.n_test)

    def compared(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Compare all with the leader.

        Returns
        -------
        gaps : tuple of float
            How far each is behind, in units of the scatter of the pointwise difference.
        unlike : tuple of float
            That scatter, in units of the scatter of the leader's losses.
        """
        means = self.losses.mean(axis=1)
        if not np.isfinite(means).any():
            return (), ()
        leader = self.losses[int(np.nanargmin(means))]
        behind = self.losses - leader
        with np.errstate(invalid="ignore"):
            scatter = np.maximum(behind.std(axis=1), 1e-12)
            gaps = behind.mean(axis=1) / scatter
            unlike = scatter / max(float(leader.std()), 1e-12)
        gaps, unlike = (
            np.nan_to_num(one, nan=np.inf, posinf=np.inf) for one in (gaps, unlike)
        )
        return tuple(gaps.tolist()), tuple(unlike.tolist())

    @property
    def smooth(self) -> bool:
        """Whether each row has a loss of its own, as squared errors are."""
        losses = self.losses.ravel()
        n_known = int(np.isfinite(losses).sum())
        n_distinct = len(np.unique(losses[np.isfinite(losses)]))
        return n_distinct > SMOOTH * n_known

    def part(self, members: list[int]) -> Timing:
        """Return the look as it would have been with some of its members."""
        chosen = np.array(members, dtype=np.intp)
        places = self.look.places(chosen)
        share = float(self.fit[places].sum() / max(self.fit.sum(), 1e-9))
        return replace(
            self,
            look=replace(self.look, configurations=chosen),
            wall=share * self.wall,
            processor=share * self.processor,
            fit=self.fit[places],
            score=self.score[places],
            losses=self.losses[places],
        )

    def beside(self, other: Timing) -> Timing:
        """Return the look that both would have been in one, on the same rows."""
        both = np.append(self.look.configurations, other.look.configurations)
        order = np.argsort(both)
        # It would have begun once.
        twice = max(0.0, min(self.wall - self.worked, other.wall - other.worked))
        return Timing(
            replace(self.look, configurations=both[order]),
            self.wall + other.wall - twice,
            self.processor + other.processor,
            np.append(self.fit, other.fit)[order],
            np.append(self.score, other.score)[order],
            np.concatenate([self.losses, other.losses])[order],
        )

    def has_those_of(self, other: Timing) -> bool:
        """Return whether the same configurations took part in both."""
        mine, theirs = self.look.configurations, other.look.configurations
        return bool(np.array_equal(mine, theirs))

    def by_cost(self, groups: list[list[int]]) -> list[list[int]]:
        """Return the members of groups that took part, the cheapest group first."""
        numbers = self.look.configurations.tolist()
        known = dict(zip(numbers, self.fit.tolist(), strict=True))
        present = [[one for one in group if one in known] for group in groups]
        return sorted(
            filter(None, present), key=lambda group: sum(known[n] for n in group)
        )

    def of_the_mean(self, spread: Timing, mean: float) -> float:
        """Return the seconds of a mean fit, from a look at some that are known."""
        common, mine, known = np.intersect1d(
            self.look.configurations, spread.look.configurations, return_indices=True
        )
        assert len(common)  # the middle group is in every look
        scale = mean / max(float(spread.fit[known].mean()), 1e-12)
        return float(self.fit[mine].mean() * scale)

    def mean_row_seconds(self, spread: Timing) -> float:
        """Return the seconds of predicting a row with any of those in another look.

        One group may predict several times faster than another.
        """
        _, mine, known = np.intersect1d(
            self.look.configurations, spread.look.configurations, return_indices=True
        )
        theirs = float(spread.score[known].mean()) if len(known) else 0.0
        if theirs <= 0:
            return self.row_seconds
        scale = float(spread.score.mean()) / theirs
        return scale * float(self.score[mine].mean()) / max(1, self.look.n_test)

    def slowed(self, factor: float, of_work: float | None = None) -> Timing:
        """Return the same look on a machine that is slower.

        Parameters
        ----------
        factor : float
            How much longer the look takes.
        of_work : float
            How much longer fits and predictions take; as much, unless it is said.
        """
        of_work = factor if of_work is None else of_work
        return replace(
            self,
            wall=factor * self.wall,
            fit=of_work * self.fit,
            score=of_work * self.score,
        )

    @property
    def working(self) -> float:
        """The share of a processor that fits and predictions had.

        A short look waits once or not at all, as often between them as in them: they
        had no more than all that the processor did, and hardly waited if they took no
        longer than that.
        """
        most = max(1.0, self.processor / self.wall)
        return min(most, self.processor / min(self.worked, self.wall))


@dataclass
class Watch:
    """Times looks, the shorter ones several times, and remembers how busy all was."""

    source: DataSource
    clock: Clock
    short: float = SHORT
    walls: float = 0.0
    best: float = 0.0
    processor: float = 0.0
    # A clock that is not the machine's own says nothing about its processor.
    is_real: bool = True
    scatter: list[float] = field(default_factory=list)
    # How many threads of others ran, after each look.
    others: list[float] = field(default_factory=list)

    @property
    def noise(self) -> float:
        """By what share times differ when they are taken again."""
        usual = float(np.mean(self.scatter)) if self.scatter else 0.0
        return float(np.clip(usual, *NOISE))

    def time(self, look: Look) -> Timing:
        """Time a look; the repetition that was least disturbed counts.

        Of a fit it may be another one than of the look.
        """
        seen: list[Timing] = []
        while not seen or (
            len(seen) < REPEATS and sum(one.wall for one in seen) < self.short
        ):
            seen.append(self.once(look))
        best = replace(
            min(seen, key=self.effort),
            fit=np.min([one.fit for one in seen], axis=0),
            score=np.min([one.score for one in seen], axis=0),
        )
        self.walls += sum(one.wall for one in seen)
        self.best += len(seen) * min(one.wall for one in seen)
        self.processor += sum(one.processor for one in seen)
        if len(seen) > 1:
            # The range of three is about 1.7 standard deviations.
            efforts = [max(self.effort(one), 1e-9) for one in seen]
            self.scatter.append(float(np.log(max(efforts) / min(efforts)) / 1.7))
        return best

    def lone_fit(self, index: int, n_train: int) -> float:
        """Return the seconds of a fit as the final one is done, outside the source.

        Those that it takes when nothing is in its way.
        """
        return undisturbed_seconds(
            partial(self._fit_alone, index, n_train), self.clock, self.short
        )

    def fit_alone(self, index: int, n_train: int) -> Seconds:
        """Fit once as the final fit is done, and return what that took."""
        return timed(partial(self._fit_alone, index, n_train), self.clock)[0]

    def _fit_alone(self, index: int, n_train: int) -> None:
        rows = slice(0, n_train)
        source, data = self.source, self.source.data
        configuration = source.rescaling.configuration(index, n_train, data.n_meant)
        model = configured(source.estimator, configuration)
        X, _ = data.inputs(rows, rows)
        y = take(data.y, rows)
        arguments = (X,) if y is None else (X, y)
        with sharing_processors():
            model.fit(*arguments, **data.fit_params(rows))

    def effort(self, timing: Timing) -> float:
        """Return the seconds of the processor, where they are those of the look.

        With several workers, or a clock that is not the machine's, those of the clock.
        """
        alone = effective_n_jobs(self.source.n_jobs) == 1
        return timing.processor if alone and self.is_real else timing.wall

    def level(self, timings: list[Timing]) -> list[Timing]:
        """Return looks as they would have been had all been slowed down alike.

        Other work on the machine slows long looks down, while the best of several
        short ones may escape it. What counts is what the race will meet: the mean.
        """
        if not self.walls:
            return timings
        if not self._tells_processor():
            slower = min(self.walls / self.best, LARGEST_LOAD)
            return [one.slowed(slower) for one in timings]
        share, most = self.share, max(FROM_ALL, 1 / self.share)
        least = 1 / FROM_ALL
        return [
            one.slowed(
                float(np.clip(one.processor / one.wall / share, least, most)),
                float(np.clip(one.working / share, least, most)),
            )
            for one in timings
        ]

    def undisturbed(self, timing: Timing) -> Timing:
        """Return a look as it would have been had nothing been in its way."""
        if not self._tells_processor():
            return timing
        return timing.slowed(timing.processor / timing.wall, timing.working)

    def _alone(self, look: Look) -> tuple[DataSource, Look]:
        """Return the rows that a look needs, where more would cost, and the look there.

        A race computes tables of all pairs once, for all of its looks. A look at few
        rows would pay for that, and rows would seem far dearer than they are.
        """
        source, limit = self.source, self.source.scratch.limit
        elsewhere = source.cluster or source.device
        dense = isinstance(source.data.X, np.ndarray) or hasattr(source.data.X, "iloc")
        if elsewhere or not dense or source.data.pairwise:
            # What evaluators keep from a look would make its repetition, and larger
            # looks, seem to cost nothing.
            return replace(source, scratch=Scratch(limit)), look
        assert isinstance(look.test, slice)
        only = methodcaller("only", look.n_train, look.test)
        data: RaceData = only(source.data)
        # Of a square table of all rows, that is the part of a look. Its own table has
        # whole blocks of rows.
        n_all, n_rows = len(source.data.X), len(data.X)
        n_table = min(n_rows, look.n_train + Scratch.table_block)
        share = min(1.0, n_table * n_rows / n_all**2)
        alone = replace(
            source,
            data=data,
            # Workers cut their own: to send rows to them takes long.
            stored=None if source.stored is None else source.stored.changed(only),
            scratch=Scratch(limit, share=share),
        )
        there = slice(look.n_train, look.n_train + look.n_test)
        return alone, replace(look, test=there)

    def _tells_processor(self) -> bool:
        """Return whether what the processor did was the looks, and all of them."""
        least, most = BUSY
        seen = self.processor / max(self.walls, 1e-9)
        return self.is_real and least * self._fair_share() <= seen <= most

    @property
    def share(self) -> float:
        """The share of a processor that the race will probably have.

        A second is short: a look may have had a processor to itself, or waited for its
        turn all the time, while three share two of them. In the long run they are fair:
        where two others share two processors, nine of ten plans had one to themselves,
        and then races had a whole one or half of one to their end.
        """
        if not self.walls or not self._tells_processor():
            return 1.0
        seen, fair = self.processor / self.walls, self._fair_share()
        if fair == 1:
            # Nobody is in the way: what is missing are waits of its own.
            return min(1.0, seen)
        return float(np.clip(fair, seen / UNFAIR, min(1.0, seen * UNFAIR)))

    def _fair_share(self) -> float:
        """Return the share of a processor that each thread has if they are fair."""
        if not self.others:
            return 1.0
        n_processors = os.cpu_count() or 1
        return min(1.0, n_processors / (median(self.others) + 1))

    def once(self, look: Look) -> Timing:
        """Time a look once."""
        source, there = self._alone(look)
        took, seen = timed(partial(source.observe, there), self.clock)
        self.is_real &= took.is_real
        self.others.append(others_running())
        times = seen.fit_seconds, seen.score_seconds
        return Timing(look, took.wall, took.processor, *times, seen.losses)
