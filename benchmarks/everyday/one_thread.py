"""Import this before NumPy: every library then computes with one thread."""

from __future__ import annotations

import os

__all__ = ["LIMITED"]

LIMITED = tuple(
    f"{library}_NUM_THREADS"
    for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA", "VECLIB_MAXIMUM")
)
os.environ.update(dict.fromkeys(LIMITED, "1"))
