"""One look as every worker gets it: fit, predict, assess."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn import config_context, get_config

from cvst._text import shortened
from cvst._typing import Configuration, IntArray
from cvst.evaluation._faults import outcomes_within_memory
from cvst.evaluation._keeping import Listener
from cvst.evaluation._protocol import (
    BatchEvaluator,
    FittedModel,
    Outcome,
    OutcomeTable,
    RaceRows,
    Scratch,
    Task,
)
from cvst.evaluation._responses import answer
from cvst.evaluation._rows import RaceData, take
from cvst.evaluation._scored import Scored, ScoredTable, Scores
from cvst.evaluation._stand_ins import seconds_of, settle
from cvst.evaluation._stored import ReadRows
from cvst.evaluation._telling import Told
from cvst.evaluation.device import Arrays
from cvst.evaluation.losses import Assess, Assessed, PointwiseLoss, table_losses
from cvst.exceptions import InvalidPredictionError, UnsupportedScoreError
from cvst.parallel import OnFile
from cvst.race import Look

__all__ = ["PARTS_OF_LOOK", "ROWS_OF_LOOK", "Work", "reason_of", "scored_folds"]

# The score of one prediction on rows whose targets are already known.
Value: TypeAlias = Callable[[Any, Any], float]

# What the inputs of a look are kept under, until it is over.
ROWS_OF_LOOK = "rows of the look"

# What its task, its rows and its losses are kept under, where one thread does it all.
PARTS_OF_LOOK = "parts of the look"

# What evaluators keep for the look in a worker process.
SCRATCH_OF_LOOK = "scratch of the look"

# Kinds of NumPy arrays that hold neither NaN nor infinity.
INTEGERS = "biu"


class _Parts(NamedTuple):
    """What all configurations of a look share."""

    task: Task
    assess: Assess
    others: Mapping[str, tuple[str, Value]]
    y_test: Any
    # Which rows count, None for all.
    counted: Any
    weighted: bool


@dataclass(frozen=True, slots=True)
class Work:
    """One look, as every worker gets it."""

    evaluator: BatchEvaluator
    estimator: Any
    # None where they come with the groups, as on a cluster.
    rows: RaceData | OnFile[RaceData] | None
    loss: PointwiseLoss
    others: Mapping[str, PointwiseLoss]
    look: Look
    configurations: dict[int, Configuration]
    classes: Any
    scratch: Scratch
    with_residuals: bool
    device: Arrays | None
    listener: Listener
    # Takes the losses of each result at once; None where they have to travel.
    enter: Callable[[Scored], Scored] | None
    # Hears of each configuration in the middle of a group, and may end the look.
    heed: Callable[[int], None] | None = None
    told: Told = field(default_factory=Told)
    # scikit-learn's settings belong to a thread, and workers are others.
    config: Mapping[str, Any] = field(default_factory=get_config)

    def __reduce__(self) -> tuple[Callable[..., Work], tuple[Any, ...]]:
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        short = _without_train(self.look)
        return _received, ((values | {"look": short}, short is not self.look),)

    def __call__(
        self, groups: list[list[int]], rows: RaceData | None = None
    ) -> list[Scores]:
        """Evaluate some groups of configurations."""
        with config_context(**self.config), self.told.listening() as notes:
            scored = self._evaluated(groups, rows)
        if notes and scored:
            scored[0] = replace(scored[0], notes=tuple(notes))
        return scored

    def _evaluated(
        self, groups: list[list[int]], rows: RaceData | None
    ) -> list[Scores]:
        if self.enter is None:
            parts = self.parts(rows)
        else:
            # In one thread, so that all chunks of the look can use the same ones.
            parts = self.scratch.get(PARTS_OF_LOOK, lambda: self.parts(rows))
        task, assess, others, y_test, counted, _ = parts
        if self.device is not None:
            together = task.only(number for group in groups for number in group)
            return self.scored(self.evaluator.evaluate_in_tables(together), parts)
        scored: list[Scores] = []
        for group in groups:
            done = []
            for outcome in outcomes_within_memory(self.evaluator, task.only(group)):
                done.append(self._score(outcome, assess, others, y_test, counted))
                if self.heed is not None:
                    self.heed(outcome.configuration)
            self.listener(done)
            scored += done if self.enter is None else map(self.enter, done)
        return scored

    def scored(
        self, results: Iterable[Outcome | OutcomeTable], parts: _Parts
    ) -> list[Scores]:
        """Score what an evaluator returned of a task on a device."""
        _, assess, others, y_test, counted, weighted = parts
        return [
            scored
            for result in results
            for scored in self._score_result(
                result, assess, others, y_test, counted, weighted
            )
        ]

    def parts(self, rows: RaceData | None) -> _Parts:
        """Return what all configurations of the look share."""
        data = self.data(rows)
        y_test = take(data.y, self.look.test)
        weights = take(data.score_weights, self.look.test)
        loss = self.loss.with_metadata(data.metadata.at(self.look.test))
        return _Parts(
            self.task(self.loss.response, data),
            loss.assess(y_test, weights),
            {
                name: (one.response, self._value(name, one, y_test, data))
                for name, one in self.others.items()
            },
            y_test,
            None if weights is None or np.all(weights > 0) else weights > 0,
            weights is not None,
        )

    def _value(
        self, name: str, loss: PointwiseLoss, y_test: Any, data: RaceData
    ) -> Value:
        """Return one of the other scores on the test rows."""
        test = self.look.test
        loss = loss.with_metadata(data.metadata_of(name, test))
        return loss.value(y_test, data.weights_of(name, test))

    def data(self, given: RaceData | None) -> RaceData:
        """Return the rows: those that came with the groups, or our own."""
        known = self.rows.value if isinstance(self.rows, OnFile) else self.rows
        data = known if given is None else given
        assert data is not None
        return data

    def task(self, response: str, data: RaceData) -> Task:
        """Return what an evaluator is asked to do at this look."""
        X_train, X_test = self._inputs(data)
        return Task(
            estimator=self.estimator,
            configurations=self.configurations,
            X_train=X_train,
            y_train=take(data.y, self.look.train),
            X_test=X_test,
            fit_params=data.fit_params(self.look.train),
            response=response,
            # Rows on disk are read for this look only, so nothing nests.
            race_rows=None
            if data.pairwise or isinstance(data.X, ReadRows)
            else RaceRows(data.X, self.look.train, self.look.test, self._scratch(data)),
            classes=self.classes,
            rounds=self.look.rounds,
            device=self.device,
        )

    def _scratch(self, data: RaceData) -> Scratch:
        """Return where to keep things; in another process with the rows."""
        if self.scratch.nests:
            return self.scratch
        limit, share = self.scratch.limit, self.scratch.share
        whole = data.scratch.get(
            ("race", limit, share), lambda: Scratch(limit, share=share)
        )
        return self.scratch.get(SCRATCH_OF_LOOK, lambda: whole.for_a_look(nests=False))

    def _inputs(self, data: RaceData) -> tuple[Any, Any]:
        """Return the inputs of the look; rows of a fold are copied once for all."""
        train, test = self.look.train, self.look.test
        if isinstance(train, slice) and isinstance(test, slice):
            return data.inputs(train, test)
        return self.scratch.get(ROWS_OF_LOOK, lambda: data.inputs(train, test))

    def _score_result(
        self,
        result: Outcome | OutcomeTable,
        assess: Assess,
        values: Mapping[str, tuple[str, Value]],
        y_test: Any,
        counted: Any,
        weighted: bool,
    ) -> Iterator[Scores]:
        """Score a table where it is, if that is possible."""
        if isinstance(result, Outcome):
            yield self._score(result, assess, values, y_test, counted)
            return
        found = None
        if not weighted and not values:
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
            yield self._score(outcome, assess, values, y_test, counted)

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
                assessed = _assessed(assess, prediction, outcome.classes)
                settle(outcome)
                losses, score, more = assessed
                if self.with_residuals:
                    residuals = self.loss.residuals(y_test, prediction)
                others, other_errors = _other_scores(outcome, values)
                others |= more or {}
            except UnsupportedScoreError:
                raise  # the fault of the loss, not of this fit
            except Exception as problem:  # a user's loss may raise anything
                error = problem
                if not isinstance(problem, InvalidPredictionError):
                    # What the model predicts is fine, and others may have a score.
                    others, _ = _other_scores(outcome, values)
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
            *seconds_of(outcome),
            error=error,
            reason="" if error is None else reason_of(error),
            details="" if error is None else _details(error),
        )


def scored_folds(work: Work, later: Iterable[Work]) -> list[list[Scores]]:
    """Do a look on a device, and as many others with it as cost no time there.

    Parameters
    ----------
    work : Work
        The present look, in this thread.
    later : iterable of Work
        Looks to come at the same configurations.

    Returns
    -------
    list of list of Scored or ScoredTable
        Of the present look, and of all others or none.
    """
    with config_context(**work.config), work.told.listening() as notes:
        works = [work]
        parts = [work.scratch.get(PARTS_OF_LOOK, lambda: work.parts(None))]

        def tasks() -> Iterator[Task]:
            for one in later:
                works.append(one)
                parts.append(one.parts(None))
                yield parts[-1].task

        done = work.evaluator.evaluate_folds(parts[0].task, tasks())
        taken = list(zip(works, parts, done, strict=False))
        scored = [one.scored(results, part) for one, part, results in taken]
    if notes and scored[0]:
        scored[0][0] = replace(scored[0][0], notes=tuple(notes))
    return scored


def _without_train(look: Look) -> Look:
    """Return a fold by its test rows, where it trains on all the others in order."""
    if not isinstance(look.train, np.ndarray) or not isinstance(look.test, np.ndarray):
        return look
    n_rows = len(look.train) + len(look.test)
    plain = {look.train.dtype, look.test.dtype} == {np.dtype(np.intp)}
    if not plain or look.test.max(initial=0) >= n_rows:
        return look
    if not np.array_equal(_others(look.test, n_rows), look.train):
        return look
    # Most of what a look sends are these indices.
    test = look.test.astype(np.min_scalar_type(n_rows))
    return replace(look, train=slice(0, n_rows), test=test)


def _others(test: IntArray, n_rows: int) -> IntArray:
    is_train = np.ones(n_rows, dtype=bool)
    is_train[test] = False
    return np.flatnonzero(is_train)


def _received(content: tuple[dict[str, Any], bool]) -> Work:
    values, is_short = content
    if is_short:
        look = values["look"]
        test = look.test.astype(np.intp)
        train = _others(test, look.train.stop)
        values = values | {"look": replace(look, train=train, test=test)}
    return Work(**values)


def _assessed(assess: Assess, prediction: Any, classes: Any) -> Assessed:
    if _is_one_value(prediction):
        raise InvalidPredictionError(
            f"The prediction is {str(prediction)[:80]}. Predict one value per row."
        )
    if not _all_finite(prediction):
        raise InvalidPredictionError("The predictions contain NaN or infinity.")
    # A model that diverged may have losses that no longer fit: they are infinite.
    with np.errstate(over="ignore"):
        assessed = assess(prediction, classes)
    if np.isnan(assessed.losses).any():
        raise InvalidPredictionError("The losses contain NaN.")
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


def _is_one_value(prediction: Any) -> bool:
    alone = prediction is None or np.isscalar(prediction)
    return alone or getattr(prediction, "ndim", 1) == 0


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


# More than scikit-learn says, even of a parameter that may have many values.
LONGEST_REASON = 500


def reason_of(error: Exception) -> str:
    """Return the kind of an error and the first line of what it says."""
    try:
        text = str(error).strip().split("\n", 1)[0]
    except Exception:  # an error may fail to say what it is
        text = ""
    return (
        f"{type(error).__name__}: {shortened(text, LONGEST_REASON)}"
        if text
        else type(error).__name__
    )


def _details(error: Exception) -> str:
    return "".join(traceback.format_exception(error)).rstrip()
