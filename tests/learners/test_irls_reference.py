"""The iteration of the R package against its numbers, and ours against it.

This is the one place where coefficients of another machine are compared: both sides
take the same steps, so that they differ by rounding alone. Linear systems blow that up
by their condition, here to 2e-10 of the largest coefficient (ARM64 against x86-64).
"""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from cvst.learners._irls import solve_irls


@pytest.fixture(scope="module")
def overflow():
    path = Path(__file__).parent / "reference" / "r_overflow.json"
    return json.loads(path.read_text(encoding="utf-8"))


def problem_of(stored, n_train):
    x = np.array(stored["x"])
    kernel = np.exp(-stored["gamma"] * (x[:, np.newaxis] - x[:n_train]) ** 2)
    return kernel, np.array(stored["y"]) == 1, n_train * stored["lambda"]


def test_every_number_of_the_r_package_is_repeated(r_fits, solve_as_in_r):
    """Witness: its coefficients, probabilities and labels."""
    for fit in r_fits("klr"):
        result = solve_as_in_r(
            fit.kernel(fit.x),
            fit.y == 1,
            alpha=len(fit.y) * fit.settings["lambda"],
            tol=fit.settings["tol"],
            max_iter=fit.settings["maxiter"],
        )
        probability = expit(fit.kernel(fit.x_test) @ result.coefficients)

        assert result.converged
        np.testing.assert_allclose(
            result.coefficients, fit.settings["alpha"], rtol=1e-8, atol=1e-9
        )
        np.testing.assert_allclose(probability, fit.settings["probability"], atol=1e-9)
        # Far from all training rows probabilities are 1/2 up to rounding.
        sure = np.abs(probability - 0.5) > 1e-8
        label = np.array(fit.settings["label"])
        assert np.mean(sure) > 0.5
        np.testing.assert_array_equal(probability[sure] >= 0.5, label[sure])


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

    def violation(result):
        residuals = y[:72] - expit(train @ result.coefficients)
        return np.max(np.abs(residuals - alpha * result.coefficients))

    assert (reference.converged, sound.converged) == (False, True)
    assert violation(sound) < 1e-6 < violation(reference)


def test_the_limit_of_iterations_keeps_the_old_coefficients(solve_as_in_r):
    """With one iteration that is the start."""
    result = solve_as_in_r(np.eye(4), np.array([1, 1, 0, 0], bool), 0.1, max_iter=1)

    assert (result.n_iter, result.converged) == (1, False)
    np.testing.assert_array_equal(result.coefficients, 0.25)
