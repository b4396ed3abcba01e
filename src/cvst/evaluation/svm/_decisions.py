"""From the coefficients of support vector machines to what they predict."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from cvst._sklearn_compat import libsvm_decisions, one_against_rest
from cvst._typing import FloatArray, IntArray
from cvst.evaluation.kernels._functions import Kernel
from cvst.evaluation.svm._settings import SvmSettings
from cvst.evaluation.svm._solutions import SvmSolution

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
    solution : SvmSolution
        Its coefficients.
    classes : ndarray or None
        Labels in order; None for a regression.
    """

    settings: SvmSettings
    kernel: Kernel
    solution: SvmSolution
    classes: Any

    def libsvm_decisions(
        self, train_inputs: FloatArray, targets: FloatArray, test_inputs: FloatArray
    ) -> FloatArray:
        """Let libsvm itself compute decisions, as scikit-learn does.

        Parameters
        ----------
        train_inputs, test_inputs : ndarray of shape (n_rows, n_features)
            The rows.
        targets : ndarray of shape (n_train,)
            Positions of the training rows' labels in ``classes``.

        Returns
        -------
        ndarray of shape (n_test, n_pairs_of_classes)
        """
        kernel = self.kernel
        members = [np.flatnonzero(targets == k) for k in range(len(self.classes))]
        model = self.solution.model(members)
        decisions: FloatArray = libsvm_decisions(
            np.ascontiguousarray(test_inputs),
            model,
            train_inputs[model.support],
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
            # libsvm gives the vote to the second class at zero.
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
