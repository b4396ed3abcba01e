import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logistic_minimum import objective, violation
from scipy.optimize import minimize
from scipy.special import expit

from cvst.learners._irls import solve_irls


def gaussian_problem(n_samples, gamma, seed=0, noise=0.25):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10 * np.pi, n_samples)
    y = np.sin(x) + noise * rng.normal(size=n_samples) >= 0
    return np.exp(-gamma * (x[:, np.newaxis] - x) ** 2), y


def test_the_minimum_is_that_of_the_r_package(r_fits):
    """Witness: its coefficients, by their objective and derivative, not predictions.

    The objective is strongly convex in the norm of the kernel. So what the package's
    stopping rule leaves of the derivative bounds how far it is above the minimum.
    """
    for fit in r_fits("klr"):
        alpha = len(fit.y) * fit.settings["lambda"]
        problem = fit.kernel(fit.x), fit.y == 1, alpha
        theirs = np.array(fit.settings["alpha"])

        result = solve_irls(*problem)

        assert result.converged
        assert np.max(np.abs(violation(result.coefficients, *problem))) < 1e-9
        left = violation(theirs, *problem)
        assert np.max(np.abs(left)) <= fit.settings["tol"] * max(1, alpha)
        minimum = objective(result.coefficients, *problem)
        above = objective(theirs, *problem) - minimum
        rounding = 1e-13 * minimum
        assert -rounding <= above <= left @ problem[0] @ left / (2 * alpha) + rounding


def test_a_general_optimiser_finds_no_better_coefficients():
    """Witness: scipy's BFGS on the objective as printed."""
    kernel, y = gaussian_problem(25, gamma=1.0)

    result = solve_irls(kernel, y, alpha=0.5)

    best = minimize(
        objective, np.zeros(25), args=(kernel, y, 0.5), options={"gtol": 1e-8}
    )
    assert objective(result.coefficients, kernel, y, 0.5) <= best.fun + 1e-10
    np.testing.assert_allclose(kernel @ result.coefficients, kernel @ best.x, atol=1e-4)


@settings(deadline=None, max_examples=60)
@given(
    n_samples=st.integers(2, 60),
    log_gamma=st.floats(-3, 3),
    log_alpha=st.floats(-5, 5),
    seed=st.integers(0, 99),
)
def test_the_residuals_are_alpha_times_the_coefficients(
    n_samples, log_gamma, log_alpha, seed
):
    """Witness: the derivative of the objective vanishes exactly there."""
    kernel, y = gaussian_problem(n_samples, 10**log_gamma, seed)
    alpha = 10**log_alpha

    result = solve_irls(kernel, y, alpha)

    residuals = y - expit(kernel @ result.coefficients)
    assert result.converged
    np.testing.assert_allclose(alpha * result.coefficients, residuals, atol=1e-6)


def test_the_start_does_not_matter():
    """Witness: the problem is convex."""
    kernel, y = gaussian_problem(40, gamma=1.0)
    start = np.random.default_rng(1).normal(size=40)

    here = solve_irls(kernel, y, 0.1)
    there = solve_irls(kernel, y, 0.1, start=start)
    again = solve_irls(kernel, y, 0.1, start=here.coefficients)

    np.testing.assert_allclose(here.coefficients, there.coefficients, atol=1e-9)
    assert again.n_iter == 1


def test_the_last_step_is_taken():
    """It is already paid for, and squares the error that tol left."""
    kernel, y = gaussian_problem(40, gamma=1.0)
    exact = solve_irls(kernel, y, 1.0, tol=1e-12).coefficients

    coarse = solve_irls(kernel, y, 1.0, tol=1e-2).coefficients

    assert np.max(np.abs(coarse - exact)) < 1e-5


@pytest.mark.parametrize("alpha", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("gamma", [0.01, 0.1, 1.0])
def test_full_newton_steps_that_overshoot_are_shortened(gamma, alpha):
    """Some of these problems defeat the plain iteration; the derivative must vanish."""
    kernel, y = gaussian_problem(90, gamma)

    result = solve_irls(kernel, y, alpha)

    assert result.converged
    residuals = y - expit(kernel @ result.coefficients)
    # Projected on the kernel: what lies outside of it does not change the model.
    slope = kernel @ (residuals - alpha * result.coefficients)
    assert np.max(np.abs(slope)) < 1e-4


def test_rounding_error_does_not_keep_the_iteration_going():
    """Coefficients near 1 / alpha have rounding errors above tol."""
    kernel, y = gaussian_problem(90, gamma=1e-3)

    result = solve_irls(kernel, y, alpha=9e-6, tol=1e-9)

    assert np.max(np.abs(result.coefficients)) > 1e4
    assert result.converged
    assert result.n_iter < 20


@pytest.mark.parametrize("alpha", [1e-3, 1e-6, 1e-12])
def test_separable_classes_with_hardly_any_penalty_do_not_overflow(alpha):
    """No floating point error, and every row on its side."""
    x = np.concatenate([np.linspace(-2, -1, 20), np.linspace(1, 2, 20)])
    kernel = np.exp(-((x[:, np.newaxis] - x) ** 2))

    with np.errstate(over="raise", invalid="raise", divide="raise"):
        result = solve_irls(kernel, x > 0, alpha)

    assert np.all(np.isfinite(result.coefficients))
    np.testing.assert_array_equal(kernel @ result.coefficients > 0, x > 0)


def test_a_start_far_on_the_wrong_side_is_recovered_from():
    """Where slopes vanish in double precision the plain iteration divides by 0."""
    kernel, y = gaussian_problem(30, gamma=1.0)
    start = np.where(y, -1e4, 1e4)

    with np.errstate(over="raise", invalid="raise", divide="raise"):
        result = solve_irls(kernel, y, 1.0, start=start)

    expected = solve_irls(kernel, y, 1.0).coefficients
    np.testing.assert_allclose(result.coefficients, expected, atol=1e-6)


def test_kernels_with_large_values_converge_too():
    """A linear kernel of data far from the origin."""
    X = np.random.default_rng(0).normal(loc=100, size=(100, 2))
    y = np.arange(100) % 2 == 0

    result = solve_irls(X @ X.T, y, alpha=1e-3)

    assert result.converged
    assert result.n_iter < 20


def test_integer_weights_are_repetitions():
    """Witness: the same rows written several times; coefficients add up."""
    kernel, y = gaussian_problem(30, gamma=1.0)
    counts = np.random.default_rng(2).integers(0, 4, size=30)
    rows = np.repeat(np.arange(30), counts)

    weighted = solve_irls(kernel, y, 0.1, tol=1e-10, sample_weight=counts.astype(float))
    repeated = solve_irls(
        np.ascontiguousarray(kernel[np.ix_(rows, rows)]), y[rows], 0.1, tol=1e-10
    )

    expected = np.bincount(rows, repeated.coefficients, minlength=30)
    np.testing.assert_allclose(weighted.coefficients, expected, atol=1e-8)


def test_the_limit_of_iterations_is_respected_and_reported():
    """Two steps are too few here."""
    kernel, y = gaussian_problem(40, gamma=1.0)

    result = solve_irls(kernel, y, 1e-3, max_iter=2)

    assert (result.n_iter, result.converged) == (2, False)


def test_an_indefinite_matrix_is_refused():
    """It is not a kernel, and the problem has no solution."""
    with pytest.raises(np.linalg.LinAlgError, match=r"alpha=0\.1"):
        solve_irls(-np.eye(3), np.array([True, False, True]), 0.1)


def test_the_arguments_stay_untouched():
    """The kernel is shared by many fits."""
    kernel, y = gaussian_problem(20, gamma=1.0)
    before, start = kernel.copy(), np.zeros(20)

    solve_irls(kernel, y, 0.1, start=start)

    np.testing.assert_array_equal(kernel, before)
    np.testing.assert_array_equal(start, 0)
