"""Looks that are timed, and what a busy machine did to their times."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from operator import methodcaller
from statistics import median
from time import perf_counter, process_time

import numpy as np

from cvst._typing import FloatArray
from cvst.evaluation import Scratch
from cvst.evaluation.machinery import DataSource, RaceData, configured, take
from cvst.parallel import effective_n_jobs, others_running, sharing_processors
from cvst.race import Look, LookLosses

__all__ = ["SHORT", "SHORT_SHARE", "Clock", "Timing", "Watch"]

Clock = Callable[[], float]

# Looks shorter than that many seconds, or than that share of the time there is, are
# timed more than once.
SHORT, SHORT_SHARE, REPEATS = 0.3, 0.06, 3

# By what share times differ when they are taken again: at least, and at most.
NOISE = 0.1, 1.0

# A machine is not believed to be slowed down by others more than that.
LARGEST_LOAD = 4.0

# The processor is believed to have worked for the fits alone if it was busy for that
# share of their time: less means that others worked for them, more that threads did.
BUSY = 0.2, 1.1


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

    def slowed(self, factor: float) -> Timing:
        """Return the same look on a machine that is slower."""
        return replace(
            self,
            wall=factor * self.wall,
            fit=factor * self.fit,
            score=factor * self.score,
        )


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
        """Time a look; the repetition that was least disturbed counts."""
        seen: list[Timing] = []
        while not seen or (
            len(seen) < REPEATS and sum(one.wall for one in seen) < self.short
        ):
            seen.append(self.once(look))
        best = min(seen, key=self.effort)
        self.walls += sum(one.wall for one in seen)
        self.best += len(seen) * min(one.wall for one in seen)
        self.processor += sum(one.processor for one in seen)
        if len(seen) > 1:
            # The range of three is about 1.7 standard deviations.
            walls = [one.wall for one in seen]
            self.scatter.append(float(np.log(max(walls) / min(walls)) / 1.7))
        return best

    def lone_fit(self, index: int, n_train: int) -> float:
        """Return the seconds of a fit as the final one is done, outside the source."""
        times: list[float] = []
        while not times or (len(times) < REPEATS and sum(times) < self.short):
            begun = self.clock()
            self._fit_alone(index, n_train)
            times.append(self.clock() - begun)
        return min(times)

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
        busy = self.processor / self.walls
        if self.is_real and BUSY[0] <= busy <= BUSY[1]:
            busy = min(busy, self._share())
            return [
                one.slowed(float(np.clip(one.processor / one.wall / busy, 1 / 3, 3)))
                for one in timings
            ]
        return [
            one.slowed(min(self.walls / self.best, LARGEST_LOAD)) for one in timings
        ]

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

    def _share(self) -> float:
        """Return the share of a processor that each thread has if they are fair.

        A second is short: a look may have had a processor to itself, while three share
        two of them and the race will wait for its turn.
        """
        if not self.others:
            return 1.0
        n_processors = os.cpu_count() or 1
        return min(1.0, n_processors / (median(self.others) + 1))

    def once(self, look: Look) -> Timing:
        """Time a look once."""
        source, there = self._alone(look)
        outside, start, inside = perf_counter(), self.clock(), perf_counter()
        busy = process_time()
        seen: LookLosses = source.observe(there)
        busy = process_time() - busy
        inside = perf_counter() - inside
        wall = self.clock() - start
        outside = perf_counter() - outside
        # However long the machine does something else between two of these calls.
        self.is_real &= 0.99 * inside <= wall <= 1.01 * outside
        wall = max(wall, 1e-9)
        self.others.append(others_running())
        times = seen.fit_seconds, seen.score_seconds
        return Timing(look, wall, busy, *times, seen.losses)
