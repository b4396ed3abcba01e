"""A small Gaussian process: Matérn 5/2, one length for each parameter.

The scale of the process has a closed form given the rest, so only the lengths and the
noise are searched for. Their priors matter while there are few points: lengths grow
with the root of the dimension, since otherwise all points of a large space are
strangers to each other.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular
from scipy.optimize import minimize

from cvst._typing import FloatArray

__all__ = ["GaussianProcess", "Hyperparameters", "fit_hyperparameters", "matern"]

# Mean and standard deviation of the logarithm of the noise's share of the variance.
NOISE_PRIOR = (np.log(0.01), 1.5)
# Of the logarithm of a length: a factor of e from the usual length is nothing special.
LENGTH_DEVIATION = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Hyperparameters:
    """What the likelihood chooses.

    Attributes
    ----------
    lengths : ndarray of shape (d,)
        Distance over which the losses stay alike, for each parameter.
    noise : float
        Variance of the noise as a share of the variance of the process.
    """

    lengths: FloatArray
    noise: float


def matern(squared: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return the Matérn 5/2 correlation of points, given squared distances.

    Parameters
    ----------
    squared : ndarray of shape (d, n, m)
        Squared distances by parameter.
    lengths : ndarray of shape (d,)
        Lengths by parameter.
    """
    r = np.sqrt(5 * np.tensordot(lengths**-2, squared, axes=1))
    return (1 + r + r * r / 3) * np.exp(-r)


@dataclass(frozen=True, slots=True, eq=False)
class GaussianProcess:
    """The posterior, given hyper-parameters.

    Attributes
    ----------
    hyperparameters : Hyperparameters
        Lengths and noise.
    mean, scale : float
        Mean and variance of the process before it saw the scores.
    factor : ndarray of shape (n, n)
        Lower Cholesky factor of the correlations, noise included.
    coefficients : ndarray of shape (n,)
        What each point contributes to a prediction.
    """

    hyperparameters: Hyperparameters
    mean: float
    scale: float
    factor: FloatArray
    coefficients: FloatArray

    @classmethod
    def given(
        cls,
        squared: FloatArray,
        scores: FloatArray,
        hyperparameters: Hyperparameters,
    ) -> GaussianProcess:
        """Condition on scores at points with the given squared distances."""
        n = len(scores)
        correlations = matern(squared, hyperparameters.lengths)
        correlations[np.diag_indices(n)] += hyperparameters.noise + 1e-8
        factor, lower = _factored(correlations)
        mean = float(scores.mean())
        centred = scores - mean
        coefficients = cho_solve((factor, lower), centred)
        # The variance that maximises the likelihood, given lengths and noise.
        scale = max(float(centred @ coefficients) / n, 1e-12)
        return cls(hyperparameters, mean, scale, factor, coefficients)

    def predict(self, squared: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and standard deviations without noise.

        Parameters
        ----------
        squared : ndarray of shape (d, n, m)
            Squared distances of the known points to the new ones.
        """
        correlations = matern(squared, self.hyperparameters.lengths)
        means = self.mean + self.coefficients @ correlations
        solved = solve_triangular(
            self.factor, correlations, lower=True, check_finite=False
        )
        # At known points the difference is rounding, and may be negative.
        variances = np.maximum(1 - np.einsum("ij,ij->j", solved, solved), 1e-12)
        return means, np.sqrt(self.scale * variances)

    def expecting(self, squared: FloatArray) -> GaussianProcess:
        """Return the process after one more point came out as predicted.

        Its predictions are the same as before, only surer: no score has to be given,
        and the factor grows by one row instead of being made anew.

        Parameters
        ----------
        squared : ndarray of shape (d, n, 1)
            Squared distances of the known points to the new one.
        """
        n = len(self.coefficients)
        correlations = matern(squared, self.hyperparameters.lengths)[:, 0]
        row = solve_triangular(
            self.factor, correlations, lower=True, check_finite=False
        )
        noisy = 1 + self.hyperparameters.noise + 1e-8
        factor = np.zeros((n + 1, n + 1))
        factor[:n, :n] = self.factor
        factor[n, :n] = row
        factor[n, n] = np.sqrt(max(noisy - float(row @ row), 1e-12))
        # As predicted means no residual, so the new point moves no mean.
        return replace(
            self, factor=factor, coefficients=np.append(self.coefficients, 0.0)
        )


def fit_hyperparameters(squared: FloatArray, scores: FloatArray) -> Hyperparameters:
    """Maximise the posterior of lengths and noise."""
    d = len(squared)
    start = np.append(np.full(d, _usual_log_length(d)), NOISE_PRIOR[0])
    # In [0, 1] a length of 30 is that of a parameter without effect, and one of 0.03
    # lets a point tell nothing about its neighbours.
    bounds = [(np.log(0.03), np.log(30.0))] * d + [(np.log(1e-6), np.log(1.0))]
    found = minimize(
        _negative_log_posterior,
        start,
        args=(squared, scores - scores.mean()),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 30},
    )
    return Hyperparameters(np.exp(found.x[:d]), float(np.exp(found.x[d])))


def _factored(correlations: FloatArray) -> tuple[FloatArray, bool]:
    """Return the Cholesky factor, with more noise where there is none.

    An inactive parameter is 1 apart from every value of an active one. No points of a
    plane are, so a matrix of such distances may be indefinite by a little.
    """
    # As little as will do: noise here is noise in every prediction.
    for noise in (0.0, 1e-5, 1e-3):
        noisy = correlations
        if noise:
            noisy = correlations + noise * np.eye(len(correlations))
        with suppress(LinAlgError):
            factor: tuple[FloatArray, bool] = cho_factor(
                noisy, lower=True, check_finite=False
            )
            return factor
    raise LinAlgError("the correlations are far from positive definite")


def _usual_log_length(d: int) -> float:
    return float(np.log(0.5) + 0.5 * np.log(d))


def _negative_log_posterior(
    theta: FloatArray, squared: FloatArray, centred: FloatArray
) -> tuple[float, FloatArray]:
    """Return the value and its gradient in the logarithms of lengths and noise."""
    d, n = len(squared), len(centred)
    inverse_squares, noise = np.exp(-2 * theta[:d]), np.exp(theta[d])
    r = np.sqrt(5 * np.tensordot(inverse_squares, squared, axes=1))
    decay = np.exp(-r)
    correlations = (1 + r + r * r / 3) * decay
    correlations[np.diag_indices(n)] += noise + 1e-8
    factor = _factored(correlations)
    inverse = cho_solve(factor, np.eye(n), check_finite=False)
    coefficients = inverse @ centred
    # With the scale at its best value the likelihood has the logarithm of the fit where
    # it would have the fit itself.
    fit = max(float(centred @ coefficients), 1e-12)
    value = 0.5 * n * np.log(fit) + np.log(np.diag(factor[0])).sum()
    # Derivative of the value in each entry of the correlation matrix.
    slope = 0.5 * (inverse - (n / fit) * np.outer(coefficients, coefficients))
    # d correlation / d log length_j = 5/3 (1 + r) exp(-r) squared_j / length_j ** 2.
    weighted = slope * (1 + r) * decay * (5 / 3)
    gradient = np.append(
        inverse_squares * (squared.reshape(d, -1) @ weighted.ravel()),
        noise * np.trace(slope),
    )
    centre = np.append(np.full(d, _usual_log_length(d)), NOISE_PRIOR[0])
    deviation = np.append(np.full(d, LENGTH_DEVIATION), NOISE_PRIOR[1])
    z = (theta - centre) / deviation
    return float(value + 0.5 * z @ z), gradient + z / deviation
