"""The losses of one ordered data set: rescale, fit in parallel chunks, score."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import FitFailedWarning

from cvst._sklearn_compat import num_samples
from cvst._typing import Configuration, FloatArray, IntArray, count_rows
from cvst.evaluation._protocol import (
    BatchEvaluator,
    Outcome,
    OutcomeTable,
    RaceRows,
    Scratch,
    Task,
)
from cvst.evaluation._rows import RaceData, take
from cvst.evaluation._scored import (
    Scored,
    ScoredTable,
    Scores,
    numbers_of,
    one_by_one,
    whole_look,
)
from cvst.evaluation.device import Arrays
from cvst.evaluation.losses import PointwiseLoss, RowLosses, table_losses
from cvst.evaluation.rescaling import Rescaling
from cvst.exceptions import AllFitsFailedError, InvalidInputError
from cvst.parallel import OnFile, effective_n_jobs, in_chunks, run_chunks
from cvst.race import Look, LookCutError, LookLosses

__all__ = ["DataSource", "Gate", "failure_warning"]

# Kinds of NumPy arrays that hold neither NaN nor infinity.
INTEGERS = "biu"


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
    device: Arrays | None = None

    def __call__(self, groups: list[list[int]]) -> list[Scores]:
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
            device=self.device,
        )
        row_losses = self.loss.bind(y_test, weights)
        if self.device is not None:
            together = task.only(number for group in groups for number in group)
            return [
                scored
                for result in self.evaluator.evaluate_in_tables(together)
                for scored in self._score_result(result, row_losses, y_test, counted)
            ]
        return [
            self._score(outcome, row_losses, y_test, counted)
            for group in groups
            for outcome in self.evaluator.evaluate(task.only(group))
        ]

    def _score_result(
        self,
        result: Outcome | OutcomeTable,
        row_losses: RowLosses,
        y_test: Any,
        counted: Any,
    ) -> Iterator[Scores]:
        """Score a table where it is, if that is possible."""
        if isinstance(result, Outcome):
            yield self._score(result, row_losses, y_test, counted)
            return
        found = None
        if counted is None:
            found = table_losses(
                self.loss,
                y_test,
                result.predictions,
                result.device,
                self.with_residuals,
            )
        if found is not None:
            seconds = result.fit_seconds, result.score_seconds
            yield ScoredTable(result.configurations, found, *seconds)
            return
        for outcome in result.outcomes():
            yield self._score(outcome, row_losses, y_test, counted)

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
            except (ValueError, TypeError, FloatingPointError) as problem:
                error = problem
        if counted is not None and losses is not None:
            losses = losses[counted]
            residuals = None if residuals is None else residuals[counted]
        return Scored(
            outcome.configuration,
            losses,
            residuals,
            outcome.fit_seconds,
            outcome.score_seconds,
            error=error,
            reason="" if error is None else _reason(error),
            details="" if error is None else _details(error),
        )

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
    device : Arrays or None
        Where the evaluator works on all configurations of a look together.
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
    device: Arrays | None = None
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
            self.device,
        )
        scored = self._run(work, gate)
        seen = whole_look(look, scored) if self._is_unweighted else None
        if seen is None:
            seen = self._gather(look, one_by_one(work.configurations, scored))
        if self.keep_losses:
            self.kept.append((look.configurations, seen.losses))
        return seen

    @property
    def _is_unweighted(self) -> bool:
        return self.data.score_weights is None

    def _run(self, work: _Work, gate: Gate | None) -> list[Scores]:
        chunks = self._chunks(work.configurations, gate)
        n_total = len(work.configurations)
        n_done = 0
        scored: list[Scores] = []
        if self.watch is not None:
            self.watch(0, n_total)
        batches = run_chunks(
            work, chunks, self.n_jobs, self.evaluator.prefer, eager=gate is None
        )
        # An error in between must not leave workers busy.
        with closing(batches):
            for results in batches:
                scored.extend(results)
                for result in results:
                    if result.error is not None and self.raise_errors:
                        raise result.error
                done = [number for result in results for number in numbers_of(result)]
                n_done += len(done)
                if self.watch is not None:
                    self.watch(n_done, n_total)
                if gate is not None:
                    gate.done(done)
        if n_done < n_total:
            raise LookCutError
        return scored

    def _chunks(
        self, configurations: dict[int, Configuration], gate: Gate | None
    ) -> Iterable[list[list[int]]]:
        if self.device is not None and gate is None:
            return [[list(configurations)]]
        groups = self.evaluator.groups(self.estimator, configurations)
        if gate is not None:
            return gate.chunks(groups)
        return in_chunks(groups, effective_n_jobs(self.n_jobs))

    def _gather(self, look: Look, scored: list[Scored]) -> LookLosses:
        good = [result for result in scored if result.losses is not None]
        if not good and not look.may_fail:
            first = scored[0]
            raise AllFitsFailedError(
                f"All {len(scored)} configurations failed on {look.n_train} rows. The "
                f"first one, {self.configurations[look.configurations[0]]}, failed "
                f"with:\n{first.details}"
            )
        losses = np.full((len(scored), self._n_points(look)), np.nan)
        residuals = np.full_like(losses, np.nan) if self.with_residuals else None
        for place, result in enumerate(scored):
            if result.losses is not None:
                losses[place] = result.losses
            if residuals is not None and result.residuals is not None:
                residuals[place] = result.residuals
        if good and (good[0].residuals is None or np.isnan(good[0].residuals).any()):
            residuals = None
        failures = {
            result.configuration: result.reason
            for result in scored
            if result.losses is None
        }
        means, standard_errors = self._means(look, losses)
        return LookLosses(
            losses=losses,
            mean_losses=means,
            residuals=residuals,
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
            means: FloatArray = losses.mean(axis=1)
            shares = np.full(n_points, 1 / n_points)
        else:
            kept = weights[weights > 0]
            means = np.asarray(np.average(losses, axis=1, weights=kept))
            shares = kept / kept.sum()
        if n_points < 2:
            return means, np.full(len(means), np.nan)
        # A model that diverged may have losses whose squares no longer fit.
        with np.errstate(over="ignore", invalid="ignore"):
            squares = (losses - means[:, None]) ** 2 @ shares**2
        return means, np.sqrt(squares * n_points / (n_points - 1))


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
    text = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _details(error: Exception) -> str:
    return "".join(traceback.format_exception(error)).rstrip()


def failure_warning(
    look: Look, failures: dict[int, str], params: Sequence[Configuration]
) -> FitFailedWarning:
    """Say once which configurations failed, and why the first one did."""
    index, reason = next(iter(failures.items()))
    return FitFailedWarning(
        f"{len(failures)} of {len(look.configurations)} configurations failed on "
        f"{look.n_train} rows and count as flops there. The first one, "
        f"{params[index]}, failed with {reason}. Later failures of the same "
        "configurations are recorded but not repeated here."
    )
