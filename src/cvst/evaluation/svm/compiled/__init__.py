"""libsvm's solver, compiled by numba: a guest behind this one door.

Importing it needs numba. What it is, why it is exact and how to leave it out is on the
page ``docs/developer/compiled_solver.md``.
"""

from __future__ import annotations

import numba

from cvst.evaluation.svm.compiled._kernel import PreparedKernel
from cvst.evaluation.svm.compiled._machines import LARGEST, fit, is_moderate
from cvst.evaluation.svm.compiled._rounding import rounding_for
from cvst.evaluation.svm.compiled._solver import is_stored

__all__ = [
    "LARGEST",
    "PreparedKernel",
    "fit",
    "is_moderate",
    "is_stored",
    "is_switched_off",
    "rounding_for",
]


def is_switched_off() -> bool:
    """Return whether ``NUMBA_DISABLE_JIT`` is set, so that nothing is compiled."""
    return bool(numba.config.DISABLE_JIT)
