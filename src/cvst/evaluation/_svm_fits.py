"""Fits of support vector machines on one kernel matrix."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from time import perf_counter
from typing import Any

import numpy as np

from cvst._sklearn_compat import LibsvmModel, libsvm_fit
from cvst._typing import FloatArray

__all__ = ["SvmFits", "has_compiled_solver", "load_compiled_solver"]

# What it takes to load the compiled solver, and to compile it if it never was. Races
# that libsvm runs in less time do not wait for that.
LOAD_SECONDS = 0.7
COMPILE_SECONDS = 10.0


@cache
def has_compiled_solver() -> bool:
    """Return whether libsvm's solver can be compiled, and rounds as libsvm does.

    The first call loads it, or compiles it if that was never done.
    """
    try:
        import numba

        from cvst.evaluation import _smo_rounding

        works = _smo_rounding.rounding_for(1) is not None
    except Exception:
        # Not installed, no place to store what is compiled, or a damaged store: libsvm
        # is always there.
        return False
    return works and not numba.config.DISABLE_JIT


@cache
def _is_stored() -> bool:
    """Return whether the solver was compiled before."""
    try:
        from cvst.evaluation import _smo_solver

        return _smo_solver.is_stored()
    except Exception:
        # As above; whoever goes on from here will find out.
        return False


class _Patience:
    """Decides when the compiled solver pays: its answers are the same."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def is_over(self) -> bool:
        """Return whether libsvm took so long that a faster solver is worth its wait."""
        return self.seconds >= COMPILE_SECONDS or (
            self.seconds >= LOAD_SECONDS and _is_stored()
        )


_patience = _Patience()


def load_compiled_solver() -> None:
    """Load the compiled solver now, and use it from the first fit on."""
    has_compiled_solver()
    _patience.seconds = COMPILE_SECONDS


class SvmFits:
    """Fits machines one after the other, by the compiled solver where it pays.

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
        self.is_classifier = is_classifier
        self._prepared: Callable[..., Any] | None = None
        self._is_left_to_libsvm = False

    def fit(self, **settings: Any) -> LibsvmModel:
        """Fit a machine with the settings of libsvm."""
        model = None
        if not self._is_left_to_libsvm and _patience.is_over():
            model = self._compiled_fit(settings)
        if model is None:
            start = perf_counter()
            # libsvm wants a square; it is cut out once.
            self.matrix = np.ascontiguousarray(self.matrix[:, : len(self.targets)])
            model = libsvm_fit(
                self.matrix, self.targets, sample_weight=self.weights, **settings
            )
            _patience.seconds += perf_counter() - start
        return model

    def _compiled_fit(self, settings: dict[str, Any]) -> LibsvmModel | None:
        if self._prepared is None:
            self._prepared = self._prepare() if has_compiled_solver() else None
            self._is_left_to_libsvm = self._prepared is None
        if self._prepared is None:
            return None
        model: LibsvmModel | None = self._prepared(
            sample_weight=self.weights, **settings
        )
        return model

    def _prepare(self) -> Callable[..., Any] | None:
        from cvst.evaluation import _smo, _smo_kernel, _smo_rounding

        is_moderate = _smo.is_moderate(self.weights)
        if not is_moderate or np.abs(self.targets).max() > _smo.LARGEST:
            return None
        labels = self.targets.astype(np.intp) if self.is_classifier else None
        kernel = _smo_kernel.PreparedKernel.of(self.matrix, labels)
        rounding = _smo_rounding.rounding_for(len(self.targets))
        if kernel is None or rounding is None:
            return None
        return partial(_smo.fit, kernel, self.targets, rounding)
