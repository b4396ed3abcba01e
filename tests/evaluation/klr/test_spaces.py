"""Products and steps of the spaces of a kernel logistic regression, done densely."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import lapack
from sklearn.metrics.pairwise import rbf_kernel

from cvst.evaluation.klr import _spaces as module
from cvst.evaluation.klr._spaces import DualSpace, PrimalSpace

N = 80


def make_features(order):
    rng = np.random.default_rng(0)
    kernel = rbf_kernel(rng.uniform(0, 10, size=(N, 1)), gamma=0.3)
    values, vectors = np.linalg.eigh(kernel)
    features = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return features[::order]


def dense_system(features, curvatures, alpha):
    return (features * curvatures) @ features.T + alpha * np.eye(len(features))


@pytest.mark.parametrize("order", [-1, 1], ids=["descending", "ascending"])
@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 1.0, 1e3])
def test_the_error_of_a_step_in_features_is_known(order, alpha):
    """In the norm of the objective, and it is a small part of the step."""
    features = make_features(order)
    rng = np.random.default_rng(1)
    curvatures = rng.uniform(0.0, 0.5, size=N)
    theta, residuals = 0.1 * rng.normal(size=N), rng.normal(size=N)
    space = PrimalSpace(features)
    assert space.factorise(curvatures, alpha)

    step, decisions, error = space.step(theta, residuals, alpha, 0.0)

    system = dense_system(features, curvatures, alpha)
    exact = np.linalg.solve(system, features @ residuals - alpha * theta)
    missing = step - exact
    length = np.sqrt(exact @ system @ exact)
    assert np.sqrt(missing @ system @ missing) <= error + 1e-9 * length
    assert error <= 1e-2 * length
    np.testing.assert_allclose(decisions, step @ features, rtol=0, atol=1e-10)


def test_features_that_hardly_matter_are_not_factorised(monkeypatch):
    """The larger the penalty, the fewer; without a penalty, none is left out."""
    sizes = []

    class Counting:
        @staticmethod
        def dpotrf(system, **options):
            sizes.append(len(system))
            return lapack.dpotrf(system, **options)

    monkeypatch.setattr(module, "lapack", Counting)
    space = PrimalSpace(make_features(-1))
    for alpha in (1e6, 1e-1, 1e-5, 1e-30):
        space.factorise(np.full(N, 0.25), alpha)
    assert sizes[0] == 1
    assert sizes == sorted(set(sizes))
    # Some eigenvalues are zero.
    assert sizes[-1] == np.count_nonzero(make_features(-1).any(axis=1))


@pytest.mark.parametrize("n_rows", [0, 1, 3, 4, 5, 9])
def test_any_number_of_products(n_rows):
    """One by one or all at once, they are those of the matrix."""
    rng = np.random.default_rng(0)
    kernel = rbf_kernel(rng.normal(size=(N, 2)))
    thetas = rng.normal(size=(n_rows, N))
    products = DualSpace(kernel).decisions(thetas)
    assert products.shape == thetas.shape
    np.testing.assert_allclose(products, thetas @ kernel, rtol=0, atol=1e-12)
