"""Losses of configurations on their way from a worker to the race."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from threading import Lock
from typing import Any, TypeAlias

import numpy as np

from cvst._typing import Configuration, FloatArray
from cvst.evaluation._protocol import BatchEvaluator
from cvst.evaluation._telling import Note
from cvst.evaluation.losses import PointwiseLoss, TableLosses
from cvst.exceptions import InvalidInputError, InvalidPredictionError
from cvst.parallel import portable
from cvst.race import Look, LookLosses

__all__ = [
    "Scored",
    "ScoredTable",
    "Scores",
    "Tables",
    "check_outcomes",
    "exact_means",
    "lost",
    "means_with_errors",
    "numbers_of",
    "one_by_one",
    "other_tables",
    "rows_of",
    "whole_look",
    "without_undefined",
]

# Most losses that are copied at a time.
LARGEST_BLOCK = 1_000_000

# Stands for losses that were taken from a result.
NOTHING = np.empty(0)

# Tables of more losses, on more rows than this, take four bytes for each. Seven digits
# tell configurations apart on that many rows, and losses of 0 and 1 are exact.
LARGE_TABLE, MANY_POINTS = 2**24, 20_000


@dataclass(frozen=True, slots=True)
class Scored:
    """Losses of one configuration, small enough to travel back from a worker."""

    configuration: int
    losses: FloatArray | None = None
    residuals: FloatArray | None = None
    score: float | None = None
    others: Mapping[str, float] = field(default_factory=dict)
    other_errors: Mapping[str, Exception] = field(default_factory=dict)
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    error: Exception | None = None
    reason: str = ""
    details: str = ""
    # What was said in another process while a chunk was done, with its first result.
    notes: tuple[Note, ...] = ()

    def without_losses(self, residuals: FloatArray | None) -> Scored:
        """Return the result without its losses, with these residuals."""
        # By hand: ``replace`` takes longer than many a configuration.
        return Scored(
            self.configuration,
            NOTHING,
            residuals,
            self.score,
            self.others,
            self.other_errors,
            self.fit_seconds,
            self.score_seconds,
            self.error,
            self.reason,
            self.details,
            self.notes,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # An error that cannot be made again would break the way back from a worker.
        error = None if self.error is None else portable(self.error)
        others = {name: portable(one) for name, one in self.other_errors.items()}
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values |= {"error": error, "other_errors": others}
        return Scored, tuple(values.values())


@dataclass(frozen=True, slots=True)
class ScoredTable:
    """Losses of many configurations that were worked on together on a device."""

    configurations: tuple[int, ...]
    table: TableLosses
    fit_seconds: float
    score_seconds: float
    error: None = None
    other_errors: Mapping[str, Exception] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def only(self, numbers: Set[int]) -> ScoredTable:
        """Return the table of some of its configurations."""
        if len(numbers) == len(self.configurations):
            return self
        known = enumerate(self.configurations)
        places = [place for place, number in known if number in numbers]
        host: Iterator[Any] = (
            None if one is None else one[places] for one in self.table[:4]
        )
        table = TableLosses(*host)
        left = tuple(self.configurations[place] for place in places)
        return replace(self, configurations=left, table=table)

    def rows(self) -> Iterator[Scored]:
        """Yield them one by one."""
        for place, number in enumerate(self.configurations):
            residuals = self.table.residuals
            yield Scored(
                number,
                self.table.losses[place],
                None if residuals is None else residuals[place],
                fit_seconds=self.fit_seconds,
                score_seconds=self.score_seconds,
            )


Scores: TypeAlias = "Scored | ScoredTable"


def numbers_of(result: Scores) -> tuple[int, ...]:
    """Return which configurations a result is about."""
    if isinstance(result, ScoredTable):
        return result.configurations
    return (result.configuration,)


class Tables:
    """The losses of a look, filled as they come, so that each exists once."""

    def __init__(self, look: Look, n_points: int, with_residuals: bool) -> None:
        self._places = {
            number: place for place, number in enumerate(look.configurations.tolist())
        }
        self._n_points = n_points
        self._with_residuals = with_residuals
        self._made: tuple[FloatArray, FloatArray | None] | None = None
        self._lock = Lock()

    @property
    def _tables(self) -> tuple[FloatArray, FloatArray | None]:
        # On first use, since a look on a device brings tables of its own; and once,
        # since threads enter what they have.
        with self._lock:
            if self._made is None:
                shape = len(self._places), self._n_points
                large = shape[1] > MANY_POINTS and shape[0] * shape[1] > LARGE_TABLE
                losses = np.full(shape, np.nan, np.float32 if large else np.float64)
                wanted = self._with_residuals
                self._made = losses, np.full_like(losses, np.nan) if wanted else None
            return self._made

    def enter(self, result: Scored) -> Scored:
        """Take the losses of a result, and return it without them."""
        if result.losses is None or result.losses is NOTHING:
            return result
        losses, residuals = self._tables
        place = self._places[result.configuration]
        # What no longer fits into four bytes is infinite.
        is_short = losses.dtype != np.float64
        with np.errstate(over="ignore") if is_short else nullcontext():
            losses[place] = result.losses
            if residuals is not None and result.residuals is not None:
                residuals[place] = result.residuals
        return result.without_losses(result.residuals if residuals is None else NOTHING)

    def entered(self, result: Scores) -> Scores:
        """Do so for a single result; one that is a table stays as it is."""
        return result if isinstance(result, ScoredTable) else self.enter(result)

    def losses_of(self, scored: list[Scored]) -> FloatArray:
        """Return the losses, NaN for those that count as failed."""
        losses, _ = self._tables
        for result in scored:
            if result.losses is None:
                losses[self._places[result.configuration]] = np.nan
        return losses

    def known_residuals(self, good: list[Scored]) -> FloatArray | None:
        """Return the residuals, None where there are none."""
        _, residuals = self._tables
        if residuals is None or not good:
            return residuals
        first = residuals[self._places[good[0].configuration]]
        return None if np.isnan(first).any() else residuals


def rows_of(result: Scores) -> Iterator[Scored]:
    """Yield what a result says, one configuration at a time."""
    if isinstance(result, ScoredTable):
        yield from result.rows()
    else:
        yield result


def one_by_one(
    configurations: dict[int, Configuration], scored: list[Scores]
) -> list[Scored]:
    """Return the results of a look in the order of its configurations."""
    rows = [row for result in scored for row in rows_of(result)]
    places = {number: place for place, number in enumerate(configurations)}
    return sorted(rows, key=lambda result: places[result.configuration])


def whole_look(
    look: Look, scored: list[Scores], loss: PointwiseLoss, y_test: Any
) -> LookLosses | None:
    """Return a look that is one table as it is, without a copy."""
    result = scored[0]
    if len(scored) != 1 or not isinstance(result, ScoredTable):
        return None
    losses, residuals, means, errors, on_device = result.table
    numbers = np.array(result.configurations)
    if not np.array_equal(numbers, look.configurations):
        order = np.argsort(numbers, kind="stable")
        if not np.array_equal(numbers[order], look.configurations):
            return None
        losses, means, errors = losses[order], means[order], errors[order]
        residuals = None if residuals is None else residuals[order]
        on_device = None  # few are in another order
    ranked, slopes = loss.ranked(means)
    return LookLosses(
        losses=losses,
        mean_losses=ranked,
        residuals=residuals,
        fit_seconds=np.full(len(means), result.fit_seconds),
        score_seconds=np.full(len(means), result.score_seconds),
        failures={},
        standard_errors=errors * slopes,
        scores=np.array(loss.score(means, y_test), dtype=float),
        on_device=on_device,
    )


def without_undefined(scored: list[Scored]) -> list[Scored]:
    """Turn a score of NaN into a failure, unless these rows have no score at all."""
    good = [result for result in scored if result.losses is not None]
    undefined = [one for one in good if one.score is not None and np.isnan(one.score)]
    if not undefined or len(undefined) == len(good):
        return scored
    error = InvalidPredictionError("The score is NaN")
    # As other errors are told: their kind, and no full stop, which the sentence has.
    text = f"{type(error).__name__}: {error}"
    failed = {
        one.configuration: replace(
            one, losses=None, residuals=None, error=error, reason=text, details=text
        )
        for one in undefined
    }
    return [failed.get(one.configuration, one) for one in scored]


def exact_means(
    ranked: FloatArray, scored: list[Scored], loss: PointwiseLoss
) -> FloatArray:
    """Return what is ranked: equal scores are equal, however their rows add up."""
    top = getattr(loss, "top", None)
    if top is None:
        return ranked
    exact = ranked.copy()
    for place, result in enumerate(scored):
        if result.score is not None and np.isfinite(result.score):
            exact[place] = top - result.score
    return exact


def other_tables(scored: list[Scored]) -> dict[str, FloatArray]:
    """Return the other scores as arrays, NaN where a fit failed."""
    names = dict.fromkeys(name for one in scored for name in one.others)
    return {
        name: np.array([one.others.get(name, np.nan) for one in scored])
        for name in names
    }


def lost(chunk: list[list[int]], reason: str) -> list[Scores]:
    """Return failures for configurations whose worker gave no answer."""
    error = RuntimeError(reason)
    numbers = [number for group in chunk for number in group]
    return [Scored(n, error=error, reason=reason, details=reason) for n in numbers]


def check_outcomes(
    evaluator: BatchEvaluator, wanted: Iterable[int], scored: Sequence[Scores]
) -> None:
    """Refuse an evaluator that leaves configurations out, or answers twice."""
    given = Counter(number for result in scored for number in numbers_of(result))
    expected = Counter(list(wanted))
    if given == expected:
        return
    missing, extra = sorted(expected - given), sorted(given - expected)
    told = f"no outcome for {missing}" if missing else f"too many outcomes for {extra}"
    raise InvalidInputError(
        f"{type(evaluator).__name__}.evaluate returned {told}. It must return one "
        "Outcome for each number in task.configurations, with an error where the fit "
        "failed; cvst.evaluation.check_evaluator checks that."
    )


def means_with_errors(
    losses: FloatArray, weights: Any = None
) -> tuple[FloatArray, FloatArray]:
    """Return (weighted) means and their standard errors, NaN for a single row."""
    n_points = losses.shape[1]
    if weights is None:
        kept = None
        shares = np.full(n_points, 1 / n_points)
    else:
        kept = weights[weights > 0]
        shares = kept / kept.sum()
    # A block at a time: copies of a whole table would fill the memory.
    size = max(64, LARGEST_BLOCK // n_points // 64 * 64)
    blocks = [losses[start : start + size] for start in range(0, len(losses), size)]
    parts = [_moments(block, kept, shares) for block in blocks]
    means, squares = (np.concatenate(values) for values in zip(*parts, strict=True))
    if n_points < 2:
        return means, np.full(len(means), np.nan)
    return means, np.sqrt(squares * n_points / (n_points - 1))


def _moments(
    block: FloatArray, weights: FloatArray | None, shares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return (weighted) means of rows and of their squared distances to them."""
    means: FloatArray
    block = np.asarray(block, dtype=float)
    if weights is None:
        means = block.mean(axis=1)
    else:
        means = np.asarray(np.average(block, axis=1, weights=weights))
    # A model that diverged may have losses whose squares no longer fit.
    with np.errstate(over="ignore", invalid="ignore"):
        return means, (block - means[:, None]) ** 2 @ shares**2
