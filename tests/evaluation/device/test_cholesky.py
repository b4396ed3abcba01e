"""Stacks of systems against SciPy, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from cvst.evaluation.device import _cholesky, factorised


def systems(n_matrices, n, seed=0):
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((n_matrices, n, n))
    return roots @ roots.swapaxes(1, 2) + 0.1 * np.eye(n)


@pytest.mark.parametrize(
    ("n", "block"),
    [(1, 8), (7, 8), (8, 8), (9, 8), (21, 8), (21, 128), (96, 128), (140, 64)],
)
def test_solutions_are_those_of_scipy(arrays, n, block):
    """Whatever the size is to the block: smaller, equal, a multiple or none."""
    matrices = systems(3, n)
    right = np.random.default_rng(1).standard_normal((3, n, 2))
    expected = [
        linalg.solve(a, b, assume_a="pos") for a, b in zip(matrices, right, strict=True)
    ]

    factor = factorised(arrays, arrays.put(matrices.copy()), block)
    solved = factor.solve(arrays.put(right.copy()))

    assert not arrays.fetch(factor.failed).any()
    np.testing.assert_allclose(arrays.fetch(solved), expected, rtol=1e-8)


def test_what_is_right_of_the_diagonal_is_not_read(arrays):
    matrices = systems(2, 20)
    right = np.ones((2, 20, 1))
    expected = factorised(arrays, arrays.put(matrices.copy()), 8)
    spoilt = np.tril(matrices) + np.triu(np.full((20, 20), 7.0), 1)

    factor = factorised(arrays, arrays.put(spoilt), 8)

    np.testing.assert_allclose(
        arrays.fetch(factor.solve(arrays.put(right.copy()))),
        arrays.fetch(expected.solve(arrays.put(right.copy()))),
        rtol=1e-12,
    )


@pytest.mark.parametrize("row", [2, 12])
def test_one_failure_leaves_the_others_alone(arrays, row):
    """In whichever block the matrix turns out to be indefinite."""
    matrices = systems(3, 20)
    matrices[1, row, row] = -1.0
    right = np.ones((3, 20, 1))

    with np.errstate(all="ignore"):
        factor = factorised(arrays, arrays.put(matrices.copy()), 8)
        solved = arrays.fetch(factor.solve(arrays.put(right.copy())))

    assert arrays.fetch(factor.failed).tolist() == [False, True, False]
    for place in (0, 2):
        expected = linalg.solve(matrices[place], right[place], assume_a="pos")
        np.testing.assert_allclose(solved[place], expected, rtol=1e-8)


def test_a_few_large_systems_are_left_to_the_library(arrays, monkeypatch):
    """The same solutions, and a failure of one leaves the other alone."""
    monkeypatch.setattr(_cholesky, "FEWEST_ROWS", 20)
    matrices = systems(2, 20)
    matrices[1, 12, 12] = -1.0
    right = np.random.default_rng(1).standard_normal((2, 20, 2))
    blocks = []
    monkeypatch.setattr(_cholesky, "_inverse", lambda *_: blocks.append(1))

    with np.errstate(all="ignore"):
        factor = factorised(arrays, arrays.put(matrices.copy()), 8)
        solved = arrays.fetch(factor.solve(arrays.put(right.copy())))

    assert blocks == []
    assert arrays.fetch(factor.failed).tolist() == [False, True]
    expected = linalg.solve(matrices[0], right[0], assume_a="pos")
    np.testing.assert_allclose(solved[0], expected, rtol=1e-8)
