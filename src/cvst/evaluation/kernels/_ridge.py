"""Kernel ridge regression: one kernel per width, one reduction for all penalties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.kernel_ridge import KernelRidge

from cvst._typing import BoolArray, Configuration, FloatArray, IntArray
from cvst.evaluation._dispatch import serve_exactly
from cvst.evaluation._protocol import BatchEvaluator, Outcome, OutcomeTable, Task
from cvst.evaluation.device import Arrays, DeviceFullError, within_memory
from cvst.evaluation.kernels._device_folds import pays_ahead, ridge_on_folds
from cvst.evaluation.kernels._device_ridge import RidgeFits, ridge_on_device
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
from cvst.evaluation.kernels._penalties import solve_for_penalties
from cvst.evaluation.kernels._rows import PairedRows, paired_rows
from cvst.evaluation.kernels._targets import row_weights
from cvst.evaluation.sharing import fit_alone, in_outcomes, warn_device_full

__all__ = ["KernelRidgeEvaluator"]

# A penalty so small that rounding errors of the kernel could move predictions by more
# than this part of the largest target is left to scikit-learn. The bound is a worst
# case: what is seen is less than a hundredth of it.
LARGEST_CHANGE = 1e-4

# Relative error of a kernel value whose exponent is exact, low rank included.
EPSILON = float(np.finfo(float).eps)
VALUE_ERROR = 64 * EPSILON


# Up to this rank, or half of the training rows, a decomposition takes less time than
# it saves.
HIGHEST_RANK = 160


class _Settings(NamedTuple):
    key: KernelKey
    penalty: float


def _read(estimator_class: type, params: Configuration) -> _Settings | None:
    del estimator_class
    key = positive_kernel(params)
    if key is None or not is_real_within(params["alpha"], above=0):
        return None
    return _Settings(key, float(params["alpha"]))


@dataclass(frozen=True, slots=True)
class _Targets:
    """Targets of the training rows, as columns, and the roots of the weights."""

    columns: FloatArray
    roots: FloatArray | None
    is_vector: bool


def _targets(task: Task, n_train: int) -> _Targets | None:
    y = np.asarray(task.y_train)
    weights = row_weights(task, n_train)
    if y.dtype.kind not in "fiu" or y.ndim not in (1, 2) or len(y) != n_train:
        return None
    columns = y.reshape(n_train, -1).astype(np.float64)
    if weights is None or not np.isfinite(columns).all():
        return None
    if task.fit_params.get("sample_weight") is None:
        return _Targets(columns, None, y.ndim == 1)
    roots = np.sqrt(weights)
    return _Targets(columns * roots[:, None], roots, y.ndim == 1)


class KernelRidgeEvaluator(BatchEvaluator):
    """Shares the kernel of a width, and what it takes to solve for all penalties."""

    prefer: Literal["threads", "processes"] = "threads"

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Put configurations with the same kernel together."""
        return groups_by_kernel(estimator, configurations, _read)

    def serves_device(self, estimator: Any) -> bool:
        """Solve for all kernels and penalties together there."""
        del estimator
        return True

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Solve for all penalties of each kernel at once."""
        if task.device is not None:
            yield from in_outcomes(self.evaluate_in_tables(task))
            return
        settings, alone = read_all(task.estimator, task.configurations, _read)
        rows, targets = _read_rows(task)
        if rows is None or targets is None:
            yield from fit_alone(task, task.configurations, NOT_PLAIN)
            return
        unsure: list[int] = []
        for key, members in divide(settings, lambda values: values.key).items():
            kernel = key.bind(rows.train_inputs)
            smallest = _smallest_penalty(
                kernel, targets, rows.n_train, rows.largest_square
            )
            sharing = [
                number for number in members if settings[number].penalty >= smallest
            ]
            penalties = np.array([settings[number].penalty for number in sharing])
            fits = _share(rows, kernel, targets, penalties)
            for number, solved, prediction in zip(
                sharing, fits.solved, fits.predictions, strict=True
            ):
                if solved:
                    yield Outcome(
                        number, prediction, None, fits.fit_seconds, fits.score_seconds
                    )
            done = set(compress(sharing, fits.solved))
            unsure += [number for number in members if number not in done]
        yield from fit_alone(task, alone, UNKNOWN)
        yield from fit_alone(task, unsure, UNSURE)

    def evaluate_in_tables(self, task: Task) -> Iterator[Outcome | OutcomeTable]:
        """Solve for all kernels of the same name at once."""
        settings, alone = read_all(task.estimator, task.configurations, _read)
        rows, targets = _read_rows(task)
        if task.device is None or rows is None or targets is None:
            yield from self.evaluate(replace(task, device=None))
            return
        unsure: list[int] = []
        left: list[int] = []
        by_kernel = divide(settings, lambda values: values.key)
        for keys in divide(dict(enumerate(by_kernel)), lambda key: key.name).values():
            kernels = [list(by_kernel)[place] for place in keys]
            same = [number for key in kernels for number in by_kernel[key]]
            jobs = _Jobs.of(rows, targets, settings, {k: by_kernel[k] for k in kernels})
            try:
                fits = jobs.run(rows, targets, task.device)
            except DeviceFullError as error:
                warn_device_full(task, error)
                left += same
                continue
            done = jobs.numbers[fits.solved]
            if len(done):
                yield from _tables(done, fits, targets, task.device)
            solved = set(done.tolist())
            unsure += [number for number in same if number not in solved]
        if left:
            yield from self.evaluate(replace(task.only(left), device=None))
        yield from fit_alone(task, alone, UNKNOWN)
        yield from fit_alone(task, unsure, UNSURE)

    def evaluate_folds(
        self, task: Task, later: Iterable[Task]
    ) -> list[list[Outcome | OutcomeTable]]:
        """Solve for later folds together with the first, where that costs no time."""
        found = None
        if pays_ahead(len(task.configurations), len(task.X_train)):
            found = _on_folds([task, *later])
        return [list(self.evaluate_in_tables(task))] if found is None else found


def _read_rows(task: Task) -> tuple[PairedRows | None, _Targets | None]:
    """Return rows and targets; None where scikit-learn alone knows what to do."""
    rows = paired_rows(task) if task.response == "predict" else None
    # scikit-learn computes in single precision where the data are.
    if rows is None or rows.rows.single:
        return rows, None
    return rows, _targets(task, rows.n_train)


@dataclass(frozen=True, slots=True)
class _Jobs:
    """Kernels of one name with the penalties that rounding errors leave alone."""

    kernels: list[Kernel]
    penalties: list[FloatArray]
    numbers: IntArray

    @classmethod
    def of(
        cls,
        rows: PairedRows,
        targets: _Targets,
        settings: dict[int, _Settings],
        by_kernel: dict[KernelKey, list[int]],
    ) -> _Jobs:
        kernels, penalties, numbers = [], [], []
        train, n_train, largest = rows.train_inputs, rows.n_train, rows.largest_square
        for key, members in by_kernel.items():
            kernel = key.bind(train)
            smallest = _smallest_penalty(kernel, targets, n_train, largest)
            sure = [i for i in members if settings[i].penalty >= smallest]
            if sure:
                kernels.append(kernel)
                penalties.append(np.array([settings[i].penalty for i in sure]))
                numbers += sure
        return cls(kernels, penalties, np.array(numbers, dtype=np.intp))

    def run(self, rows: PairedRows, targets: _Targets, device: Arrays) -> RidgeFits:
        if not self.kernels:
            return RidgeFits(None, np.zeros(0, dtype=bool), 0.0, 0.0)
        with within_memory(device):
            return ridge_on_device(
                rows,
                device,
                self.kernels,
                self.penalties,
                targets.columns,
                targets.roots,
            )


def _on_folds(tasks: Sequence[Task]) -> list[list[Outcome | OutcomeTable]] | None:
    """Solve for several folds at once; None where any of them needs a closer look."""
    device, n_fits = tasks[0].device, len(tasks[0].configurations)
    # Folds forward in time have more rows later.
    pays = all(pays_ahead(n_fits, len(task.X_train)) for task in tasks)
    if device is None or len(tasks) < 2 or not pays:
        return None
    jobs, rows, targets = [], [], []
    for task in tasks:
        settings, alone = read_all(task.estimator, task.configurations, _read)
        own_rows, own_targets = _read_rows(task)
        if alone or own_rows is None or own_targets is None:
            return None
        by_kernel = divide(settings, lambda values: values.key)
        rows.append(own_rows)
        targets.append(own_targets)
        jobs.append(_Jobs.of(own_rows, own_targets, settings, by_kernel))
    first = jobs[0]
    names = {kernel.name for kernel in first.kernels}
    # Penalties may follow the number of rows; widths that do would need more care.
    alike = all(
        one.kernels == first.kernels and len(one.numbers) == n_fits for one in jobs
    )
    if not alike or len(names) != 1 or not all(own.is_vector for own in targets):
        return None
    try:
        with within_memory(device):
            fits = ridge_on_folds(
                rows,
                device,
                first.kernels,
                [one.penalties for one in jobs],
                [own.columns for own in targets],
                [own.roots for own in targets],
            )
    except DeviceFullError:
        return None  # fold by fold they may fit
    if fits is None or not all(one.solved.all() for one in fits):
        return None
    return [
        list(_tables(job.numbers, one, own, device))
        for job, one, own in zip(jobs, fits, targets, strict=True)
    ]


def _tables(
    numbers: IntArray, fits: RidgeFits, targets: _Targets, device: Arrays
) -> Iterator[Outcome | OutcomeTable]:
    # By their numbers, which is the order of a look.
    order = np.argsort(numbers, kind="stable")
    numbers = numbers[order]
    places = np.flatnonzero(fits.solved)[order]
    predictions = fits.predictions[device.put(places)]
    seconds = (
        fits.fit_seconds / len(fits.solved),
        fits.score_seconds / len(fits.solved),
    )
    if targets.is_vector:
        known = tuple(numbers.tolist())
        yield OutcomeTable(known, predictions[:, 0], device, *seconds)
        return
    for number, values in zip(numbers, device.fetch(predictions), strict=True):
        yield Outcome(int(number), values.T, None, *seconds)


def _smallest_penalty(
    kernel: Kernel, targets: _Targets, n_train: int, largest_square: float
) -> float:
    """Return the smallest penalty for which rounding errors do not matter."""
    error = VALUE_ERROR
    if kernel.name == "rbf":
        # Distances are differences of squares.
        error += EPSILON * kernel.gamma * largest_square
    weight = 1.0 if targets.roots is None else float(targets.roots.max()) ** 2
    largest = kernel.largest_value(largest_square) * weight
    return error * largest * n_train / LARGEST_CHANGE


class _Fits(NamedTuple):
    predictions: list[FloatArray]
    solved: BoolArray
    fit_seconds: float
    score_seconds: float


def _share(
    rows: PairedRows, kernel: Kernel, targets: _Targets, penalties: FloatArray
) -> _Fits:
    start = perf_counter()
    if len(penalties) == 0:
        return _Fits([], np.zeros(0, dtype=bool), 0.0, 0.0)
    features = low_rank_features(rows, kernel, min(rows.n_train // 2, HIGHEST_RANK))
    if features is None:
        coefficients, solved = _fit_dual(rows, kernel, targets, penalties)
    else:
        coefficients, solved = _fit_primal(features[:, rows.train], targets, penalties)
    fitted = perf_counter()
    # One row per penalty and target, so that all predictions are one product.
    stacked = coefficients.reshape(-1, coefficients.shape[2])
    if features is None:
        values = np.empty((len(stacked), rows.n_test))
        for block, cross in KernelMatrices(rows, kernel, kernel.pairs).cross():
            np.matmul(stacked, cross, out=values[:, block])
    else:
        values = stacked @ features[:, rows.test]
    per_penalty = values.reshape(len(penalties), -1, rows.n_test)
    predictions = [one[0] if targets.is_vector else one.T for one in per_penalty]
    fit_seconds = (fitted - start) / len(penalties)
    score_seconds = (perf_counter() - fitted) / len(penalties)
    return _Fits(predictions, solved, fit_seconds, score_seconds)


def _fit_dual(
    rows: PairedRows, kernel: Kernel, targets: _Targets, penalties: FloatArray
) -> tuple[FloatArray, BoolArray]:
    matrix = KernelMatrices(rows, kernel, kernel.pairs).train(triangle=True)
    roots = targets.roots
    if roots is None:
        return solve_for_penalties(matrix, targets.columns, penalties)
    matrix *= np.outer(roots, roots)
    coefficients, solved = solve_for_penalties(matrix, targets.columns, penalties)
    coefficients *= roots
    return coefficients, solved


def _fit_primal(
    features: FloatArray, targets: _Targets, penalties: FloatArray
) -> tuple[FloatArray, BoolArray]:
    if targets.roots is not None:
        features = features * targets.roots
    return solve_for_penalties(
        features @ features.T, features @ targets.columns, penalties
    )


serve_exactly(KernelRidgeEvaluator(), KernelRidge)
