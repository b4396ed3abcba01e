"""The cost of a fit over the number of rows, from a few times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from cvst._typing import FloatArray

__all__ = ["PowerCurve"]

# No learner that people race grows faster than a cube.
STEEPEST = 3.0

# Times repeat to about a tenth. Where they leave several exponents open, the one nearer
# to linear promises and threatens less.
NOISE, USUAL_EXPONENT, SPREAD = 0.1, 1.0, 1.0


@dataclass(frozen=True, slots=True)
class PowerCurve:
    """Seconds as a function of the number of rows: a constant and a power.

    Attributes
    ----------
    constant : float
        Seconds that do not depend on the rows.
    coefficient, exponent : float
        The rest is ``coefficient * n_rows**exponent``.

    Examples
    --------
    >>> curve = PowerCurve.fit([100, 200, 400, 800], [0.1, 0.8, 6.4, 51.2])
    >>> 2.7 < curve.exponent <= 3.0
    True
    """

    constant: float
    coefficient: float
    exponent: float

    def __call__(self, n_rows: float) -> float:
        """Return the seconds for so many rows."""
        power: float = float(n_rows) ** self.exponent
        return self.constant + self.coefficient * power

    @classmethod
    def fit(
        cls,
        n_rows: npt.ArrayLike,
        seconds: npt.ArrayLike,
        steepest: float = STEEPEST,
    ) -> PowerCurve:
        """Fit the curve by least squares of relative errors; large sizes count most.

        What a fit costs on many rows shows there, not where calling it costs most.
        """
        sizes = np.asarray(n_rows, dtype=float)
        times = np.maximum(np.asarray(seconds, dtype=float), 1e-9)
        if len(np.unique(sizes)) < 2:
            # One size says nothing about growth; linear is the usual cost of a row.
            return cls(0.0, float(np.mean(times / sizes)), 1.0)
        scale = sizes.max()
        exponents = np.arange(0.0, steepest + 0.01, 0.05)
        fits = [cls._at(exponent, sizes / scale, times) for exponent in exponents]
        errors = np.array([error for _, error in fits])
        misfit = (errors / NOISE) ** 2 + ((exponents - USUAL_EXPONENT) / SPREAD) ** 2
        chosen = int(np.argmin(misfit))
        exponent = float(exponents[chosen])
        constant, coefficient = fits[chosen][0]
        return cls(float(constant), float(coefficient / scale**exponent), exponent)

    @staticmethod
    def _at(
        exponent: float, shares: FloatArray, times: FloatArray
    ) -> tuple[FloatArray, float]:
        columns = np.stack([np.ones_like(shares), shares**exponent], axis=1)
        weights = np.sqrt(shares)
        solution, error = nnls(columns * (weights / times)[:, None], weights)
        return solution, float(error)
