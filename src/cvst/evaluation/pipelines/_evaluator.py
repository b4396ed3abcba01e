"""Pipelines: one fit of the steps in common, many final estimators.

Configurations that agree in the first steps share their fits, and the final estimator
gets its own evaluator on the transformed rows. Within a look the transformed rows are
kept, so that groups that run side by side share them, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, Literal

from sklearn import get_config
from sklearn.pipeline import Pipeline

from cvst._typing import Configuration
from cvst.evaluation._dispatch import (
    batch_evaluator_for,
    divides,
    serve_exactly_by,
    serves_device,
    serves_one,
)
from cvst.evaluation._one_by_one import OneByOne
from cvst.evaluation._protocol import BatchEvaluator, Outcome, Task
from cvst.evaluation.pipelines._branches import Branch
from cvst.evaluation.pipelines._stages import (
    LookCache,
    Stage,
    cache_of,
    joined,
    transformed,
)
from cvst.evaluation.pipelines._steps import (
    Chain,
    Chains,
    covered_by_part,
    limited_part,
    params_of,
)
from cvst.evaluation.sharing import fit_alone, within_rounds

__all__ = ["PipelineEvaluator"]


@dataclass(frozen=True, slots=True)
class _Bucket:
    """Configurations with the same transformers and the same kind of predictor."""

    numbers: list[int]
    chains: list[Chain]

    @property
    def first(self) -> Chain:
        return self.chains[0]

    @property
    def changes(self) -> dict[int, Configuration]:
        """What is set on the predictor, by the number of the configuration."""
        finals = [chain.final.changes for chain in self.chains]
        return dict(zip(self.numbers, finals, strict=True))


@dataclass(frozen=True, slots=True)
class PipelineEvaluator(BatchEvaluator):
    """Fits the steps that configurations have in common once.

    Attributes
    ----------
    prefer : {"threads", "processes"}
        What the final estimator's evaluator prefers.
    """

    prefer: Literal["threads", "processes"] = "processes"

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Group as the final estimator's evaluator does; equal steps stay together."""
        buckets, alone = _buckets(Chains(estimator), configurations)
        groups = []
        for bucket in buckets:
            template = bucket.first.final.template
            groups += batch_evaluator_for(template).groups(template, bucket.changes)
        return groups + [[number] for number in alone]

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Walk through the steps in common, then hand over to the final estimator."""
        task = within_rounds(self, task)
        if task.fit_params and get_config()["enable_metadata_routing"]:
            # The whole pipeline decides which step gets which argument.
            reason = "arguments of fit are routed"
            yield from fit_alone(task, task.configurations, reason)
            return
        cache = cache_of(task)
        chains = cache.chains_of(task.estimator)
        buckets, alone = _buckets(
            chains, task.configurations, by_name=bool(task.fit_params)
        )
        for bucket in buckets:
            params = params_of(task.fit_params, bucket.first.steps)
            if params is None:
                reason = "arguments of fit belong to no step"
                yield from fit_alone(task, bucket.numbers, reason)
                continue
            yield from _evaluate_bucket(task, bucket, cache, params)
        reason = "only the whole pipeline handles some steps or parameters"
        yield from fit_alone(task, alone, reason)

    def serves_device(self, estimator: Any) -> bool:
        """Ask the final estimator's evaluator."""
        final = estimator.steps[-1][1]
        return serves_device(batch_evaluator_for(final), final)

    def divides(self, estimator: Any, response: str) -> bool:
        """Ask the final estimator's evaluator.

        Parts that run in other processes fit the steps before it again.
        """
        final = estimator.steps[-1][1]
        return divides(batch_evaluator_for(final), final, response)

    def serves_one(self, estimator: Any) -> bool:
        """Ask the final estimator's evaluator."""
        final = estimator.steps[-1][1]
        return serves_one(batch_evaluator_for(final), final)

    def covered_by_one_fit(self, estimator: Any) -> dict[str, str]:
        """Name what is covered in the final estimator."""
        return covered_by_part(*estimator.steps[-1])

    def limited(
        self, estimator: Any, configuration: Configuration, rounds: int
    ) -> Configuration:
        """Limit the rounds of the part that learns."""
        if "steps" in configuration:
            # All steps are replaced: the last one may have another name.
            return configuration
        name, final = estimator.steps[-1]
        return limited_part(name, final, configuration, rounds)


def _buckets(
    chains: Chains, configurations: Mapping[int, Configuration], by_name: bool = False
) -> tuple[list[_Bucket], list[int]]:
    buckets: dict[Hashable, _Bucket] = defaultdict(lambda: _Bucket([], []))
    alone = []
    for number, configuration in configurations.items():
        chain = chains.of(configuration)
        if chain is None:
            alone.append(number)
            continue
        # Arguments of a fit belong to a name, which a step's key does not hold.
        paths = [step.path for step in chain.steps] if by_name else []
        bucket = buckets[chain.keys, chain.final_key, tuple(paths)]
        bucket.numbers.append(number)
        bucket.chains.append(chain)
    return list(buckets.values()), alone


def _evaluate_bucket(
    task: Task, bucket: _Bucket, cache: LookCache, params: list[dict[str, Any]]
) -> Iterator[Outcome]:
    start = perf_counter()
    chain = bucket.first
    walk = _Walk(task, chain, cache, params, _stage_key(chain, params))
    stage = walk.stage(len(chain.transformers))
    if stage.error is not None:
        # Each of them alone would fail in the same step.
        outcomes = iter([Outcome(i, error=stage.error) for i in bucket.numbers])
    else:
        outcomes = walk.finish(stage, bucket)
    seconds = (perf_counter() - start) / len(bucket.numbers)
    for outcome in outcomes:
        yield replace(outcome, fit_seconds=outcome.fit_seconds + seconds)


def _stage_key(chain: Chain, params: list[dict[str, Any]]) -> tuple[Hashable, ...]:
    steps = zip(chain.keys, chain.transformers, params[:-1], strict=True)
    # Only arguments of fit go by a step's name; without any, equal steps share.
    return tuple((key, step.path if given else None) for key, step, given in steps)


@dataclass(frozen=True, slots=True)
class _Walk:
    """The way of a task's rows through the steps of one bucket."""

    task: Task
    chain: Chain
    cache: LookCache
    params: list[dict[str, Any]]
    key: tuple[Hashable, ...]

    def stage(self, n_steps: int) -> Stage:
        """Return the rows behind the first steps; fewer if the next one is random."""
        if n_steps == 0:
            return Stage(self.task.X_train, self.task.X_test)
        make = partial(self._next_stage, n_steps)
        return self.cache.stages.get(self.key[:n_steps], make)

    def _next_stage(self, n_steps: int) -> Stage:
        before = self.stage(n_steps - 1)
        if before.error is not None or before.n_steps < n_steps - 1:
            return before
        step = self.chain.transformers[n_steps - 1]
        params = self.params[n_steps - 1]
        keep = partial(self._kept_branch, self.key[: n_steps - 1])
        return transformed(before, step, self.task.y_train, params, keep)

    def _kept_branch(
        self, before: Hashable, key: Hashable, make: Callable[[], Branch]
    ) -> Branch:
        return self.cache.branches.get((before, key), make)

    def finish(self, stage: Stage, bucket: _Bucket) -> Iterator[Outcome]:
        """Fit what is left of the pipeline."""
        evaluator = batch_evaluator_for(self.chain.final.template)
        left = self.chain.transformers[stage.n_steps :]
        if left:
            name = type(left[0].template).__name__
            reason = f"{name} draws random numbers that no seed fixes"
            return self._rest_one_by_one(stage, bucket, OneByOne(reason))
        if type(evaluator) is OneByOne:
            return self._rest_one_by_one(stage, bucket, evaluator)
        return self._final_together(stage, bucket, evaluator)

    def _final_together(
        self, stage: Stage, bucket: _Bucket, evaluator: BatchEvaluator
    ) -> Iterator[Outcome]:
        race_rows = self.task.race_rows
        if self.chain.transformers:
            # In a tuple: the cache takes None for something that is not made yet.
            (race_rows,) = self.cache.joined.get(
                self.key, lambda: (joined(stage, self.cache.limit, self.cache.share),)
            )
        stage = stage.guarded()
        task = replace(
            self.task,
            estimator=self.chain.final.template,
            configurations=bucket.changes,
            X_train=stage.X_train,
            X_test=stage.X_test,
            fit_params=self.params[-1],
            race_rows=race_rows,
        )
        return evaluator.evaluate(task)

    def _rest_one_by_one(
        self, stage: Stage, bucket: _Bucket, evaluator: OneByOne
    ) -> Iterator[Outcome]:
        evaluator.say_why(replace(self.task, estimator=self.chain.final.template))
        task = replace(
            self.task,
            estimator=self._rest(stage),
            configurations={
                number: _renamed(chain, stage)
                for number, chain in zip(bucket.numbers, bucket.chains, strict=True)
            },
            X_train=stage.X_train,
            X_test=stage.X_test,
            fit_params={
                f"step{place}__{name}": value
                for place, params in enumerate(self.params[stage.n_steps :])
                for name, value in params.items()
            },
            race_rows=None,
        )
        for outcome in OneByOne().evaluate(task):
            if outcome.error is None:
                yield outcome
                continue
            # In a plain pipeline the rows behind a transformer can be written to. An
            # error need not say that these cannot, so each failure gets a second try.
            own = stage.writable()
            again = replace(task, X_train=own.X_train, X_test=own.X_test)
            yield OneByOne().evaluate_one(again, outcome.configuration)

    def _rest(self, stage: Stage) -> Pipeline:
        # A pipeline again, since it treats its last step in its own way: it passes
        # y=None on, and asks whether the step is fitted.
        steps = self.chain.steps[stage.n_steps :]
        named = [(f"step{number}", step.template) for number, step in enumerate(steps)]
        return Pipeline(named, memory=self.chain.final.memory)


def _renamed(chain: Chain, stage: Stage) -> Configuration:
    steps = chain.steps[stage.n_steps :]
    return {
        f"step{number}__{name}": value
        for number, step in enumerate(steps)
        for name, value in step.changes.items()
    }


def _evaluator_of_pipeline(pipeline: Pipeline) -> BatchEvaluator:
    try:
        final = pipeline.steps[-1][1]
    except (IndexError, TypeError):
        return OneByOne("its steps are not a list of names and estimators")
    return PipelineEvaluator(batch_evaluator_for(final).prefer)


# Subclasses, samplers of other libraries for one, may walk in other ways.
serve_exactly_by(_evaluator_of_pipeline, Pipeline)
