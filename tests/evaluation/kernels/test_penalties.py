"""Systems that differ in a penalty against one dense solve each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvst.evaluation.kernels import _penalties as module
from cvst.evaluation.kernels._penalties import solve_for_penalties


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 30),
    n_targets=st.integers(1, 3),
    n_penalties=st.integers(1, 25),
    smallest_single=st.sampled_from([1, 1000]),
)
def test_solutions_are_those_of_dense_solves(
    seed, n, n_targets, n_penalties, smallest_single
):
    """Few penalties or many, whatever is left of the diagonal, in either precision."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    matrix = root @ root.T
    targets = rng.normal(size=(n, n_targets))
    penalties = 10.0 ** rng.uniform(-2, 3, size=n_penalties)
    expected = [
        np.linalg.solve(matrix + penalty * np.eye(n), targets).T
        for penalty in penalties
    ]
    triangle = np.triu(matrix) + np.tril(rng.normal(size=(n, n)), -1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SMALLEST_SINGLE", smallest_single)
        solutions, solved = solve_for_penalties(triangle, targets, penalties)
    assert solved.all()
    np.testing.assert_allclose(solutions, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("n_targets", [1, 3, 4])
@pytest.mark.parametrize("scale", [1e-80, 1.0, 1e80])
def test_large_systems(n_targets, scale):
    """Factorised in single precision, or in double where its digits or range end."""
    n = 360
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    matrix = scale * (basis * np.geomspace(1e-12, n, n) @ basis.T)
    targets = rng.normal(size=(n, n_targets))
    for penalty in scale * np.array([10.0, 1e-3, 1e-6]):
        expected = np.linalg.solve(matrix + penalty * np.eye(n), targets).T
        triangle = np.triu(matrix) + np.tril(np.full((n, n), np.nan), -1)
        solutions, solved = solve_for_penalties(triangle, targets, np.array([penalty]))
        assert solved.all()
        error = np.abs(solutions[0] - expected).max() / np.abs(expected).max()
        assert error <= 1e-15 * n * scale / penalty


@pytest.mark.parametrize("n_penalties", [3, 20])
def test_indefinite_systems_are_found(n_penalties):
    """Only those whose penalty is smaller than the most negative eigenvalue."""
    rng = np.random.default_rng(0)
    eigenvalues = np.array([-1.0, -0.5, 0.3, 2.0, 4.0])
    basis = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    matrix = basis * eigenvalues @ basis.T
    targets = rng.normal(size=(5, 2))
    penalties = rng.permutation(np.linspace(0.1, 2.5, n_penalties))
    solutions, solved = solve_for_penalties(matrix.copy(), targets, penalties)
    np.testing.assert_array_equal(solved, penalties > 1.0)
    for penalty, solution in zip(penalties[solved], solutions[solved], strict=True):
        expected = np.linalg.solve(matrix + penalty * np.eye(5), targets).T
        np.testing.assert_allclose(solution, expected, rtol=1e-8)
