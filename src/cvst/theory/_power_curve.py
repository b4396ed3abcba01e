"""The cost of a fit over the number of rows, from a few times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from cvst._typing import FloatArray

__all__ = ["PowerCurve"]

# The learners people race grow at most like a cube.
STEEPEST = 3.0

# Times repeat to about a tenth. Where they leave several exponents open, the one nearer
# to the usual promises and threatens less.
NOISE, USUAL_EXPONENT, SPREAD = 0.1, 1.0, 1.0

# Exponents whose misfit is larger by this much are no longer plausible: about two
# standard errors.
PLAUSIBLE = 4.0


@dataclass(frozen=True, slots=True)
class PowerCurve:
    """Seconds as a function of the number of rows: a constant and a power.

    Neither part is ever negative.

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
        """Return the seconds for this many rows."""
        power: float = float(n_rows) ** self.exponent
        return float(self.constant + self.coefficient * power)

    def scaled(self, factor: float) -> PowerCurve:
        """Return the curve of something slower by this factor.

        Examples
        --------
        >>> PowerCurve(1.0, 2.0, 1.0).scaled(3.0)(10)
        63.0
        """
        constant, coefficient = factor * self.constant, factor * self.coefficient
        return PowerCurve(float(constant), float(coefficient), self.exponent)

    @classmethod
    def fit(
        cls,
        n_rows: npt.ArrayLike,
        seconds: npt.ArrayLike,
        steepest: float = STEEPEST,
        flattest: float = 0.0,
        usual: float = USUAL_EXPONENT,
    ) -> PowerCurve:
        """Fit the curve by least squares of relative errors; large sizes count most.

        What a fit costs on many rows shows there, not where calling it costs most.

        Parameters
        ----------
        n_rows, seconds : array-like of shape (n_times,)
            What was timed, and what it took.
        steepest, flattest : float
            Bounds of the exponent.
        usual : float
            Exponent to fall back on where the times leave several open.
        """
        return cls.plausible(n_rows, seconds, steepest, flattest, usual)[0]

    @classmethod
    def plausible(
        cls,
        n_rows: npt.ArrayLike,
        seconds: npt.ArrayLike,
        steepest: float = STEEPEST,
        flattest: float = 0.0,
        usual: float = USUAL_EXPONENT,
        noise: float = NOISE,
        spread: float = SPREAD,
        hidden: float = 0.0,
    ) -> tuple[PowerCurve, ...]:
        """Return the curves that such times leave open, the best first.

        They say how far a forecast may be off.

        Parameters
        ----------
        n_rows, seconds, steepest, flattest, usual
            As for :meth:`fit`.
        noise : float
            By what share times differ when they are taken again.
        spread : float
            How far exponents are from the usual one, as a standard deviation.
        hidden : float
            The share of the largest time that is the rows' at least, though the times
            seem not to grow. Constant costs and noise hide it on few rows.

        Examples
        --------
        >>> curves = PowerCurve.plausible([100, 200, 400], [1.0, 2.1, 3.9])
        >>> min(curve(4000) for curve in curves) < 40 < max(c(4000) for c in curves)
        True
        >>> flat = PowerCurve.plausible([200, 400], [1.0, 1.0], hidden=0.1)
        >>> round(flat[0](400), 3), round(flat[0](4000), 3)
        (1.0, 1.9)
        """
        sizes = np.asarray(n_rows, dtype=float)
        # A coarse clock may say 0, and relative errors divide by it.
        times = np.maximum(np.asarray(seconds, dtype=float), 1e-9)
        # A sum of steps of 0.05 may step over the end by rounding.
        exponents = np.minimum(np.arange(flattest, steepest + 0.01, 0.05), steepest)
        scale = float(sizes.max())
        if len(np.unique(sizes)) < 2:
            # One size says nothing about growth.
            level = float(np.mean(times))
            order = np.argsort(np.abs(exponents - usual), kind="stable")
            return tuple(
                cls(0.0, level / scale**power, power)
                for power in exponents[order].tolist()
            )
        # In shares of the largest size: cubes of row counts would drown the constant.
        least = hidden * float(times[sizes == scale].min())
        fits = [
            cls._at(exponent, sizes / scale, times, least) for exponent in exponents
        ]
        errors = np.array([error for _, error in fits])
        misfit = (errors / noise) ** 2 + ((exponents - usual) / spread) ** 2
        order = np.argsort(misfit, kind="stable")
        order = order[misfit[order] <= misfit.min() + PLAUSIBLE]
        return tuple(
            cls(
                float(fits[place][0][0]),
                float(fits[place][0][1] / scale ** exponents[place]),
                float(exponents[place]),
            )
            for place in order
        )

    @staticmethod
    def _at(
        exponent: float, shares: FloatArray, times: FloatArray, least: float = 0.0
    ) -> tuple[FloatArray, float]:
        columns = np.stack([np.ones_like(shares), shares**exponent], axis=1)
        # Divided by the times below: what is left on the right is the weight.
        weights = np.sqrt(shares)
        solution, error = nnls(columns * (weights / times)[:, None], weights)
        if solution[1] < least:
            # What is taken for the rows is no constant cost.
            solution = np.array([max(0.0, solution[0] + solution[1] - least), least])
        return solution, float(error)
