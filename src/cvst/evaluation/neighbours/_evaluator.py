"""Nearest neighbours: one search, all k and all weights.

The search for the largest k lists the neighbours of every smaller k too. Where the
k-th distance is tied, and another choice among the tied rows might change the
prediction, the row is predicted again by a model of its own k.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from cvst._sklearn_compat import num_samples
from cvst._typing import Configuration, FloatArray, IntArray
from cvst.evaluation._dispatch import serve_exactly
from cvst.evaluation._one_by_one import configured
from cvst.evaluation._protocol import BatchEvaluator, Outcome, Task
from cvst.evaluation._rows import take
from cvst.evaluation.device import DeviceFullError, within_memory
from cvst.evaluation.neighbours._device import lists_on_device
from cvst.evaluation.neighbours._lists import NeighbourLists, running_sums
from cvst.evaluation.neighbours._ties import elections_in_doubt
from cvst.evaluation.sharing import (
    NotSharedError,
    fitted,
    groups_by,
    is_count,
    share_or_fit_alone,
    truncated,
    warn_device_full,
)

__all__ = ["SharedNeighbours"]


NO_ROWS: IntArray = np.empty(0, dtype=np.intp)


class SharedNeighbours(BatchEvaluator):
    """Predicts for every ``n_neighbors`` and ``weights`` from one neighbour search."""

    prefer: Literal["threads", "processes"] = "threads"

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Put those together that search in the same way."""
        return groups_by(estimator, configurations, {"n_neighbors", "weights"})

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Search once per group."""
        for members in self.groups(task.estimator, task.configurations):
            for part in _same_algorithm(task, members):
                yield from share_or_fit_alone(task, part, _share)

    def serves_device(self, estimator: Any) -> bool:
        """Search for Euclidean neighbours there."""
        del estimator
        return True

    def are_independent(self, estimator: Any, response: str) -> bool:
        """Promise it for labels: numbers of tied rows add up in any order."""
        return is_classifier(estimator) and response == "predict"

    def covered_by_one_fit(self, estimator: Any) -> dict[str, str]:
        """Name what is left to do after the search."""
        del estimator
        return {"n_neighbors": "all", "weights": "all"}


def _same_algorithm(task: Task, members: list[int]) -> list[list[int]]:
    # Left to choose, scikit-learn leaves the tree when k reaches half of the rows.
    if _value(task, members[0], "algorithm") != "auto":
        return [members]
    half = num_samples(task.X_train) // 2
    parts: dict[bool, list[int]] = defaultdict(list)
    for number in members:
        k = _value(task, number, "n_neighbors")
        parts[is_count(k) and k >= half].append(number)
    return list(parts.values())


def _value(task: Task, number: int, name: str) -> Any:
    return task.configurations[number].get(name, getattr(task.estimator, name))


def _share(task: Task, members: list[int]) -> list[Outcome]:
    start = perf_counter()
    models = {i: configured(task.estimator, task.configurations[i]) for i in members}
    queries = [_Query(i, m.n_neighbors, m.weights) for i, m in models.items()]
    queries = [q for q in queries if q.is_valid(num_samples(task.X_train))]
    searcher = models[members[0]]
    if len(queries) < 2:
        raise NotSharedError("fewer than two have valid n_neighbors and weights")
    if not _is_shareable(searcher, task):
        raise NotSharedError(
            "distances are precomputed, targets are sparse, fit gets arguments, or "
            f"there is no {task.response}"
        )
    largest = max(query.k for query in queries)
    searcher = fitted(task, searcher.set_params(n_neighbors=largest, weights="uniform"))
    fit_end = perf_counter()
    lists = _lists(task, searcher, largest)
    found = dict(_predictions(task, searcher, lists, queries))
    fit_seconds = (fit_end - start) / len(queries)
    score_seconds = (perf_counter() - fit_end) / len(queries)
    classes = getattr(searcher, "classes_", None)
    return [
        Outcome(number, prediction, classes, fit_seconds, score_seconds)
        for number, prediction in found.items()
    ]


def _lists(task: Task, searcher: Any, largest: int) -> NeighbourLists:
    lists = None
    if task.device is not None:
        try:
            with within_memory(task.device):
                lists = lists_on_device(
                    task.device, searcher, task.X_train, task.X_test, largest
                )
        except DeviceFullError as error:
            warn_device_full(task, error)
    if lists is not None:
        return lists
    return NeighbourLists.search(searcher, task.X_train, task.X_test, largest)


@dataclass(frozen=True, slots=True)
class _Query:
    number: int
    k: Any
    weights: Any

    def is_valid(self, n_train: int) -> bool:
        known = self.weights is None or self.weights in ("uniform", "distance")
        return is_count(self.k, at_most=n_train) and (known or callable(self.weights))

    def of(self, searcher: Any) -> Any:
        """Return a model with this k and these weights, without a fit of its own."""
        return truncated(searcher, n_neighbors=self.k, weights=self.weights)


def _is_shareable(model: Any, task: Task) -> bool:
    return (
        model.metric != "precomputed"
        and not task.fit_params
        and not sparse.issparse(task.y_train)
        and task.response in ("predict", "predict_proba")
        and hasattr(model, task.response)
    )


def _predictions(
    task: Task, searcher: Any, lists: NeighbourLists, queries: list[_Query]
) -> Iterator[tuple[int, Any]]:
    if not _can_vote(task, searcher, lists):
        queries = [query for query in queries if query.weights != "uniform"]
    targets = _Targets.of(searcher, task.y_train)
    ties = _Ties(task, searcher, lists, targets)
    named = [query for query in queries if not callable(query.weights)]
    if targets.matrix is not None:
        for by_distance in (False, True):
            same = [q for q in named if (q.weights == "distance") == by_distance]
            yield from _from_sums(task.response, lists, targets, ties, same)
        named = []
    # A function of the distances may do anything with rows and ties.
    functions = [q for q in queries if callable(q.weights) and lists.is_untied(q.k)]
    for query in named + functions:
        found = _Listed(lists.distances[:, : query.k], lists.indices[:, : query.k])
        listed = truncated(query.of(searcher), kneighbors=found)
        prediction = getattr(listed, task.response)(task.X_test)
        yield from ties.settle(query, prediction)


def _from_sums(
    response: str,
    lists: NeighbourLists,
    targets: _Targets,
    ties: _Ties,
    queries: list[_Query],
) -> Iterator[tuple[int, Any]]:
    """Answer queries of the same weights in one pass over the lists."""
    if not queries or targets.matrix is None:
        return
    by_distance = queries[0].weights == "distance"
    ks = [query.k for query in queries]
    for k, sums, weights in running_sums(lists, targets.matrix, ks, by_distance):
        close = NO_ROWS
        if by_distance and response == "predict":
            close = targets.close_calls(k, sums, weights)
        for query in [query for query in queries if query.k == k]:
            yield from ties.settle(
                query, targets.answer(response, sums, weights), close
            )


def _can_vote(task: Task, searcher: Any, lists: NeighbourLists) -> bool:
    # Before 1.8, scikit-learn fails to count votes for labels that are not numbers if
    # it searches by brute force; the same fit must fail here.
    if lists.in_a_tree or not is_classifier(searcher):
        return True
    try:
        searcher.predict(take(task.X_test, slice(0, 1)))
    except ValueError:
        return False
    return True


class _Listed:
    """Stands for the search of a model: the neighbours are known already."""

    def __init__(self, distances: FloatArray, indices: IntArray) -> None:
        # Copies, since a user's function of the distances may write on them.
        self.distances = distances.copy()
        self.indices = indices.copy()

    def __call__(self, X: Any, return_distance: bool = True) -> Any:
        del X
        return (self.distances, self.indices) if return_distance else self.indices


class _Ties:
    """Predicts rows again that the lists cannot decide."""

    def __init__(
        self, task: Task, searcher: Any, lists: NeighbourLists, targets: _Targets
    ) -> None:
        self._task, self._searcher = task, searcher
        self._lists, self._targets = lists, targets
        self._tied: dict[int, IntArray] = {}
        self._found: dict[int, dict[int, tuple[FloatArray, IntArray]]] = {}

    def settle(
        self, query: _Query, prediction: Any, close: IntArray = NO_ROWS
    ) -> Iterator[tuple[int, Any]]:
        """Yield the prediction once all rows are sure; nothing if that cannot be."""
        unsure = self._unsure(query)
        # Distances of a few rows alone may round otherwise than those of all, and other
        # neighbours come first.
        if len(close) + len(unsure) and not self._lists.rows_are_independent:
            return
        for rows, model in (
            (unsure, self._with_found_neighbours(query, unsure)),
            (close, query.of(self._searcher)),
        ):
            if len(rows):
                test_rows = take(self._task.X_test, rows)
                _replace(
                    prediction, rows, getattr(model, self._task.response)(test_rows)
                )
        yield query.number, prediction

    def _unsure(self, query: _Query) -> IntArray:
        """Return the rows whose prediction depends on which tied rows are taken."""
        if query.k not in self._tied:
            tied = self._lists.undecided(query.k, self._targets.codes)
            self._tied[query.k] = tied
        tied = self._tied[query.k]
        elects = self._task.response == "predict" and self._targets.classes
        if not len(tied) or not elects or callable(query.weights):
            return tied
        by_distance = query.weights == "distance"
        outputs = self._targets.labels
        return elections_in_doubt(self._lists, tied, query.k, outputs, by_distance)

    def _with_found_neighbours(self, query: _Query, rows: IntArray) -> Any:
        model = query.of(self._searcher)
        if not len(rows) or not self._lists.in_a_tree:
            # Brute force takes other tied rows for votes than for lists.
            return model
        return truncated(model, kneighbors=_Listed(*self._neighbours(model, rows)))

    def _neighbours(self, model: Any, rows: IntArray) -> tuple[FloatArray, IntArray]:
        """Return what a search for some rows finds, and keep it for other weights."""
        known = self._found.setdefault(model.n_neighbors, {})
        new = [row for row in rows.tolist() if row not in known]
        if new:
            found = model.kneighbors(take(self._task.X_test, np.array(new)))
            known.update(zip(new, zip(*found, strict=True), strict=True))
        distances, indices = zip(*(known[row] for row in rows.tolist()), strict=True)
        return np.array(distances), np.array(indices)


def _replace(prediction: Any, rows: Any, new: Any) -> None:
    if isinstance(prediction, list):
        for part, values in zip(prediction, new, strict=True):
            part[rows] = values
    else:
        prediction[rows] = new


@dataclass(frozen=True, slots=True)
class _Targets:
    """Targets as columns that can be summed: indicators of classes, or numbers.

    Attributes
    ----------
    matrix : ndarray of shape (n_train, n_columns) or None
        None if sums would differ from those of scikit-learn by more than rounding.
    codes : ndarray of shape (n_train,), int
        Equal for rows with equal targets.
    labels : list of ndarray of shape (n_train,), int
        The place of each row's label among the classes, for each output; empty in a
        regression.
    classes : list of ndarray
        Labels of each output; empty in a regression.
    is_flat : bool
        Whether the target is one-dimensional.
    """

    matrix: FloatArray | None
    codes: IntArray
    labels: list[IntArray]
    classes: list[Any]
    is_flat: bool

    @classmethod
    def of(cls, model: Any, y: Any) -> _Targets:
        values = np.asarray(y)
        columns = values.reshape(len(values), -1)
        if not is_classifier(model):
            codes = np.unique(columns, axis=0, return_inverse=True)[1].ravel()
            # scikit-learn averages single precision in single precision, and objects by
            # their own addition.
            summable = values.dtype == np.float64 or values.dtype.kind in "iu"
            matrix = columns.astype(float) if summable else None
            return cls(matrix, codes, [], [], values.ndim == 1)
        is_flat = not model.outputs_2d_
        classes = [model.classes_] if is_flat else model.classes_
        parts = [np.unique(column, return_inverse=True)[1] for column in columns.T]
        indicators = [
            np.eye(len(labels))[part]
            for labels, part in zip(classes, parts, strict=True)
        ]
        codes = np.unique(np.column_stack(parts), axis=0, return_inverse=True)[1]
        return cls(np.hstack(indicators), codes.ravel(), parts, classes, is_flat)

    def answer(self, response: str, sums: FloatArray, weights: FloatArray) -> Any:
        """Return what the model predicts from summed targets and weights."""
        if not self.classes:
            means = sums / weights
            return means.ravel() if self.is_flat else means
        votes = self._votes(sums)
        if response == "predict_proba":
            shares = [part / part.sum(axis=1, keepdims=True) for part in votes]
            return shares[0] if self.is_flat else shares
        # As scikit-learn does it: the first output's labels decide on the type.
        labels = np.empty((len(sums), len(votes)), dtype=self.classes[0].dtype)
        for column, (known, part) in enumerate(zip(self.classes, votes, strict=True)):
            labels[:, column] = known.take(np.argmax(part, axis=1))
        return labels.ravel() if self.is_flat else labels

    def close_calls(self, k: int, sums: FloatArray, weights: FloatArray) -> IntArray:
        """Return the rows where sums in another order might elect another class."""
        close = np.zeros(len(sums), dtype=bool)
        for part in self._votes(sums):
            if part.shape[1] > 1:
                second, first = np.partition(part, -2, axis=1)[:, -2:].T
                # Sums of k weights, each rounded, differ by less than this.
                close |= first - second <= 8 * k * np.finfo(float).eps * weights[:, 0]
        return np.flatnonzero(close)

    def _votes(self, sums: FloatArray) -> list[FloatArray]:
        ends = np.cumsum([len(labels) for labels in self.classes])[:-1]
        return np.split(sums, ends, axis=1)


serve_exactly(SharedNeighbours(), KNeighborsClassifier, KNeighborsRegressor)
