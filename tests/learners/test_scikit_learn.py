"""The other learners of the paper are scikit-learn's; they must be the same ones.

R's solution and scikit-learn's must both solve the problem that we state, as well as
their solvers promise. Predictions are not compared: R itself, on ARM64 and on x86-64,
predicts values that differ by 5e-3 for one of these fits.
"""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import NuSVC, NuSVR

# libsvm's and kernlab's stopping rule, on the violation of the optimality conditions.
TOL = 1e-3


def test_kernel_ridge_is_that_of_the_r_package(r_fits):
    """Witness: R's coefficients, with alpha = n lambda, solve the same linear system.

    A direct solver promises a small residual relative to the matrix and the solution,
    whatever the condition; here mostly that of computing the kernel.
    """
    for fit in r_fits("krr"):
        alpha = len(fit.y) * fit.settings["lambda"]
        model = KernelRidge(alpha=alpha, kernel="rbf", gamma=fit.settings["gamma"])
        system = fit.kernel(fit.x) + alpha * np.eye(len(fit.y))
        norm = np.max(np.sum(system, axis=1))

        for solution in (model.fit(fit.x, fit.y).dual_coef_, fit.dual_coef()):
            residual = np.max(np.abs(system @ solution - fit.y))
            assert residual < 1e-12 * norm * np.max(np.abs(solution))


def excess(weights, gradient, bound):
    """Return by how much moving weight from one row to another would pay at most."""
    margin = 1e-9 * bound
    positive, below = weights > margin, weights < bound - margin
    if not positive.any() or not below.any():
        return 0.0
    return np.max(gradient[positive]) - np.min(gradient[below])


class NuRegression:
    """The problem of nu-SVR.

    Minimise ``c K c / 2 - y c`` over coefficients that sum to zero, are at most ``C``
    and together at most ``C nu n``, in absolute value.
    """

    def __init__(self, fit):
        self.kernel, self.y = fit.kernel(fit.x), fit.y
        self.nu, self.bound = fit.settings["nu"], fit.settings["box"]
        self.weight = self.bound * self.nu * len(fit.y)

    def is_feasible(self, coef):
        return (
            abs(coef.sum()) < 1e-9 * self.weight
            and np.max(np.abs(coef)) < self.bound * (1 + 1e-9)
            and np.sum(np.abs(coef)) < self.weight * (1 + 1e-9)
        )

    def objective(self, coef):
        return coef @ self.kernel @ coef / 2 - self.y @ coef

    def gap(self, coef, intercept):
        """Return the primal minus the dual value; the tube is as wide as is best."""
        fitted = self.kernel @ coef
        misses = np.abs(self.y - fitted - intercept)
        # The cost is piecewise linear in the width and so least at a kink.
        widths = np.append(misses, 0.0)[:, np.newaxis]
        outside = self.bound * np.sum(np.maximum(misses - widths, 0), axis=1)
        cost = np.min(outside + self.weight * widths[:, 0])
        return coef @ fitted / 2 + cost + self.objective(coef)

    def violation(self, coef):
        """Return the violation of the optimality conditions, as libsvm measures it.

        libsvm gives each row a weight for being above the tube and one for being
        below. Where the tube has no width they may overlap; the sum of all weights
        then says by how much.
        """
        spare = self.weight - np.sum(np.abs(coef))
        room = self.bound - np.abs(coef)
        both = spare / 2 * room / room.sum() if spare > 1e-9 * self.weight else 0.0
        gradient = self.kernel @ coef - self.y
        above, below = np.maximum(coef, 0) + both, np.maximum(-coef, 0) + both
        return max(
            excess(above, gradient, self.bound), excess(below, -gradient, self.bound)
        )

    def is_overlapping(self, coef):
        return np.sum(np.abs(coef)) < self.weight * (1 - 1e-9)


class NuClassification:
    """The problem of nu-SVC.

    Minimise ``c K c / 2`` over coefficients ``c = sign * weight`` that sum to zero,
    with weights between 0 and 1 that sum to ``nu n``.
    """

    def __init__(self, fit):
        self.kernel, self.sign = fit.kernel(fit.x), np.where(fit.y == 1, 1, -1)
        self.weight = fit.settings["nu"] * len(fit.y)

    def undo_scaling(self, coef, intercept):
        """Return the solution before libsvm and kernlab divide it by its margin.

        The margin is negative where the classes cannot be told apart.
        """
        margin = self.weight / np.sum(self.sign * coef)
        return margin * coef, margin * intercept

    def is_feasible(self, coef):
        weights = self.sign * coef
        return (
            abs(coef.sum()) < 1e-9 * self.weight
            and np.min(weights) > -1e-9
            and np.max(weights) < 1 + 1e-9
        )

    def objective(self, coef):
        return coef @ self.kernel @ coef / 2

    def gap(self, coef, intercept):
        """Return the primal minus the dual value; the margin is the best one."""
        values = self.sign * (self.kernel @ coef + intercept)
        margins = values[:, np.newaxis]
        missing = np.sum(np.maximum(margins - values, 0), axis=1)
        return np.min(missing - self.weight * values) + 2 * self.objective(coef)

    def violation(self, coef):
        """Return the violation of the optimality conditions, as libsvm measures it."""
        gradient, weights = self.sign * (self.kernel @ coef), self.sign * coef
        return max(
            excess(weights[self.sign == sign], gradient[self.sign == sign], 1.0)
            for sign in (-1, 1)
        )


def solution_of(model, n_rows):
    coef = np.zeros(n_rows)
    coef[model.support_] = model.dual_coef_[0]
    return coef, model.intercept_[0]


def n_free(coef, bound):
    size = np.abs(coef)
    return np.sum((size > 1e-9 * bound) & (size < bound * (1 - 1e-9)))


def test_nu_svr_is_that_of_the_r_package(r_fits):
    """Witness: R's solution, with C the bound of each row (R's C over n).

    A violation of at most TOL leaves at most TOL times the sum of the weights to gain,
    and the intercept adds at most TOL times the bounds of the free rows.
    """
    fits = r_fits("nusvr")
    n_overlapping = 0
    for fit in fits:
        problem = NuRegression(fit)
        model = NuSVR(nu=problem.nu, C=problem.bound, gamma=fit.settings["gamma"])
        ours = solution_of(model.fit(fit.x, fit.y), len(fit.y))
        theirs = fit.dual_coef(), fit.settings["intercept"]

        for coef, intercept in (ours, theirs):
            assert problem.is_feasible(coef)
            overlapping = problem.is_overlapping(coef)
            # How the weights of both sides overlap is the solver's choice. Each side
            # is within TOL of its own threshold, and the thresholds are as close.
            assert problem.violation(coef) < (3 * TOL if overlapping else TOL)
            n_overlapping += overlapping
            limit = TOL * (problem.weight + problem.bound * n_free(coef, problem.bound))
            assert -1e-9 * problem.weight < problem.gap(coef, intercept) < limit
        assert problem.objective(ours[0]) == pytest.approx(
            problem.objective(theirs[0]), rel=0, abs=TOL * problem.weight
        )
    assert (len(fits), n_overlapping) == (24, 2)


def test_nu_svc_is_that_of_the_r_package(r_fits):
    """Witness: R's solution, in the units before both divide it by the margin."""
    fits = r_fits("nusvc")
    for fit in fits:
        problem = NuClassification(fit)
        model = NuSVC(nu=fit.settings["nu"], gamma=fit.settings["gamma"])
        model.fit(fit.x, fit.y)
        ours = problem.undo_scaling(*solution_of(model, len(fit.y)))
        theirs = problem.undo_scaling(fit.dual_coef(), fit.settings["intercept"])

        for coef, intercept in (ours, theirs):
            assert problem.is_feasible(coef)
            assert problem.violation(coef) < TOL
            limit = TOL * (problem.weight + n_free(coef, 1.0))
            assert -1e-9 * problem.weight < problem.gap(coef, intercept) < limit
        assert problem.objective(ours[0]) == pytest.approx(
            problem.objective(theirs[0]), rel=0, abs=TOL * problem.weight
        )
    assert len(fits) == 12
