"""Lasso and elastic net: the rows are multiplied once, for all penalties.

Coordinate descent on the products of the rows makes the same steps, with the same
stopping rule, as coordinate descent on the rows themselves, but a sweep costs the
square of the features instead of rows times features. So each configuration starts
from zero, as a plain fit does, and stops where it stops, converged or not, with the
same warning; predictions agree to 1e-9 of the largest.

Warm starts along a path would save sweeps but end elsewhere: both ends are within the
tolerance of the optimum, which allows predictions to differ by up to
``2 * sqrt(2 * tol)`` (3 % at the default) of the spread of the targets. That is not
the same answer, so there are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import Any, Literal

import numpy as np
from sklearn.linear_model import ElasticNet, Lasso, enet_path
from sklearn.utils.validation import validate_data

from cvst._sklearn_compat import has_valid_parameters
from cvst._typing import Configuration, FloatArray
from cvst.evaluation._dispatch import serve_exactly
from cvst.evaluation._one_by_one import configured
from cvst.evaluation._protocol import BatchEvaluator, Outcome, Task
from cvst.evaluation.linear._centred_rows import (
    CentredRows,
    checked_weights,
    predict_all,
)
from cvst.evaluation.sharing import NotSharedError, groups_by, share_or_fit_alone

__all__ = ["SharedProducts"]

# The products do not depend on these.
FREE = ("alpha", "l1_ratio", "tol", "max_iter", "positive", "selection", "random_state")

# Below, the stopping rule would see the rounding of the products.
SMALLEST_TOLERANCE = 1e-9


class SharedProducts(BatchEvaluator):
    """Fits every penalty of ``Lasso`` and ``ElasticNet`` on the same products."""

    prefer: Literal["threads", "processes"] = "threads"

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Put those together that centre the rows in the same way."""
        return groups_by(estimator, configurations, FREE)

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Multiply once per group, descend for each member."""
        for members in self.groups(task.estimator, task.configurations):
            yield from share_or_fit_alone(task, members, _share)


def _share(task: Task, members: list[int]) -> list[Outcome]:
    start = perf_counter()
    models = {i: configured(task.estimator, task.configurations[i]) for i in members}
    models = {i: model for i, model in models.items() if _is_shareable(model)}
    if not set(task.fit_params) <= {"sample_weight"} or task.response != "predict":
        raise NotSharedError(
            "fit gets more than sample_weight, or something else than predict is asked"
        )
    if len(models) < 2:
        raise NotSharedError("fewer than two have parameters that allow it")
    model = next(iter(models.values()))
    X, y = validate_data(
        model,
        task.X_train,
        task.y_train,
        order="F",
        dtype=[np.float64, np.float32],
        multi_output=True,
        y_numeric=True,
    )
    # In single precision the two descents part; a single column is treated differently
    # by different versions; with few rows, products cost more than they save.
    few_rows = model.precompute is not True and len(X) <= X.shape[1]
    if X.dtype != np.float64 or y.shape[1:] == (1,) or few_rows:
        raise NotSharedError(
            "the rows are in single precision, fewer than the features, or the targets "
            "are a single column"
        )
    weights = checked_weights(task.fit_params.get("sample_weight"), X)
    if weights is not None:
        weights = weights * (len(X) / np.sum(weights))
    rows = CentredRows.of(X, y, weights, model.fit_intercept)
    shared_end = perf_counter()
    solved, seconds = _descend(rows, models)
    if not solved:
        raise NotSharedError("no coefficients are finite")
    fit_end = perf_counter()
    X_test = validate_data(model, task.X_test, reset=False)
    found = predict_all(rows, X_test, solved)
    setup_seconds = (shared_end - start) / len(solved)
    score_seconds = (perf_counter() - fit_end) / len(solved)
    return [
        Outcome(
            number,
            values.ravel() if y.ndim == 1 else values,
            fit_seconds=setup_seconds + seconds[number],
            score_seconds=score_seconds,
        )
        for number, values in found.items()
    ]


def _is_shareable(model: Any) -> bool:
    return (
        has_valid_parameters(model)
        and isinstance(model.precompute, bool)
        # No penalty brings a warning that a plain fit gives.
        and model.alpha > 0
        and model.tol >= SMALLEST_TOLERANCE
        and not (model.selection == "random" and model.random_state is None)
    )


def _descend(
    rows: CentredRows, models: dict[int, Any]
) -> tuple[dict[int, FloatArray], dict[int, float]]:
    """Return coefficients (n_targets, n_features) and seconds of each member."""
    X, y = np.asfortranarray(rows.X), np.asfortranarray(rows.y)
    gram = np.ascontiguousarray(X.T @ X)
    products = np.asfortranarray(X.T @ y)
    solved, seconds = {}, {}
    for number, model in models.items():
        start = perf_counter()
        coefficients = np.zeros((y.shape[1], X.shape[1]))
        for target, target_values in enumerate(y.T):
            coefficients[target] = enet_path(
                X,
                target_values,
                l1_ratio=model.l1_ratio,
                alphas=[model.alpha],
                precompute=gram,
                Xy=products[:, target],
                coef_init=np.zeros(X.shape[1]),
                positive=model.positive,
                check_input=False,
                tol=model.tol,
                max_iter=model.max_iter,
                random_state=model.random_state,
                selection=model.selection,
            )[1][:, 0]
        # A plain fit refuses coefficients that are not finite.
        if np.all(np.isfinite(coefficients)):
            solved[number] = coefficients
        seconds[number] = perf_counter() - start
    return solved, seconds


serve_exactly(SharedProducts(), ElasticNet, Lasso)
