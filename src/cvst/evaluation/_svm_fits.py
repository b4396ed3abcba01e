"""Fits of support vector machines on one kernel matrix."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from cvst._sklearn_compat import LibsvmModel, libsvm_fit
from cvst._typing import FloatArray

__all__ = ["SvmFits", "has_compiled_solver"]

# Larger targets or weights might overflow on the way of the compiled solver.
LARGEST_INPUT = 1e100


@cache
def has_compiled_solver() -> bool:
    """Return whether libsvm's solver can be compiled, and rounds as libsvm does."""
    try:
        import numba
        from numba.core.errors import NumbaError
    except ImportError:
        return False
    if numba.config.DISABLE_JIT:
        return False
    try:
        from cvst.evaluation import _smo_rounding

        return _smo_rounding.rounding_for(1) is not None
    except (NumbaError, RuntimeError):
        # It finds no place to store what it compiles, or cannot compile.
        return False


class SvmFits:
    """Fits machines one after the other, by the compiled solver where there is one.

    Parameters
    ----------
    matrix : ndarray of shape (n_train, at least n_train)
        Kernel matrix in C order; columns of other rows may follow.
    targets : ndarray of shape (n_train,)
        Targets; for a classification the place of each label among all.
    weights : ndarray of shape (n_train,)
        Weights of the rows.
    is_classifier : bool
        Whether the targets are labels.
    """

    def __init__(
        self,
        matrix: FloatArray,
        targets: FloatArray,
        weights: FloatArray,
        is_classifier: bool,
    ) -> None:
        self.matrix = matrix
        self.targets = targets
        self.weights = weights
        self._kernel, self._rounding = self._prepared(is_classifier)

    def fit(self, **settings: Any) -> LibsvmModel:
        """Fit a machine with the settings of libsvm."""
        model = None
        if self._rounding is not None:
            from cvst.evaluation import _smo

            model = _smo.fit(
                self._kernel,
                self.targets,
                self._rounding,
                sample_weight=self.weights,
                **settings,
            )
        if model is None:
            # libsvm wants a square; it is cut out once.
            self.matrix = np.ascontiguousarray(self.matrix[:, : len(self.targets)])
            model = libsvm_fit(
                self.matrix, self.targets, sample_weight=self.weights, **settings
            )
        return model

    def _prepared(self, is_classifier: bool) -> tuple[Any, Any]:
        largest = max(np.abs(self.targets).max(), self.weights.max())
        if largest > LARGEST_INPUT or not has_compiled_solver():
            return None, None
        from cvst.evaluation import _smo_kernel, _smo_rounding

        rounding = _smo_rounding.rounding_for(len(self.targets))
        labels = self.targets.astype(np.intp) if is_classifier else None
        return _smo_kernel.PreparedKernel.of(self.matrix, labels), rounding
