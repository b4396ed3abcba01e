"""What the tests of the learners share."""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from cvst.learners._irls import IRLSResult


@dataclass(frozen=True)
class ReferenceFit:
    """One model fitted by the R package, and its data."""

    x: Any
    y: Any
    x_test: Any
    settings: dict[str, Any]

    def kernel(self, rows: Any) -> Any:
        """Return the Gaussian kernel between some rows and the training rows."""
        return np.exp(-self.settings["gamma"] * (rows - self.x.T) ** 2)

    def dual_coef(self) -> Any:
        """Return R's coefficients of all training rows."""
        support = self.settings.get("support", slice(None))
        coefficients = np.zeros(len(self.y))
        coefficients[support] = self.settings["coef"]
        return coefficients


@pytest.fixture(scope="session")
def r_fits():
    """Return a function from the name of a learner to the fits of the R package."""
    path = Path(__file__).parent / "reference" / "r_learners.json.gz"
    stored = json.loads(gzip.decompress(path.read_bytes()))

    def fits(learner):
        return [
            ReferenceFit(
                np.array(data["x"])[:, np.newaxis],
                np.array(data["y"]),
                np.array(data["x_test"])[:, np.newaxis],
                settings,
            )
            for settings in stored["fits"]
            if settings["learner"] == learner
            for data in stored["datasets"]
            if data["id"] == settings["dataset"]
        ]

    return fits


@pytest.fixture(scope="session")
def solve_as_in_r():
    """Return the iteration of the R package, to the letter."""
    return _solve_as_in_r


def _solve_as_in_r(kernel_matrix, y, alpha, tol=1e-5, max_iter=100):
    """Fit a two-class kernel logistic regression as the R package does.

    It differs from ``solve_irls`` where that is sounder: it takes full steps even if
    they lead away from the minimum, ends when one of them overflows, and returns the
    coefficients *before* the last step. ``alpha`` is n times the package's lambda.
    """
    coefficients = np.full(len(y), 1 / len(y))
    for n_iter in range(1, max_iter + 1):
        try:
            proposed = _full_step(kernel_matrix, y, alpha, coefficients)
        except np.linalg.LinAlgError:
            break
        if np.isnan(proposed).any():
            break
        if np.max(np.abs(proposed - coefficients)) <= tol:
            return IRLSResult(coefficients, n_iter, converged=True)
        # At the limit, too, the package keeps what it had before the step.
        if n_iter < max_iter:
            coefficients = proposed
    return IRLSResult(coefficients, n_iter, converged=False)


def _full_step(kernel_matrix, y, alpha, coefficients):
    decision = kernel_matrix @ coefficients
    probability = expit(decision)
    slopes = probability * (1 - probability)
    with np.errstate(all="ignore"):
        response = decision + (y - probability) / slopes
        system = kernel_matrix + np.diag(alpha / slopes)
        return np.linalg.solve(system, response)
