"""The iteration of the R package against its numbers, and ours against it."""

import json
from pathlib import Path

import numpy as np
import pytest
from logistic_minimum import objective, violation

from cvst.learners._irls import solve_irls


@pytest.fixture(scope="module")
def overflow():
    path = Path(__file__).parent / "reference" / "r_overflow.json"
    return json.loads(path.read_text(encoding="utf-8"))


def problem_of(stored, n_train):
    x = np.array(stored["x"])
    kernel = np.exp(-stored["gamma"] * (x[:, np.newaxis] - x[:n_train]) ** 2)
    return kernel, np.array(stored["y"]) == 1, n_train * stored["lambda"]


def test_the_iteration_ends_where_the_r_package_does(r_fits, solve_as_in_r):
    """Witness: its coefficients, by their objective and derivative, not predictions.

    Both take the same steps and stop before the same one, so that what is left of the
    derivative is the same but for a thousandth of the tolerance.
    """
    for fit in r_fits("klr"):
        problem = fit.kernel(fit.x), fit.y == 1, len(fit.y) * fit.settings["lambda"]
        theirs, tol = np.array(fit.settings["alpha"]), fit.settings["tol"]

        result = solve_as_in_r(*problem, tol=tol, max_iter=fit.settings["maxiter"])

        assert result.converged
        assert objective(result.coefficients, *problem) == pytest.approx(
            objective(theirs, *problem), rel=1e-12
        )
        left = violation(result.coefficients, *problem)
        np.testing.assert_allclose(left, violation(theirs, *problem), atol=tol / 1000)


def test_errors_of_the_r_package_are_repeated_even_where_it_overflows(
    overflow, solve_as_in_r
):
    """Witness: its mean errors on growing subsets.

    No decision is so close to zero that rounding could turn a label: noise of 1e-9 in
    the kernel moves none by more than 1e-5.
    """
    converged = []
    for n_train, expected in zip(overflow["n"], overflow["mean_error"], strict=True):
        kernel, y, alpha = problem_of(overflow, n_train)

        result = solve_as_in_r(kernel[:n_train], y[:n_train], alpha)

        decision = kernel[n_train:] @ result.coefficients
        assert np.min(np.abs(decision)) > 1e-2
        assert np.mean((decision > 0) != y[n_train:]) == pytest.approx(
            expected, abs=1e-9
        )
        converged.append(result.converged)
    assert not all(converged)


def test_the_sound_solver_finds_the_minimum_where_the_reference_overflows(
    overflow, solve_as_in_r
):
    """Witness: the residuals are alpha times the coefficients at the minimum."""
    kernel, y, alpha = problem_of(overflow, 72)
    train = kernel[:72]

    reference = solve_as_in_r(train, y[:72], alpha)
    sound = solve_irls(train, y[:72], alpha)

    off, near = (
        np.max(np.abs(violation(result.coefficients, train, y[:72], alpha)))
        for result in (reference, sound)
    )
    assert (reference.converged, sound.converged) == (False, True)
    assert near < 1e-6 < off


def test_the_limit_of_iterations_keeps_the_old_coefficients(solve_as_in_r):
    """With one iteration that is the start."""
    result = solve_as_in_r(np.eye(4), np.array([1, 1, 0, 0], bool), 0.1, max_iter=1)

    assert (result.n_iter, result.converged) == (1, False)
    np.testing.assert_array_equal(result.coefficients, 0.25)
