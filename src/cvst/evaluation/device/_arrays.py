"""What the batched solvers need of a library of arrays, and NumPy's answer.

NumPy and torch agree on operators, slices and most functions, ``axis`` and ``keepdims``
included; :attr:`Arrays.xp` is their namespace. The methods here are where they differ.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.linalg import lapack

from cvst._typing import FloatArray

__all__ = ["Arrays", "DeviceFullError", "NumpyArrays"]

# What batches on the host may take; the host is not asked how much is free.
HOST_BYTES = 2**30


class DeviceFullError(Exception):
    """The smallest batch does not fit into the memory of the device."""


class Arrays(Protocol):
    """A library of arrays on one device; all numbers are in double precision."""

    @property
    def name(self) -> str:
        """What the user calls the device."""
        ...

    @property
    def xp(self) -> Any:
        """Functions that NumPy and torch have in common."""
        ...

    @property
    def out_of_memory(self) -> tuple[type[BaseException], ...]:
        """What the library raises when the device is full."""
        ...

    def pays(self, n_fits: int, operations: float) -> bool:
        """Return whether the host would take longer for fits of many short steps."""
        ...

    def put(self, values: Any) -> Any:
        """Return numbers of the host on the device, whole ones as they are."""
        ...

    def fetch(self, values: Any) -> Any:
        """Return an array of the device as one of NumPy."""
        ...

    def empty(self, *shape: int) -> Any:
        """Return an array of doubles whose values are arbitrary."""
        ...

    def zeros(self, *shape: int) -> Any:
        """Return an array of zeros."""
        ...

    def free_bytes(self) -> int:
        """Return how much memory is left."""
        ...

    def release(self) -> None:
        """Give memory back that the library holds for later."""
        ...

    def subtract_product(self, target: Any, a: Any, b: Any) -> None:
        """Subtract the products of two stacks of matrices from a third, in place."""
        ...

    def cholesky(self, matrices: Any) -> tuple[Any, Any]:
        """Return lower factors of a stack of matrices, and which of them failed."""
        ...

    def solve_factorised(self, factors: Any, right: Any) -> Any:
        """Solve systems whose lower factors are given."""
        ...

    def inverse_of_lower(self, factors: Any) -> Any:
        """Return the inverses of a stack of lower triangles."""
        ...

    def smallest(self, values: Any, k: int) -> tuple[Any, Any]:
        """Return the k smallest values of each row, in any order, and their places."""
        ...

    def together(self, *columns: Any) -> Any:
        """Return arrays of one length as columns of one array of the host."""
        ...

    def wait(self) -> None:
        """Return once the device has done what it was asked for."""
        ...


class NumpyArrays:
    """The batched solvers on NumPy: slow, but the same."""

    name = "numpy"
    xp = np
    out_of_memory: tuple[type[BaseException], ...] = (MemoryError,)

    def pays(self, n_fits: int, operations: float) -> bool:
        """Return True: whoever asks for it wants it."""
        del n_fits, operations
        return True

    def put(self, values: Any) -> Any:
        """Return the array itself."""
        array = np.asarray(values)
        # Whole numbers are indices, and truth values masks.
        return array.astype(np.float64) if array.dtype.kind == "f" else array

    def fetch(self, values: Any) -> Any:
        """Return the array itself."""
        return np.asarray(values)

    def empty(self, *shape: int) -> FloatArray:
        """Return an array of doubles whose values are arbitrary."""
        return np.empty(shape)

    def zeros(self, *shape: int) -> FloatArray:
        """Return an array of zeros."""
        return np.zeros(shape)

    def free_bytes(self) -> int:
        """Return a fixed number."""
        return HOST_BYTES

    def release(self) -> None:
        """Do nothing: NumPy holds no memory for later."""

    def subtract_product(self, target: Any, a: Any, b: Any) -> None:
        """Subtract the products of two stacks of matrices from a third, in place."""
        target -= a @ b

    def cholesky(self, matrices: Any) -> tuple[Any, Any]:
        """Factorise one by one, since NumPy's own stops at the first failure."""
        factors = np.zeros_like(matrices)
        failed = np.zeros(len(matrices), dtype=bool)
        for place, matrix in enumerate(matrices):
            # Zeros above the diagonal: inverses of these are multiplied as whole
            # matrices.
            factor, failure = lapack.dpotrf(matrix, lower=1, clean=1)
            factors[place] = factor
            failed[place] = failure != 0
        return factors, failed

    def solve_factorised(self, factors: Any, right: Any) -> Any:
        """Solve one by one."""
        parts = zip(factors, right, strict=True)
        return np.array([lapack.dpotrs(one, b, lower=1)[0] for one, b in parts])

    def inverse_of_lower(self, factors: Any) -> Any:
        """Invert one by one."""
        inverses = np.zeros_like(factors)
        for place, factor in enumerate(factors):
            inverses[place] = lapack.dtrtri(factor, lower=1)[0]
        return inverses

    def smallest(self, values: Any, k: int) -> tuple[Any, Any]:
        """Return the k smallest values of each row, in any order, and their places."""
        places = np.argpartition(values, k - 1, axis=1)[:, :k]
        return np.take_along_axis(values, places, axis=1), places

    def together(self, *columns: Any) -> Any:
        """Return arrays of one length as columns of one."""
        return np.stack([np.asarray(one, dtype=np.float64) for one in columns], axis=1)

    def wait(self) -> None:
        """Return at once."""
