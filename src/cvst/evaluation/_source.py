"""The losses of one ordered data set: rescale, fit in parallel chunks, score."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import FitFailedWarning

from cvst._sklearn_compat import num_samples
from cvst._text import configuration_text
from cvst._typing import Configuration, FloatArray, IntArray, count_rows
from cvst.evaluation._faults import outcomes_within_memory
from cvst.evaluation._protocol import BatchEvaluator, Outcome, RaceRows, Scratch, Task
from cvst.evaluation._rows import RaceData, take
from cvst.evaluation.losses import PointwiseLoss, RowLosses
from cvst.evaluation.rescaling import Rescaling
from cvst.exceptions import AllFitsFailedError, InvalidInputError
from cvst.parallel import (
    Guard,
    OnFile,
    effective_n_jobs,
    in_chunks,
    portable,
    run_chunks,
)
from cvst.race import Look, LookCutError, LookLosses

__all__ = ["DataSource", "Gate", "failure_warning"]

# Kinds of NumPy arrays that hold neither NaN nor infinity.
INTEGERS = "biu"

# Most losses that are copied at a time.
LARGEST_BLOCK = 1_000_000

# Stands for losses that were taken from a result.
NOTHING = np.empty(0)


@dataclass(frozen=True, slots=True)
class Scored:
    """Losses of one configuration, small enough to travel back from a worker."""

    configuration: int
    losses: FloatArray | None = None
    residuals: FloatArray | None = None
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    error: Exception | None = None
    reason: str = ""
    details: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        # An error that cannot be made again would break the way back from a worker.
        error = None if self.error is None else portable(self.error)
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return Scored, tuple((values | {"error": error}).values())


@dataclass(frozen=True, slots=True)
class _Work:
    """One look, as every worker gets it."""

    evaluator: BatchEvaluator
    estimator: Any
    rows: RaceData | OnFile[RaceData]
    loss: PointwiseLoss
    look: Look
    configurations: dict[int, Configuration]
    response: str
    classes: Any
    scratch: Scratch
    with_residuals: bool
    # Takes the losses of each result at once; None where they have to travel.
    enter: Callable[[Scored], Scored] | None = None

    def __call__(self, groups: list[list[int]]) -> list[Scored]:
        """Evaluate some groups of configurations."""
        data = self.rows.value if isinstance(self.rows, OnFile) else self.rows
        X_train, X_test = data.inputs(self.look.train, self.look.test)
        y_test = take(data.y, self.look.test)
        weights = take(data.score_weights, self.look.test)
        counted = None if weights is None or np.all(weights > 0) else weights > 0
        task = Task(
            estimator=self.estimator,
            configurations=self.configurations,
            X_train=X_train,
            y_train=take(data.y, self.look.train),
            X_test=X_test,
            fit_params=data.fit_params(self.look.train),
            response=self.response,
            race_rows=None
            if data.pairwise
            else RaceRows(data.X, self.look.train, self.look.test, self.scratch),
            classes=self.classes,
            rounds=self.look.rounds,
        )
        row_losses = self.loss.bind(y_test, weights)
        return [
            self._score(outcome, row_losses, y_test, counted)
            for group in groups
            for outcome in outcomes_within_memory(self.evaluator, task.only(group))
        ]

    def _score(
        self, outcome: Outcome, row_losses: RowLosses, y_test: Any, counted: Any
    ) -> Scored:
        error = outcome.error
        losses = residuals = None
        if error is None:
            try:
                losses = self._losses(outcome, row_losses)
                if self.with_residuals:
                    residuals = self.loss.residuals(y_test, outcome.prediction)
            except Exception as problem:  # a user's loss may raise anything
                error = problem
        if counted is not None and losses is not None:
            losses = losses[counted]
            residuals = None if residuals is None else residuals[counted]
        scored = Scored(
            outcome.configuration,
            losses,
            residuals,
            outcome.fit_seconds,
            outcome.score_seconds,
            error=error,
            reason="" if error is None else _reason(error),
            details="" if error is None else _details(error),
        )
        return scored if self.enter is None else self.enter(scored)

    @staticmethod
    def _losses(outcome: Outcome, row_losses: RowLosses) -> FloatArray:
        if not _all_finite(outcome.prediction):
            raise FloatingPointError("the predictions contain NaN or infinity")
        # A model that diverged may have losses that no longer fit: they are infinite.
        with np.errstate(over="ignore"):
            losses = row_losses(outcome.prediction, outcome.classes)
        if np.isnan(losses).any():
            raise FloatingPointError("the losses contain NaN")
        return losses


class Gate(Protocol):
    """Hands out the work of one look while there is time."""

    def chunks(self, groups: list[list[int]]) -> Iterator[list[list[int]]]:
        """Yield groups to be done next, asked as late as the workers allow."""
        ...

    def done(self, configurations: list[int]) -> None:
        """Hear which configurations of the look are done."""
        ...


@dataclass
class DataSource:
    """Trains and tests configurations on one ordered data set.

    Parameters
    ----------
    estimator : estimator
        Unfitted template.
    configurations : list of dict
        The grid, by number; :meth:`admit` appends to it.
    data : RaceData
        Rows in race order.
    loss : PointwiseLoss
        What is compared.
    rescaling : Rescaling
        How hyper-parameters follow the subset size.
    evaluator : BatchEvaluator
        Fits the configurations.
    n_jobs : int or None
        Number of workers.
    with_residuals : bool
        Whether looks report signed residuals too.
    raise_errors : bool
        Whether the first failed fit ends the race.
    watch : callable or None
        Called as ``watch(n_done, n_total)`` before the first and after every chunk of
        configurations; it may raise to end the look.
    keep_losses : bool
        Whether to keep the pointwise losses of all looks in ``kept``.
    stored : OnFile or None
        The same rows, in a file that worker processes read.
    guard : Guard or None
        Processes that fit and can be ended, instead of joblib's workers.
    """

    estimator: Any
    configurations: list[Configuration]
    data: RaceData
    loss: PointwiseLoss
    rescaling: Rescaling
    evaluator: BatchEvaluator
    classes: Any = None
    n_jobs: int | None = None
    with_residuals: bool = False
    raise_errors: bool = False
    watch: Callable[[int, int], None] | None = None
    keep_losses: bool = False
    stored: OnFile[RaceData] | None = None
    guard: Guard | None = None
    kept: list[tuple[IntArray, FloatArray]] = field(default_factory=list)
    scratch: Scratch = field(default_factory=Scratch)

    def __post_init__(self) -> None:
        # Its own list, so that admitting changes no list of the caller.
        self.configurations = list(self.configurations)

    def admit(self, configurations: Sequence[Configuration]) -> None:
        """Append configurations that join the race, numbered after those known."""
        self.rescaling = self.rescaling.extended(configurations)
        self.configurations.extend(configurations)

    def observe(self, look: Look, gate: Gate | None = None) -> LookLosses:
        """Return the pointwise losses of a look; a failed fit is a row of NaN.

        Parameters
        ----------
        look : Look
            Where to look.
        gate : Gate or None
            Hands out the work bit by bit, and may end the look before all is done.

        Raises
        ------
        LookCutError
            If the gate closed before all was done.
        """
        n_samples = self.data.n_samples
        weights = take(self.data.score_weights, look.test)
        if weights is not None and not np.any(weights > 0):
            raise InvalidInputError(
                f"sample_weight is 0 for all {len(weights)} rows to be tested on after "
                f"training on {look.n_train}. Drop rows of weight 0."
            )
        configurations = {
            number: self.rescaling.configuration(number, look.n_train, n_samples)
            for number in look.configurations.tolist()
        }
        tables = _Tables(look, self._n_points(look), self.with_residuals)
        here = self.guard is None and effective_n_jobs(self.n_jobs) == 1
        work = _Work(
            self.evaluator,
            self.estimator,
            self.data if self.stored is None else self.stored,
            self.loss,
            look,
            configurations,
            self.loss.response,
            self.classes,
            self.scratch,
            self.with_residuals,
            tables.enter if here else None,
        )
        scored = self._run(work, gate, tables)
        seen = self._gather(look, scored, tables)
        if self.keep_losses:
            self.kept.append((look.configurations, seen.losses))
        return seen

    def _run(self, work: _Work, gate: Gate | None, tables: _Tables) -> list[Scored]:
        groups = self.evaluator.groups(self.estimator, work.configurations)
        chunks = self._chunks(groups, gate)
        n_total = len(work.configurations)
        scored: list[Scored] = []
        if self.watch is not None:
            self.watch(0, n_total)
        batches = self._batches(work, chunks, eager=gate is None)
        # An error in between must not leave workers busy.
        with closing(batches):
            for results in batches:
                for result in results:
                    if result.error is not None and self.raise_errors:
                        raise result.error
                    scored.append(tables.enter(result))
                if self.watch is not None:
                    self.watch(len(scored), n_total)
                if gate is not None:
                    gate.done([one.configuration for one in results])
        if len(scored) < n_total:
            raise LookCutError
        places = {number: place for place, number in enumerate(work.configurations)}
        return sorted(scored, key=lambda result: places[result.configuration])

    def _batches(
        self, work: _Work, chunks: Iterable[list[list[int]]], eager: bool
    ) -> Generator[list[Scored], None, None]:
        if self.guard is not None:
            return self.guard.run(work, chunks, _lost, eager=eager)
        prefer = self.evaluator.prefer
        return run_chunks(work, chunks, self.n_jobs, prefer, eager=eager, lost=_lost)

    def _chunks(
        self, groups: list[list[int]], gate: Gate | None
    ) -> Iterable[list[list[int]]]:
        if gate is not None:
            return gate.chunks(groups)
        return in_chunks(groups, effective_n_jobs(self.n_jobs))

    def _gather(self, look: Look, scored: list[Scored], tables: _Tables) -> LookLosses:
        good = [result for result in scored if result.losses is not None]
        if not good and not look.may_fail:
            first = scored[0]
            raise AllFitsFailedError(
                f"All {len(scored)} configurations failed on {look.n_train} rows. The "
                f"first one, {_shown(self.configurations[look.configurations[0]])}, "
                f"failed with:\n{first.details}"
            )
        losses = tables.losses
        failures = {
            result.configuration: result.reason
            for result in scored
            if result.losses is None
        }
        means, standard_errors = self._means(look, losses)
        return LookLosses(
            losses=losses,
            mean_losses=means,
            residuals=tables.known_residuals(good),
            fit_seconds=np.array([result.fit_seconds for result in scored]),
            score_seconds=np.array([result.score_seconds for result in scored]),
            failures=failures,
            standard_errors=standard_errors,
        )

    def _n_points(self, look: Look) -> int:
        """Return how many rows of a look have a loss: those of weight 0 have none."""
        weights = take(self.data.score_weights, look.test)
        if weights is not None:
            return int(np.sum(weights > 0))
        return count_rows(look.test, num_samples(self.data.X))

    def _means(self, look: Look, losses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (weighted) means and their standard errors, NaN for a single row."""
        weights = take(self.data.score_weights, look.test)
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


class _Tables:
    """The losses of a look, filled as they come, so that each exists once."""

    def __init__(self, look: Look, n_points: int, with_residuals: bool) -> None:
        self._places = {
            number: place for place, number in enumerate(look.configurations.tolist())
        }
        self.losses = np.full((len(self._places), n_points), np.nan)
        self._residuals = np.full_like(self.losses, np.nan) if with_residuals else None

    def enter(self, result: Scored) -> Scored:
        """Take the losses of a result, and return it without them."""
        place = self._places[result.configuration]
        if result.losses is None or result.losses is NOTHING:
            return result
        self.losses[place] = result.losses
        if self._residuals is None:
            return replace(result, losses=NOTHING)
        if result.residuals is not None:
            self._residuals[place] = result.residuals
        return replace(result, losses=NOTHING, residuals=NOTHING)

    def known_residuals(self, good: list[Scored]) -> FloatArray | None:
        """Return the residuals, None where there are none."""
        if self._residuals is None or not good:
            return self._residuals
        first = self._residuals[self._places[good[0].configuration]]
        return None if np.isnan(first).any() else self._residuals


def _moments(
    block: FloatArray, weights: FloatArray | None, shares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return (weighted) means of rows and of their squared distances to them."""
    means: FloatArray
    if weights is None:
        means = block.mean(axis=1)
    else:
        means = np.asarray(np.average(block, axis=1, weights=weights))
    # A model that diverged may have losses whose squares no longer fit.
    with np.errstate(over="ignore", invalid="ignore"):
        return means, (block - means[:, None]) ** 2 @ shares**2


def _lost(chunk: list[list[int]], reason: str) -> list[Scored]:
    """Return failures for configurations whose worker gave no answer."""
    error = RuntimeError(reason)
    numbers = [number for group in chunk for number in group]
    return [Scored(n, error=error, reason=reason, details=reason) for n in numbers]


def _all_finite(prediction: Any) -> bool:
    if isinstance(prediction, list):
        return all(map(_all_finite, prediction))  # one array per output
    if isinstance(prediction, np.ndarray) and prediction.dtype.kind in INTEGERS:
        return True
    try:
        return bool(np.all(np.isfinite(prediction)))
    except TypeError:
        return True  # class labels that are not numbers


def _reason(error: Exception) -> str:
    try:
        text = str(error).strip().split("\n", 1)[0]
    except Exception:  # an error may fail to say what it is
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _details(error: Exception) -> str:
    return "".join(traceback.format_exception(error)).rstrip()


def _shown(configuration: Configuration) -> str:
    try:
        return str(configuration)
    except Exception:  # whatever the repr of a foreign value raises
        return configuration_text(configuration)


def failure_warning(
    look: Look, failures: dict[int, str], params: Sequence[Configuration]
) -> FitFailedWarning:
    """Say once which configurations failed, and why the first one did."""
    index, reason = next(iter(failures.items()))
    return FitFailedWarning(
        f"{len(failures)} of {len(look.configurations)} configurations failed on "
        f"{look.n_train} rows and count as flops there. The first one, "
        f"{_shown(params[index])}, failed with {reason}. Later failures of the same "
        "configurations are recorded but not repeated here."
    )
