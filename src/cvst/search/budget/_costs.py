"""How long configurations take, from a few small timed looks.

A fit on :math:`n` rows is taken to cost :math:`a + b n^m`, predicting a row with that
model :math:`a' + b' n^q`. Looks are timed through the race's own source, so that what
configurations share and what several workers save is part of the measurement.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.evaluation import DataSource, Scratch, configured, take
from cvst.exceptions import AllFitsFailedError
from cvst.parallel import effective_n_jobs
from cvst.race import Look, LookLosses, Problem
from cvst.theory import PowerCurve

__all__ = ["CostModel", "measure_costs"]

Clock = Callable[[], float]

# Predicting a row takes at most a pass over the training rows.
STEEPEST_PREDICTION = 1.0

# Rows of the first look timed, and how many configurations are timed at most.
SMALLEST_PROBE = 30
GROWTH = 4.0  # of the time when rows double, to be expected from a square

# Looks shorter than that many seconds are timed more than once.
SHORT, REPEATS = 0.15, 3
LARGEST_SAMPLE = 64


@dataclass(frozen=True, slots=True)
class CostModel:
    """Seconds of looks and of the final fit.

    Attributes
    ----------
    fit : PowerCurve
        Seconds that a worker spends on fitting one configuration.
    predict : PowerCurve
        Seconds that it spends on predicting one row.
    wall : float
        Seconds on the clock for a second of a worker: below one with several workers.
    overhead : float
        Seconds that a look takes before anybody works.
    alone : PowerCurve
        Seconds of a fit that shares its work with no other.
    probe_seconds : float
        What the measurement took.
    largest_probe : int
        Rows of the largest look timed.
    """

    fit: PowerCurve
    predict: PowerCurve
    alone: PowerCurve
    wall: float = 1.0
    overhead: float = 0.0
    probe_seconds: float = 0.0
    largest_probe: int = 0

    def each(self, n_train: int, n_test: int) -> float:
        """Return the seconds that a worker spends on a configuration."""
        return self.fit(n_train) + n_test * self.predict(n_train)

    def look(self, n_train: int, n_test: int, n_configurations: float) -> float:
        """Return the seconds of a look on the clock."""
        worked = n_configurations * self.each(n_train, n_test)
        return self.overhead + self.wall * worked

    def refit(self, n_samples: int) -> float:
        """Return the seconds of the final fit."""
        return self.alone(n_samples)

    def cross_validation(
        self, n_samples: int, n_configurations: int, n_folds: int
    ) -> float:
        """Return the seconds of k-fold cross-validation with the same evaluator."""
        n_test = n_samples // n_folds
        return n_folds * self.look(n_samples - n_test, n_test, n_configurations)


@dataclass(frozen=True, slots=True)
class _Timing:
    """One look: seconds on the clock, and of a worker for each configuration."""

    n_train: int
    n_test: int
    wall: float
    fit: FloatArray
    score: FloatArray

    @property
    def worked(self) -> float:
        return max(float(self.fit.sum() + self.score.sum()), 1e-9)


def measure_costs(
    source: DataSource, problem: Problem, *, seconds: float, clock: Clock
) -> CostModel:
    """Time looks at 30, 60, 120, … rows until the time is up.

    Parameters
    ----------
    source : DataSource
        Of the race to come. It is left as it is.
    problem : Problem
        Of the race to come.
    seconds : float
        What the timed looks may take, and twice that what the timed single fits may;
        two sizes are timed in any case.
    clock : callable
        Returns seconds.
    """
    start = clock()
    # What evaluators keep belongs to the race: the probe has a scratch of its own.
    probe = replace(
        source,
        scratch=Scratch(),
        watch=None,
        raise_errors=False,
        keep_losses=False,
        kept=[],
    )
    sample = _sample(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        together = _timings(probe, problem, sample, seconds, clock)
        sizes = [n for n in _sizes(problem) if n >= together[0].n_train]
        alone = _fits_alone(probe, sizes, sample[len(sample) // 2], 2 * seconds, clock)
    n_workers = effective_n_jobs(source.n_jobs)
    return _model(together, alone, n_workers, clock() - start)


def _timings(
    source: DataSource,
    problem: Problem,
    configurations: IntArray,
    seconds: float,
    clock: Clock,
) -> list[_Timing]:
    """Time looks that grow until the time is up, at two sizes at least."""
    start = clock()
    timings: list[_Timing] = []
    error: AllFitsFailedError | None = None
    for n_train in _sizes(problem):
        look = _look(problem, n_train, configurations)
        try:
            if not timings and effective_n_jobs(source.n_jobs) > 1:
                # Workers start in the first look.
                source.observe(look)
            timings.append(_timed(source, look, clock))
        except AllFitsFailedError as failed:
            error = failed
            continue
        expected = timings[-1].wall + GROWTH * timings[-1].worked
        if len(timings) > 1 and clock() - start + expected > seconds:
            break
    if not timings:
        assert error is not None
        raise error
    return timings


def _timed(source: DataSource, look: Look, clock: Clock) -> _Timing:
    """Time a look, a short one several times: the shortest was least disturbed."""
    walls: list[float] = []
    seen: list[LookLosses] = []
    while not walls or (len(walls) < REPEATS and sum(walls) < SHORT):
        start = clock()
        seen.append(source.observe(look))
        walls.append(clock() - start)
    return _Timing(
        look.n_train,
        look.n_test,
        min(walls),
        np.min([losses.fit_seconds for losses in seen], axis=0),
        np.min([losses.score_seconds for losses in seen], axis=0),
    )


def _fits_alone(
    source: DataSource, sizes: list[int], index: int, seconds: float, clock: Clock
) -> list[tuple[int, float]]:
    """Time the fit of one configuration as the final fit will be done.

    Outside of the source: no worker's limit on threads, nothing shared.
    """
    start = clock()
    timings: list[tuple[int, float]] = []
    for n_train in sizes:
        times: list[float] = []
        while not times or (len(times) < REPEATS and sum(times) < SHORT):
            begun = clock()
            try:
                _fit_alone(source, int(index), n_train)
            except Exception:
                # The look itself has its own way with fits that fail.
                return timings
            times.append(clock() - begun)
        timings.append((n_train, min(times)))
        expected = 2 * GROWTH * times[-1]
        if len(timings) > 1 and clock() - start + expected > seconds:
            break
    return timings


def _fit_alone(source: DataSource, index: int, n_train: int) -> None:
    rows = slice(0, n_train)
    data = source.data
    configuration = source.rescaling.configuration(index, n_train, data.n_samples)
    model = configured(source.estimator, configuration)
    X, _ = data.inputs(rows, rows)
    y = take(data.y, rows)
    arguments = (X,) if y is None else (X, y)
    model.fit(*arguments, **data.fit_params(rows))


def _model(
    together: list[_Timing],
    alone: list[tuple[int, float]],
    n_workers: int,
    seconds: float,
) -> CostModel:
    sizes = [timing.n_train for timing in together]
    times = [float(timing.fit.mean()) for timing in together]
    largest = sizes[-1]
    single_curve = PowerCurve.fit(
        *(zip(*alone, strict=True) if alone else (sizes, times))
    )
    # One configuration can be timed on more rows than many. Beyond the largest look
    # that all of them were timed on, their cost is taken to grow like its.
    larger = [size for size, _ in alone if size > largest]
    growth = [single_curve(size) / single_curve(largest) for size in larger]
    last = together[-1]
    overhead = min(max(0.0, timing.wall - timing.worked) for timing in together)
    return CostModel(
        fit=PowerCurve.fit(
            [*sizes, *larger], [*times, *(times[-1] * factor for factor in growth)]
        ),
        predict=PowerCurve.fit(
            sizes,
            [float(timing.score.mean()) / timing.n_test for timing in together],
            STEEPEST_PREDICTION,
        ),
        alone=single_curve,
        wall=max(1 / n_workers, (last.wall - overhead) / last.worked),
        overhead=overhead,
        probe_seconds=seconds,
        largest_probe=max([largest, *larger]),
    )


def _sizes(problem: Problem) -> list[int]:
    """Return sizes that double, up to half of the rows."""
    largest = max(2, problem.n_samples // 2)
    sizes = [min(SMALLEST_PROBE, max(2, largest // 2))]
    while 2 * sizes[-1] <= largest:
        sizes.append(2 * sizes[-1])
    cuts = [problem.cut(size) for size in sizes]
    # Groups may move several cuts to the same place, or to the very end.
    return sorted({cut for cut in cuts if 0 < cut < problem.n_samples})


def _sample(source: DataSource) -> IntArray:
    """Return whole groups from all over the grid, or the ends of one large group."""
    numbered = dict(enumerate(source.configurations))
    groups = source.evaluator.groups(source.estimator, numbered)
    most = max(4, 2 * effective_n_jobs(source.n_jobs))
    places = np.unique(np.linspace(0, len(groups) - 1, most).round().astype(int))
    chosen: list[int] = []
    for place in places:
        members = groups[place]
        if chosen and len(chosen) + len(members) > LARGEST_SAMPLE:
            continue
        chosen.extend(members)
    if len(chosen) > LARGEST_SAMPLE:
        spread = np.linspace(0, len(chosen) - 1, LARGEST_SAMPLE).round().astype(int)
        chosen = [chosen[place] for place in spread]
    return np.array(sorted(chosen), dtype=np.intp)


def _look(problem: Problem, n_train: int, configurations: IntArray) -> Look:
    """Return a look with no more test rows than needed to time a prediction."""
    train, test = problem.prefix(n_train)
    assert isinstance(test, slice)
    n_test = min(test.stop - test.start, max(200, 2 * n_train))
    rows = slice(test.start, test.start + n_test)
    return Look(train, rows, n_train, configurations, stage="probe")
