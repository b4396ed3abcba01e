"""What a race is going to be: looks, safety, and how long it should take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from html import escape
from itertools import groupby
from math import exp, hypot, log
from textwrap import fill
from typing import Any

from cvst._text import counted, seconds_text
from cvst.race import PlannedLook
from cvst.search._besides import seconds_besides
from cvst.search._plan_words import (
    budget_sentence,
    compared,
    ratio_text,
    time_sentence,
)
from cvst.search._proposed import proposed_within
from cvst.search._setup import Setup
from cvst.search.budget import (
    CostModel,
    Expected,
    expected_looks,
    expected_seconds,
    measure_costs,
    race_seconds,
    refit_range,
    refit_seconds,
)
from cvst.theory import PowerCurve

__all__ = ["LookForecast", "RacePlan", "plan_race"]

# Probabilities of a stable winner to be top, as in the paper's figure of the bound.
WIN_PROBABILITIES = (0.9, 0.95, 0.99)

# Columns of a small terminal.
WIDTH = 80

# What timing may take: a second, or a twentieth of the race and the final fit, but no
# more than a person waits for.
PROBE_SECONDS, PROBE_SHARE, LONGEST_PROBE = 1.0, 0.05, 10.0

# The share of that which is aimed at, since a look may take longer than thought; the
# seconds of it that are left to time tests and books; and those in which fits are timed
# even where the rows alone take longer to prepare.
AIM, FOR_BOOKS, LEAST_PROBE = 0.75, 0.05, 0.2

# How many drop at which look is a guess: races take up to this many times less or more
# than the same fits at the expected numbers would.
DOUBT_OF_COUNTS = 2.5

# Below that share of a fit's cost the part of the rows is not to be seen.
UNSEEN = 0.01

# Work other than fits is known to that factor.
DOUBT_OF_OTHERS = 1.5


@dataclass(frozen=True, slots=True)
class LookForecast:
    """One look of a race to come.

    Attributes
    ----------
    stage : str
        Name of the part of the race.
    n_train, n_test : int
        Rows to train and to test on.
    max_configurations : int
        Most configurations that can take part.
    expected_configurations : float
        How many are expected.
    seconds : float
        Expected time for those; of a look that the race may be over before, as large a
        part as it is probable.
    """

    stage: str
    n_train: int
    n_test: int
    max_configurations: int
    expected_configurations: float
    seconds: float


@dataclass(frozen=True, slots=True)
class RacePlan:
    """What is known of a race before it begins.

    Attributes
    ----------
    strategy : str
        The strategy and its settings.
    n_samples, n_configurations : int
        Size of the data and of the grid.
    looks : tuple of LookForecast
        All looks of the longest race, unless they are rehearsed.
    safety_zone : float or None
        Look up to which none can be dropped; None for strategies without one.
    first_drop : int or None
        Look in which the first drop is possible.
    safety_rows : int or None
        Training rows of that look: what is good from there on is not dropped before.
    error_bounds : dict of float to float
        Bound on the probability that a stable winner is dropped, by its probability
        to be top (open test only).
    fit_cost, predict_cost : PowerCurve
        Measured seconds of a fit, and of predicting a row, over the training rows.
    n_folds : int
        Folds of the cross-validation to compare with.
    cross_validation_seconds : float
        Expected time of cross-validation with the same evaluator and workers.
    refit_seconds : float
        Expected time of the final fit.
    probe_seconds : float
        What the measurement took.
    largest_probe : int
        Rows up to which fits were timed; beyond, the curve is extrapolated.
    race_range, refit_range : tuple of float
        Between which seconds all looks, and the final fit, will probably take.
    other_seconds : float
        Expected time of all but the looks and the final fit: the rows are put in order,
        the books are kept, and ``best_score_estimate_`` is made.
    proposes : bool
        Whether more configurations join, so that the plan is of the first looks alone.
    rehearsed : bool
        Whether the looks are those of configurations that do equally well.
    may_stop_early : bool
        Whether the race can end before the last of these looks.
    budget_seconds : float or None
        What a search that proposes spends in any case, the final fit included.
    budget_configurations : tuple of int or None
        How many configurations that will probably do for: at least, at most.
    n_compared : int
        How many configurations the cross-validation to compare with is of.
    """

    strategy: str
    n_samples: int
    n_configurations: int
    looks: tuple[LookForecast, ...]
    safety_zone: float | None
    first_drop: int | None
    safety_rows: int | None
    error_bounds: dict[float, float]
    fit_cost: PowerCurve
    predict_cost: PowerCurve
    n_folds: int
    cross_validation_seconds: float
    refit_seconds: float
    probe_seconds: float
    largest_probe: int
    race_range: tuple[float, float]
    refit_range: tuple[float, float]
    other_seconds: float = 0.0
    proposes: bool = False
    rehearsed: bool = False
    may_stop_early: bool = True
    budget_seconds: float | None = None
    budget_configurations: tuple[int, int] | None = None
    n_compared: int = 0

    @property
    def race_seconds(self) -> float:
        """Expected time of all looks; races that stop early take less."""
        return sum(look.seconds for look in self.looks)

    @property
    def total_seconds(self) -> float:
        """Expected time of the whole search: looks, final fit and all the rest.

        A budget that is used to the end is just that, but for a longer final fit.
        """
        if self.budget_seconds is not None:
            return max(self.budget_seconds, self.refit_seconds)
        return self.race_seconds + self.other_seconds + self.refit_seconds

    @property
    def total_range(self) -> tuple[float, float]:
        """Between which seconds the whole search will probably take."""
        if (budget := self.budget_seconds) is not None:
            return budget, max(budget, self.refit_range[1])
        low, high = (
            race + refit
            for race, refit in zip(self.race_range, self.refit_range, strict=True)
        )
        other = self.other_seconds
        return low + other / DOUBT_OF_OTHERS, high + other * DOUBT_OF_OTHERS

    @property
    def fits_by_power(self) -> dict[int, tuple[float, float]]:
        """Work of all looks and of cross-validation, in fits on all rows.

        For learners whose cost grows with the first, second and third power of the
        number of rows.
        """
        n_folds, n_samples = self.n_folds, self.n_samples
        return {
            power: (
                sum(
                    look.expected_configurations * (look.n_train / n_samples) ** power
                    for look in self.looks
                ),
                self.n_compared * n_folds * (1 - 1 / n_folds) ** power,
            )
            for power in (1, 2, 3)
        }

    @property
    def speedup_ceiling(self) -> float:
        """How many times faster than cross-validation the luckiest race is.

        It drops all but the winner in the first look that can drop any. Without
        a sequential test the luckiest race is unknown: then it is the time of
        cross-validation over that of the whole plan.
        """
        if self.budget_seconds is not None:
            return self.cross_validation_seconds / self.total_seconds
        if self.first_drop is None:
            return self.cross_validation_seconds / self.race_seconds
        looks = self.looks[: max(2, self.first_drop)]
        return self.cross_validation_seconds / sum(look.seconds for look in looks)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, for JSON."""
        values = asdict(self)
        bounds = {f"{p:g}": bound for p, bound in self.error_bounds.items()}
        return {
            **values,
            "looks": [asdict(look) for look in self.looks],
            "error_bounds": bounds,
            "race_seconds": self.race_seconds,
            "total_seconds": self.total_seconds,
            "total_range": self.total_range,
            "fits_by_power": {str(m): fits for m, fits in self.fits_by_power.items()},
            "speedup_ceiling": self.speedup_ceiling,
        }

    def __str__(self) -> str:
        table = _table(self)
        widths = [max(len(row[column]) for row in table) for column in range(6)]
        lines = [
            "  ".join(
                cell.rjust(width) for cell, width in zip(row, widths, strict=True)
            )
            for row in table
        ]
        texts = [fill(text, WIDTH) for text in (self._heading(), *_sentences(self))]
        return "\n".join([texts[0], "", *lines, "", *texts[1:]])

    def _repr_html_(self) -> str:
        header, *rows = _table(self)
        head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
            for row in rows
        )
        texts = "".join(f"<li>{escape(text)}</li>" for text in _sentences(self))
        return (
            f"<p><strong>{escape(self._heading())}</strong></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<ul>{texts}</ul>"
        )

    def _heading(self) -> str:
        first = " to begin with" * self.proposes
        return (
            f"Plan: {counted(self.n_configurations, 'configuration')}{first}, "
            f"{self.n_samples:,} rows, {self.strategy}"
        )


def plan_race(
    setup: Setup,
    n_folds: int,
    clock: Callable[[], float],
    prepared: float = 0.0,
    looks_again: bool = True,
    seconds: float | None = None,
) -> RacePlan:
    """Time a few small fits and work out the rest.

    Parameters
    ----------
    setup, n_folds
        The race, and the folds of the cross-validation to compare with.
    clock : callable
        Returns seconds.
    prepared : float
        Seconds that it took to prepare the rows.
    looks_again : bool
        Whether the winner may be looked at again for ``best_score_estimate_``.
    seconds : float or None
        The budget that a strategy which proposes keeps itself.
    """
    if seconds is not None:
        setup = setup.within(seconds - prepared)
    problem, strategy = setup.problem, setup.strategy

    def allowed(model: CostModel) -> float:
        # The twentieth is that of the shortest race that is plausible by now.
        low, _ = model.doubt(problem.refit_rows)
        share = PROBE_SHARE * low * expected_seconds(setup, model)
        seconds = AIM * min(max(PROBE_SECONDS, share), LONGEST_PROBE)
        return max(seconds - FOR_BOOKS - prepared, LEAST_PROBE)

    model = measure_costs(
        setup.source, problem, seconds=PROBE_SECONDS, allowed=allowed, clock=clock
    )
    planned = strategy.planned_looks(problem)
    test, drop = strategy.sequential_test, strategy.first_drop
    rows = None
    if drop is not None and drop <= len(planned):
        rows = planned[drop - 1].n_train
    n_configurations, n_samples = problem.n_configurations, problem.refit_rows
    expected = expected_looks(strategy, problem, model)
    looks = _forecasts(setup, model, planned, expected)
    # The winner is one of those that stay.
    pace = float(expected.paces[-1])
    other = prepared + seconds_besides(
        model, problem, planned, expected.counts, clock, looks_again, pace
    )
    refit = pace * refit_seconds(model, planned, n_samples, setup.source.n_jobs)
    # Few looks of a few do not compare with folds of all that were known before.
    n_compared = planned[0].max_configurations if strategy.proposes else None
    within = None
    if seconds is not None:
        within = proposed_within(model, problem, planned[0], seconds, refit)
        n_compared = round((within[0] * within[1]) ** 0.5)
    n_compared = n_compared or n_configurations
    return RacePlan(
        strategy=repr(strategy),
        n_samples=problem.n_samples,
        n_configurations=n_configurations,
        looks=looks,
        safety_zone=None if test is None else float(test.safety_zone),
        first_drop=drop,
        safety_rows=rows,
        error_bounds=strategy.drop_error_bounds(WIN_PROBABILITIES),
        fit_cost=model.fit,
        predict_cost=model.predict,
        n_folds=n_folds,
        cross_validation_seconds=model.cross_validation(n_samples, n_compared, n_folds),
        refit_seconds=refit,
        probe_seconds=model.probe_seconds,
        largest_probe=model.largest_probe,
        race_range=_race_range(model, looks),
        refit_range=refit_range(model, refit, n_samples),
        other_seconds=other,
        proposes=strategy.proposes,
        rehearsed=strategy.rehearses,
        may_stop_early=strategy.may_stop_early(problem),
        budget_seconds=seconds,
        budget_configurations=within,
        n_compared=n_compared,
    )


def _race_range(
    model: CostModel, looks: tuple[LookForecast, ...]
) -> tuple[float, float]:
    """Return the range of a race: its counts may be off, and the cost of its fits."""
    if (seconds := sum(look.seconds for look in looks)) <= 0:
        return 0.0, 0.0
    doubts = [model.doubt(look.n_train) for look in looks]
    low, high = (
        sum(
            look.seconds * doubt[end] for look, doubt in zip(looks, doubts, strict=True)
        )
        for end in (0, 1)
    )
    at_most = sum(
        model.look(look.n_train, look.n_test, look.max_configurations) for look in looks
    )
    # Independent doubts add as variances do, on a scale of ratios.
    certain = all(
        look.expected_configurations == look.max_configurations for look in looks
    )
    counts = 0.0 if certain else log(DOUBT_OF_COUNTS)
    below = exp(-hypot(counts, log(low / seconds)))
    above = exp(hypot(counts, log(high / seconds)))
    # Nothing takes longer than the longest race.
    longest = max(1.0, at_most / seconds) * high
    return below * seconds, min(above * seconds, longest)


def _forecasts(
    setup: Setup,
    model: CostModel,
    planned: tuple[PlannedLook, ...],
    expected: Expected,
) -> tuple[LookForecast, ...]:
    seconds = race_seconds(model, planned, expected)
    seconds = setup.strategy.look_chances(setup.problem) * seconds
    return tuple(
        LookForecast(
            look.stage,
            look.n_train,
            look.n_test,
            look.max_configurations,
            float(count),
            float(time),
        )
        for look, count, time in zip(planned, expected.counts, seconds, strict=True)
    )


def _table(plan: RacePlan) -> list[list[str]]:
    header = ["look", "stage", "train rows", "test rows", "configurations", "time"]
    rows, number = [header], 1
    # Folds are alike, and ten lines that say the same are nine too many.
    for cells, alike in groupby(plan.looks, _cells):
        looks = list(alike)
        last = number + len(looks) - 1
        which = str(number) if len(looks) == 1 else f"{number} to {last}"
        seconds = sum(look.seconds for look in looks)
        rows.append([which, *cells, seconds_text(seconds)])
        number = last + 1
    return rows


def _cells(look: LookForecast) -> tuple[str, ...]:
    return look.stage, f"{look.n_train:,}", f"{look.n_test:,}", _count(look)


def _count(look: LookForecast) -> str:
    if look.expected_configurations == look.max_configurations:
        return f"{look.max_configurations:,}"
    return f"~{look.expected_configurations:,.0f} of {look.max_configurations:,}"


def _cost_text(cost: PowerCurve, n_samples: int) -> str:
    """Return a cost as a formula, without the part that is not to be seen.

    >>> _cost_text(PowerCurve(0.0016, 1e-20, 1.0), 1000)
    '0.0016 s, whatever the rows'
    """
    if cost(n_samples) - cost.constant < UNSEEN * cost.constant:
        return f"{cost.constant:.2g} s, whatever the rows"
    return f"{cost.constant:.2g} s + {cost.coefficient:.2g} s * n^{cost.exponent:.2f}"


def _sentences(plan: RacePlan) -> list[str]:
    cost = plan.fit_cost
    sentences = []
    if plan.budget_seconds is not None:
        sentences.append(budget_sentence(plan))
    elif plan.proposes:
        sentences.append(
            "More configurations join while it races, until the time or the number of "
            "proposals is used up: all that follows is about these first looks alone."
        )
    elif plan.rehearsed:
        sentences.append(
            "These are the looks of configurations that do equally well: the strategy "
            "does not say which may come, and a race can have more or fewer."
        )
    if plan.safety_zone is not None:
        rows = "" if plan.safety_rows is None else f", at {plan.safety_rows:,} rows"
        sentences.append(
            f"Safety zone: {plan.safety_zone:.2f} looks; none is dropped before look "
            f"{plan.first_drop}{rows}."
        )
    if plan.error_bounds:
        bounds = ", ".join(f"{b:.3f} ({p:g})" for p, b in plan.error_bounds.items())
        sentences.append(
            f"A winner that is top with probability p is lost with at most: {bounds}."
        )
    race, folds = (
        ", ".join(f"{fits:,.0f}" for fits in both)
        for both in zip(*plan.fits_by_power.values(), strict=True)
    )
    sentences += [
        (
            f"A fit costs about {_cost_text(cost, plan.n_samples)}, measured up to "
            f"{plan.largest_probe:,} rows in {seconds_text(plan.probe_seconds)}."
        ),
        (
            f"In fits on all rows, if they cost n, n^2 or n^3: {race} for all looks; "
            f"{folds} for {compared(plan)}."
        ),
        time_sentence(plan),
        (
            f"{compared(plan)}: {seconds_text(plan.cross_validation_seconds)}, "
            f"{ratio_text(plan)}."
        ),
    ]
    return sentences
