"""The four learners of the paper and their grids of 610 configurations.

Here, and nowhere else, the paper's sigma becomes gamma = 1 / sigma of the kernel
exp(-gamma |x - x'|^2): refitting its Appendix B gives the printed errors with that
reading only. lambda of the kernel machines is per row, as in the authors' R package, so
scikit-learn's ``alpha`` on n rows is n times lambda. The paper does not state C of
nu-SVR; we take N in the sense of the R package, which bounds each row by C / n, so that
scikit-learn's C is 1 on all N rows and N / n on a subset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import NuSVC, NuSVR

from cvst.learners import KernelLogisticRegression

__all__ = ["LEARNERS", "Grid", "Learner", "Shape", "grid_for"]

# log10 of sigma, in steps of a tenth; the finer range is for these three sets.
USUAL_SIGMAS = (-3.0, 3.0)
FINE_SIGMAS = (-6.0, 0.0)
FINE_DATA = ("blocks", "bumps", "doppler")
LAMBDAS = (-7.0, 2.0)
NUS = (0.05, 0.5)

# Numbers of widths and of penalties: 610 configurations.
Shape = tuple[int, int]

# The paper says only that its KLR iterates "until the calculated coefficients
# converge": when no coefficient changes by more than this, or after so many systems.
KLR_TOLERANCE = 1e-6
KLR_ITERATIONS = 100


@dataclass(frozen=True)
class Learner:
    """A learner of the paper as a scikit-learn estimator.

    Attributes
    ----------
    penalty : {"alpha", "nu"}
        The hyper-parameter beside the kernel's width.
    cost : float
        Rough time of a search relative to kernel ridge regression, to order the work.
    on_card : bool
        Whether the library can search over it on a card.
    """

    name: str
    task: str
    estimator: Any
    penalty: str
    cost: float
    on_card: bool = False

    @property
    def scoring(self) -> str:
        """What a search goes by: the mean of the pointwise losses of the paper."""
        if self.task == "classification":
            return "accuracy"
        return "neg_mean_squared_error"

    def model(self, params: dict[str, float] | None = None, share: float = 1.0) -> Any:
        """Return an unfitted model for a share of the training rows.

        Parameters
        ----------
        params : dict
            As in the grid for that many rows.
        share : float, default=1.0
            Rows that it will be fitted on, over all training rows.
        """
        model = clone(self.estimator)
        if "C" in model.get_params():
            model.set_params(C=1.0 / share)
        return model.set_params(**(params or {}))

    def error(self, model: Any, X: Any, y: Any) -> float:
        """Return the share of wrong classes, or the mean squared error."""
        predicted = model.predict(X)
        if self.task == "classification":
            return float(np.mean(predicted != y))
        return float(np.mean((predicted - y) ** 2))


LEARNERS = {
    learner.name: learner
    for learner in (
        Learner(
            "KLR",
            "classification",
            KernelLogisticRegression(tol=KLR_TOLERANCE, max_iter=KLR_ITERATIONS),
            "alpha",
            8.0,
            on_card=True,
        ),
        Learner("SVM", "classification", NuSVC(), "nu", 12.0),
        Learner(
            "KRR",
            "regression",
            KernelRidge(kernel="rbf"),
            "alpha",
            1.0,
            on_card=True,
        ),
        Learner("SVR", "regression", NuSVR(C=1.0), "nu", 12.0),
    )
}


@dataclass(frozen=True)
class Grid:
    """The grid of one problem, as exponents that do not depend on the rows.

    Attributes
    ----------
    log_gammas : tuple of float
        log10 of gamma.
    penalties : tuple of float
        log10 of lambda, or nu itself.
    """

    learner: Learner
    log_gammas: tuple[float, ...]
    penalties: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.log_gammas) * len(self.penalties)

    def levels(self, n_rows: int) -> dict[str, list[float]]:
        """Return the grid for a number of rows, as scikit-learn wants it."""
        return {
            "gamma": [10.0**value for value in self.log_gammas],
            self.learner.penalty: [
                self._penalty(value, n_rows) for value in self.penalties
            ],
        }

    def draw(self, rng: np.random.Generator, n_rows: int) -> dict[str, float]:
        """Return a configuration drawn uniformly from the range of the grid."""
        return self.at(rng.uniform(*self.width_range), self._uniform(rng), n_rows)

    def at(self, log_gamma: float, penalty: float, n_rows: int) -> dict[str, float]:
        """Return a configuration by its exponents, for a number of rows."""
        value = self._penalty(penalty, n_rows)
        return {"gamma": 10.0**log_gamma, self.learner.penalty: value}

    def moved(
        self, params: dict[str, float], n_from: int, n_to: int
    ) -> dict[str, float]:
        """Return what a configuration for some rows is for another number of rows."""
        if self.learner.penalty == "nu":
            return dict(params)
        return {**params, "alpha": params["alpha"] * n_to / n_from}

    @property
    def width_range(self) -> tuple[float, float]:
        """Smallest and largest log10 of gamma."""
        return min(self.log_gammas), max(self.log_gammas)

    @property
    def penalty_range(self) -> tuple[float, float]:
        """Smallest and largest log10 of lambda, or nu."""
        return min(self.penalties), max(self.penalties)

    def _uniform(self, rng: np.random.Generator) -> float:
        return float(rng.uniform(*self.penalty_range))

    def _penalty(self, value: float, n_rows: int) -> float:
        return float(value) if self.learner.penalty == "nu" else n_rows * 10.0**value


def grid_for(data: str, learner: str, shape: Shape = (61, 10)) -> Grid:
    """Return the grid of a learner on a data set.

    Parameters
    ----------
    data, learner : str
        Names.
    shape : (int, int), default=(61, 10)
        Numbers of widths and penalties; fewer than the paper's span the same ranges.
    """
    sigmas = FINE_SIGMAS if data in FINE_DATA else USUAL_SIGMAS
    n_widths, n_penalties = shape
    # gamma = 1 / sigma: the same exponents with the sign turned, in ascending order.
    low, high = -sigmas[1], -sigmas[0]
    widths = np.round(np.linspace(low, high, n_widths), 6)
    found = LEARNERS[learner]
    ends = NUS if found.penalty == "nu" else LAMBDAS
    penalties = np.round(np.linspace(*ends, n_penalties), 6)
    return Grid(found, tuple(widths.tolist()), tuple(penalties.tolist()))
