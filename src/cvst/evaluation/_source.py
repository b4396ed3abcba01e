"""The losses of one ordered data set: rescale, fit in parallel chunks, score."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from sklearn.exceptions import FitFailedWarning

from cvst._sklearn_compat import num_samples
from cvst._typing import Configuration, FloatArray, IntArray, count_rows
from cvst.evaluation._protocol import (
    BatchEvaluator,
    FittedModel,
    Outcome,
    RaceRows,
    Scratch,
    Task,
)
from cvst.evaluation._responses import answer
from cvst.evaluation._rows import RaceData, take
from cvst.evaluation.losses import Assess, Assessed, PointwiseLoss
from cvst.evaluation.rescaling import Rescaling
from cvst.exceptions import (
    AllFitsFailedError,
    CVSTWarning,
    InvalidInputError,
    UnsupportedScoreError,
)
from cvst.parallel import OnFile, effective_n_jobs, in_chunks, run_chunks
from cvst.race import Look, LookCutError, LookLosses

__all__ = ["DataSource", "Gate", "failure_warning"]

# The score of one prediction on rows whose targets are already known.
Value: TypeAlias = Callable[[Any, Any], float]

# Kinds of NumPy arrays that hold neither NaN nor infinity.
INTEGERS = "biu"


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


@dataclass(frozen=True, slots=True)
class _Work:
    """One look, as every worker gets it."""

    evaluator: BatchEvaluator
    estimator: Any
    rows: RaceData | OnFile[RaceData]
    loss: PointwiseLoss
    others: Mapping[str, PointwiseLoss]
    look: Look
    configurations: dict[int, Configuration]
    classes: Any
    scratch: Scratch
    with_residuals: bool

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
            response=self.loss.response,
            race_rows=None
            if data.pairwise
            else RaceRows(data.X, self.look.train, self.look.test, self.scratch),
            classes=self.classes,
            rounds=self.look.rounds,
        )
        assess = self.loss.assess(y_test, weights)
        others = {
            name: (one.response, one.value(y_test, weights))
            for name, one in self.others.items()
        }
        return [
            self._score(outcome, assess, others, y_test, counted)
            for group in groups
            for outcome in self.evaluator.evaluate(task.only(group))
        ]

    def _score(
        self,
        outcome: Outcome,
        assess: Assess,
        values: Mapping[str, tuple[str, Value]],
        y_test: Any,
        counted: Any,
    ) -> Scored:
        error = outcome.error
        losses = residuals = score = None
        others: dict[str, float] = {}
        other_errors: dict[str, Exception] = {}
        if error is None:
            try:
                prediction = answer(outcome.prediction, self.loss.response)
                losses, score, more = _assessed(assess, prediction, outcome.classes)
                if self.with_residuals:
                    residuals = self.loss.residuals(y_test, prediction)
                others, other_errors = _other_scores(outcome, values)
                others |= more or {}
            except UnsupportedScoreError:
                raise  # no fit could mend it
            except (ValueError, TypeError, FloatingPointError) as problem:
                error = problem
        if counted is not None and losses is not None:
            losses = losses[counted]
            residuals = None if residuals is None else residuals[counted]
        return Scored(
            outcome.configuration,
            losses,
            residuals,
            score,
            others,
            other_errors,
            outcome.fit_seconds,
            outcome.score_seconds,
            error=error,
            reason="" if error is None else _reason(error),
            details="" if error is None else _details(error),
        )


def _assessed(assess: Assess, prediction: Any, classes: Any) -> Assessed:
    if not _all_finite(prediction):
        raise FloatingPointError("the predictions contain NaN or infinity")
    # A model that diverged may have losses that no longer fit: they are infinite.
    with np.errstate(over="ignore"):
        assessed = assess(prediction, classes)
    if np.isnan(assessed.losses).any():
        raise FloatingPointError("the losses contain NaN")
    return assessed


def _other_scores(
    outcome: Outcome, values: Mapping[str, tuple[str, Value]]
) -> tuple[dict[str, float], dict[str, Exception]]:
    """Return the scores to be recorded besides, and why there is none, by name."""
    scores, errors = {}, {}
    for name, (response, value) in values.items():
        scores[name] = float("nan")
        try:
            prediction = answer(outcome.prediction, response)
            scores[name] = float(value(prediction, outcome.classes))
        except Exception as error:
            # They decide nothing, so they must not end what the race is about.
            errors[name] = error
    return scores, errors


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
    others : mapping of str to PointwiseLoss
        Scores to be recorded besides, by name.
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
    others: Mapping[str, PointwiseLoss] = field(default_factory=dict)
    stored: OnFile[RaceData] | None = None
    kept: list[tuple[IntArray, FloatArray]] = field(default_factory=list)
    scratch: Scratch = field(default_factory=Scratch)
    warned: set[str] = field(default_factory=set)

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
            self.others,
            look,
            configurations,
            self.classes,
            self.scratch,
            self.with_residuals,
        )
        scored = self._run(work, gate)
        seen = self._gather(look, scored)
        if self.keep_losses:
            self.kept.append((look.configurations, seen.losses))
        return seen

    def _run(self, work: _Work, gate: Gate | None) -> list[Scored]:
        groups = self.evaluator.groups(self.estimator, work.configurations)
        chunks = self._chunks(groups, gate)
        n_total = len(work.configurations)
        scored: list[Scored] = []
        if self.watch is not None:
            self.watch(0, n_total)
        batches = run_chunks(
            work, chunks, self.n_jobs, self.evaluator.prefer, eager=gate is None
        )
        # An error in between must not leave workers busy.
        with closing(batches):
            for results in batches:
                scored.extend(results)
                self._complain(results)
                if self.watch is not None:
                    self.watch(len(scored), n_total)
                if gate is not None:
                    gate.done([one.configuration for one in results])
        if len(scored) < n_total:
            raise LookCutError
        places = {number: place for place, number in enumerate(work.configurations)}
        return sorted(scored, key=lambda result: places[result.configuration])

    def _complain(self, results: list[Scored]) -> None:
        """Raise what went wrong if the user wants that; else warn of other scores."""
        for result in results:
            errors = [result.error, *result.other_errors.values()]
            first = next((error for error in errors if error is not None), None)
            if self.raise_errors and first is not None:
                raise first
            for name in set(result.other_errors) - self.warned:
                self.warned.add(name)
                warnings.warn(
                    f"The score {name!r} could not be computed and is recorded as "
                    f"error_score: {_reason(result.other_errors[name])}.",
                    CVSTWarning,
                    stacklevel=2,
                )

    def _chunks(
        self, groups: list[list[int]], gate: Gate | None
    ) -> Iterable[list[list[int]]]:
        if gate is not None:
            return gate.chunks(groups)
        return in_chunks(groups, effective_n_jobs(self.n_jobs))

    def _gather(self, look: Look, scored: list[Scored]) -> LookLosses:
        scored = _without_undefined(scored)
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
        y_test = take(self.data.y, look.test)
        scores = self._scores(look, y_test, means, scored)
        ranked, slopes = self.loss.ranked(means)
        return LookLosses(
            losses=losses,
            mean_losses=_exact(ranked, scored, self.loss),
            residuals=residuals,
            fit_seconds=np.array([result.fit_seconds for result in scored]),
            score_seconds=np.array([result.score_seconds for result in scored]),
            failures=failures,
            standard_errors=standard_errors * slopes,
            scores=scores,
            other_scores=_tables(scored),
            rankable=self.loss.rankable,
        )

    def _scores(
        self, look: Look, y_test: Any, means: FloatArray, scored: list[Scored]
    ) -> FloatArray:
        """Return the scores: those that came with the losses, or of their means."""
        weights = take(self.data.score_weights, look.test)
        scores = np.array(self.loss.score(means, y_test, weights), dtype=float)
        for place, result in enumerate(scored):
            if result.score is not None:
                scores[place] = result.score
        return scores

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


def _without_undefined(scored: list[Scored]) -> list[Scored]:
    """Turn a score of NaN into a failure, unless these rows have no score at all."""
    good = [result for result in scored if result.losses is not None]
    undefined = [one for one in good if one.score is not None and np.isnan(one.score)]
    if not undefined or len(undefined) == len(good):
        return scored
    text = "the score is NaN"
    error = FloatingPointError(text)
    failed = {
        one.configuration: replace(
            one, losses=None, residuals=None, error=error, reason=text, details=text
        )
        for one in undefined
    }
    return [failed.get(one.configuration, one) for one in scored]


def _exact(ranked: FloatArray, scored: list[Scored], loss: PointwiseLoss) -> FloatArray:
    """Return what is ranked; equal scores rank equal, however their rows add up."""
    top = getattr(loss, "top", None)
    if top is None:
        return ranked
    exact = ranked.copy()
    for place, result in enumerate(scored):
        if result.score is not None and np.isfinite(result.score):
            exact[place] = top - result.score
    return exact


def _tables(scored: list[Scored]) -> dict[str, FloatArray]:
    """Return the other scores as arrays, NaN where a fit failed."""
    names = dict.fromkeys(name for one in scored for name in one.others)
    return {
        name: np.array([one.others.get(name, np.nan) for one in scored])
        for name in names
    }


def _all_finite(prediction: Any) -> bool:
    if isinstance(prediction, FittedModel):
        return True
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
