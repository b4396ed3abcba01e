"""Targets on another scale: transform them once, then fit as usual.

``TransformedTargetRegressor`` changes ``y`` and hands ``X`` on as it is, so
whatever its regressor can share, across configurations and looks, is shared here too.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal

from sklearn import get_config
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor

from cvst._typing import Configuration
from cvst.evaluation._dispatch import batch_evaluator_for, serve_exactly_by
from cvst.evaluation._one_by_one import OneByOne, configured
from cvst.evaluation._protocol import BatchEvaluator, Outcome, RaceRows, Scratch, Task
from cvst.evaluation.pipelines._steps import covered_by_part, limited_part
from cvst.evaluation.sharing import (
    Remembered,
    draws_at_random,
    failure_of,
    fit_alone,
    value_key,
    within_rounds,
)

__all__ = ["TransformedTargetEvaluator"]

PREFIX = "regressor__"


class _Recorder(RegressorMixin, BaseEstimator):
    """Stands in for the regressor: keeps the targets that it would have been given."""

    def fit(self, X: Any, y: Any) -> _Recorder:
        del X
        self.y_ = y
        return self

    def predict(self, X: Any) -> Any:
        raise NotImplementedError("a recorder is replaced before it is asked")


@dataclass(frozen=True, slots=True)
class _Bucket:
    """Configurations with the same targets and the same kind of regressor."""

    key: Hashable
    regressor: Any
    own: Configuration
    changes: dict[int, Configuration]


@dataclass(frozen=True, slots=True)
class TransformedTargetEvaluator(BatchEvaluator):
    """Transforms the targets once and hands over to the regressor's evaluator.

    Attributes
    ----------
    prefer : {"threads", "processes"}
        What the regressor's evaluator prefers.
    """

    prefer: Literal["threads", "processes"] = "processes"

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Group as the regressor's evaluator does."""
        groups = []
        for bucket in _buckets(estimator, configurations):
            evaluator = batch_evaluator_for(bucket.regressor)
            groups += evaluator.groups(bucket.regressor, bucket.changes)
        return groups

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Fit on transformed targets and transform the predictions back."""
        task = within_rounds(self, task)
        # The regressor's own requests then decide what reaches it.
        routed = task.fit_params and get_config()["enable_metadata_routing"]
        for bucket in _buckets(task.estimator, task.configurations):
            evaluator = batch_evaluator_for(bucket.regressor)
            if routed:
                reason = "arguments of fit are routed"
            elif task.response != "predict":
                reason = f"{task.response} is asked for"
            elif type(evaluator) is OneByOne:
                evaluator.say_why(replace(task, estimator=bucket.regressor))
                yield from OneByOne().evaluate(task.only(bucket.changes))
                continue
            else:
                yield from _evaluate_bucket(task, bucket, evaluator)
                continue
            yield from fit_alone(task, bucket.changes, reason)

    def covered_by_one_fit(self, estimator: Any) -> dict[str, str]:
        """Name what is covered in the regressor."""
        return covered_by_part("regressor", estimator.regressor)

    def limited(
        self, estimator: Any, configuration: Configuration, rounds: int
    ) -> Configuration:
        """Limit the rounds of the part that learns."""
        return limited_part("regressor", estimator.regressor, configuration, rounds)


def _buckets(
    estimator: Any, configurations: Mapping[int, Configuration]
) -> list[_Bucket]:
    buckets: dict[Hashable, _Bucket] = {}
    for number, configuration in configurations.items():
        regressor = configuration.get("regressor", estimator.regressor)
        changes, own = {}, {}
        for name, value in configuration.items():
            if name.startswith(PREFIX):
                changes[name.removeprefix(PREFIX)] = value
            elif name != "regressor":
                own[name] = value
        # The key of a dictionary depends on its order.
        key = value_key(dict(sorted(own.items())))
        new = _Bucket(key, regressor, own, {})
        bucket = buckets.setdefault((key, value_key(regressor)), new)
        bucket.changes[number] = changes
    return list(buckets.values())


def _evaluate_bucket(
    task: Task, bucket: _Bucket, evaluator: BatchEvaluator
) -> Iterator[Outcome]:
    start = perf_counter()
    try:
        # The real thing, but for the regressor: all its checks and shapes apply.
        model = configured(task.estimator, {**bucket.own, "regressor": _Recorder()})
        # By the targets: they are what the transformer is fitted on.
        can_share = not draws_at_random(model, task.y_train)
        # Without the arguments of fit, which are for the regressor alone.
        model.fit(task.X_train, task.y_train)
    except Exception as error:
        yield from fit_alone(task, bucket.changes, failure_of(error))
        return
    if not can_share:
        reason = "the targets are transformed at random"
        yield from fit_alone(task, bucket.changes, reason)
        return
    inner = replace(
        task,
        estimator=bucket.regressor,
        configurations=bucket.changes,
        y_train=model.regressor_.y_,
        race_rows=_with_own_scratch(task.race_rows, bucket.key),
    )
    seconds = (perf_counter() - start) / len(bucket.changes)
    for outcome in evaluator.evaluate(inner):
        back = _back(model, task, outcome)
        yield replace(back, fit_seconds=outcome.fit_seconds + seconds)


def _with_own_scratch(race_rows: RaceRows | None, key: Hashable) -> RaceRows | None:
    # What is kept for a race may depend on its targets: those here are others.
    if race_rows is None:
        return None
    scratch = race_rows.scratch
    own = scratch.get(
        ("targets", key),
        lambda: Scratch(scratch.limit, scratch.nests, share=scratch.share),
    )
    return replace(race_rows, scratch=own)


def _back(model: Any, task: Task, outcome: Outcome) -> Outcome:
    if outcome.error is not None:
        return outcome
    start = perf_counter()
    try:
        # The wrapper's own predict transforms back, and restores the shape of the
        # targets.
        model.regressor_ = Remembered(outcome.prediction)
        prediction = model.predict(task.X_test)
    except Exception as error:
        number, seconds = outcome.configuration, outcome.fit_seconds
        return Outcome(number, error=error, fit_seconds=seconds)
    seconds = outcome.score_seconds + perf_counter() - start
    return replace(outcome, prediction=prediction, classes=None, score_seconds=seconds)


def _evaluator_of_targets(estimator: TransformedTargetRegressor) -> BatchEvaluator:
    return TransformedTargetEvaluator(batch_evaluator_for(estimator.regressor).prefer)


serve_exactly_by(_evaluator_of_targets, TransformedTargetRegressor)
