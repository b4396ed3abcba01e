"""Kernels as functions of distances or inner products, computed once and in place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from cvst._typing import FloatArray
from cvst.evaluation.kernels._rows import PairKind

__all__ = ["Kernel", "KernelKey", "KernelName"]

KernelName: TypeAlias = Literal["linear", "poly", "rbf", "laplacian", "sigmoid"]

# Beyond this exponent a kernel value is as good as zero: a sum of a billion of them,
# each times the largest coefficient that double precision can solve for, is below 1e-9.
LOWEST_EXPONENT = -80.0

# Below this share of larger exponents, it pays to gather them first: exp takes nearly
# half of the time of a race with kernel ridge regression.
LARGEST_GATHERED_SHARE = 0.4

# Rows of a symmetric matrix that are worked on at once.
BLOCK_ROWS = 64


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of scikit-learn or libsvm and its parameters; the unused ones are 0."""

    name: KernelName
    gamma: float = 0.0
    degree: float = 0.0
    coef0: float = 0.0

    @property
    def pairs(self) -> PairKind:
        """What the kernel is a function of."""
        if self.name == "rbf":
            return "squared"
        return "city block" if self.name == "laplacian" else "product"

    def largest_value(self, largest_square: float) -> float:
        """Return a bound on the kernel's values.

        Parameters
        ----------
        largest_square : float
            Largest sum of squares of a row.
        """
        if self.name == "linear":
            return largest_square
        if self.name == "poly":
            with np.errstate(over="ignore"):
                base = np.float64(self.gamma * largest_square + abs(self.coef0))
                return float(base**self.degree)
        return 1.0

    def of(
        self, pairs: FloatArray, lowest_exponent: float = LOWEST_EXPONENT
    ) -> FloatArray:
        """Return the kernel's values for pairs of rows, rounded as by scikit-learn.

        Parameters
        ----------
        pairs : ndarray
            Distances or inner products, as :attr:`pairs` says.
        lowest_exponent : float, default=-80
            Where the exponent is smaller, the value may be off by the exponential of
            this.
        """
        if self.name == "linear":
            return pairs.copy()
        if self.name in ("rbf", "laplacian"):
            return _exponential(pairs, self.gamma, lowest_exponent)
        values = pairs * self.gamma
        values += self.coef0
        if self.name == "poly":
            values **= self.degree
            return values
        return np.tanh(values, out=values)

    def upper_triangle(self, pairs: FloatArray) -> FloatArray:
        """Return the kernel matrix of symmetric pairs, right of the diagonal only.

        Below the diagonal are zeros, apart from some blocks along it.
        """
        values = np.zeros(pairs.shape)
        for start in range(0, len(pairs), BLOCK_ROWS):
            block = np.s_[start : start + BLOCK_ROWS, start:]
            values[block] = self.of(pairs[block])
        return values


def _exponential(distances: FloatArray, gamma: float, lowest: float) -> FloatArray:
    if gamma > 0:
        near = distances < -lowest / gamma
        if np.count_nonzero(near) < LARGEST_GATHERED_SHARE * near.size:
            gathered = np.flatnonzero(near)
            values = np.zeros(distances.size)
            values[gathered] = np.exp(distances.ravel()[gathered] * -gamma)
            return values.reshape(distances.shape)
    values = distances * -gamma
    np.maximum(values, lowest, out=values)
    return np.exp(values, out=values)


class KernelKey(NamedTuple):
    """A kernel before the training rows are known.

    Attributes
    ----------
    name : str
        The kernel.
    gamma : float, str or None
        A number, or how to find it: ``"scale"`` divides by the variance of the
        training rows, ``"auto"`` and None by the number of features only.
    degree, coef0 : float
        The other parameters, 0 if the kernel has no use for them.
    """

    name: KernelName
    gamma: float | str | None
    degree: float
    coef0: float

    @classmethod
    def of(cls, name: KernelName, params: dict[str, Any]) -> KernelKey:
        """Take from an estimator's valid parameters those that the kernel uses."""
        gamma, coef0 = params["gamma"], float(params["coef0"])
        if name == "linear":
            gamma = 0.0
        elif not isinstance(gamma, str | None):
            gamma = float(gamma)
        return cls(
            name,
            gamma,
            degree=float(params["degree"]) if name == "poly" else 0.0,
            coef0=coef0 if name in ("poly", "sigmoid") else 0.0,
        )

    def bind(self, X_train: FloatArray) -> Kernel:
        """Return the kernel for these training rows."""
        gamma = self.gamma
        if gamma is None or isinstance(gamma, str):
            variance = float(X_train.var()) if gamma == "scale" else 1.0
            gamma = 1.0 / (X_train.shape[1] * variance) if variance != 0 else 1.0
        return Kernel(self.name, gamma, self.degree, self.coef0)
