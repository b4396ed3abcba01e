"""Two parallel lines that bound the undecided region of a sequential test."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, overload

import numpy as np

if TYPE_CHECKING:
    from cvst._typing import BoolArray, FloatArray, IntArray

__all__ = ["ParallelBoundaries"]


class ParallelBoundaries:
    """What the open and the closed test share: decisions by lines in the plane.

    The number of steps runs to the right, the number of steps won upwards. A test that
    inherits from this class sets the three numbers below.

    Attributes
    ----------
    slope : float
        Slope of both lines.
    intercept : float
        The loser boundary is ``slope * step - intercept``.
    winner_intercept : float
        The winner boundary is ``slope * step + winner_intercept``.
    """

    slope: float
    intercept: float
    winner_intercept: float

    @property
    def safety_zone(self) -> float:
        """Where the loser boundary leaves zero: up to here nothing can be dropped."""
        return self.intercept / self.slope

    @overload
    def loser_boundary(self, step: float) -> float: ...

    @overload
    def loser_boundary(self, step: IntArray | FloatArray) -> FloatArray: ...

    def loser_boundary(self, step: float | IntArray | FloatArray) -> float | FloatArray:
        """Return :math:`L_0`: at or below it a configuration is a loser."""
        return _line(self.slope, -self.intercept, step)

    @overload
    def winner_boundary(self, step: float) -> float: ...

    @overload
    def winner_boundary(self, step: IntArray | FloatArray) -> FloatArray: ...

    def winner_boundary(
        self, step: float | IntArray | FloatArray
    ) -> float | FloatArray:
        """Return :math:`L_1`: at or above it a configuration is a winner."""
        return _line(self.slope, self.winner_intercept, step)

    def is_loser(self, traces: BoolArray) -> BoolArray:
        """Say for each trace whether it ends at or below the loser boundary.

        Parameters
        ----------
        traces : ndarray of shape (n_configurations, n_steps), bool
            Top (True) or flop (False) in each step so far.

        Returns
        -------
        ndarray of shape (n_configurations,), bool
            All False before the first step.
        """
        n_steps = traces.shape[1]
        # Before the first step none has flopped, whatever the lines say.
        boundary = self.loser_boundary(n_steps) if n_steps else -inf
        return np.asarray(np.count_nonzero(traces, axis=1) <= boundary)


def _line(
    slope: float, height: float, step: float | IntArray | FloatArray
) -> float | FloatArray:
    if isinstance(step, np.ndarray):
        return slope * step.astype(np.float64) + height
    return slope * step + height
