"""Pairs of rows: computed once per look, and the same as computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from cvst.evaluation._protocol import Scratch
from cvst.evaluation.kernels import _rows as module
from cvst.evaluation.kernels._rows import PairedRows, dense_rows


@pytest.fixture
def folds():
    """Return two folds of the same rows, not nested."""
    rng = np.random.default_rng(0)
    rows, scratch = dense_rows(rng.normal(size=(30, 4))), Scratch()
    cuts = [rng.permutation(30) for _ in range(2)]
    pairs = [(np.sort(cut[:20]), np.sort(cut[20:])) for cut in cuts]
    return [PairedRows(rows, train, test, scratch) for train, test in pairs]


def test_pairs_of_a_fold_are_its_own(folds):
    """Asked for again and in turn, each fold gets its distances."""
    for fold in (*folds, *folds):
        X, T = fold.train_inputs, fold.test_inputs
        expected = cdist(X, X, "sqeuclidean")
        np.testing.assert_allclose(fold.train_pairs("squared"), expected, atol=1e-12)
        ((_, cross),) = fold.cross_pairs("squared")
        np.testing.assert_allclose(cross, cdist(X, T, "sqeuclidean"), atol=1e-12)
        np.testing.assert_allclose(fold.train_pairs("product"), X @ X.T, atol=1e-12)


def test_kernels_of_a_fold_share_its_pairs(folds):
    """The next width finds the distances of the fold there; the next fold does not."""
    first, second = folds
    again = PairedRows(first.rows, first.train.copy(), first.test, first.scratch)
    kept = first.train_pairs("squared")
    assert again.train_pairs("squared") is kept
    second.train_pairs("squared")
    assert first.train_pairs("squared") is not kept


def test_all_kinds_of_pairs_share_the_memory_of_a_race(monkeypatch):
    """A race over several kernels keeps no more than one over a single kernel."""
    monkeypatch.setattr(module, "LARGEST_TABLE_BYTES", 8 * 40**2)
    X = np.random.default_rng(0).normal(size=(40, 3))
    rows = PairedRows(dense_rows(X), slice(0, 30), slice(30, 40), Scratch())
    assert rows.first_pairs("squared", 30) is not None
    assert rows.first_pairs("product", 30) is None
    np.testing.assert_allclose(rows.train_pairs("product"), X[:30] @ X[:30].T)
    assert rows.first_pairs("squared", 40) is not None
