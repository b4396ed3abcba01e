"""Kernels computed from shared distances against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from cvst.evaluation import Scratch
from cvst.evaluation.kernels import _matrices as matrices_module
from cvst.evaluation.kernels import _rows as rows_module
from cvst.evaluation.kernels._functions import Kernel, KernelKey
from cvst.evaluation.kernels._matrices import KernelMatrices
from cvst.evaluation.kernels._rows import PairedRows, dense_rows

KERNELS = [
    Kernel("linear"),
    Kernel("poly", 0.3, 3, 1.0),
    Kernel("rbf", 0.3),
    Kernel("rbf", 60.0),
    Kernel("rbf", 0.0),
    Kernel("laplacian", 0.3),
    Kernel("laplacian", 60.0),
    Kernel("sigmoid", 0.3, 0, 0.5),
]


def make_rows(n_rows=90, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 3)) + 1.0


def look(X, train, test, scratch=None):
    return PairedRows(dense_rows(X), train, test, scratch or Scratch())


def expected(kernel, A, B):
    params = {"gamma": kernel.gamma, "degree": kernel.degree, "coef0": kernel.coef0}
    return pairwise_kernels(A, B, metric=kernel.name, filter_params=True, **params)


def assert_matrices(kernel, kind, rows):
    """Compare both matrices of a look with scikit-learn's, to rounding errors."""
    matrices = KernelMatrices(rows, kernel, kind)
    A, B = rows.train_inputs, rows.test_inputs
    tolerance = {"rtol": 1e-11, "atol": 1e-13}
    np.testing.assert_allclose(matrices.train(), expected(kernel, A, A), **tolerance)
    triangle = np.triu(matrices.train(triangle=True))
    np.testing.assert_allclose(triangle, np.triu(expected(kernel, A, A)), **tolerance)
    cross = np.empty((rows.n_train, rows.n_test))
    for block, values in matrices.cross():
        cross[:, block] = values
    np.testing.assert_allclose(cross, expected(kernel, A, B), **tolerance)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("bytes_left", [0, 60_000, 2**28])
def test_matrices_of_nested_looks(monkeypatch, kernel, bytes_left):
    """Whether a race may keep all, some or no tables, looks see the same kernel."""
    monkeypatch.setattr(rows_module, "LARGEST_TABLE_BYTES", bytes_left)
    monkeypatch.setattr(rows_module, "LARGEST_BLOCK_BYTES", 8_000)
    monkeypatch.setattr(matrices_module, "LARGEST_CACHE_BYTES", bytes_left)
    X = make_rows()
    scratch = Scratch()
    kinds = [kernel.pairs, "squared libsvm"] if kernel.name == "rbf" else [kernel.pairs]
    for n_train in (20, 70, 80, 35):
        for kind in kinds:
            rows = look(X, slice(0, n_train), slice(n_train, 90), scratch)
            assert_matrices(kernel, kind, rows)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("bytes_left", [0, 60_000, 2**28])
def test_matrices_of_folds(monkeypatch, kernel, bytes_left):
    """Rows of a look may come in any order, before and after nested looks."""
    monkeypatch.setattr(rows_module, "LARGEST_TABLE_BYTES", bytes_left)
    monkeypatch.setattr(rows_module, "LARGEST_BLOCK_BYTES", 8_000)
    monkeypatch.setattr(matrices_module, "LARGEST_CACHE_BYTES", bytes_left)
    X, scratch = make_rows(), Scratch()
    order = np.random.default_rng(1).permutation(90)
    parts = [(order[:70], order[70:]), (slice(0, 40), slice(40, 90))]
    for train, test in (*parts, (order[20:], order[:20]), *parts):
        assert_matrices(kernel, kernel.pairs, look(X, train, test, scratch))


def test_folds_share_the_kernel_of_the_race(monkeypatch):
    """The second fold needs no value that the first one has not computed."""
    X, scratch, kernel = make_rows(), Scratch(), Kernel("rbf", 0.5)
    order = np.random.default_rng(1).permutation(90)
    folds = [(order[:70], order[70:]), (order[20:], order[:20])]
    first, second = (look(X, *fold, scratch) for fold in folds)
    assert_matrices(kernel, kernel.pairs, first)
    monkeypatch.setattr(Kernel, "of", None)
    monkeypatch.setattr(Kernel, "upper_triangle", None)
    assert_matrices(kernel, kernel.pairs, second)


@pytest.mark.parametrize("train", [slice(0, 60), np.arange(60)], ids=["slice", "rows"])
@pytest.mark.parametrize(
    "test", [slice(60, 90), np.arange(60, 90)], ids=["slice", "rows"]
)
def test_what_is_done_to_a_matrix_stays_with_it(train, test):
    """Solvers overwrite the matrix of a look, not the table that it was cut from."""
    kernel = Kernel("rbf", 0.5)
    rows = look(make_rows(), train, test)
    matrix = KernelMatrices(rows, kernel, kernel.pairs).train()
    assert matrix.flags.c_contiguous
    matrix[:] = np.nan
    assert_matrices(kernel, kernel.pairs, rows)


def test_a_separate_test_set():
    """Test rows need not follow the training rows at once."""
    rows = look(make_rows(), slice(0, 20), slice(60, 90))
    assert_matrices(Kernel("rbf", 0.5), "squared", rows)


def test_no_row_is_at_a_distance_from_itself():
    """Far from the origin, narrow kernels would see the rounding errors."""
    rows = look(make_rows() + 1e6, slice(0, 50), slice(50, 90))
    for kind in ("squared", "squared libsvm", "city block"):
        assert np.all(np.diag(rows.train_pairs(kind)) == 0.0)


@pytest.mark.parametrize("lowest", [-105.0, -80.0, -5.0])
def test_small_values_are_off_by_the_given_amount_only(lowest):
    """Both ways to treat them, gathering and clipping, keep the promise."""
    distances = np.linspace(0, 300, 1000).reshape(20, 50)
    for gamma in (0.01, 1.0, 1000.0):
        values = Kernel("rbf", gamma).of(distances, lowest)
        exact = np.exp(-gamma * distances)
        far = -gamma * distances < lowest
        np.testing.assert_array_equal(values[~far], exact[~far])
        assert np.all(np.abs(values - exact)[far] <= np.exp(lowest))


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.7])
def test_the_width_is_that_of_scikit_learn(gamma):
    """Words stand for numbers that depend on the training rows."""
    X = make_rows()
    y = X[:, 0] > 1
    key = KernelKey.of("rbf", SVC(gamma=gamma).get_params())
    fitted = SVC(gamma=gamma).fit(X, y)
    explicit = SVC(gamma=key.bind(X).gamma).fit(X, y)
    np.testing.assert_array_equal(
        explicit.decision_function(X), fitted.decision_function(X)
    )
