"""How long configurations take, from a few timed looks.

A fit on :math:`n` rows is taken to cost :math:`a + b n^m`, predicting a row with that
model :math:`a' + b' n^q`. Looks are timed through the race's own source, so that what
configurations share and what several workers save is part of the measurement. Three
questions are asked, one after the other:

1. At how many rows is the work of a fit to be seen beside the cost of calling it?
2. How far are cheap and dear configurations apart, there?
3. How does the cost of a cheap one, of a middle one and of a dear one grow?
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter, process_time

import numpy as np

from cvst._typing import FloatArray
from cvst.evaluation import DataSource, Scratch, configured, take
from cvst.exceptions import AllFitsFailedError
from cvst.parallel import effective_n_jobs, filtered_warnings
from cvst.race import Look, LookLosses, Problem
from cvst.search.budget._growth import Growth, growth_of
from cvst.search.budget._model import CostModel
from cvst.search.budget._sample import LARGEST_SAMPLE, spread_sample
from cvst.theory import PowerCurve

__all__ = ["Allowance", "measure_costs"]

Clock = Callable[[], float]
Allowance = Callable[[CostModel], float]

# Predicting a row takes at most a pass over the training rows.
PREDICTION = Growth(0.0, 0.5, 1.0)

# Rows of the first look timed. They double, or grow fourfold while nothing is seen.
SMALLEST_PROBE, FAST = 100, 0.005

# Share of the rows that the last may have.
LARGEST_PROBE = 0.8

# From that many seconds on, the work of a fit is visible, and beside the work of a long
# one it is nothing what the first of them has to load.
VISIBLE, LONG = 0.02, 0.2

# How much longer a fit takes when its rows are to be seen, what share of the time that
# may take, and below what growth the next size is skipped.
GROWN, EARLY_SHARE, STEEP = 2.0, 0.3, 1.5

# Looks shorter than that many seconds, or than that share of the time there is, are
# timed more than once.
SHORT, SHORT_SHARE, REPEATS = 0.3, 0.1, 3

# By what share times differ when they are taken again: at least, and at most.
NOISE = 0.1, 1.0

# A machine is not believed to be slowed down by others more than that.
LARGEST_LOAD = 4.0

# What share of the time may be spent to see how far configurations are apart.
SAMPLE_SHARE = 0.35
FEWEST_GROUPS = 3

# The processor is believed to have worked for the fits alone if it was busy for that
# share of their time: less means that others worked for them, more that threads did.
BUSY = 0.2, 1.1


@dataclass(frozen=True, slots=True)
class _Timing:
    """One look: seconds on the clock, of the processor and of each configuration."""

    look: Look
    wall: float
    processor: float
    fit: FloatArray
    score: FloatArray
    gaps: tuple[float, ...] = ()

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

    def slowed(self, factor: float) -> _Timing:
        """Return the same look on a machine that is slower."""
        return replace(
            self,
            wall=factor * self.wall,
            fit=factor * self.fit,
            score=factor * self.score,
        )


@dataclass
class _Watch:
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

    @property
    def noise(self) -> float:
        """By what share times differ when they are taken again."""
        usual = float(np.mean(self.scatter)) if self.scatter else 0.0
        return float(np.clip(usual, *NOISE))

    def time(self, look: Look) -> _Timing:
        """Time a look; the repetition that was least disturbed counts."""
        seen: list[_Timing] = []
        while not seen or (
            len(seen) < REPEATS and sum(one.wall for one in seen) < self.short
        ):
            seen.append(self.once(look))
        alone = effective_n_jobs(self.source.n_jobs) == 1
        key = (
            (lambda one: one.processor)
            if alone and self.is_real
            else (lambda one: one.wall)
        )
        best = min(seen, key=key)
        self.walls += sum(one.wall for one in seen)
        self.best += len(seen) * min(one.wall for one in seen)
        self.processor += sum(one.processor for one in seen)
        if len(seen) > 1:
            # The range of three is about 1.7 standard deviations.
            walls = [one.wall for one in seen]
            self.scatter.append(float(np.log(max(walls) / min(walls)) / 1.7))
        return best

    def level(self, timings: list[_Timing]) -> list[_Timing]:
        """Return looks as they would have been had all been slowed down alike.

        Other work on the machine slows long looks down, while the best of several
        short ones may escape it. What counts is what the race will meet: the mean.
        """
        if not self.walls:
            return timings
        busy = self.processor / self.walls
        if self.is_real and BUSY[0] <= busy <= BUSY[1]:
            return [
                one.slowed(float(np.clip(one.processor / one.wall / busy, 1 / 3, 3)))
                for one in timings
            ]
        return [
            one.slowed(min(self.walls / self.best, LARGEST_LOAD)) for one in timings
        ]

    def once(self, look: Look) -> _Timing:
        """Time a look once."""
        # What evaluators keep from a look would make its repetition, and larger looks,
        # seem to cost nothing.
        source = replace(self.source, scratch=Scratch())
        real, start, busy = perf_counter(), self.clock(), process_time()
        seen: LookLosses = source.observe(look)
        wall, busy = self.clock() - start, process_time() - busy
        real = perf_counter() - real
        self.is_real &= abs(real - wall) <= 0.05 * real + 1e-3
        wall = max(wall, 1e-9)
        times = seen.fit_seconds, seen.score_seconds
        return _Timing(look, wall, busy, *times, gaps=_gaps(seen.losses))


def measure_costs(
    source: DataSource,
    problem: Problem,
    *,
    seconds: float,
    allowed: Allowance,
    clock: Clock,
) -> CostModel:
    """Time looks at more and more rows until the time is up.

    Parameters
    ----------
    source : DataSource
        Of the race to come. It is left as it is.
    problem : Problem
        Of the race to come.
    seconds : float
        What the measurement should take.
    allowed : callable
        Returns the seconds that it may take, given what is known by now: a long race is
        worth a longer one.
    clock : callable
        Returns seconds.
    """
    # What evaluators keep belongs to the race: the probe has a scratch of its own.
    probe = replace(
        source,
        scratch=Scratch(),
        watch=None,
        raise_errors=False,
        keep_losses=False,
        kept=[],
    )
    with filtered_warnings():
        warnings.simplefilter("ignore")
        return _Measurement(probe, problem, seconds, allowed, clock).model()


class _Measurement:
    """The three questions, and the model that follows from the answers."""

    def __init__(
        self,
        source: DataSource,
        problem: Problem,
        seconds: float,
        allowed: Allowance,
        clock: Clock,
    ) -> None:
        self.source = source
        self.problem = problem
        self.allowed = allowed
        self.clock = clock
        self.start = clock()
        self.watch = _Watch(source, clock, min(SHORT, SHORT_SHARE * seconds))
        numbered = dict(enumerate(source.configurations))
        self.groups = source.evaluator.groups(source.estimator, numbered)
        self.growth = growth_of(source.estimator, source.configurations)
        self.n_workers = effective_n_jobs(source.n_jobs)
        self.sizes = _sizes(problem)

    def model(self) -> CostModel:
        """Measure, and return the model."""
        middle = self.groups[len(self.groups) // 2]
        early = self._until_visible(middle)
        spread = self._spread(early[-1])
        few = self._few(spread)
        growing = [self._part(spread, few)]
        alone = self._alone(middle, early[-1])
        model = self._model(early, spread, growing, alone)
        while n_train := self._next_size(growing, model):
            growing.append(self.watch.time(self._look(n_train, few)))
            model = self._model(early, spread, growing, alone)
        return replace(model, probe_seconds=self._elapsed())

    # The three questions ------------------------------------------------------------

    def _until_visible(self, members: list[int]) -> list[_Timing]:
        """Time one group on more and more rows until its work is to be seen."""
        timings: list[_Timing] = []
        error: AllFitsFailedError | None = None
        waiting = list(self.sizes)
        while waiting and not self._is_visible(timings):
            n_train = waiting.pop(0)
            try:
                timings.append(self._timed(self._look(n_train, members), not timings))
            except AllFitsFailedError as failed:
                error = failed
                continue
            slow = len(timings) == 1 or timings[-1].wall > STEEP * timings[-2].wall
            if (timings[-1].wall < FAST or not slow) and len(waiting) > 1:
                waiting.pop(0)
        if not timings:
            assert error is not None
            raise error
        return timings

    def _is_visible(self, timings: list[_Timing]) -> bool:
        """Return whether the cost of rows is to be seen beside that of the call."""
        if not timings:
            return False
        last = timings[-1]
        if last.wall < VISIBLE:
            return False
        # A fit with many rounds takes long on few rows, too: rows show when the time
        # grows with them. To see that may take some of the time there is.
        left = self.allowed(self._first_guess(last)) - self._elapsed()
        dear = 2 * last.wall > EARLY_SHARE * left
        return dear or last.wall >= GROWN * timings[0].wall

    def _timed(self, look: Look, is_first: bool) -> _Timing:
        """Time a look, the first one twice: imports, caches and workers start there."""
        if not is_first:
            return self.watch.time(look)
        first = self.watch.once(look)
        if self.n_workers == 1 and first.wall >= LONG:
            return first
        return self.watch.time(look)

    def _spread(self, seen: _Timing) -> _Timing:
        """Time groups from all over the grid at one size."""
        n_train = seen.n_train
        each = seen.worked / len(seen.fit)
        room = self.allowed(self._first_guess(seen)) / max(each, 1e-9)
        most = int(np.clip(SAMPLE_SHARE * room, 1, LARGEST_SAMPLE))
        least = max(FEWEST_GROUPS, 2 * self.n_workers) if room >= FEWEST_GROUPS else 1
        members = spread_sample(self.groups, most, least)
        if np.array_equal(members, seen.look.configurations):
            return seen
        return self.watch.time(self._look(n_train, members.tolist()))

    def _few(self, spread: _Timing) -> list[int]:
        """Return the groups that were cheapest, in the middle and dearest."""
        present = set(spread.look.configurations.tolist())
        seconds = dict(
            zip(spread.look.configurations.tolist(), spread.fit, strict=True)
        )
        groups = [
            [one for one in group if one in present]
            for group in self.groups
            if present.intersection(group)
        ]
        groups.sort(key=lambda group: sum(seconds[one] for one in group))
        places = {0, len(groups) // 2, len(groups) - 1}
        return sorted(one for place in places for one in groups[place])

    def _alone(self, members: list[int], seen: _Timing) -> float:
        """Return how much longer a fit takes as the final fit is done.

        Outside of the source: no worker's limit on threads, nothing shared.
        """
        index = members[len(members) // 2]
        times: list[float] = []
        while not times or (len(times) < REPEATS and sum(times) < self.watch.short):
            begun = self.clock()
            try:
                _fit_alone(self.source, index, seen.n_train)
            except Exception:
                # The look itself has its own way with fits that fail.
                return 1.0
            times.append(self.clock() - begun)
        # Members of a group share its work in the books, evenly or not. Alone, one of
        # them may take as long as all; threads may change that by some factor.
        ratio = min(times) / max(float(seen.fit.mean()), 1e-9)
        return float(np.clip(ratio, 0.1, 2.0 * len(members)))

    def _next_size(self, growing: list[_Timing], model: CostModel) -> int:
        """Return the largest size for which there is time, 0 if there is none.

        A large step tells more about the growth than several small ones.
        """
        last = growing[-1]
        left = self.allowed(model) - self._elapsed()
        larger = [size for size in self.sizes if size > last.n_train]
        fitting = [
            size
            for size in larger
            if last.wall * (size / last.n_train) ** self.growth.usual <= left
        ]
        if fitting:
            return fitting[-1]
        # One size says nothing about growth: a second one is worth its time.
        return larger[0] if larger and len(growing) == 1 and left > 0 else 0

    # The answer ---------------------------------------------------------------------

    def _model(
        self,
        early: list[_Timing],
        spread: _Timing,
        growing: list[_Timing],
        alone: float,
    ) -> CostModel:
        early, growing = self.watch.level(early), self.watch.level(growing)
        (spread,) = self.watch.level([spread])
        # All curves are those of the mean configuration: what fewer were timed on is
        # scaled to it where both are known.
        scale = _ratio(spread.fit.mean(), growing[0].fit.mean())
        of_one = _ratio(spread.fit.mean(), early[-1].fit.mean())
        smaller = [one for one in early if one.n_train < spread.n_train]
        sizes = [one.n_train for one in (*smaller, *growing)]
        times = [of_one * one.fit.mean() for one in smaller]
        times += [scale * one.fit.mean() for one in growing]
        # Disturbances only ever lengthen a time, and more rows take no less of it: what
        # took longer than a larger look was disturbed.
        times = np.minimum.accumulate(times[::-1])[::-1].tolist()
        curves = PowerCurve.plausible(
            sizes,
            times,
            self.growth.steepest,
            self.growth.flattest,
            self.growth.usual,
            self.watch.noise,
            self.growth.spread,
        )
        timed = [*smaller, spread, *growing[1:]]
        overhead = min(max(0.0, one.wall - one.worked) for one in timed)
        wall = (spread.wall - overhead) / spread.worked
        return CostModel(
            fit=curves[0],
            predict=PowerCurve.fit(
                [one.n_train for one in timed],
                [one.row_seconds for one in timed],
                PREDICTION.steepest,
                PREDICTION.flattest,
                PREDICTION.usual,
            ),
            alone=curves[0].scaled(alone),
            wall=max(1 / self.n_workers, wall),
            overhead=overhead,
            probe_seconds=self._elapsed(),
            largest_probe=max(sizes),
            plausible=curves[1:],
            n_configurations=len(self.source.configurations),
            n_groups=len(self.groups),
            lonely=max(1.0, alone),
            gaps=spread.gaps,
        )

    def _first_guess(self, seen: _Timing) -> CostModel:
        return self._model([seen], seen, [seen], 1.0)

    def _part(self, timing: _Timing, members: list[int]) -> _Timing:
        """Return a look as it would have been with some of its members."""
        chosen = np.array(members, dtype=np.intp)
        places = timing.look.places(chosen)
        share = float(timing.fit[places].sum() / max(timing.fit.sum(), 1e-9))
        return replace(
            timing,
            look=replace(timing.look, configurations=chosen),
            wall=share * timing.wall,
            processor=share * timing.processor,
            fit=timing.fit[places],
            score=timing.score[places],
        )

    def _look(self, n_train: int, members: list[int]) -> Look:
        """Return a look with no more test rows than needed to time a prediction."""
        train, test = self.problem.prefix(n_train)
        assert isinstance(test, slice)
        n_test = min(test.stop - test.start, max(200, n_train))
        rows = slice(test.start, test.start + n_test)
        configurations = np.array(sorted(members), dtype=np.intp)
        return Look(train, rows, n_train, configurations, stage="probe")

    def _elapsed(self) -> float:
        return self.clock() - self.start


def _gaps(losses: FloatArray) -> tuple[float, ...]:
    """Return how far each is behind the leader, in units of the pointwise scatter."""
    means = losses.mean(axis=1)
    if not np.isfinite(means).any():
        return ()
    behind = losses - losses[int(np.nanargmin(means))]
    with np.errstate(invalid="ignore"):
        scatter = np.maximum(behind.std(axis=1), 1e-12)
        gaps = behind.mean(axis=1) / scatter
    return tuple(np.nan_to_num(gaps, nan=np.inf, posinf=np.inf).tolist())


def _ratio(above: float, below: float) -> float:
    return float(above) / max(float(below), 1e-12)


def _fit_alone(source: DataSource, index: int, n_train: int) -> None:
    rows = slice(0, n_train)
    data = source.data
    configuration = source.rescaling.configuration(index, n_train, data.n_meant)
    model = configured(source.estimator, configuration)
    X, _ = data.inputs(rows, rows)
    y = take(data.y, rows)
    arguments = (X,) if y is None else (X, y)
    model.fit(*arguments, **data.fit_params(rows))


def _sizes(problem: Problem) -> list[int]:
    """Return sizes that double, up to most of the rows."""
    largest = max(2, int(LARGEST_PROBE * problem.n_samples))
    sizes = [min(SMALLEST_PROBE, max(2, largest // 2))]
    while 2 * sizes[-1] <= largest:
        sizes.append(2 * sizes[-1])
    cuts = [problem.cut(size) for size in sizes]
    # Groups may move several cuts to the same place, or to the very end.
    return sorted({cut for cut in cuts if 0 < cut < problem.n_samples})
