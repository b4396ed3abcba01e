"""Kernel logistic regression: one kernel per width, one path for all penalties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import expit

from cvst._typing import BoolArray, Configuration, FloatArray
from cvst.evaluation._dispatch import serve_exactly
from cvst.evaluation._protocol import BatchEvaluator, Outcome, Task
from cvst.evaluation.device import Arrays, DeviceFullError, within_memory
from cvst.evaluation.kernels._functions import Kernel, KernelKey
from cvst.evaluation.kernels._groups import (
    NOT_PLAIN,
    UNKNOWN,
    UNSURE,
    divide,
    groups_by_kernel,
    is_real_within,
    positive_kernel,
    read_all,
)
from cvst.evaluation.kernels._low_rank import low_rank_features
from cvst.evaluation.kernels._matrices import KernelMatrices
from cvst.evaluation.kernels._rows import PairedRows, paired_rows
from cvst.evaluation.kernels._targets import class_positions, row_weights
from cvst.evaluation.klr._bands import negligible_value
from cvst.evaluation.klr._device import logistic_on_device
from cvst.evaluation.klr._iteration import dual_space
from cvst.evaluation.klr._newton import LogisticProblem, logistic_path
from cvst.evaluation.klr._spaces import PrimalSpace, Space
from cvst.evaluation.sharing import fit_alone, warn_device_full
from cvst.learners import KernelLogisticRegression

__all__ = ["KernelLogisticEvaluator"]

# With a larger tolerance or fewer iterations, where the estimator's own iteration ends
# depends on where it starts. The tolerance is one of coefficients: times the kernel's
# largest value it is one of decisions.
LARGEST_TOLERANCE = 1e-5
LARGEST_DECISION_TOLERANCE = 1e-4
FEWEST_ITERATIONS = 50

# A penalty below this share of the kernel's diagonal, per row and largest weight, is
# left to the estimator: there rounding errors decide.
SMALLEST_PENALTY = 1e-9

# Up to this rank, or half of the training rows, features are faster.
HIGHEST_RANK = 300

# Kernels whose values lie between 0 and 1, close to 0 where rows are far apart.
NARROW_KERNELS = frozenset({"rbf", "laplacian"})

# Decisions that are closer than this, as a share of what they are sums of, are left
# to the estimator itself.
CLOSE_CALL = 1e-7

# Half of the largest decision value whose logistic function rounds to one half.
CERTAIN_HALF = 5e-17


class _Settings(NamedTuple):
    key: KernelKey
    penalty: float
    tol: float


def _read(estimator_class: type, params: Configuration) -> _Settings | None:
    del estimator_class
    key, max_iter = positive_kernel(params), params["max_iter"]
    valid = (
        is_real_within(params["alpha"], above=0)
        and is_real_within(params["tol"], at_least=0)
        and params["tol"] <= LARGEST_TOLERANCE
        and isinstance(max_iter, Integral)
        and is_real_within(max_iter, at_least=FEWEST_ITERATIONS)
    )
    if key is None or not valid:
        return None
    return _Settings(key, float(params["alpha"]), float(params["tol"]))


@dataclass(frozen=True, slots=True)
class _Problem:
    """Rows, classes and weights of a task.

    Attributes
    ----------
    rows : PairedRows
        The inputs.
    classes : ndarray of shape (n_classes,)
        Labels in order.
    signs : ndarray of shape (n_problems, n_train)
        1 for the class that a problem tells from the rest, else -1; a single problem
        if there are two classes.
    weights : ndarray of shape (n_train,)
        Weights of the losses.
    response : {"predict", "predict_proba", "decision_function"}
        What is asked for.
    """

    rows: PairedRows
    classes: Any
    signs: FloatArray
    weights: FloatArray
    response: str


def _problem(task: Task) -> _Problem | None:
    rows = paired_rows(task)
    responses = {"predict", "predict_proba", "decision_function"}
    if rows is None or task.response not in responses:
        return None
    known = class_positions(task.y_train, rows.n_train)
    weights = row_weights(task, rows.n_train)
    if known is None or weights is None:
        return None
    classes, positions = known
    positive = [1] if len(classes) == 2 else range(len(classes))
    signs = np.array([np.where(positions == label, 1.0, -1.0) for label in positive])
    return _Problem(rows, classes, signs, weights, task.response)


class KernelLogisticEvaluator(BatchEvaluator):
    """Shares the kernel of a width, and lets each penalty start from the one before."""

    prefer: Literal["threads", "processes"] = "threads"

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Put configurations with the same kernel together."""
        return groups_by_kernel(estimator, configurations, _read)

    def serves_device(self, estimator: Any) -> bool:
        """Take Newton steps for all kernels and penalties together there."""
        del estimator
        return True

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Follow the penalties of each kernel from the largest to the smallest."""
        settings, alone = read_all(task.estimator, task.configurations, _read)
        problem = _problem(task)
        if problem is None:
            yield from fit_alone(task, task.configurations, NOT_PLAIN)
            return
        jobs = list(_jobs(problem, settings))
        answered: set[int] = set()
        for job, answers in _answers(task, problem, jobs):
            for place, prediction in answers.predictions.items():
                answered.add(job.numbers[place])
                yield Outcome(
                    job.numbers[place],
                    prediction,
                    problem.classes,
                    fit_seconds=answers.fit_seconds,
                    score_seconds=answers.score_seconds,
                )
        unsure = [number for number in settings if number not in answered]
        yield from fit_alone(task, alone, UNKNOWN)
        yield from fit_alone(task, unsure, UNSURE)


class _Job(NamedTuple):
    """A kernel and the fits that share it, by falling penalty."""

    kernel: Kernel
    numbers: list[int]
    penalties: FloatArray


class _Answers(NamedTuple):
    """Predictions by the place of a fit in its job; those left out are fitted alone.

    The seconds are those of each fit.
    """

    predictions: dict[int, Any]
    fit_seconds: float
    score_seconds: float


def _jobs(problem: _Problem, settings: dict[int, _Settings]) -> Iterator[_Job]:
    """Yield kernels with those of their fits that rounding errors leave alone."""
    for key, members in divide(settings, lambda values: values.key).items():
        kernel = key.bind(problem.rows.train_inputs)
        largest = kernel.largest_value(problem.rows.largest_square)
        smallest = SMALLEST_PENALTY * largest * problem.rows.n_train
        smallest *= float(problem.weights.max())
        sharing = [
            number
            for number in sorted(members, key=lambda i: -settings[i].penalty)
            if settings[number].penalty >= smallest
            and settings[number].tol * largest <= LARGEST_DECISION_TOLERANCE
        ]
        if sharing:
            penalties = np.array([settings[number].penalty for number in sharing])
            yield _Job(kernel, sharing, penalties)


def _answers(
    task: Task, problem: _Problem, jobs: list[_Job]
) -> Iterator[tuple[_Job, _Answers]]:
    """Yield what was found of each job."""
    left = jobs
    n_fits = sum(len(job.numbers) for job in jobs)
    operations = n_fits * problem.rows.n_train**3 / 3
    if task.device is not None and task.device.pays(n_fits, operations):
        left = []
        by_name = divide(dict(enumerate(jobs)), lambda job: job.kernel.name)
        for places in by_name.values():
            same = [jobs[place] for place in places]
            try:
                yield from _share_on_device(problem, task.device, same)
            except DeviceFullError as error:
                warn_device_full(task, error)
                left += same
    for job in left:
        yield job, _share(problem, job.kernel, job.penalties)


def _share_on_device(
    problem: _Problem, device: Arrays, jobs: list[_Job]
) -> Iterator[tuple[_Job, _Answers]]:
    """Fit all jobs together, and ask for the labels on the host."""
    start = perf_counter()
    with within_memory(device):
        fits = logistic_on_device(
            problem.rows,
            device,
            [job.kernel for job in jobs],
            [job.penalties for job in jobs],
            problem.signs,
            problem.weights,
        )
    n_fits = len(fits.solved)
    fit_seconds = fits.fit_seconds / n_fits
    begin = 0
    score_seconds = (perf_counter() - start - fits.fit_seconds) / n_fits
    for job in jobs:
        start = perf_counter()
        part = slice(begin, begin + len(job.numbers))
        begin = part.stop
        decisions, settled = fits.decisions[part], fits.solved[part]
        if problem.response == "predict":
            settled = settled & _settle(
                problem, job.kernel, fits.coefficients[part], decisions
            )
        predictions = _predictions(problem, decisions, settled)
        seconds = (perf_counter() - start) / len(job.numbers) + score_seconds
        yield job, _Answers(predictions, fit_seconds, seconds)


def _predictions(
    problem: _Problem, decisions: FloatArray, settled: BoolArray
) -> dict[int, Any]:
    """Return predictions by place, of those that are settled."""
    return {
        int(place): _answer(problem, decisions[place])
        for place in np.flatnonzero(settled)
    }


def _share(problem: _Problem, kernel: Kernel, penalties: FloatArray) -> _Answers:
    """Fit and ask for all penalties of one kernel."""
    start = perf_counter()
    rows = problem.rows
    n_penalties = len(penalties)
    features = low_rank_features(rows, kernel, min(rows.n_train // 2, HIGHEST_RANK))
    matrices = KernelMatrices(rows, kernel, kernel.pairs)
    if features is None:
        negligible = _negligible(problem, kernel, penalties)
        space: Space = dual_space(matrices.train(), negligible)
    else:
        space = PrimalSpace(features[:, rows.train])
    thetas = _paths(problem, space, kernel, penalties)
    fitted = perf_counter()
    stacked = thetas.reshape(-1, space.size)
    if features is None:
        values = np.empty((len(stacked), rows.n_test))
        for block, cross in matrices.cross():
            np.matmul(stacked, cross, out=values[:, block])
    else:
        values = stacked @ features[:, rows.test]
    decisions = values.reshape(n_penalties, -1, rows.n_test)
    settled: BoolArray = np.asarray(np.isfinite(thetas).all(axis=(1, 2)))
    if problem.response == "predict":
        coefficients = thetas
        if features is not None:
            coefficients = _coefficients(problem, thetas @ features[:, rows.train])
            coefficients /= penalties[:, None, None]
        settled &= _settle(problem, kernel, coefficients, decisions)
    predictions = _predictions(problem, decisions, settled)
    fit_seconds = (fitted - start) / n_penalties
    score_seconds = (perf_counter() - fitted) / n_penalties
    return _Answers(predictions, fit_seconds, score_seconds)


def _negligible(problem: _Problem, kernel: Kernel, penalties: FloatArray) -> float:
    """Return up to which value the kernel between training rows does not matter."""
    if kernel.name not in NARROW_KERNELS:
        return 0.0
    return negligible_value(problem.weights, float(penalties.min()))


def _paths(
    problem: _Problem, space: Space, kernel: Kernel, penalties: FloatArray
) -> FloatArray:
    """Return the solutions, of shape (n_penalties, n_problems, size); NaN if none."""
    largest = kernel.largest_value(problem.rows.largest_square)
    thetas = np.full((len(penalties), len(problem.signs), space.size), np.nan)
    for number, signs in enumerate(problem.signs):
        logistic = LogisticProblem(space, signs, problem.weights, largest)
        for position, theta in enumerate(logistic_path(logistic, penalties)):
            if theta is not None:
                thetas[position, number] = theta
    return thetas


def _coefficients(problem: _Problem, decisions: FloatArray) -> FloatArray:
    """Return the dual coefficients of a solution, up to the penalty."""
    signs = problem.signs
    return np.asarray(problem.weights * signs * expit(-signs * decisions))


def _settle(
    problem: _Problem,
    kernel: Kernel,
    coefficients: FloatArray,
    decisions: FloatArray,
) -> BoolArray:
    """Compute decisions that are close to a tie again, as the estimator does.

    Far from all training rows, decisions are zero but for rounding errors, and these
    decide on the label.

    Parameters
    ----------
    coefficients : ndarray of shape (n_penalties, n_problems, n_train)
        Dual coefficients.
    decisions : ndarray of shape (n_penalties, n_problems, n_test)
        Decisions of the test rows; those close to a tie are overwritten.

    Returns
    -------
    ndarray of shape (n_penalties,), bool
        False where a tie is left.
    """
    rows = problem.rows
    largest = kernel.largest_value(rows.largest_square)
    close = _gaps(decisions) <= CLOSE_CALL * max(1.0, np.sqrt(largest))
    columns = np.flatnonzero(close.any(axis=0))
    if len(columns) == 0:
        return np.ones(len(decisions), dtype=bool)
    pairs = rows.train_test_pairs(kernel.pairs, columns)
    values = kernel.of(pairs, -np.inf)
    direct = coefficients @ values
    errors = CLOSE_CALL * (np.abs(coefficients) @ np.abs(values)).max(axis=1)
    close = close[:, columns]
    decisions[:, :, columns] = np.where(
        close[:, None], direct, decisions[:, :, columns]
    )
    sure = _gaps(direct) > errors
    if len(problem.signs) == 1:
        # The probability is one half whatever the sign.
        sure |= errors <= CLOSE_CALL * CERTAIN_HALF
    settled: BoolArray = (sure | ~close).all(axis=1)
    return settled


def _gaps(decisions: FloatArray) -> FloatArray:
    """Return how far decisions are from a tie, of shape (n_penalties, n_test)."""
    if decisions.shape[1] == 1:
        return np.abs(decisions[:, 0])
    best = np.partition(decisions, -2, axis=1)[:, -2:]
    return np.asarray(best[:, 1] - best[:, 0])


class _Decided(KernelLogisticRegression):
    """Knows the decision function at the rows in question."""

    def decision_function(self, X: Any) -> FloatArray:
        """Return the decisions that stand in for the rows."""
        return np.asarray(X)


def _answer(problem: _Problem, decisions: FloatArray) -> Any:
    model = _Decided()
    model.classes_ = problem.classes
    columns = decisions[0] if len(decisions) == 1 else decisions.T
    return getattr(model, problem.response)(columns)


serve_exactly(KernelLogisticEvaluator(), KernelLogisticRegression)
