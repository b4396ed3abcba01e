"""Factorised in single precision, solved in double: against dense solves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvst.evaluation.kernels import _penalties as _kernel_penalties
from cvst.evaluation.kernels import _preconditioned as _kernel_preconditioned
from cvst.evaluation.kernels._preconditioned import (
    SingleFactor,
    conjugate_gradients,
    is_fast_in_single,
)
from cvst.evaluation.klr._iteration import dual_space


def make_system(rng, n, condition):
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return basis * np.geomspace(1.0, condition, n) @ basis.T


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 60),
    condition=st.sampled_from([1.0, 1e2, 1e5]),
    scale=st.sampled_from([1e-60, 1.0, 1e60]),
)
def test_few_rounds_are_as_exact_as_a_dense_solve(seed, n, condition, scale):
    """Whatever the size of the numbers, and whatever is above the diagonal."""
    rng = np.random.default_rng(seed)
    matrix = make_system(rng, n, condition)
    roots = rng.uniform(0.5, 2.0, size=n)
    system = roots[:, None] * matrix * roots + np.eye(n)
    forces = scale * rng.normal(size=n)
    anything = np.triu(np.full((n, n), np.nan), 1)
    factor = SingleFactor(np.asfortranarray(np.tril(matrix) + anything))
    assert factor.factorise(roots)
    found = conjugate_gradients(
        system.__matmul__,
        factor.solve,
        forces,
        lambda found: found.error <= 1e-13 * scale,
        12,
    )
    expected = np.linalg.solve(system, forces)
    np.testing.assert_allclose(found.x, expected, rtol=1e-9, atol=1e-11 * scale)
    np.testing.assert_allclose(
        found.residuals, forces - system @ found.x, atol=1e-8 * scale
    )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 60))
def test_the_error_is_that_of_the_norm_of_the_system(seed, n):
    """After any round, with the system itself as preconditioner up to seven digits."""
    rng = np.random.default_rng(seed)
    system = make_system(rng, n, 1e3) + np.eye(n)
    factor = SingleFactor(np.asfortranarray(system - np.eye(n)))
    assert factor.factorise(1.0)
    forces = rng.normal(size=n)
    found = conjugate_gradients(
        system.__matmul__, factor.solve, forces, lambda _: True, 1
    )
    missing = np.linalg.solve(system, forces) - found.x
    assert found.error == pytest.approx(np.sqrt(missing @ system @ missing), rel=1e-2)


def test_a_scalar_is_a_root_for_all():
    """The same factor as with a root for each row."""
    rng = np.random.default_rng(0)
    matrix = np.asfortranarray(make_system(rng, 20, 10.0))
    one, many = SingleFactor(matrix), SingleFactor(matrix)
    assert one.factorise(3.0)
    assert many.factorise(np.full(20, 3.0))
    forces = rng.normal(size=20)
    np.testing.assert_allclose(one.solve(forces), many.solve(forces), rtol=1e-4)


@pytest.mark.parametrize(
    "matrix", [np.diag([1.0, -3.0]), np.full((2, 2), 1e60)], ids=["sign", "range"]
)
def test_what_cannot_be_factorised_says_so(matrix):
    """Indefinite, or beyond the range of single precision."""
    assert not SingleFactor(np.asfortranarray(matrix)).factorise(1.0)


def test_rounds_that_do_not_suffice():
    """A preconditioner that knows nothing of a bad condition."""
    system = make_system(np.random.default_rng(0), 40, 1e8)
    found = conjugate_gradients(
        system.__matmul__,
        np.copy,
        np.ones(40),
        lambda found: np.abs(found.residuals).max() < 1e-9,
        10,
    )
    assert found is None


def test_no_forces_no_rounds():
    """Zero is the solution."""
    factor = SingleFactor(np.eye(3, order="F"))
    assert factor.factorise(1.0)
    found = conjugate_gradients(np.copy, factor.solve, np.zeros(3), lambda _: False, 0)
    assert found.x.tolist() == [0.0, 0.0, 0.0]
    assert found.n_rounds == 0


@pytest.mark.parametrize("useless", [np.zeros_like, lambda x: np.full_like(x, np.nan)])
def test_a_useless_preconditioner_finds_nothing(useless):
    """Rather than a wrong solution."""
    found = conjugate_gradients(np.copy, useless, np.ones(3), lambda _: True, 5)
    assert found is None


def test_as_many_rounds_as_eigenvalues():
    """Steps along the residuals alone would take hundreds."""
    system = np.diag(np.tile([1.0, 3.0, 10.0, 30.0, 100.0], 8))
    forces = np.arange(1.0, 41.0)
    found = conjugate_gradients(
        system.__matmul__,
        np.copy,
        forces,
        lambda found: np.abs(found.residuals).max() < 1e-9,
        5,
    )
    np.testing.assert_allclose(found.x, forces / system.diagonal(), rtol=1e-9)


@pytest.mark.parametrize(("machine", "is_slow"), [("x86_64", True), ("aarch64", False)])
def test_narrow_kernels_are_not_factorised_below_the_range(
    monkeypatch, machine, is_slow
):
    """Some processors take far longer there; zeros do no harm."""
    monkeypatch.setattr(_kernel_preconditioned.platform, "machine", lambda: machine)
    distances = np.abs(np.subtract.outer(np.arange(40.0), np.arange(40.0)))
    assert is_fast_in_single(np.exp(-0.5 * distances))
    assert is_fast_in_single(np.eye(40))
    assert is_fast_in_single(np.exp(-4.0 * distances)) != is_slow


def test_both_regressions_ask_before_they_factorise_in_single(monkeypatch):
    """Kernel ridge and kernel logistic regression, with rows enough for it."""
    monkeypatch.setattr(_kernel_preconditioned.platform, "machine", lambda: "x86_64")
    distances = np.abs(np.subtract.outer(np.arange(400.0), np.arange(400.0)))
    wide, narrow = np.exp(-0.01 * distances), np.exp(-4.0 * distances)
    assert dual_space(wide).is_iterative
    assert not dual_space(narrow).is_iterative
    asked = []
    monkeypatch.setattr(_kernel_penalties, "_Iteration", asked.append)
    _kernel_penalties._by_factorisations(narrow, np.ones((400, 1)), np.ones(1))
    assert asked == []
