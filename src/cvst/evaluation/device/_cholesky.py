"""Cholesky factorisations of a stack of matrices, in blocks that are products.

Libraries factorise a stack of small matrices well, and one large matrix; of a stack of
middle-sized ones they leave most of a card idle. Here the library gets blocks on the
diagonal only, and the rest are products of stacks, which run close to the peak. A few
large matrices are left to the library.
"""

from __future__ import annotations

from typing import Any, Protocol

from cvst.evaluation.device._arrays import Arrays

__all__ = ["BLOCK", "Factor", "add_to_diagonal", "factorised"]

# With no more matrices than this, and as many rows, blocks only wait for each other.
FEW = 5
FEWEST_ROWS = 512

# Rows and columns of a block on the diagonal.
BLOCK = 128

# Triangles of this size are inverted by the library, larger ones by products.
SMALLEST_TRIANGLE = 32


def add_to_diagonal(matrices: Any, values: Any) -> None:
    """Add values to the diagonals of a stack of matrices, in place.

    Parameters
    ----------
    matrices : array of shape (n_matrices, n, n)
        In C order.
    values : array of shape (n_matrices, 1) or (n_matrices, n)
        What to add.
    """
    n = matrices.shape[-1]
    diagonals = matrices.reshape(len(matrices), n * n)[:, :: n + 1]
    diagonals += values


class Factor(Protocol):
    """Factors of a stack of matrices, ready to solve."""

    @property
    def failed(self) -> Any:
        """Which matrices are not positive definite."""
        ...

    def solve(self, right: Any) -> Any:
        """Solve all systems.

        Parameters
        ----------
        right : array of shape (n_matrices, n, n_targets)
            Right-hand sides; may be overwritten.
        """
        ...


class _WholeFactors:
    """Lower factors as the library has them, one by one: it is slow with two."""

    def __init__(self, arrays: Arrays, matrices: Any) -> None:
        self._arrays = arrays
        places = range(len(matrices))
        parts = [arrays.cholesky(matrices[place : place + 1]) for place in places]
        self._lower = [lower for lower, _ in parts]
        self.failed = arrays.xp.concatenate([failed for _, failed in parts])

    def solve(self, right: Any) -> Any:
        solved = [
            self._arrays.solve_factorised(lower, right[place : place + 1])
            for place, lower in enumerate(self._lower)
        ]
        return self._arrays.xp.concatenate(solved)


class _BlockFactor:
    """Lower factors of a stack of matrices, block by block.

    Parameters
    ----------
    arrays : Arrays
        Where they live.
    lower : array of shape (n_matrices, n, n)
        The factors below their blocks on the diagonal; above is anything.
    inverses : list of arrays of shape (n_matrices, n_block, n_block)
        The inverses of the blocks on the diagonal.
    failed : array of shape (n_matrices,), bool
        Which matrices are not positive definite.
    """

    def __init__(
        self, arrays: Arrays, lower: Any, inverses: list[Any], failed: Any
    ) -> None:
        self._arrays = arrays
        self._lower = lower
        self._inverses = inverses
        self.failed = failed

    def solve(self, right: Any) -> Any:
        size = self._inverses[0].shape[-1]
        blocks = [
            (slice(place * size, place * size + inverse.shape[-1]), inverse)
            for place, inverse in enumerate(self._inverses)
        ]
        for block, inverse in blocks:
            part = right[:, block]
            if block.start:
                known = self._lower[:, block, : block.start]
                self._arrays.subtract_product(part, known, right[:, : block.start])
            part[...] = inverse @ part
        for block, inverse in reversed(blocks):
            part = right[:, block]
            if block.stop < right.shape[1]:
                below = self._lower[:, block.stop :, block].swapaxes(-1, -2)
                self._arrays.subtract_product(part, below, right[:, block.stop :])
            part[...] = inverse.swapaxes(-1, -2) @ part
        return right


def factorised(arrays: Arrays, matrices: Any, block: int = BLOCK) -> Factor:
    """Factorise a stack of symmetric positive definite matrices.

    Parameters
    ----------
    arrays : Arrays
        Where they live.
    matrices : array of shape (n_matrices, n, n)
        Read on and below the diagonal; overwritten.
    block : int
        Rows and columns that the library factorises at once.

    Examples
    --------
    >>> import numpy as np
    >>> from cvst.evaluation.device import NumpyArrays
    >>> factor = factorised(NumpyArrays(), np.array([[[2.0, 1.0], [1.0, 2.0]]]))
    >>> factor.solve(np.array([[[3.0], [0.0]]])).round(12).tolist()
    [[[2.0], [-1.0]]]
    """
    n = matrices.shape[-1]
    if len(matrices) <= FEW and n >= FEWEST_ROWS:
        return _WholeFactors(arrays, matrices)
    inverses = []
    failed = None
    for start in range(0, n, block):
        stop = min(start + block, n)
        if start:
            # The columns of a block are brought up to date when their turn comes: one
            # large product instead of many small ones.
            arrays.subtract_product(
                matrices[:, start:, start:stop],
                matrices[:, start:, :start],
                matrices[:, start:stop, :start].swapaxes(-1, -2),
            )
        factors, bad = arrays.cholesky(matrices[:, start:stop, start:stop])
        failed = bad if failed is None else failed | bad
        inverse = _inverse(arrays, factors)
        if stop < n:
            panel = matrices[:, stop:, start:stop]
            panel[...] = panel @ inverse.swapaxes(-1, -2)
        inverses.append(inverse)
    return _BlockFactor(arrays, matrices, inverses, failed)


def _inverse(arrays: Arrays, lower: Any) -> Any:
    """Invert a stack of lower triangles: small ones by the library, then products."""
    n_matrices, n, _ = lower.shape
    # The last block may have any size.
    if n <= SMALLEST_TRIANGLE or n % SMALLEST_TRIANGLE:
        return arrays.inverse_of_lower(lower)
    size = SMALLEST_TRIANGLE
    n_small = n // size
    inverse = arrays.zeros(n_matrices, n, n)
    small = arrays.empty(n_small, n_matrices, size, size)
    for place in range(n_small):
        block = slice(place * size, place * size + size)
        small[place] = lower[:, block, block]
    small = arrays.inverse_of_lower(small.reshape(-1, size, size))
    small = small.reshape(n_small, n_matrices, size, size)
    for place in range(n_small):
        block = slice(place * size, place * size + size)
        inverse[:, block, block] = small[place]
    # Row by row of blocks: what is left of the diagonal follows from the rows above.
    for place in range(1, n_small):
        block = slice(place * size, place * size + size)
        product = (
            lower[:, block, : block.start] @ inverse[:, : block.start, : block.start]
        )
        arrays.subtract_product(inverse[:, block, : block.start], small[place], product)
    return inverse
