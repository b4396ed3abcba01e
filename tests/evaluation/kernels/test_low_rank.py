"""Features of smooth kernels reproduce the kernel, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from cvst.evaluation import Scratch
from cvst.evaluation.kernels import _low_rank as low_rank_module
from cvst.evaluation.kernels._functions import Kernel
from cvst.evaluation.kernels._low_rank import low_rank_features
from cvst.evaluation.kernels._rows import PairedRows, dense_rows

# The stated residual and as much again for the rounding of the products.
TOLERANCE = 2 * low_rank_module.LARGEST_RESIDUAL


def make_look(n_features=1, kind="distinct", scratch=None):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(200, n_features))
    if kind == "duplicated":
        X = X[rng.integers(0, 30, size=200)]
    rows = dense_rows(X)
    return PairedRows(rows, slice(0, 120), slice(120, 200), scratch or Scratch())


@pytest.mark.parametrize("gamma", [0.0, 1e-3, 1.0, 20.0])
@pytest.mark.parametrize("n_features", [1, 2])
@pytest.mark.parametrize("kind", ["distinct", "duplicated"])
def test_inner_products_are_the_kernel(gamma, n_features, kind):
    """For all rows of the race, those of the test set included."""
    look = make_look(n_features, kind)
    features = low_rank_features(look, Kernel("rbf", gamma), highest_rank=200)
    np.testing.assert_allclose(
        features.T @ features, rbf_kernel(look.rows.X, gamma=gamma), atol=TOLERANCE
    )


def test_the_rank_is_no_higher_than_it_must_be():
    """The eigenvalues say how many features are needed."""
    look = make_look()
    features = low_rank_features(look, Kernel("rbf", 1.0), highest_rank=60)
    eigenvalues = np.linalg.eigvalsh(rbf_kernel(look.rows.X, gamma=1.0))
    needed = np.sum(eigenvalues > len(look.rows.X) * TOLERANCE)
    assert needed <= len(features) <= needed + 6


def test_a_later_look_adds_features_to_those_it_finds():
    """A limit that was too low does not stand in the way of a higher one."""
    scratch = Scratch()
    kernel = Kernel("rbf", 5.0)
    assert low_rank_features(make_look(scratch=scratch), kernel, 5) is None
    features = low_rank_features(make_look(scratch=scratch), kernel, 60)
    fresh = low_rank_features(make_look(), kernel, 60)
    np.testing.assert_array_equal(features, fresh)


def test_narrower_kernels_are_not_tried_in_vain():
    """The rank grows as the kernel narrows."""
    scratch = Scratch()
    look = make_look(scratch=scratch)
    assert low_rank_features(look, Kernel("rbf", 1.0), 5) is None
    assert low_rank_features(look, Kernel("rbf", 2.0), 5) is None
    factors = scratch.get("low-rank kernels", dict)
    assert list(factors._factors) == [1.0]
    assert low_rank_features(look, Kernel("rbf", 1e-4), 5) is not None


def test_nothing_is_kept_beyond_the_limit(monkeypatch):
    """Features are computed anew where they would take too much memory."""
    monkeypatch.setattr(low_rank_module, "LARGEST_CACHE_BYTES", 0)
    look = make_look()
    once = low_rank_features(look, Kernel("rbf", 1.0), 60)
    again = low_rank_features(look, Kernel("rbf", 1.0), 60)
    assert once is not again
    np.testing.assert_array_equal(once, again)


def test_the_linear_kernel_has_the_features_of_the_data():
    """As long as they are few."""
    look = make_look(n_features=3)
    np.testing.assert_array_equal(
        low_rank_features(look, Kernel("linear"), 3), look.rows.X.T
    )
    assert low_rank_features(look, Kernel("linear"), 2) is None
    assert low_rank_features(look, Kernel("laplacian", 1.0), 60) is None
