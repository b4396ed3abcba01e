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

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.evaluation import Scratch
from cvst.evaluation.machinery import DataSource
from cvst.exceptions import AllFitsFailedError
from cvst.parallel import effective_n_jobs, without_warnings
from cvst.race import Look, Problem
from cvst.search._known_work import alone_of_group, known_work, probable_winner
from cvst.search.budget._growth import Growth, growth_of
from cvst.search.budget._lone import Alone, fitted_alone, predicted_alone
from cvst.search.budget._model import CostModel
from cvst.search.budget._probe_sizes import probe_look, probe_sizes
from cvst.search.budget._sample import (
    LARGEST_SAMPLE,
    group_that_fits,
    parts_of_grid,
    spread_sample,
)
from cvst.search.budget._watch import SHORT, SHORT_SHARE, Clock, Timing, Watch
from cvst.theory import PowerCurve

__all__ = ["Allowance", "measure_costs"]

Allowance = Callable[[CostModel], float]

# Predicting a row takes at most a pass over the training rows.
PREDICTION = Growth(0.0, 0.5, 1.0)

# Below this many seconds nothing is seen, and the rows grow fourfold.
FAST = 0.005

# From that many seconds on, the work of a fit is visible, and beside the work of a long
# one it is nothing what the first of them has to load.
VISIBLE, LONG = 0.02, 0.1

# How much longer a fit takes when its rows are to be seen, what share of the time that
# may take, and below what growth the next size is skipped.
GROWN, EARLY_SHARE, STEEP = 2.0, 0.4, 1.5

# Rows to test on: as many as are trained on, but no fewer than that. More tell who is
# about as good as the leader, while predicting them takes no longer than the fits.
FEWEST_TESTED, MOST_TESTED = 200, 1000

# How many times larger one look of a lone group must be than one of several to tell
# more about the growth.
MUCH_LARGER = 4

# A group below that share of the mean does not stand for the others; one that does that
# share of all the work stands for it.
CHEAP, MOST_WORK = 0.3, 0.4

# A lone fit is not timed by itself if it takes more than that share of the time, of
# which it is worth more where it shares work with others otherwise.
LONE_SHARE, LONE_SHARE_OF_GROUP = 0.1, 0.25

# What share of the time may be spent to see how far configurations are apart.
SAMPLE_SHARE, FEWEST_GROUPS = 0.5, 3


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
        scratch=Scratch(source.scratch.limit),
        watch=None,
        raise_errors=False,
        keep_losses=False,
        kept=[],
    )
    with without_warnings():
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
        self.watch = Watch(source, clock, min(SHORT, SHORT_SHARE * seconds))
        numbered = dict(enumerate(source.configurations))
        self.groups = source.evaluator.groups(source.estimator, numbered)
        self.growth = growth_of(source.estimator, source.configurations)
        self.n_workers = effective_n_jobs(source.n_jobs)
        self.sizes = probe_sizes(problem, self.growth.n_rows)
        self.work = known_work(source.configurations)

    def model(self) -> CostModel:
        """Measure, and return the model."""
        middle = self.groups[len(self.groups) // 2]
        try:
            early = self._until_visible(middle)
        except AllFitsFailedError:
            middle = group_that_fits(self.groups, self.sizes, self._seen, self._elapsed)
            early = self._until_visible(middle)
        seen = self._where_to_compare(early)
        spread = self._spread(early, seen)
        growing: list[Timing] = []
        alone = self._alone(middle, early, seen)
        early = self._representative(early, spread)
        model = self._model(early, spread, growing, alone)
        while look := self._next_look(early, spread, growing, model):
            growing.append(self.watch.time(look))
            if len(early) == len(growing) == 1 and growing[0].has_those_of(early[0]):
                first = self._warmed_up([*early, *growing])[0]
                early, spread = [first], first if spread is early[0] else spread
            model = self._model(early, spread, growing, alone)
        return replace(model, probe_seconds=self._elapsed())

    # The three questions ------------------------------------------------------------

    def _until_visible(self, members: list[int]) -> list[Timing]:
        """Time one group on more and more rows until its work is to be seen."""
        timings: list[Timing] = []
        error: AllFitsFailedError | None = None
        waiting = list(self.sizes)
        while waiting and not self._is_visible(timings):
            if timings and self._left(timings) <= 0:
                break
            n_train = waiting.pop(0)
            try:
                timing = self._timed(self._strict(n_train, members), not timings)
            except AllFitsFailedError as failed:
                error = failed
                continue
            is_short = self.watch.effort(timing) < VISIBLE
            if not timings and is_short and self._left([timing]) > 0:
                # What one group does in a moment may take another one ages.
                members = spread_sample(self.groups, 1, FEWEST_GROUPS).tolist()
                timing = self.watch.time(self._look(n_train, members))
            timings.append(timing)
            if len(waiting) > 1 and self._skips(timings):
                waiting.pop(0)
            waiting = self._ahead(timings, waiting)
        if error is not None and not timings:
            raise error
        return self._warmed_up(timings)

    def _warmed_up(self, timings: list[Timing]) -> list[Timing]:
        """Return looks of which the first is timed again if it may have been slowed.

        It pays for what is loaded and started only once. Where more rows took hardly
        longer, that may be why, and many rows would seem as cheap as few.
        """
        if len(timings) < 2:
            return timings
        first, second, *others = timings
        grown = (second.n_train / first.n_train) ** self.growth.flattest
        slowed = self.watch.effort(second) < grown * self.watch.effort(first)
        if slowed and self._left(timings) > 0:
            again = self.watch.once(first.look)
            first = min(first, again, key=self.watch.effort)
        return [first, second, *others]

    def _skips(self, timings: list[Timing]) -> bool:
        """Return whether the next size would tell too little to be timed."""
        last = timings[-1]
        if last.wall < FAST:
            return True
        if len(timings) > 1:
            return last.wall <= STEEP * timings[-2].wall
        # What takes long on the fewest rows does not owe it to them.
        return VISIBLE < last.wall < self._left(timings) / 4

    def _ahead(self, timings: list[Timing], waiting: list[int]) -> list[int]:
        """Return the sizes to come after the first, without those that tell little.

        Where rows cost little beside what is done in any case, the size that tells most
        is the largest for which there is time.
        """
        first = timings[0]
        hidden = self.growth.usual < 1 and first.wall >= VISIBLE
        if not hidden or len(timings) > 1:
            return waiting
        likely = (self.growth.flattest + self.growth.usual) / 2
        most = max(1.0, self._left(timings) / first.wall) ** (1 / likely)
        fitting = [size for size in waiting if size <= most * first.n_train]
        return waiting[max(0, len(fitting) - 1) :]

    def _is_visible(self, timings: list[Timing]) -> bool:
        """Return whether the cost of rows is to be seen beside that of the call."""
        if not timings:
            return False
        last = timings[-1]
        if last.wall < VISIBLE:
            return False
        # Many rounds take long on few rows, too: rows show when the time grows with
        # them. To see that is worth most of the time once, then some of it.
        if len(timings) == 1:
            again: float = 2.0**self.growth.usual
            return again * last.wall > self._left(timings)
        growth = max(1.0, last.wall / timings[-2].wall)
        # The first look at least is repeated with several groups.
        left = self._left(timings) - self._of_several(timings[0])
        dear = growth * last.wall > EARLY_SHARE * left
        return dear or last.wall >= GROWN * timings[0].wall

    def _left(self, timings: list[Timing]) -> float:
        """Return the seconds that are left by what is known from looks at one group."""
        return self.allowed(self._guess(timings)) - self._elapsed()

    def _where_to_compare(self, early: list[Timing]) -> Timing:
        """Return the largest look that leaves time for the same with several groups."""
        room = SAMPLE_SHARE * self._left(early)
        affordable = [one for one in early if self._of_several(one) <= room]
        return affordable[-1] if affordable else early[0]

    def _of_several(self, timing: Timing) -> float:
        """Return the seconds of a look with the fewest groups to compare."""
        work = self.work / self.work[timing.look.configurations].sum()
        ends = spread_sample(self.groups, 1, FEWEST_GROUPS)
        return float(timing.wall * max(1.0, work[ends].sum()))

    def _timed(self, look: Look, is_first: bool) -> Timing:
        """Time a look, the first one twice: imports, caches and workers start there."""
        if not is_first:
            return self.watch.time(look)
        first = self.watch.once(look)
        long = self.n_workers == 1 and first.wall >= LONG
        if long or self._left([first]) <= 0:
            return first
        return self.watch.time(look)

    def _spread(self, early: list[Timing], seen: Timing) -> Timing:
        """Time groups from all over the grid at one size."""
        # One size says nothing about growth: a second one comes before other groups.
        second = 2.0**self.growth.usual * early[0].wall if len(early) == 1 else 0.0
        left = self._left(early) - second
        if left <= 0:
            return seen
        room = left / max(seen.worked / len(seen.fit), 1e-9)
        least = max(FEWEST_GROUPS, 2 * self.n_workers) if room >= FEWEST_GROUPS else 1
        first = spread_sample(self.groups, 1, least)
        spread = seen
        if not np.array_equal(first, seen.look.configurations):
            spread = self._compared(seen, first)
        # The ends may be far dearer than the middle: they tell how many others fit.
        room = SAMPLE_SHARE * (self._left([spread]) - second)
        more = room / max(spread.worked / len(spread.fit), 1e-9)
        most = len(first) + int(min(max(more, 0), LARGEST_SAMPLE))
        members = spread_sample(self.groups, most, least)
        others = np.setdiff1d(members, spread.look.configurations)
        if room <= 0 or not len(others):
            return spread
        if spread is seen:
            return self._compared(seen, members)
        return spread.beside(self._compared(seen, others))

    def _compared(self, seen: Timing, members: IntArray) -> Timing:
        """Time a look at these on as many rows as one that was seen."""
        free = float(seen.fit.mean()) / max(seen.row_seconds, 1e-12)
        n_test = int(np.clip(free, FEWEST_TESTED, MOST_TESTED))
        return self.watch.time(self._look(seen.n_train, members.tolist(), n_test))

    def _representative(self, early: list[Timing], spread: Timing) -> list[Timing]:
        """Return looks at fewer rows that tell how most of the work grows.

        Where the group that was timed first is much cheaper than the others, it says
        nothing about them: then some of these are timed in its place.
        """
        first = early[-1].look.configurations
        places = np.isin(spread.look.configurations, first)
        # A quarter of the rows at most: these looks are short beside those before.
        smaller = [size for size in self.sizes if 4 * size <= spread.n_train]
        examples = self._cheap_middle_and_dear(spread)
        cheap = spread.fit[places].mean() < CHEAP * spread.fit.mean()
        if not cheap:
            return early
        if not smaller or self._left([spread]) <= 0:
            # Then only looks at more rows can tell.
            return [one for one in early if one.n_train <= spread.n_train]
        timed: list[Timing] = []
        for size in sorted({smaller[0], smaller[-1]}):
            # Calls may take as long on few rows.
            share = (size / spread.n_train) ** self.growth.flattest
            if share * spread.part(examples).wall <= self._left([spread]):
                timed.append(self.watch.time(self._look(size, examples)))
        return timed or [one for one in early if one.n_train <= spread.n_train]

    def _cheap_middle_and_dear(self, spread: Timing) -> list[int]:
        """Return the groups that were cheapest, in the middle and dearest."""
        groups = spread.by_cost(self.groups)
        places = {0, len(groups) // 2, len(groups) - 1}
        return sorted(one for place in places for one in groups[place])

    def _typical(self, groups: list[list[int]], spread: Timing) -> list[int]:
        """Return the group that does most of the work, or one that is like all.

        The one in the middle may be far cheaper than those that make up the work.
        """
        work = spread.fit * parts_of_grid(self.groups, spread.look.configurations)
        shares = [work[spread.look.places(np.array(group))].sum() for group in groups]
        if max(shares) > MOST_WORK * work.sum():
            return groups[int(np.argmax(shares))]
        mean = self._mean_fit(spread)
        paces = [spread.part(group).fit.mean() / mean for group in groups]
        # Half the mean at least: cheap groups say little about the work.
        far = [abs(np.log(pace)) if pace > 0.5 else np.inf for pace in paces]
        return groups[int(np.argmin(far))]

    def _alone(self, members: list[int], early: list[Timing], seen: Timing) -> Alone:
        """Return how much longer one of a group takes without the others."""
        index = members[place := probable_winner(self.work[members])]
        # The look may have had other groups too, which are cheaper or dearer.
        common = np.intersect1d(members, seen.look.configurations).tolist()
        part = seen.part(common) if common else seen
        own, left = self.watch.undisturbed(part), self._left(early)
        likely = alone_of_group(self.work[members], place)
        # Without a group it differs by the limit on threads alone.
        lone = self.n_workers == len(members) == 1
        share = LONE_SHARE if lone else LONE_SHARE_OF_GROUP
        room = share * self.allowed(self._guess(early)) if left > 0 else 0.0
        fit = fitted_alone(self.watch, own, index, len(members), likely, room)
        return Alone(fit, predicted_alone(self.watch, part, index, room))

    def _next_look(
        self,
        early: list[Timing],
        spread: Timing,
        growing: list[Timing],
        model: CostModel,
    ) -> Look | None:
        """Return the largest look for which there is time, None if there is none.

        A large step tells more about the growth than several small ones. Where there is
        time for one group only, a typical one stands for all.
        """
        left = self.allowed(model) - self._elapsed()
        known = [*early, spread, *growing]
        largest = max(one.n_train for one in known)
        larger = [size for size in self.sizes if size > largest]
        if not larger or left <= 0:
            return None
        groups = spread.by_cost(self.groups)
        examples = self._cheap_middle_and_dear(spread)
        alone = sorted(self._typical(groups, spread))
        several, lone = (
            max(self._fitting(members, spread, model, larger, left), default=0)
            for members in (examples, alone)
        )
        if lone >= MUCH_LARGER * max(several, largest):
            return self._look(lone, alone)
        if several:
            return self._look(several, examples)
        # One size says nothing about growth: a second one is worth its time.
        first = len({one.n_train for one in known}) == 1
        return self._look(larger[0], alone) if lone or first else None

    def _fitting(
        self,
        members: list[int],
        spread: Timing,
        model: CostModel,
        sizes: list[int],
        seconds: float,
    ) -> list[int]:
        """Return the sizes at which a look at these members takes no longer."""
        part, largest = spread.part(members), model.largest_probe
        here = part.wall / max(model.each(spread.n_train, part.look.n_test), 1e-12)

        def wall(size: int) -> float:
            # What seems to grow more steeply than usual may have been disturbed.
            usual = model.fit(largest) * (size / largest) ** self.growth.usual
            predicting = self._look(size, members).n_test * model.predict(size)
            return float(here * (min(model.fit(size), usual) + predicting))

        return [size for size in sizes if wall(size) <= seconds]

    # The answer ---------------------------------------------------------------------

    def _model(
        self,
        early: list[Timing],
        spread: Timing,
        growing: list[Timing],
        alone: Alone,
    ) -> CostModel:
        early, growing = self.watch.level(early), self.watch.level(growing)
        (spread,) = self.watch.level([spread])
        # All curves are those of the mean: what fewer were timed on is scaled to it.
        others = [one for one in early if one.n_train != spread.n_train]
        timed = sorted([*others, spread, *growing], key=lambda one: one.n_train)
        sizes = [one.n_train for one in timed]
        mean = self._mean_fit(spread)
        times = [one.of_the_mean(spread, mean) for one in timed]
        # More rows take no less time: what took longer than a larger look was slowed.
        times = np.minimum.accumulate(times[::-1])[::-1].tolist()
        curves = PowerCurve.plausible(
            sizes,
            times,
            self.growth.steepest,
            self.growth.flattest,
            self.growth.usual,
            self.watch.noise,
            self.growth.spread,
            self.growth.hidden,
        )
        overhead = min(max(0.0, one.wall - one.worked) for one in timed)
        # Members of one group are close to each other, and say nothing of the others.
        compared = len(spread.by_cost(self.groups)) > 1 or len(self.groups) == 1
        wall = (spread.wall - overhead) / spread.worked
        gaps, unlike = spread.compared()
        parts = parts_of_grid(self.groups, spread.look.configurations)
        return CostModel(
            fit=curves[0],
            predict=PREDICTION.curve(
                sizes, [one.mean_row_seconds(spread) for one in timed]
            ),
            alone=curves[0].scaled(alone.fit),
            wall=max(1 / self.n_workers, wall),
            overhead=overhead,
            probe_seconds=self._elapsed(),
            largest_probe=max(sizes),
            plausible=curves[1:],
            n_configurations=len(self.source.configurations),
            n_groups=len(self.groups),
            lonely=max(1.0, alone.fit),
            lonely_predict=alone.predict,
            gaps=gaps if compared else (),
            gap_rows=spread.look.n_test,
            unlike=unlike,
            smooth=spread.smooth,
            paces=tuple((spread.fit / max(mean, 1e-12)).tolist()),
            parts=tuple(parts.tolist()),
            share=self.watch.share,
        )

    def _mean_fit(self, spread: Timing) -> float:
        timed = spread.look.configurations
        mean = float(parts_of_grid(self.groups, timed) @ spread.fit)
        if len(self.groups) == 1 or len(spread.by_cost(self.groups)) > 1:
            return mean
        # One group was timed. What it says of the others is what their sizes tell.
        return float(mean * self.work.mean() / self.work[timed].mean())

    def _guess(self, timings: list[Timing]) -> CostModel:
        return self._model(timings, timings[-1], [], Alone())

    def _look(self, n_train: int, members: list[int], n: int = FEWEST_TESTED) -> Look:
        return probe_look(self.problem, n_train, members, n)

    def _strict(self, n_train: int, members: list[int]) -> Look:
        return replace(self._look(n_train, members), may_fail=False)

    def _seen(self, n_train: int, members: IntArray) -> FloatArray:
        return self.watch.once(self._strict(n_train, members.tolist())).losses

    def _elapsed(self) -> float:
        return self.clock() - self.start
