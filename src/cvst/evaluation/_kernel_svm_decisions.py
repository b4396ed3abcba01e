"""From the coefficients of support vector machines to what they predict."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from cvst._sklearn_compat import LibsvmModel, libsvm_decisions, one_against_rest
from cvst._typing import FloatArray, IntArray
from cvst.evaluation._kernel_functions import Kernel
from cvst.evaluation._kernel_svm_settings import SvmSettings

__all__ = ["Machine"]


@dataclass(frozen=True, slots=True)
class Machine:
    """A fitted support vector machine.

    Attributes
    ----------
    settings : SvmSettings
        Its parameters.
    kernel : Kernel
        Its kernel.
    model : LibsvmModel
        What libsvm returned.
    classes : ndarray or None
        Labels in order; None for a regression.
    coefficients : ndarray of shape (n_pairs_of_classes, n_train)
        Dual coefficients of all training rows; one row for a regression.
    """

    settings: SvmSettings
    kernel: Kernel
    model: LibsvmModel
    classes: Any
    coefficients: FloatArray

    @classmethod
    def of(
        cls,
        settings: SvmSettings,
        kernel: Kernel,
        model: LibsvmModel,
        classes: Any,
        n_train: int,
    ) -> Machine:
        """Spread libsvm's coefficients over all training rows."""
        n_classes = 2 if classes is None else len(classes)
        coefficients = _pair_coefficients(model, n_train, n_classes)
        return cls(settings, kernel, model, classes, coefficients)

    def libsvm_decisions(
        self, train_inputs: FloatArray, test_inputs: FloatArray
    ) -> FloatArray:
        """Let libsvm itself compute decisions, as scikit-learn does."""
        kernel = self.kernel
        decisions: FloatArray = libsvm_decisions(
            np.ascontiguousarray(test_inputs),
            self.model,
            train_inputs[self.model.support],
            svm_type=self.settings.solver["svm_type"],
            kernel=kernel.name,
            degree=int(kernel.degree),
            gamma=kernel.gamma,
            coef0=kernel.coef0,
        )
        return decisions

    def predict(self, decisions: FloatArray) -> Any:
        """Return labels for decisions of shape (n_test, n_pairs_of_classes)."""
        return self.classes.take(self._votes(decisions))

    def decision_function(self, decisions: FloatArray) -> Any:
        """Return scikit-learn's decisions for those of libsvm."""
        if len(self.classes) == 2:
            # libsvm's first class is scikit-learn's negative one.
            return -decisions[:, 0]
        if self.settings.one_against_rest:
            return one_against_rest(decisions, len(self.classes))
        return decisions

    def _votes(self, decisions: FloatArray) -> IntArray:
        n_classes = len(self.classes)
        if n_classes == 2:
            return np.asarray(decisions[:, 0] <= 0, dtype=np.intp)
        if self.settings.break_ties:
            return np.asarray(one_against_rest(decisions, n_classes).argmax(axis=1))
        votes = np.zeros((len(decisions), n_classes), dtype=int)
        for pair, (a, b) in enumerate(combinations(range(n_classes), 2)):
            first = decisions[:, pair] > 0
            votes[:, a] += first
            votes[:, b] += ~first
        # Among equals the first class wins, as in libsvm.
        return np.asarray(votes.argmax(axis=1))


def _pair_coefficients(model: LibsvmModel, n_train: int, n_classes: int) -> FloatArray:
    """Spread libsvm's coefficients over all training rows.

    Returns
    -------
    ndarray of shape (n_pairs_of_classes, n_train)
        One row for a regression.
    """
    coefficients = np.zeros((n_classes * (n_classes - 1) // 2, n_train))
    if n_classes == 2:
        coefficients[0, model.support] = model.dual_coef[0]
        return coefficients
    ends = np.cumsum(model.n_support)
    members = [
        slice(end - n, end) for end, n in zip(ends, model.n_support, strict=True)
    ]
    for row, (a, b) in zip(
        coefficients, combinations(range(n_classes), 2), strict=True
    ):
        row[model.support[members[a]]] = model.dual_coef[b - 1, members[a]]
        row[model.support[members[b]]] = model.dual_coef[a, members[b]]
    return coefficients
