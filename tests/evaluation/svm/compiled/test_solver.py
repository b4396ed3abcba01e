"""The compiled solver against libsvm: the same machine to the last bit.

Not only coefficients and intercepts are equal, but also the number of iterations, so
each of thousands of steps was the same.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import pairwise_kernels

pytest.importorskip("numba", exc_type=ImportError)

from cvst._sklearn_compat import libsvm_fit
from cvst.evaluation.svm.compiled import _state
from cvst.evaluation.svm.compiled._ends import half_share
from cvst.evaluation.svm.compiled._kernel import PreparedKernel
from cvst.evaluation.svm.compiled._machines import (
    C_SVC,
    EPSILON_SVR,
    NU_SVC,
    NU_SVR,
    Rounding,
    fit,
)
from cvst.evaluation.svm.compiled._rounding import rounding_for

TYPES = {"SVC": C_SVC, "NuSVC": NU_SVC, "SVR": EPSILON_SVR, "NuSVR": NU_SVR}
OF_CLASSES = (C_SVC, NU_SVC)


def make_settings(svm_type, n_train, **values):
    return {
        "svm_type": svm_type,
        "class_weight": np.empty(0),
        "sample_weight": np.ones(n_train),
        "tol": 1e-3,
        "C": 1.0,
        "nu": 0.5,
        "epsilon": 0.1,
        "shrinking": 1,
        "max_iter": -1,
        "cache_size": 100.0,
        **values,
    }


def make_rows(rng, n_train, kind):
    X = rng.normal(size=(n_train, 2))
    if kind == "duplicated":
        X = X[rng.integers(0, max(2, n_train // 4), size=n_train)]
    return np.round(X) if kind == "whole" else X


def make_kernel(X, metric, gamma):
    options = {} if metric == "linear" else {"gamma": gamma}
    if metric in ("poly", "sigmoid"):
        options["coef0"] = 0
    matrix = np.ascontiguousarray(pairwise_kernels(X, metric=metric, **options))
    return (matrix + matrix.T) / 2


def make_targets(rng, X, svm_type, n_classes=2):
    if svm_type not in OF_CLASSES:
        return np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=len(X))
    scores = X[:, 0] + 0.3 * rng.normal(size=len(X))
    labels = np.digitize(scores, np.linspace(-0.6, 0.6, n_classes - 1))
    return np.unique(labels, return_inverse=True)[1].astype(float)


def compiled_fit(matrix, targets, **values):
    is_classifier = values["svm_type"] in OF_CLASSES
    kernel = PreparedKernel.of(matrix, targets.astype(int) if is_classifier else None)
    return fit(kernel, targets, rounding_for(len(targets)), **values)


def assert_same_machine(solution, theirs, targets, is_classifier):
    """To the last bit."""
    assert solution is not None
    members = [np.arange(len(targets)), np.empty(0, int)]
    if is_classifier:
        members = [np.flatnonzero(targets == k) for k in range(int(targets.max()) + 1)]
    ours = solution.model(members)
    np.testing.assert_array_equal(ours.n_iter, theirs.n_iter)
    np.testing.assert_array_equal(ours.support, theirs.support)
    np.testing.assert_array_equal(ours.dual_coef, theirs.dual_coef)
    np.testing.assert_array_equal(ours.intercept, theirs.intercept)
    assert ours.status == theirs.status
    if is_classifier:
        np.testing.assert_array_equal(ours.n_support, theirs.n_support)


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 100_000),
    n_train=st.integers(2, 70),
    kind=st.sampled_from(["distinct", "duplicated", "whole"]),
    svm_type=st.sampled_from(sorted(TYPES.values())),
    metric=st.sampled_from(["rbf", "rbf", "linear", "poly", "sigmoid"]),
    log_gamma=st.floats(-3, 1),
    n_classes=st.integers(2, 4),
    weighted=st.booleans(),
    chosen=st.fixed_dictionaries(
        {
            "C": st.floats(-2, 2).map(lambda power: 10.0**power),
            "nu": st.sampled_from([0.05, 0.2, 0.5, 0.7]),
            "epsilon": st.sampled_from([0.0, 0.1, 9.0]),
            "tol": st.sampled_from([1e-1, 1e-3, 1e-5]),
            "shrinking": st.integers(0, 1),
            "max_iter": st.sampled_from([0, 1, 7, 300, 2000]),
        }
    ),
)
def test_is_libsvm_to_the_last_bit(
    seed, n_train, kind, svm_type, metric, log_gamma, n_classes, weighted, chosen
):
    """Ties, duplicated rows, indefinite kernels, weights, and fits cut short."""
    rng = np.random.default_rng(seed)
    X = make_rows(rng, n_train, kind)
    matrix = make_kernel(X, metric, 10.0**log_gamma)
    targets = make_targets(rng, X, svm_type, n_classes)
    assume(svm_type not in OF_CLASSES or targets.max() >= 1)
    values = make_settings(svm_type, n_train, **chosen)
    if weighted:
        values["sample_weight"] = rng.uniform(0.1, 3, size=n_train)
    if weighted and svm_type == C_SVC:
        values["class_weight"] = rng.uniform(0.3, 2, size=int(targets.max()) + 1)
    try:
        theirs = libsvm_fit(matrix, targets, **values)
    except ValueError:
        assert compiled_fit(matrix, targets, **values) is None
        return
    ours = compiled_fit(matrix, targets, **values)
    if ours is None:
        # Left to libsvm: shares that may be rounded otherwise, or a margin of zero.
        assert svm_type == NU_SVC
        return
    assert_same_machine(ours, theirs, targets, svm_type in OF_CLASSES)


@pytest.mark.parametrize("n_rows_of_room", [1, 1000])
@pytest.mark.parametrize("name", TYPES)
def test_long_fits_shrink_and_come_back_as_in_libsvm(name, n_rows_of_room, monkeypatch):
    """Thousands of steps: variables are set aside, packed anew, and brought back."""
    n_train, svm_type = 210, TYPES[name]
    size = 2 * n_train + 2 * _state.LANES
    monkeypatch.setattr(_state, "ROW_BYTES", 8 * size * n_rows_of_room)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_train, 2))
    targets = make_targets(rng, X, svm_type)
    n_iters = []
    for gamma, cost in ((0.1, 100.0), (2.0, 30.0), (30.0, 5.0)):
        matrix = make_kernel(X, "rbf", gamma)
        values = make_settings(svm_type, n_train, C=cost, nu=0.2, tol=1e-4)
        theirs = libsvm_fit(matrix, targets, **values)
        ours = compiled_fit(matrix, targets, **values)
        assert_same_machine(ours, theirs, targets, svm_type in OF_CLASSES)
        n_iters.append(theirs.n_iter[0])
    assert max(n_iters) > 2 * n_train  # so that shrinking took place more than once


def fused(a, x, b):
    """Return a * x + b, rounded once, by exact fractions."""
    return float(Fraction(a) * Fraction(x) + Fraction(b))


ROUNDINGS = [
    lambda a, x, b, y: a * x + b * y,
    lambda a, x, b, y: fused(a, x, b * y),
    lambda a, x, b, y: fused(b, y, a * x),
]


def plain_svc(matrix, signs, cost, n_steps, two_products):
    """Minimise half of alpha'Q alpha minus the sum of alpha, two variables at a time.

    Written down from the paper of Fan, Chen and Lin, in gradients, without any of the
    solver's devices.
    """
    n = len(signs)
    kernel = matrix.astype(np.float32).astype(float)
    alpha, gradient = [0.0] * n, [-1.0] * n
    for _ in range(n_steps):
        climb = [-s * g for s, g in zip(signs, gradient, strict=True)]
        up = [
            t for t in range(n) if (alpha[t] < cost if signs[t] > 0 else alpha[t] > 0)
        ]
        low = [
            t for t in range(n) if (alpha[t] > 0 if signs[t] > 0 else alpha[t] < cost)
        ]
        i = max(up, key=lambda t: (climb[t], t))
        gains = {}
        for t in low:
            gap = climb[i] - climb[t]
            if gap > 0:
                bend = matrix[i, i] + matrix[t, t] - 2.0 * kernel[i, t]
                gains[t] = gap * gap / (bend if bend > 0 else 1e-12)
        if not gains or climb[i] - min(climb[t] for t in low) < 1e-3:
            break
        j = max(gains, key=lambda t: (gains[t], t))
        bend = matrix[i, i] + matrix[j, j] - 2.0 * kernel[i, j]
        length = (climb[i] - climb[j]) / (bend if bend > 0 else 1e-12)
        # Along signs: one rises by the length, the other one falls by it.
        before = alpha[i], alpha[j]
        alpha[i], alpha[j] = boxed(*before, signs[i], signs[j], length, cost)
        step_i, step_j = alpha[i] - before[0], alpha[j] - before[1]
        for t in range(n):
            gradient[t] += two_products(
                signs[i] * signs[t] * kernel[i, t],
                step_i,
                signs[j] * signs[t] * kernel[j, t],
                step_j,
            )
    return np.array(alpha)


def boxed(a, b, sign_a, sign_b, length, cost):
    """Move two variables as far as the box lets them; their rule comes before them."""
    new_a, new_b = a + sign_a * length, b - sign_b * length
    if sign_a == sign_b:
        return with_sum(a + b, new_a, new_b, cost)
    return with_gap(a - b, new_a, new_b, cost)


def with_gap(gap, a, b, cost):
    if gap > 0 and b < 0:
        a, b = gap, 0.0
    elif gap <= 0 and a < 0:
        a, b = 0.0, -gap
    if gap > 0 and a > cost:
        a, b = cost, cost - gap
    elif gap <= 0 and b > cost:
        a, b = cost + gap, cost
    return a, b


def with_sum(total, a, b, cost):
    if total > cost and a > cost:
        a, b = cost, total - cost
    elif total <= cost and b < 0:
        a, b = total, 0.0
    if total > cost and b > cost:
        a, b = total - cost, cost
    elif total <= cost and a < 0:
        a, b = 0.0, total
    return a, b


@pytest.mark.parametrize("pairs", [0, 1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_every_rounding_is_that_of_a_plain_solver(pairs, seed):
    """Of any machine: this one's libsvm rounds in one of these ways only."""
    rng = np.random.default_rng(seed)
    n_train = 22
    X = rng.normal(size=(n_train, 2))
    matrix = make_kernel(X, "rbf", 1.0)
    # The first class comes first, so that the plain solver meets it in this order.
    labels = np.sort(rng.integers(0, 2, size=n_train))
    kernel = PreparedKernel.of(matrix, labels)
    values = make_settings(C_SVC, n_train, C=2.0, shrinking=0, max_iter=60)
    ours = fit(kernel, labels.astype(float), Rounding(pairs, lambda: 1), **values)
    signs = np.where(labels == 0, 1.0, -1.0)
    alpha = plain_svc(matrix, signs, 2.0, 60, ROUNDINGS[pairs])
    np.testing.assert_array_equal(ours.coefficients[0], alpha * signs)


def test_many_fits_share_a_prepared_kernel():
    """What one fit leaves behind does not reach the next one."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 3))
    matrix = make_kernel(X, "rbf", 0.5)
    targets = make_targets(rng, X, C_SVC, n_classes=3)
    kernel = PreparedKernel.of(matrix, targets.astype(int))
    for cost in (0.1, 10.0, 1000.0, 0.1):
        values = make_settings(C_SVC, 90, C=cost)
        ours = fit(kernel, targets, rounding_for(90), **values)
        theirs = libsvm_fit(matrix, targets, **values)
        assert_same_machine(ours, theirs, targets, True)


@pytest.mark.parametrize("n_train", [2, 3, 9, 20, 21, 22, 23, 40, 63, 64, 65, 130, 131])
def test_shares_are_added_up_as_in_libsvm(n_train):
    """How a compiler rounds long sums depends on their length."""
    rng = np.random.default_rng(n_train)
    X = rng.normal(size=(n_train, 2))
    matrix = make_kernel(X, "rbf", 1.0)
    targets = make_targets(rng, X, NU_SVR)
    for _ in range(20):
        values = make_settings(
            NU_SVR,
            n_train,
            C=rng.uniform(0.1, 3),
            nu=rng.uniform(0.1, 0.9),
            sample_weight=rng.uniform(0.5, 2, size=n_train),
            max_iter=50,
        )
        theirs = libsvm_fit(matrix, targets, **values)
        ours = compiled_fit(matrix, targets, **values)
        assert_same_machine(ours, theirs, targets, False)


@example(bounds=[0.1] * 3, nu=0.3)
@given(bounds=st.lists(st.floats(0.1, 10), min_size=1, max_size=30), nu=st.floats(0, 1))
def test_a_sure_share_is_the_same_however_it_is_rounded(bounds, nu):
    """Python's own products and sums are the witness of the rounded way."""
    bounds = np.array(bounds)
    plain = 0.0
    for bound in bounds:
        plain += bound * nu
    halves = {half_share(bounds, nu, n) for n in range(len(bounds) + 1)}
    assert half_share(bounds, nu, len(bounds))[0] == plain / 2
    if half_share(bounds, nu, 0)[1]:
        assert halves == {(plain / 2, True)}


def test_unknown_rounding_of_shares_leaves_the_fit_to_libsvm():
    """Where every way leads to the same sum it does not matter."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    kernel = PreparedKernel.of(make_kernel(X, "rbf", 1.0))
    targets = make_targets(rng, X, NU_SVR)
    unknown = Rounding(rounding_for(30).pairs, lambda: None)
    sure = make_settings(NU_SVR, 30, C=1.0, nu=0.5)
    assert fit(kernel, targets, unknown, **sure) is not None
    weights = rng.uniform(0.5, 2, size=30)
    unsure = make_settings(NU_SVR, 30, nu=0.3, sample_weight=weights)
    assert fit(kernel, targets, unknown, **unsure) is None


def test_prepared_scales_are_roots_of_curvatures():
    """Class by class, padded with points that are never read."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(21, 2))
    labels = rng.integers(0, 2, size=21)
    matrix = make_kernel(X, "linear", 1.0)
    kernel = PreparedKernel.of(matrix, labels)
    rows, points, signs, n_first = kernel.pair(0, 1)
    np.testing.assert_array_equal(labels[rows], (signs < 0).astype(int))
    assert n_first == (labels == 0).sum()
    assert kernel.n_points % _state.LANES == 0
    values = kernel.arrays.matrix.kernel[np.ix_(points, points)]
    expected = matrix[np.ix_(rows, rows)]
    np.testing.assert_array_equal(values, expected.astype(np.float32))
    diagonal = expected.diagonal()
    curvature = diagonal[:, None] + diagonal - 2 * values.astype(float)
    curvature[curvature <= 0] = 1e-12
    scales = kernel.arrays.matrix.scales[np.ix_(points, points)]
    np.testing.assert_allclose(scales, curvature**-0.5, rtol=5e-7)
