"""Support vector machines: one kernel per width, libsvm's solver on top of it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import compress
from time import perf_counter
from typing import Any, Literal

import numpy as np
from scipy.linalg import blas
from sklearn.exceptions import ConvergenceWarning

from cvst._typing import Configuration, FloatArray
from cvst.evaluation._dispatch import serve_exactly
from cvst.evaluation._protocol import BatchEvaluator, Outcome, Task
from cvst.evaluation.kernels._functions import Kernel
from cvst.evaluation.kernels._groups import (
    NOT_PLAIN,
    UNKNOWN,
    UNSURE,
    divide,
    groups_by_kernel,
    read_all,
)
from cvst.evaluation.kernels._rows import PairedRows, paired_rows
from cvst.evaluation.kernels._targets import class_positions, row_weights
from cvst.evaluation.sharing import class_weights, fit_alone
from cvst.evaluation.svm._decisions import Machine
from cvst.evaluation.svm._fits import KernelBuffers, SvmFits
from cvst.evaluation.svm._matrices import SvmMatrices
from cvst.evaluation.svm._settings import SVM_TYPES, SvmSettings, read_settings
from cvst.evaluation.svm._solutions import SvmSolution

__all__ = ["SvmEvaluator"]

# A kernel costs as much as one or two fits: larger groups are cut, so that workers
# have something to share out.
LARGEST_GROUP = 16

# libsvm rounds kernel values to single precision, which hides errors below this size.
# Where rounding errors may be larger, libsvm computes its own kernel.
LARGEST_KERNEL_ERROR = 1e-8

# With larger values libsvm's path depends on their last bit, and may not end: it is
# left to scikit-learn.
LARGEST_VALUE = 1e6

EPSILON = float(np.finfo(float).eps)


class SvmEvaluator(BatchEvaluator):
    """Shares the kernel matrix of a width between all penalties."""

    prefer: Literal["threads", "processes"] = "threads"

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Put configurations with the same kernel together, a handful each."""
        return groups_by_kernel(estimator, configurations, read_settings, LARGEST_GROUP)

    def are_independent(self, estimator: Any, response: str) -> bool:
        """Promise it for labels: where a last bit decides, libsvm does."""
        return SVM_TYPES[type(estimator)] < 2 and response == "predict"

    def serves_one(self, estimator: Any) -> bool:
        """Say so: its kernel may be known from an earlier look."""
        del estimator
        return True

    def divides(self, estimator: Any, response: str) -> bool:
        """Say so for labels: a kernel costs as much as a fit or two, and fits differ.

        The longest fits of a grid, those of a large ``C``, have one kernel.
        """
        return self.are_independent(estimator, response)

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Fit all machines of each kernel on the same matrix."""
        settings, alone = read_all(task.estimator, task.configurations, read_settings)
        rows = paired_rows(task)
        problem = None if rows is None else _problem(task, rows)
        if problem is None:
            yield from fit_alone(task, task.configurations, NOT_PLAIN)
            return
        unsure: list[int] = []
        for key, members in divide(settings, lambda values: values.key).items():
            chosen = {number: settings[number] for number in members}
            outcomes = _share(problem, key.bind(problem.rows.train_inputs), chosen)
            yield from outcomes
            done = {outcome.configuration for outcome in outcomes}
            unsure += [number for number in members if number not in done]
        yield from fit_alone(task, alone, UNKNOWN)
        yield from fit_alone(task, unsure, UNSURE)


@dataclass(frozen=True, slots=True)
class _Problem:
    """Rows, targets and weights of a task.

    Attributes
    ----------
    rows : PairedRows
        The inputs.
    labels : ndarray of shape (n_train,)
        Targets as they came.
    targets : ndarray of shape (n_train,)
        Targets in double precision; positions in ``classes`` for a classification.
    classes : ndarray or None
        Labels in order; None for a regression.
    weights : ndarray of shape (n_train,)
        Weights of the rows.
    response : {"predict", "decision_function"}
        What is asked for.
    nests : bool
        Whether later looks see these rows again.
    """

    rows: PairedRows
    labels: Any
    targets: FloatArray
    classes: Any
    weights: FloatArray
    response: str
    nests: bool


def _problem(task: Task, rows: PairedRows) -> _Problem | None:
    """Return the problem, or None if scikit-learn would refuse or convert it."""
    is_classifier = SVM_TYPES[type(task.estimator)] < 2
    responses = {"predict", "decision_function"} if is_classifier else {"predict"}
    labels = np.asarray(task.y_train)
    weights = row_weights(task, rows.n_train)
    if task.response not in responses or labels.shape != (rows.n_train,):
        return None
    # libsvm drops rows without weight and then counts the others again.
    if weights is None or weights.min() == 0:
        return None
    classes, targets = None, labels
    if is_classifier:
        known = class_positions(labels, rows.n_train)
        if known is None:
            return None
        classes, targets = known
    if targets.dtype.kind not in "fiu" or not np.isfinite(targets).all():
        return None
    targets = targets.astype(np.float64)
    nests = task.race_rows is not None and task.race_rows.scratch.nests
    return _Problem(rows, labels, targets, classes, weights, task.response, nests)


def _share(
    problem: _Problem, kernel: Kernel, chosen: dict[int, SvmSettings]
) -> list[Outcome]:
    """Fit and ask all machines of one kernel; those left out are fitted alone."""
    rows = problem.rows
    error = 8 * EPSILON * kernel.gamma * rows.largest_square
    largest = kernel.largest_value(rows.largest_square)
    if error > LARGEST_KERNEL_ERROR or largest > LARGEST_VALUE:
        return []
    start = perf_counter()
    matrices = SvmMatrices(rows, kernel, problem.nests)
    if kernel.name == "rbf":
        matrix = matrices.leading_rows()
    else:
        matrix = matrices.train()
        np.fill_diagonal(matrix, _libsvm_diagonal(kernel, rows.train_inputs))
    shared_seconds = (perf_counter() - start) / len(chosen)
    outcomes, machines, fit_seconds = [], {}, {}
    with SvmFits(
        matrix,
        problem.targets,
        problem.weights,
        problem.classes is not None,
        rows.scratch.get("buffers for kernels", KernelBuffers),
    ) as fits:
        for number, settings in chosen.items():
            start = perf_counter()
            try:
                solution = _fit(problem, fits, settings)
            except ValueError as error:
                seconds = shared_seconds + perf_counter() - start
                outcomes.append(Outcome(number, fit_seconds=seconds, error=error))
                continue
            machines[number] = Machine(settings, kernel, solution, problem.classes)
            fit_seconds[number] = shared_seconds + perf_counter() - start
    start = perf_counter()
    answers = _answers(problem, matrices, machines)
    score_seconds = (perf_counter() - start) / max(1, len(machines))
    for number, answer in answers.items():
        outcomes.append(
            Outcome(number, answer, problem.classes, fit_seconds[number], score_seconds)
        )
    return outcomes


def _libsvm_diagonal(kernel: Kernel, inputs: FloatArray) -> list[float]:
    """Return the kernel of each row with itself, to the last bit as libsvm has it.

    All other values are rounded to single precision, but not these.
    """
    values: list[float] = [blas.ddot(row, row) for row in inputs]
    if kernel.name == "linear":
        return values
    values = [kernel.gamma * value for value in values]
    if kernel.name == "sigmoid":
        return [math.tanh(value) for value in values]
    return [_power(value, int(kernel.degree)) for value in values]


def _power(base: float, exponent: int) -> float:
    power = 1.0
    while exponent > 0:
        if exponent % 2:
            power *= base
        base *= base
        exponent //= 2
    return power


def _fit(problem: _Problem, fits: SvmFits, settings: SvmSettings) -> SvmSolution:
    solution = fits.fit(
        class_weight=_class_weight(problem, settings), **settings.solver
    )
    if solution.status == 1:
        warnings.warn(
            # Word for word scikit-learn's, so that filters for it work here too.
            f"Solver terminated early (max_iter={settings.solver['max_iter']}). "
            " Consider pre-processing your data with StandardScaler or MinMaxScaler.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return solution


def _class_weight(problem: _Problem, settings: SvmSettings) -> FloatArray:
    if problem.classes is None or settings.class_weight is None:
        # An empty array stands for equal weights.
        return np.empty(0)
    positions = problem.targets.astype(np.intp)
    return class_weights(
        settings.class_weight, problem.classes, positions, problem.labels
    )


def _answers(
    problem: _Problem, matrices: SvmMatrices, machines: dict[int, Machine]
) -> dict[int, Any]:
    """Ask all machines but those that are not finite."""
    if not machines:
        return {}
    rows, kernel = problem.rows, matrices.kernel
    solutions = [machine.solution for machine in machines.values()]
    coefficients = np.array([solution.coefficients for solution in solutions])
    intercepts = np.array([solution.intercepts for solution in solutions])
    # Not a number, and the infinities, spread over a sum.
    finite = np.isfinite(coefficients.sum(axis=(1, 2)) + intercepts.sum(axis=1))
    if not finite.all():
        kept = compress(machines.items(), finite)
        return _answers(problem, matrices, dict(kept))
    # One product for all machines.
    decisions = matrices.decisions(coefficients.reshape(-1, rows.n_train))
    decisions = decisions.reshape(*intercepts.shape, rows.n_test)
    decisions += intercepts[:, :, None]
    if problem.classes is None:
        return dict(zip(machines, decisions[:, 0], strict=True))
    error = EPSILON * (8 + rows.n_train + 8 * kernel.gamma * rows.largest_square)
    error *= kernel.largest_value(rows.largest_square)
    bounds = error * (np.abs(coefficients).sum(axis=2) + np.abs(intercepts))
    close = (np.abs(decisions) <= bounds[:, :, None]).any(axis=1)
    for which in np.flatnonzero(close.any(axis=1)).tolist():
        # Labels depend on the last bit: libsvm has to sum up in its own way.
        hard, machine = close[which], machines[list(machines)[which]]
        decisions[which][:, hard] = machine.libsvm_decisions(
            rows.train_inputs, problem.targets, rows.test_inputs[hard]
        ).T
    return {
        number: getattr(machine, problem.response)(own.T)
        for (number, machine), own in zip(machines.items(), decisions, strict=True)
    }


serve_exactly(SvmEvaluator(), *SVM_TYPES)
