"""Looks that overlap, on workers that are played here: no fit, no clock but theirs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from cvst.race import AtMost, LookLosses, Problem, RaceState, race
from cvst.race.machinery import ProposeAndConfirm, Trial

N_ROWS = 60


def five_folds():
    rows = np.arange(N_ROWS)
    return tuple((rows[rows % 5 != k], rows[rows % 5 == k]) for k in range(5))


def problem(seconds=200.0, n_at_once=2):
    """Return a race whose first configuration is the number 0."""
    return Problem(
        n_configurations=1,
        n_samples=N_ROWS,
        folds={5: five_folds()},
        seconds=seconds,
        configurations=({"x": 0.0},),
        n_at_once=n_at_once,
    )


@dataclass
class Draws:
    """Proposes numbers by chance, and remembers what it was told."""

    workers: Played | None = None
    # At each call: what was told, and which new numbers were under way.
    told: list[tuple[list[Trial], set[float]]] = field(default_factory=list)

    def propose(self, trials, count, seed):
        if self.workers is not None:
            self.told.append((list(trials), self.workers.new_ones_under_way()))
        rng = np.random.default_rng(list(seed))
        return [[{"x": float(x)}] for x in rng.random(count)]

    def seconds(self, configurations, trials):
        scale = 1.0 if self.workers is None else self.workers.scale
        return np.array([scale * duration(one["x"]) for one in configurations])


def duration(x):
    """Return between 1 and 9 seconds: some fits take far longer than others."""
    return 1.0 + 8.0 * (7.3 * x % 1.0) ** 3


@dataclass
class Played:
    """Workers whose fits take as long as they are said to, one look each.

    A race that thinks takes as many seconds before each look.
    """

    n_workers: int
    scale: float = 1.0
    thinking: float = 0.0
    configurations: list[dict] = field(default_factory=lambda: [{"x": 0.0}])
    now: float = 0.0
    under_way: list = field(default_factory=list)
    # For each wait: how many workers had nothing to do, and what was waited for.
    waits: list = field(default_factory=list)
    begun: list = field(default_factory=list)
    taken: list = field(default_factory=list)

    def admit(self, configurations):
        self.configurations += configurations

    def has_room(self, n_pending):
        assert n_pending == len(self.under_way)
        return n_pending < self.n_workers

    def begin(self, look, alone):
        assert len(look.configurations)
        assert not (alone and self.under_way)
        self.now += self.thinking
        numbers = [self.configurations[n]["x"] for n in look.configurations.tolist()]
        fits = [self.scale * duration(x) for x in numbers]
        # Alone, a look has all workers.
        seconds = sum(fits) / (self.n_workers if alone else 1)
        self.under_way.append((self.now + max(seconds, max(fits)), look, fits, alone))
        self.begun.append(look)

    def new_ones_under_way(self):
        looks = [one[1] for one in self.under_way]
        numbers, seen = (
            {n for look in those for n in look.configurations.tolist()}
            for those in (looks, self.taken)
        )
        return {self.configurations[n]["x"] for n in numbers - seen}

    def take(self):
        alone = self.under_way[0][3]
        idle = 0 if alone else self.n_workers - len(self.under_way)
        self.under_way.sort(key=lambda one: one[0])
        end, look, fits, _ = self.under_way.pop(0)
        self.waits.append((look.stage, alone, idle))
        self.taken.append(look)
        end = max(end, self.now)
        seconds, self.now = end - self.now, end
        rng = np.random.default_rng(look.configurations.tolist())
        xs = [self.configurations[n]["x"] for n in look.configurations.tolist()]
        losses = np.abs(np.array(xs)[:, None] - 0.4)
        losses = losses + 0.1 * rng.random((len(xs), look.n_test))
        return look, LookLosses(
            losses,
            losses.mean(axis=1),
            np.array(fits),
            np.zeros(len(fits)),
            seconds=seconds,
            elapsed=end,
        )


def run(n_workers=2, seconds=200.0, **settings):
    workers = Played(n_workers, **settings)
    source = Draws(workers)
    strategy = ProposeAndConfirm(source, refits=False, min_rows=40)
    start = RaceState(problem(seconds, n_workers))
    states = list(race(start, workers, strategy))
    return states, workers, source


@pytest.mark.parametrize("n_workers", [2, 5])
def test_no_worker_waits_while_others_screen(n_workers):
    """Unless the next look needs to know what all of them found."""
    states, workers, _ = run(n_workers)

    screens = [n for n, one in enumerate(workers.waits) if one[0] == "screen"]
    assert len(screens) > 20
    # What follows an idle worker: a look alone, or the end.
    for place in screens:
        idle = workers.waits[place][2]
        if idle:
            rest = workers.waits[place + n_workers - idle :]
            assert not rest or rest[0][1]
    busy = sum(n_workers - workers.waits[n][2] for n in screens)
    assert busy > 0.9 * n_workers * len(screens)
    assert not states[-1].pending


def test_the_first_to_end_is_the_first_to_be_seen():
    """A long fit holds nothing up: others begin and end meanwhile."""
    _, workers, _ = run()
    begun = [id(look) for look in workers.begun]
    order = [begun.index(id(look)) for look in workers.taken]
    assert order != sorted(order)
    assert sorted(order) == list(range(len(order)))
    # How many of those that began later ended before the one that was held up most.
    overtakers = max(
        sum(other > one for other in order[:place]) for place, one in enumerate(order)
    )
    assert overtakers >= 3


def test_no_configuration_is_under_way_twice():
    """Neither on the same rows nor on others, and each state says what is."""
    states, workers, _ = run(4)
    for state in states:
        pending = [n for one in state.pending for n in one.configurations.tolist()]
        assert len(pending) == len(set(pending))
    first = {}
    for look in workers.begun:
        for number in look.configurations.tolist():
            key = number, look.n_train, look.fold
            # The warm-up may be repeated.
            assert number == 0 or first.setdefault(key, look) is look


def test_proposals_know_what_is_under_way():
    """As if it had come out middling, so that the next one is something else."""
    _, _, source = run(3)
    n_supposed = 0
    for told, under_way in source.told:
        real = [one for one in told if one.configuration["x"] not in under_way]
        supposed = [one for one in told if one.configuration["x"] in under_way]
        assert {one.configuration["x"] for one in supposed} == under_way
        for one in supposed:
            alike = sorted(x.loss for x in real if x.fidelity == one.fidelity)
            assert one.loss == alike[len(alike) // 2]
            n_supposed += 1
    assert n_supposed > 40


def test_the_number_of_looks_counts_those_under_way():
    source, workers = Draws(), Played(3)
    strategy = ProposeAndConfirm(source, refits=False, min_rows=40)
    states = list(
        race(RaceState(problem(n_at_once=3)), workers, AtMost(strategy, n_looks=7))
    )
    assert len(states) == 7
    assert len(workers.begun) == 7


@pytest.mark.parametrize("seconds", [60.0, 90.0, 120.0])
def test_the_time_is_kept_and_used(seconds):
    """A look beside others takes one worker as long as a look alone would."""
    _, workers, _ = run(5, seconds)
    assert 0.8 * seconds < workers.now <= seconds


def test_short_fits_go_to_a_worker_together():
    """So that thinking is a small part of the time, which is kept all the same."""
    _, workers, _ = run(5, 30.0, scale=0.1, thinking=0.2)
    widths = [len(one.configurations) for one in workers.taken if one.stage == "screen"]
    assert np.mean(widths) > 4
    assert 24 < workers.now <= 30


def test_a_resumed_race_forgets_what_was_under_way():
    """Whoever was about to be looked at is looked at again."""
    states, _, source = run()
    broken = next(state for state in states if state.pending and state.n_looks > 5)
    workers = Played(2, configurations=list(broken.configurations))
    workers.now = broken.elapsed
    strategy = ProposeAndConfirm(source, refits=False, min_rows=40)
    again = list(race(broken, workers, strategy))
    waiting = [n for one in broken.pending for n in one.configurations.tolist()]
    looked = {n for look in workers.taken for n in look.configurations.tolist()}
    assert looked >= set(waiting)
    kept = zip(again[-1].observations, broken.observations, strict=False)
    assert all(one is other for one, other in kept)


class Dear(Draws):
    """Forecasts little of what it proposes, and much once that has joined."""

    def seconds(self, configurations, trials):
        known = {id(trial.configuration) for trial in trials}
        asked = getattr(self, "asked", set())
        self.asked = asked | {id(one) for one in configurations}
        return np.array(
            [1e6 if id(one) in asked - known else 1.0 for one in configurations]
        )


def test_what_turns_out_to_be_too_dear_leaves_no_empty_look():
    """It once did, where a proposal was dearer after it had joined than before."""
    workers = Played(1)
    strategy = ProposeAndConfirm(Dear(), refits=False, min_rows=40)
    states = list(race(RaceState(problem(60.0, 1)), workers, strategy))
    assert states[-1].n_looks > 5
    assert strategy.stop_reason(states[-1]) == "time_budget"
