"""Ridge regression: the rows are centred and multiplied once, for all penalties.

What follows is what a plain fit does, with the penalty-free part done once, so that
solutions are equal even where the system is ill-conditioned. Large systems with many
penalties are decomposed instead, for those penalties that make them well-conditioned;
predictions of all penalties are one matrix product. Both round differently: by no more
than 1e-9 of the largest prediction. Sparse rows and iterative solvers are left alone,
since an iterative solution depends on where it stops.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

import numpy as np
from scipy import linalg
from sklearn.base import is_classifier
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import column_or_1d, validate_data

from cvst._sklearn_compat import has_valid_parameters
from cvst._typing import Configuration, FloatArray
from cvst.evaluation._dispatch import serve_exactly
from cvst.evaluation._one_by_one import configured
from cvst.evaluation._protocol import BatchEvaluator, Outcome, Task
from cvst.evaluation.device import Arrays, DeviceFullError
from cvst.evaluation.linear._centred_rows import (
    CentredRows,
    checked_weights,
    is_certain_number,
    predict_all,
)
from cvst.evaluation.linear._device import ProductsOnDevice
from cvst.evaluation.sharing import (
    NotSharedError,
    groups_by,
    share_or_fit_alone,
    warn_device_full,
)

__all__ = ["RidgePath"]

DIRECT_SOLVERS = ("auto", "cholesky", "svd")

# An eigendecomposition costs as much as some twenty Cholesky factorisations.
FEWEST_PENALTIES_TO_DECOMPOSE = 20
SMALLEST_SYSTEM_TO_DECOMPOSE = 200

# Reciprocal condition from which both solutions agree to 1e-9.
WELL_CONDITIONED = 1e-5


class RidgePath(BatchEvaluator):
    """Solves for every ``alpha`` of ``Ridge`` and ``RidgeClassifier`` together."""

    prefer: Literal["threads", "processes"] = "threads"

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Put those together that differ in the penalty only."""
        return groups_by(estimator, configurations, {"alpha"})

    def serves_device(self, estimator: Any) -> bool:
        """Multiply and factorise there."""
        del estimator
        return True

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Multiply once per group, solve for each member."""
        for members in self.groups(task.estimator, task.configurations):
            yield from share_or_fit_alone(task, members, _share)


def _share(task: Task, members: list[int]) -> list[Outcome]:
    start = perf_counter()
    models = {i: configured(task.estimator, task.configurations[i]) for i in members}
    models = {i: model for i, model in models.items() if has_valid_parameters(model)}
    if not set(task.fit_params) <= {"sample_weight"}:
        raise NotSharedError("fit gets more than sample_weight")
    if len(models) < 2:
        raise NotSharedError("fewer than two have valid parameters")
    model = next(iter(models.values()))
    if (
        model.solver not in DIRECT_SOLVERS
        or model.positive
        or not hasattr(model, task.response)
    ):
        raise NotSharedError(
            f"the solver is not direct ({', '.join(DIRECT_SOLVERS)}), the coefficients "
            f"are positive, or there is no {task.response}"
        )
    problem = _Problem.of(model, task)
    solved = problem.solve({i: model.alpha for i, model in models.items()}, task)
    if not solved:
        raise NotSharedError(
            "the system is singular, or the penalties are not one for each target"
        )
    fit_end = perf_counter()
    found = problem.predictions(model, task, solved)
    fit_seconds = (fit_end - start) / len(found)
    score_seconds = (perf_counter() - fit_end) / len(found)
    return [
        Outcome(number, prediction, problem.classes, fit_seconds, score_seconds)
        for number, prediction in found.items()
    ]


@dataclass(frozen=True, slots=True)
class _Problem:
    """Least squares without a penalty yet.

    Attributes
    ----------
    rows : CentredRows
        With targets of shape (n_train, n_targets).
    is_flat : bool
        Whether predictions are one-dimensional.
    classes : ndarray or None
        Labels of a classifier, whose targets are their signs.
    is_svd : bool
        Whether the plain fit decomposes the rows rather than their products.
    """

    rows: CentredRows
    is_flat: bool
    classes: Any
    is_svd: bool

    @classmethod
    def of(cls, model: Any, task: Task) -> _Problem:
        given = task.fit_params.get("sample_weight")
        classes = None
        if is_classifier(model):
            X, labels = validate_data(model, task.X_train, task.y_train)
            X = X if X.dtype == np.float32 else X.astype(float, copy=False)
            binarizer = LabelBinarizer(neg_label=-1)
            y = binarizer.fit_transform(column_or_1d(labels))
            classes = binarizer.classes_
            weights = np.ones(len(X), X.dtype) if given is None else given
            weights = checked_weights(weights, X)
            if model.class_weight:
                weights = weights * compute_sample_weight(model.class_weight, labels)
                weights = checked_weights(weights, X)
        else:
            X, y = validate_data(
                model,
                task.X_train,
                task.y_train,
                dtype=[np.float64, np.float32],
                multi_output=True,
                y_numeric=True,
            )
            weights = checked_weights(given, X)
        if not is_classifier(model) and y.shape[1:] == (1,):
            raise NotSharedError("the targets are a single column")
        is_flat = y.ndim == 1 or y.shape[1] == 1
        rows = CentredRows.of(X, y, weights, model.fit_intercept)
        return cls(rows, is_flat, classes, model.solver == "svd")

    def solve(self, alphas: dict[int, Any], task: Task) -> dict[int, FloatArray]:
        """Return coefficients of shape (n_targets, n_features) of each member.

        Members whose system is singular are missing.
        """
        try:
            return self._solve(alphas, task.device)
        except DeviceFullError as error:
            warn_device_full(task, error)
            return self._solve(alphas, None)

    def _solve(
        self, alphas: dict[int, Any], device: Arrays | None
    ) -> dict[int, FloatArray]:
        X, y = self.rows.X, self.rows.y
        solver = _BySVD(X, y) if self.is_svd else _ByProducts(X, y, device)
        wanted = {i: np.ravel(np.asarray(a, dtype=X.dtype)) for i, a in alphas.items()}
        # One penalty for all targets: one system for all of them, too.
        single = {i: a[0] for i, a in wanted.items() if np.all(a == a[0])}
        several = {i: a for i, a in wanted.items() if i not in single}
        shared = dict(solver.for_each(np.unique(list(single.values()))))
        found = {i: shared[a] for i, a in single.items() if a in shared}
        for number, values in several.items():
            # Any other number is an error, which the plain fit will raise.
            if len(values) == y.shape[1]:
                with suppress(linalg.LinAlgError):
                    found[number] = solver.one_per_target(values)
        return found

    def predictions(
        self, model: Any, task: Task, solved: dict[int, FloatArray]
    ) -> dict[int, Any]:
        """Predict for all members at once."""
        X = validate_data(model, task.X_test, reset=False)
        wants_labels = self.classes is not None and task.response == "predict"
        is_certain = _is_certain_label if wants_labels else is_certain_number
        found = predict_all(self.rows, X, solved, is_certain)
        if self.is_flat:
            found = {number: values.ravel() for number, values in found.items()}
        if wants_labels:
            return {number: self._labels(values) for number, values in found.items()}
        return found

    def _labels(self, values: FloatArray) -> Any:
        indices = (values > 0).astype(int) if self.is_flat else values.argmax(axis=1)
        return self.classes.take(indices)


def _is_certain_label(values: FloatArray, bound: float) -> bool:
    if values.shape[1] == 1:
        return bool(np.all(np.abs(values) > bound))
    # Both of the largest may be off, towards each other.
    second, first = np.partition(values, -2, axis=1)[:, -2:].T
    return bool(np.all(first - second > 2 * bound))


class _BySVD:
    """Solves for penalties with one decomposition of the rows."""

    def __init__(self, X: FloatArray, y: FloatArray) -> None:
        left, self._values, right = np.linalg.svd(X, full_matrices=False)
        self._vectors, self._projected = right.T, left.T @ y

    def for_each(self, penalties: FloatArray) -> Iterator[tuple[Any, FloatArray]]:
        """Yield each penalty and its coefficients."""
        for penalty in penalties:
            yield penalty, self.one_per_target(penalty[None])

    def one_per_target(self, penalties: FloatArray) -> FloatArray:
        """Return the coefficients, with the target's own penalty in each row."""
        # The threshold of scikit-learn's solver.
        kept = self._values > 1e-15
        values = self._values[kept][:, None]
        shrinkage = np.zeros((len(kept), len(penalties)), dtype=values.dtype)
        shrinkage[kept] = values / (values**2 + penalties)
        coefficients: FloatArray = (self._vectors @ (shrinkage * self._projected)).T
        return coefficients


class _ByProducts:
    """Solves the normal equations, in the space of the rows if that is smaller."""

    def __init__(self, X: FloatArray, y: FloatArray, device: Arrays | None) -> None:
        # As scikit-learn chooses: the same system, and so the same rounding.
        self._dual_rows = X.T if X.shape[1] > X.shape[0] else None
        self._products: ProductsOnDevice | None = None
        # In single precision the host rounds as scikit-learn does.
        if device is not None and X.dtype == np.float64:
            self._products = ProductsOnDevice(device, X, y)
            self._matrix = self._products.matrix
            self._right_side = self._products.right_side
        elif self._dual_rows is None:
            self._matrix, self._right_side = X.T @ X, X.T @ y
        else:
            self._matrix, self._right_side = X @ X.T, y

    def for_each(self, penalties: FloatArray) -> Iterator[tuple[Any, FloatArray]]:
        """Yield each penalty and its coefficients, unless the system is singular."""
        if self._products is not None:
            solved = self._products.solutions(penalties)
            for penalty, solution in solved.items():
                yield penalty, self._as_coefficients(solution)
            penalties = np.array([one for one in penalties if one not in solved])
        is_large = (
            len(penalties) >= FEWEST_PENALTIES_TO_DECOMPOSE
            and len(self._matrix) >= SMALLEST_SYSTEM_TO_DECOMPOSE
            and self._matrix.dtype == np.float64
        )
        if is_large:
            values, vectors = linalg.eigh(self._matrix, check_finite=False)
            good = values[0] + penalties >= WELL_CONDITIONED * (values[-1] + penalties)
            projected = vectors.T @ self._right_side
            for penalty in penalties[good]:
                solution = vectors @ (projected / (values + penalty)[:, None])
                yield penalty, self._as_coefficients(solution)
            penalties = penalties[~good]
        diagonal = np.diag_indices_from(self._matrix)
        for penalty in penalties:
            shifted = self._matrix.copy()
            shifted[diagonal] += penalty
            # A plain fit goes another way with a singular system.
            with suppress(linalg.LinAlgError):
                solution = linalg.solve(shifted, self._right_side, assume_a="pos")
                yield penalty, self._as_coefficients(solution)

    def one_per_target(self, penalties: FloatArray) -> FloatArray:
        """Return the coefficients, with the target's own penalty in each row."""
        diagonal = np.diag_indices_from(self._matrix)
        shifted = self._matrix.copy()
        columns = []
        for penalty, target in zip(penalties, self._right_side.T, strict=True):
            # A plain fit adds and subtracts, and so keeps what rounding has left.
            shifted[diagonal] += penalty
            columns.append(linalg.solve(shifted, target, assume_a="pos"))
            shifted[diagonal] -= penalty
        return self._as_coefficients(np.column_stack(columns))

    def _as_coefficients(self, solution: FloatArray) -> FloatArray:
        if self._dual_rows is None:
            return solution.T
        coefficients: FloatArray = (self._dual_rows @ solution).T
        return coefficients


serve_exactly(RidgePath(), Ridge, RidgeClassifier)
