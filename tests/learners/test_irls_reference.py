import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from cvst.learners import solve_irls, solve_irls_reference


@pytest.fixture(scope="module")
def overflow():
    path = Path(__file__).parent / "reference" / "r_overflow.json"
    return json.loads(path.read_text(encoding="utf-8"))


def problem_of(stored, n_train):
    x = np.array(stored["x"])
    kernel = np.exp(-stored["gamma"] * (x[:, np.newaxis] - x[:n_train]) ** 2)
    return kernel, np.array(stored["y"]) == 1, n_train * stored["lambda"]


def test_every_number_of_the_r_package_is_repeated(r_fits):
    """Witness: its coefficients, probabilities and labels."""
    for fit in r_fits("klr"):
        result = solve_irls_reference(
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
        np.testing.assert_array_equal(probability >= 0.5, fit.settings["label"])


def test_errors_of_the_r_package_are_repeated_even_where_it_overflows(overflow):
    """Witness: its mean errors on growing subsets."""
    converged = []
    for n_train, expected in zip(overflow["n"], overflow["mean_error"], strict=True):
        kernel, y, alpha = problem_of(overflow, n_train)

        result = solve_irls_reference(kernel[:n_train], y[:n_train], alpha)

        predicted = expit(kernel[n_train:] @ result.coefficients) >= 0.5
        assert np.mean(predicted != y[n_train:]) == pytest.approx(expected, abs=1e-9)
        converged.append(result.converged)
    assert not all(converged)


def test_the_sound_solver_finds_the_minimum_where_the_reference_overflows(overflow):
    """Witness: the residuals are alpha times the coefficients at the minimum."""
    kernel, y, alpha = problem_of(overflow, 72)
    train = kernel[:72]

    reference = solve_irls_reference(train, y[:72], alpha)
    sound = solve_irls(train, y[:72], alpha)

    def violation(result):
        residuals = y[:72] - expit(train @ result.coefficients)
        return np.max(np.abs(residuals - alpha * result.coefficients))

    assert (reference.converged, sound.converged) == (False, True)
    assert violation(sound) < 1e-6 < violation(reference)


def test_the_limit_of_iterations_keeps_the_old_coefficients():
    """With one iteration that is the start."""
    result = solve_irls_reference(
        np.eye(4), np.array([1, 1, 0, 0], bool), 0.1, max_iter=1
    )

    assert (result.n_iter, result.converged) == (1, False)
    np.testing.assert_array_equal(result.coefficients, 0.25)
