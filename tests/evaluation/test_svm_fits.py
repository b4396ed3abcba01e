"""Which solver fits a machine, and that nobody can tell which one it was."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from cvst._sklearn_compat import libsvm_fit
from cvst.evaluation import _svm_fits
from cvst.evaluation._svm_fits import SvmFits, has_compiled_solver

SETTINGS = {
    "svm_type": 4,
    "class_weight": np.empty(0),
    "tol": 1e-3,
    "C": 2.0,
    "nu": 0.4,
    "epsilon": 0.0,
    "shrinking": 1,
    "max_iter": -1,
    "cache_size": 100.0,
}


@pytest.fixture
def curve():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    targets = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=50)
    return rbf_kernel(X, gamma=1.0), targets, np.ones(50)


@pytest.mark.parametrize("has_numba", [False, True])
def test_both_solvers_fit_the_same_machine(curve, monkeypatch, has_numba):
    """Without numba libsvm does it, called as scikit-learn calls it."""
    if has_numba:
        pytest.importorskip("numba", exc_type=ImportError)
        monkeypatch.setattr(_svm_fits, "libsvm_fit", None)
    else:
        monkeypatch.setattr(_svm_fits, "has_compiled_solver", lambda: False)
    matrix, targets, weights = curve
    model = SvmFits(matrix, targets, weights, is_classifier=False).fit(**SETTINGS)
    expected = libsvm_fit(matrix, targets, sample_weight=weights, **SETTINGS)
    np.testing.assert_array_equal(model.dual_coef, expected.dual_coef)
    np.testing.assert_array_equal(model.intercept, expected.intercept)


def test_infeasible_shares_are_refused_by_libsvm(curve):
    """In its own words."""
    matrix, _, weights = curve
    labels = np.array([0.0] * 45 + [1.0] * 5)
    fits = SvmFits(matrix, labels, weights, is_classifier=True)
    with pytest.raises(ValueError, match="specified nu is infeasible"):
        fits.fit(**{**SETTINGS, "svm_type": 1, "nu": 0.9})


@pytest.mark.parametrize("largest", [1e99, 1e101])
def test_huge_targets_are_left_to_libsvm(curve, largest):
    """They might overflow on the way."""
    pytest.importorskip("numba", exc_type=ImportError)
    matrix, targets, weights = curve
    fits = SvmFits(matrix, targets * largest, weights, is_classifier=False)
    assert (fits._kernel is None) == (np.abs(targets * largest).max() > 1e100)


def test_numba_is_found_where_it_is_installed():
    """So that no test above is passed by libsvm alone."""
    pytest.importorskip("numba", exc_type=ImportError)
    assert has_compiled_solver()
