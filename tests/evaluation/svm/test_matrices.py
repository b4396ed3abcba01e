"""Kernel matrices for support vector machines against scikit-learn's kernels."""

from __future__ import annotations

import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from cvst.evaluation import RaceRows, Scratch, Task, batch_evaluator_for
from cvst.evaluation.kernels._functions import Kernel
from cvst.evaluation.kernels._rows import paired_rows
from cvst.evaluation.svm._matrices import BLOCK_ROWS, SvmMatrices

KERNELS = [
    (Kernel("linear"), {}),
    (Kernel("poly", 0.2, 3.0, 1.0), {"gamma": 0.2, "degree": 3, "coef0": 1.0}),
    (Kernel("rbf", 0.3), {"gamma": 0.3}),
    (Kernel("rbf", 200.0), {"gamma": 200.0}),
    (Kernel("sigmoid", 0.1, 0.0, 0.5), {"gamma": 0.1, "coef0": 0.5}),
]


def make_whole(X, n_train, kind):
    """Rows in a row, or picked by number, kept for a race or for one look."""
    train, test = slice(0, n_train), slice(n_train, len(X))
    if kind == "numbered":
        train, test = np.arange(n_train), np.arange(n_train, len(X))
    return RaceRows(X, train, test, Scratch(nests=kind != "look"))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_train=st.sampled_from([1, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 150]),
    kind=st.sampled_from(["race", "look", "numbered"]),
    kernel=st.sampled_from(KERNELS),
    n_support=st.integers(0, 150),
)
def test_matrices_are_those_of_scikit_learn(seed, n_train, kind, kernel, n_support):
    """All blocks, both triangles, and products with any set of support vectors."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_train + 40, 3))
    X[-5:] = X[:1]
    ours, params = kernel
    whole = make_whole(X, n_train, kind)
    rows = paired_rows(Task(None, {}, X[:n_train], None, X[n_train:], race_rows=whole))
    coefficients = rng.normal(size=(4, n_train))
    coefficients[:, n_support:] = 0.0
    coefficients[rng.random(size=coefficients.shape) < 0.3] = 0.0

    matrices = SvmMatrices(rows, ours, nests=kind != "look")
    matrix = matrices.train()
    decisions = matrices.decisions(coefficients)

    expected = pairwise_kernels(X[:n_train], X, metric=ours.name, **params)
    np.testing.assert_allclose(matrix, expected[:, :n_train], rtol=1e-9, atol=1e-12)
    assert matrix.flags.c_contiguous
    np.testing.assert_allclose(
        decisions, coefficients @ expected[:, n_train:], rtol=1e-9, atol=1e-10
    )
    if kind == "look":
        np.testing.assert_array_equal(matrix, matrix.T)


@pytest.mark.parametrize(
    "train", [slice(0, 20), slice(5, 20), np.arange(3, 20), np.arange(20)], ids=str
)
@pytest.mark.parametrize("nests", [False, True])
def test_leading_rows_begin_with_the_matrix(train, nests):
    """In C order, whatever follows."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    test = slice(20, 30) if isinstance(train, slice) else np.arange(20, 30)
    whole = RaceRows(X, train, test, Scratch(nests=nests))
    rows = paired_rows(Task(None, {}, X[train], None, X[test], race_rows=whole))
    matrices = SvmMatrices(rows, Kernel("rbf", 0.3), nests=nests)
    leading = matrices.leading_rows()
    assert leading.flags.c_contiguous
    n_train = len(X[train])
    np.testing.assert_array_equal(leading[:, :n_train], matrices.train())


@pytest.mark.parametrize("machine", [SVC, NuSVC, SVR, NuSVR])
@pytest.mark.parametrize("kind", ["look", "numbered"])
@pytest.mark.parametrize(
    ("kernel", "gammas"), [("rbf", (0.01, 1.0, 300.0)), ("poly", (0.01, 0.1))]
)
def test_one_look_is_as_one_by_one(
    assert_same_as_one_by_one, machine, kind, kernel, gammas
):
    """Several blocks of rows, three classes, rows that support few machines."""
    rng = np.random.default_rng(1)
    n_train = 2 * BLOCK_ROWS + 9
    X = rng.normal(size=(n_train + 60, 2))
    y = X[:, 0] + np.sin(2 * X[:, 1])
    if machine in (SVC, NuSVC):
        y = np.digitize(y + 0.2 * rng.normal(size=len(y)), [-0.5, 0.5])
    name, values = ("nu", (0.05, 0.3)) if machine in (NuSVC, NuSVR) else ("C", (1, 50))
    grid = [{"gamma": g, name: v} for g in gammas for v in values]
    task = Task(
        machine(kernel=kernel, degree=2, max_iter=10_000),
        dict(enumerate(grid)),
        X[:n_train],
        y[:n_train],
        X[n_train:],
        race_rows=make_whole(X, n_train, kind),
    )
    assert_same_as_one_by_one(task, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("nests", [False, True])
def test_only_a_race_keeps_kernel_values(nests):
    """What no later look can use takes no memory; distances serve all kernels."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.sign(X[:, 0])
    whole = RaceRows(X, slice(0, 20), slice(20, 30), Scratch(nests=nests))
    grid = [{"C": 1.0, "gamma": gamma} for gamma in (0.1, 1.0)]
    task = Task(SVC(), dict(enumerate(grid)), X[:20], y[:20], X[20:], race_rows=whole)
    list(batch_evaluator_for(SVC()).evaluate(task))
    kept = whole.scratch.get("kernel matrices", lambda: None)
    assert (kept is not None) == nests


def test_machines_of_one_kernel_share_it_while_they_are_fitted():
    """Two workers at the same time have one matrix; afterwards nobody has it."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    whole = RaceRows(X, slice(0, 20), slice(20, 30), Scratch(nests=False))
    rows = paired_rows(Task(None, {}, X[:20], None, X[20:], race_rows=whole))
    first = SvmMatrices(rows, Kernel("rbf", 0.3), nests=False).leading_rows()
    assert SvmMatrices(rows, Kernel("rbf", 0.3), nests=False).leading_rows() is first
    other = SvmMatrices(rows, Kernel("rbf", 0.4), nests=False).leading_rows()
    assert other is not first
    gone = weakref.ref(first)
    del first
    assert gone() is None


def test_a_fold_beside_the_present_one_uses_the_same_distances():
    """And kernels; what depends on the fold is its own."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    scratch = Scratch()
    numbers = np.arange(30)
    now = RaceRows(X, numbers[10:], numbers[:10], scratch)
    later = RaceRows(X, numbers[:20], numbers[20:], scratch.for_a_look())
    tables = []
    for whole in (now, later):
        task = Task(None, {}, X[whole.train], None, X[whole.test], race_rows=whole)
        rows = paired_rows(task)
        matrices = SvmMatrices(rows, Kernel("rbf", 0.3), nests=whole.scratch.nests)
        expected = pairwise_kernels(X[whole.train], metric="rbf", gamma=0.3)
        np.testing.assert_allclose(matrices.leading_rows(), expected, rtol=1e-12)
        tables.append(rows.first_pairs("squared libsvm", 30))
    assert np.shares_memory(*tables)
