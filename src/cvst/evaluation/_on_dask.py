"""Estimators that train on Dask collections: rows go in as such, and answers come out.

They fit on the workers of a Dask client, so fits of a race run one after the other, and
each of them has the whole cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from cvst._typing import Configuration
from cvst.evaluation._dispatch import batch_evaluator_for, serve_lazily
from cvst.evaluation._one_by_one import OneByOne
from cvst.evaluation._protocol import Outcome, Task
from cvst.exceptions import InvalidInputError

__all__ = ["as_dask", "check_client", "trains_on_dask"]

# Rows of a part: fewer are not worth another worker.
PART_ROWS = 10_000

ANSWERS = ("predict", "predict_proba")


class OnDask(OneByOne):
    """Fits each configuration on the workers of a Dask client."""

    prefer: Literal["threads", "processes"] = "threads"

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Put all into one group: two fits at a time would wait for each other."""
        del estimator
        return [list(configurations)] if configurations else []

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Send the rows to the workers once, and fit one after the other."""
        sent = replace(
            task,
            X_train=as_dask(task.X_train),
            y_train=as_dask(task.y_train),
            fit_params={name: as_dask(one) for name, one in task.fit_params.items()},
        )
        for number in task.configurations:
            yield self._evaluate(sent, number)

    def _fitted(self, model: Any, task: Task) -> Any:
        model = super()._fitted(model, task)
        # The test rows are in memory, and a model that is too need not ask the workers.
        return model.to_local() if hasattr(model, "to_local") else _InMemory(model)


class _InMemory:
    """A model that takes rows and returns answers as they are in memory."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._model, name)
        return (lambda X: value(as_dask(X)).compute()) if name in ANSWERS else value


def trains_on_dask(estimator: Any) -> bool:
    """Return whether an estimator wants Dask collections.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> trains_on_dask(Ridge())
    False
    """
    return isinstance(batch_evaluator_for(estimator), OnDask)


def check_client(estimator: Any) -> None:
    """Refuse an estimator that trains on Dask where there is no cluster to train on."""
    from distributed import default_client

    try:
        default_client()
    except ValueError as error:
        raise InvalidInputError(
            f"{type(estimator).__name__} trains on a Dask cluster, and no client is "
            "connected to one. Make one first: client = dask.distributed.Client()."
        ) from error


def as_dask(values: Any, parts: Sequence[int] | None = None) -> Any:
    """Return rows as a Dask collection, sent to the workers; anything else as it is.

    Parameters
    ----------
    values : object
        A table, a column, or what else an estimator's ``fit`` gets.
    parts : sequence of int or None
        Numbers of rows of the parts; None for parts of a size that is worth a worker.
    """
    in_memory = isinstance(values, np.ndarray) or hasattr(values, "iloc")
    if not in_memory or hasattr(values, "__dask_graph__"):
        return values
    if parts is None:
        n_rows = len(values)
        parts = [min(PART_ROWS, n_rows - at) for at in range(0, n_rows, PART_ROWS)]
    if not hasattr(values, "columns"):
        return _array(np.asarray(values), parts)
    from dask.dataframe import from_map

    pieces = _sent([values.iloc[rows] for rows in _slices(parts)])
    return from_map(_itself, pieces, meta=values.iloc[:0])


def _array(values: Any, parts: Sequence[int]) -> Any:
    from dask import delayed
    from dask.array import concatenate, from_delayed

    pieces = [values[rows] for rows in _slices(parts)]
    return concatenate(
        [
            from_delayed(delayed(piece), (length, *values.shape[1:]), values.dtype)
            for piece, length in zip(_sent(pieces), parts, strict=True)
        ]
    )


def _slices(parts: Sequence[int]) -> list[slice]:
    ends = np.cumsum([0, *parts]).tolist()
    return [slice(start, stop) for start, stop in pairwise(ends)]


def _sent(pieces: list[Any]) -> list[Any]:
    """Put pieces where the client's workers are: tasks that hold rows are slow."""
    from distributed import default_client

    # Equal rows of two looks must not be one future, which is let go with the first.
    sent: list[Any] = default_client().scatter(pieces, hash=False)
    return sent


def _itself(piece: Any) -> Any:
    return piece


serve_lazily(OnDask(), "lightgbm.dask", "DaskLGBMClassifier", "DaskLGBMRegressor")
serve_lazily(
    OnDask(),
    "xgboost.dask",
    "DaskXGBClassifier",
    "DaskXGBRegressor",
    "DaskXGBRFClassifier",
    "DaskXGBRFRegressor",
)
