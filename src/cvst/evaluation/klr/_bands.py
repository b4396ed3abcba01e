r"""Narrow kernels: most rows are far from most others.

Values that are too small to matter are left out. If the rest lies close to the diagonal
once rows that are close to each other stand side by side, a system is factorised in
:math:`n b^2` operations, where :math:`b` is the number of diagonals below the main one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.linalg import lapack
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.evaluation.klr._spaces import Coefficients, Step

__all__ = ["Band", "BandedSpace", "band_of", "negligible_value"]

# With fewer rows, or more diagonals as a share of the rows, dense matrices are faster.
SMALLEST_BANDED = 120
WIDEST_BAND = 0.3

# Decisions change by no more than this for what is left out.
DECISION_ERROR = 1e-9

# Nothing else is left out, however large the penalty.
LARGEST_NEGLIGIBLE = 1e-12


def negligible_value(weights: FloatArray, alpha: float) -> float:
    r"""Return up to which value the entries of a kernel matrix do not matter.

    Let no value of the kernel be larger than 1, :math:`W` be the sum of the weights and
    :math:`\epsilon` a bound on the entries left out. No coefficient of a solution is
    larger than its weight over the penalty :math:`\alpha`, so at no training row is
    more than :math:`\delta = \epsilon W / \alpha` missing in the sum that is its
    decision. Hence the solution is the exact one for losses that are shifted by at
    most :math:`\delta`. Its distance from the solution that is asked for, :math:`d`,
    obeys :math:`\alpha \|d\|^2 = -\sum c_i (d_i - \delta_i) d_i \le \sum c_i
    \delta_i^2 / 4` with curvatures :math:`c_i` of at most a quarter of the weights. So
    no decision anywhere changes by more than :math:`\epsilon (W / \alpha)^{3/2} / 4`.

    Parameters
    ----------
    weights : ndarray of shape (n_train,)
        Weights of the losses.
    alpha : float
        The smallest penalty.

    Examples
    --------
    >>> round(negligible_value(np.ones(100), alpha=0.01), 20)
    4e-15
    """
    share = alpha / float(weights.sum())
    return min(4 * DECISION_ERROR * share * math.sqrt(share), LARGEST_NEGLIGIBLE)


class Band(NamedTuple):
    """A symmetric matrix with few values, and an order in which they form a band.

    Attributes
    ----------
    matrix : csr_matrix of shape (n, n)
        The values, in the order that the rows came in.
    order : ndarray of shape (n,)
        Which of those rows are next to each other in the band.
    diagonals : ndarray of shape (n_diagonals, n)
        The main diagonal and those below it as LAPACK wants them, column by column.
    """

    matrix: csr_matrix
    order: IntArray
    diagonals: FloatArray


def band_of(matrix: FloatArray, negligible: float) -> Band | None:
    """Order the rows of a symmetric matrix so that its values form a band.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Without negative values, in C order.
    negligible : float
        Values up to this are left out.

    Returns
    -------
    Band or None
        None if the matrix is small or the band so wide that nothing is gained.

    Examples
    --------
    >>> places = np.arange(200) * 37 % 200
    >>> matrix = 1e-9 ** np.abs(places[:, None] - places)
    >>> band_of(matrix, 1e-12).diagonals[:, 0].round(12).tolist()
    [1.0, 1e-09]
    >>> band_of(np.ones((200, 200)), 1e-12) is None
    True
    """
    n = len(matrix)
    if n < SMALLEST_BANDED:
        return None
    matters = matrix > negligible
    if np.count_nonzero(matters) > 2 * WIDEST_BAND * n * n:
        return None
    sparse = _sparse(matrix, matters)
    order = reverse_cuthill_mckee(sparse, symmetric_mode=True).astype(np.intp)
    ranks = np.empty(n, dtype=np.int32)
    ranks[order] = np.arange(n, dtype=np.int32)
    distances = ranks.take(sparse.indices)
    distances -= np.repeat(ranks, np.diff(sparse.indptr))
    n_below = int(distances.max())
    if n_below > WIDEST_BAND * n:
        return None
    # Below the last row LAPACK reads nothing.
    below = sliding_window_view(np.append(order, order[:n_below]), n_below + 1)
    places = below + n * order[:, None]
    return Band(sparse, order, matrix.ravel().take(places).T)


def _sparse(matrix: FloatArray, matters: BoolArray) -> csr_matrix:
    # Several times as fast as SciPy's own way.
    n = len(matrix)
    places = np.flatnonzero(matters)
    rows = np.arange(0, n * n + 1, n)
    starts = np.searchsorted(places, rows)
    values = matrix.ravel().take(places)
    places -= np.repeat(rows[:-1], np.diff(starts))
    parts = values, places.astype(np.int32), starts.astype(np.int32)
    return csr_matrix(parts, shape=matrix.shape)


class BandedSpace(Coefficients):
    """Coefficients of the training rows, for a kernel matrix with few values.

    Parameters
    ----------
    band : Band
        The kernel matrix.
    """

    def __init__(self, band: Band) -> None:
        super().__init__(band.matrix @ np.ones(len(band.order)))
        self._kernel_matrix = band.matrix
        self._diagonals = band.diagonals
        self._order = band.order
        self._ranks = np.argsort(band.order)
        self._factor = np.empty_like(band.diagonals)

    def factorise(self, curvatures: FloatArray, alpha: float) -> bool:
        """Factorise the kernel plus alpha over the curvatures."""
        np.copyto(self._factor, self._diagonals)
        self._factor[0] += (alpha / curvatures)[self._order]
        self._factor, failure = lapack.dpbtrf(self._factor, lower=1, overwrite_ab=1)
        self._curvatures = curvatures
        return not failure

    def step(
        self,
        theta: FloatArray,
        residuals: FloatArray,
        alpha: float,
        enough: float,  # noqa: ARG002 - the step is exact
    ) -> Step:
        """Solve with the factor."""
        forces = ((residuals - alpha * theta) / self._curvatures)[self._order]
        solution, _ = lapack.dpbtrs(self._factor, forces, lower=1, overwrite_b=1)
        step = solution[self._ranks]
        return Step(step, self.decisions(step))

    def decisions(self, theta: FloatArray) -> FloatArray:
        """Multiply with the values of the kernel that matter."""
        # A symmetric matrix: rows or columns make no difference.
        return np.ascontiguousarray((self._kernel_matrix @ theta.T).T)
