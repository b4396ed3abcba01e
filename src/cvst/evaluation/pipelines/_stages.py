"""Rows on their way through a pipeline, kept while a look lasts."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from cvst._typing import Rows
from cvst.evaluation._one_by_one import configured
from cvst.evaluation._protocol import RaceRows, Scratch, Task
from cvst.evaluation._rows import guarded, stack_rows, writable
from cvst.evaluation.pipelines._branches import Branch, Keep, with_shared_branches
from cvst.evaluation.pipelines._gaps import imputed
from cvst.evaluation.pipelines._steps import Chains, Step
from cvst.evaluation.sharing import Recent, draws_at_random, same_rows

__all__ = ["LookCache", "Stage", "cache_of", "joined", "transformed"]

# Transformed rows are kept up to this size, to be handed to the next configuration.
KEPT_BYTES = 2**28

# What final estimators keep per set of transformed rows, distances for one, can be far
# larger than the rows: it is kept for the last few sets only.
KEPT_SCRATCHES = 2

# Larger inputs are not copied into one block: their distances would not be kept.
LARGEST_JOINED_BYTES = 2**26


@dataclass(frozen=True, slots=True)
class Stage:
    """Training and test inputs behind the first steps of a pipeline.

    Attributes
    ----------
    X_train, X_test : array-like
        Inputs of the next step. Many will use them, so they are guarded before.
    n_steps : int
        Number of transformers behind them.
    error : Exception or None
        Why there are no such rows.
    """

    X_train: Any
    X_test: Any
    n_steps: int = 0
    error: Exception | None = None

    @property
    def n_bytes(self) -> int:
        """Size in memory, as far as it is known."""
        return n_bytes(self.X_train) + n_bytes(self.X_test)

    def guarded(self) -> Stage:
        """Return a stage for one more fit, which cannot change it for the others."""
        return Stage(guarded(self.X_train), guarded(self.X_test), self.n_steps)

    def writable(self) -> Stage:
        """Return a stage that a fit may write into, for those that must."""
        return Stage(writable(self.X_train), writable(self.X_test), self.n_steps)


def transformed(
    stage: Stage, step: Step, y: Any, params: Mapping[str, Any], keep: Keep
) -> Stage:
    """Fit one more step and return the rows behind it.

    The stage itself comes back where every configuration has to fit the step for
    itself, because it draws random numbers.
    """
    try:
        return _fit_and_transform(stage.guarded(), step, guarded(y), params, keep)
    except Exception:
        try:
            return _fit_and_transform(stage.writable(), step, writable(y), params, keep)
        except Exception as error:
            return Stage(None, None, error=error)


def _fit_and_transform(
    stage: Stage, step: Step, y: Any, params: Mapping[str, Any], keep: Keep
) -> Stage:
    transformer = configured(step.template, step.changes)
    if draws_at_random(transformer, stage.X_train):
        return stage
    if step.memory is None and not params:
        filled = imputed(transformer, stage.X_train, stage.X_test)
        if filled is not None:
            return Stage(*filled, stage.n_steps + 1)
        transformer = with_shared_branches(transformer, stage.X_train, keep)
    # A pipeline of one step does what the whole pipeline does to it, cache included.
    one = Pipeline([("step", transformer), ("end", "passthrough")], memory=step.memory)
    prefixed = {f"step__{name}": value for name, value in params.items()}
    X_train = one.fit_transform(stage.X_train, y, **prefixed)
    # Not through the pipeline: it would ask a step without state whether it is fitted.
    X_test = one.named_steps["step"].transform(stage.X_test)
    return Stage(X_train, X_test, stage.n_steps + 1)


def n_bytes(X: Any) -> int:
    if hasattr(X, "tocsr"):
        return int(X.data.nbytes)
    if hasattr(X, "memory_usage"):
        return int(np.sum(X.memory_usage()))
    if hasattr(X, "estimated_size"):
        return int(X.estimated_size())
    return int(getattr(X, "nbytes", 0))


def joined(
    stage: Stage, limit: int | None = None, share: float = 1.0
) -> RaceRows | None:
    """Return the rows of a stage as a race of one look.

    The evaluator of the final estimator can then keep what belongs to the rows, such as
    distances, and find it again for the next group of configurations.
    """
    X_train, X_test = stage.X_train, stage.X_test
    same = type(X_train) is type(X_test) and _dtypes(X_train) == _dtypes(X_test)
    if not same or stage.n_bytes > LARGEST_JOINED_BYTES:
        return None
    n_train, n_test = X_train.shape[0], X_test.shape[0]
    X = stack_rows(X_train, X_test)
    # The next look transforms all rows again.
    scratch = Scratch(limit, nests=False, share=share)
    return RaceRows(X, slice(0, n_train), slice(n_train, n_train + n_test), scratch)


def _dtypes(X: Any) -> Any:
    return list(X.dtypes) if hasattr(X, "dtypes") else getattr(X, "dtype", object())


class LookCache:
    """What the configurations of one look have in common, step by step."""

    def __init__(self, limit: int | None = None, share: float = 1.0) -> None:
        kept = KEPT_BYTES if limit is None else min(KEPT_BYTES, limit)
        self.limit = limit
        self.share = share
        self.stages: Recent[Stage] = Recent(kept, lambda stage: stage.n_bytes)
        self.branches: Recent[Branch] = Recent(
            kept, lambda branch: n_bytes(branch.rows)
        )
        self.joined: Recent[tuple[RaceRows | None]] = Recent(KEPT_SCRATCHES, len)
        self._rows: tuple[Rows, Rows] | None = None
        self._chains: Chains | None = None
        self._lock = threading.Lock()

    def chains_of(self, pipeline: Pipeline) -> Chains:
        """Return what is known of a pipeline's steps, from earlier looks too."""
        chains = self._chains
        if chains is None or chains.pipeline is not pipeline:
            chains = self._chains = Chains(pipeline)
        return chains

    def turn_to(self, train: Rows, test: Rows) -> None:
        """Forget the look before, if this is another one."""
        with self._lock:
            if self._rows is None or not same_rows(self._rows, (train, test)):
                self.stages.clear()
                self.branches.clear()
                self.joined.clear()
                self._rows = train, test


def cache_of(task: Task) -> LookCache:
    """Return what is kept of a task's look; nothing yet, for a task on its own."""
    if task.race_rows is None:
        return LookCache()
    scratch = task.race_rows.scratch
    cache = scratch.get(
        "transformed rows", lambda: LookCache(scratch.limit, scratch.share)
    )
    cache.turn_to(task.race_rows.train, task.race_rows.test)
    return cache
