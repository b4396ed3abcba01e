"""Support vector machines on a shared kernel matrix against one fit each.

libsvm rounds the kernel to single precision, so that its solver takes the very same
steps on a matrix that differs in the last bits: labels are equal, and decision values
and regressions agree to 1e-6 (most of them to 1e-12), also where it is stopped early.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from cvst.evaluation import OneByOne, RaceRows, Scratch, Task, batch_evaluator_for
from cvst.evaluation.svm import _evaluator as svm_module
from cvst.evaluation.svm import _fits as _svm_fits

N_TRAIN, N_ROWS = 36, 60
TOLERANCE = 1e-6
LABELS = np.array(["left", "middle", "right", "up"])

KERNELS = st.sampled_from(["linear", "poly", "rbf", "sigmoid"])
GAMMAS = st.sampled_from(["scale", "auto", 0.0, 0.05, 1.0, 40.0])
NUS = st.sampled_from([0.05, 0.2, 0.5, 0.9])
BOXES = st.floats(-2, 2).map(lambda power: 10.0**power)
COMMON = {
    "kernel": KERNELS,
    "gamma": GAMMAS,
    "degree": st.integers(1, 3),
    "coef0": st.sampled_from([0.0, 0.0, 1.0]),
    "tol": st.sampled_from([1e-3, 1e-5]),
    "shrinking": st.booleans(),
    "max_iter": st.sampled_from([5, 2000]),
    "cache_size": st.sampled_from([0.001, 200]),
}
OF_CLASSES = {
    "class_weight": st.sampled_from([None, "balanced", {"left": 3.0}, {0: 2.0}]),
    "decision_function_shape": st.sampled_from(["ovr", "ovo"]),
    "break_ties": st.booleans(),
}
GRIDS = {
    SVC: st.fixed_dictionaries({}, optional={**COMMON, **OF_CLASSES, "C": BOXES}),
    NuSVC: st.fixed_dictionaries({}, optional={**COMMON, **OF_CLASSES, "nu": NUS}),
    SVR: st.fixed_dictionaries(
        {}, optional={**COMMON, "C": BOXES, "epsilon": st.sampled_from([0.0, 0.1, 9.0])}
    ),
    NuSVR: st.fixed_dictionaries({}, optional={**COMMON, "C": BOXES, "nu": NUS}),
}


def make_labels(X, rng, n_classes):
    scores = X[:, 0] + 0.3 * rng.normal(size=len(X))
    return LABELS[np.digitize(scores, np.linspace(-0.6, 0.6, n_classes - 1))]


@pytest.fixture(autouse=True, scope="module", params=["libsvm", "compiled"])
def solver(request):
    """Fit all machines by one of the two."""
    if request.param == "compiled":
        pytest.importorskip("numba", exc_type=ImportError)
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "libsvm":
            patch.setattr(_svm_fits, "has_compiled_solver", lambda: False)
        patch.setattr(_svm_fits._break_even, "is_reached", lambda: True)
        yield


@pytest.fixture(autouse=True)
def quiet():
    """Solvers that are stopped on their way say so, here and there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["distinct", "duplicated", "whole"]),
    n_features=st.sampled_from([1, 2, 7]),
    n_classes=st.integers(2, 4),
    machine=st.sampled_from([SVC, NuSVC]),
    response=st.sampled_from(["predict", "decision_function"]),
    weighted=st.booleans(),
    nested=st.booleans(),
    data=st.data(),
)
def test_classifiers_are_as_one_by_one(
    make_inputs,
    make_task,
    assert_same_as_one_by_one,
    seed,
    kind,
    n_features,
    n_classes,
    machine,
    response,
    weighted,
    nested,
    data,
):
    """Two or more classes, feasible or not, weights, and any mixture of parameters."""
    X, rng = make_inputs(seed, n_features, kind)
    y = make_labels(X, rng, n_classes)
    grid = data.draw(st.lists(GRIDS[machine], min_size=2, max_size=5))
    weights = {"sample_weight": rng.uniform(0.1, 3, size=N_TRAIN)} if weighted else {}
    task = make_task(
        machine(),
        grid,
        X,
        y,
        scratch=Scratch() if nested else None,
        fit_params=weights,
        response=response,
    )
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["distinct", "duplicated", "whole"]),
    n_features=st.sampled_from([1, 2, 7]),
    machine=st.sampled_from([SVR, NuSVR]),
    weighted=st.booleans(),
    data=st.data(),
)
def test_regressions_are_as_one_by_one(
    make_inputs,
    make_task,
    assert_same_as_one_by_one,
    seed,
    kind,
    n_features,
    machine,
    weighted,
    data,
):
    """Also where no row is a support vector."""
    X, rng = make_inputs(seed, n_features, kind)
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=N_ROWS)
    grid = data.draw(st.lists(GRIDS[machine], min_size=2, max_size=5))
    weights = {"sample_weight": rng.uniform(0.1, 3, size=N_TRAIN)} if weighted else {}
    task = make_task(machine(), grid, X, y, scratch=Scratch(), fit_params=weights)
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


def test_huge_kernels_are_left_to_scikit_learn(
    make_inputs, make_task, assert_same_as_one_by_one, monkeypatch
):
    """There libsvm may go on for ever where a last bit is another one."""
    X, rng = make_inputs(188)
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=N_ROWS)
    grid = [{"kernel": "poly", "gamma": 40.0}, {"kernel": "poly", "gamma": 400.0}]
    task = make_task(SVR(max_iter=1000), grid, X, y, scratch=Scratch())
    monkeypatch.setattr(svm_module, "SvmFits", None)
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("machine", [SVC, SVR])
def test_machines_that_are_not_finite_are_fitted_alone(
    make_inputs, make_task, assert_same_as_one_by_one, monkeypatch, machine
):
    """Those beside them are not touched; nothing is lost if there are no others."""
    X, _ = make_inputs(5)
    y = X[:, 0] > 0 if machine is SVC else X[:, 0]
    grid = [{"C": 1.0}, {"C": 2.0}, {"C": 3.0}, {"C": 2.0, "gamma": 5.0}]
    fit = svm_module.SvmFits.fit

    def broken(fits, **settings):
        solution = fit(fits, **settings)
        worse = solution.intercepts * (np.nan if settings["C"] == 2.0 else 1.0)
        return solution._replace(intercepts=worse)

    monkeypatch.setattr(svm_module.SvmFits, "fit", broken)
    task = make_task(machine(gamma=1.0), grid, X, y, scratch=Scratch())
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("machine", [SVC, NuSVC, SVR, NuSVR])
def test_looks_of_a_race_nest(assert_same_as_one_by_one, machine):
    """What a look leaves behind serves the next one, to the narrowest kernel."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 30, size=(200, 1))
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=200)
    y = y >= 0 if machine in (SVC, NuSVC) else y
    scratch = Scratch()
    name, values = ("nu", (0.05, 0.3)) if machine in (NuSVC, NuSVR) else ("C", (1, 50))
    grid = [{"gamma": g, name: v} for g in (0.01, 1.0, 30.0, 1000.0) for v in values]
    for n_train in (30, 61, 120):
        train, test = slice(0, n_train), slice(n_train, 200)
        whole = RaceRows(X, train, test, scratch)
        task = Task(
            machine(),
            dict(enumerate(grid)),
            X[train],
            y[train],
            X[test],
            race_rows=whole,
        )
        assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


def test_a_tie_is_broken_as_by_libsvm(make_task, assert_same_as_one_by_one):
    """Halfway between mirror images only the last bit decides."""
    X = np.array([[-1.0], [1.0], [-3.0], [3.0], [-0.7], [0.7]] * 6 + [[0.0]] * 24)
    y = np.array([0, 1] * 30)
    grid = [{"C": c, "gamma": g} for c in (0.1, 1.0, 10.0) for g in (0.1, 1 / 3, 2.0)]
    task = make_task(SVC(), grid, X, y)
    assert_same_as_one_by_one(task)


def test_far_from_all_rows_a_decision_of_zero_is_the_second_class(
    make_task,
    assert_same_as_one_by_one,
):
    """Between mirror images the intercept is zero too."""
    X = np.array([[-1.0], [1.0]] * (N_TRAIN // 2) + [[1e3]] * (N_ROWS - N_TRAIN))
    y = np.array([0, 1] * (N_ROWS // 2))
    task = make_task(SVC(gamma=1.0), [{"C": 1.0}, {"C": 2.0}], X, y)
    model = SVC(gamma=1.0).fit(X[:N_TRAIN], y[:N_TRAIN])
    assert (model.decision_function(X[N_TRAIN:]) == 0).all()
    assert_same_as_one_by_one(task)


def test_none_is_fitted_alone(make_inputs, make_task, count_fits):
    """All machines of a plain grid share their kernels."""
    X, rng = make_inputs(0)
    y = make_labels(X, rng, 3)
    fits = count_fits(SVC)
    grid = [{"C": c, "gamma": g} for g in ("scale", 0.1, 1.0) for c in (0.1, 1, 10)]
    task = make_task(SVC(), grid, X, y)
    outcomes = list(batch_evaluator_for(SVC()).evaluate(task))
    assert len(outcomes) == len(grid)
    assert fits == []


def test_groups_share_a_kernel_and_stay_small():
    """Many penalties on one kernel are cut into pieces for the workers."""
    grid = [{"C": c, "gamma": g} for c in range(1, 41) for g in (0.5, "scale")]
    groups = batch_evaluator_for(SVC()).groups(SVC(), dict(enumerate(grid)))
    assert {len({grid[i]["gamma"] for i in group}) for group in groups} == {1}
    assert sorted(map(len, groups)) == [8, 8, 16, 16, 16, 16]
    assert sorted(i for group in groups for i in group) == list(range(len(grid)))


@pytest.mark.parametrize(
    "configuration",
    [
        {"kernel": lambda A, B: A @ B.T},
        {"probability": True, "random_state": 0},
        {"gamma": 1e12},
        {"verbose": True},
        {"kernel": "poly", "coef0": 1.0},
    ],
)
def test_what_cannot_be_shared_is_fitted_alone(
    make_inputs, make_task, assert_same_as_one_by_one, count_fits, configuration, capfd
):
    """Functions, probabilities, and kernels that round away."""
    X, rng = make_inputs(0)
    y = make_labels(X, rng, 2)
    grid = [{"C": 1.0}, configuration, {"C": 2.0}]
    task = make_task(SVC(), grid, X, y)
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)
    fits = count_fits(SVC)
    list(batch_evaluator_for(SVC()).evaluate(task))
    assert len(fits) == 1


@pytest.mark.parametrize(
    ("machine", "configuration", "response"),
    [
        (SVC, {"C": 0.0}, "predict"),
        (SVC, {"kernel": "laplacian"}, "predict"),
        (SVC, {"gamma": "wide"}, "predict"),
        (SVC, {"break_ties": True, "decision_function_shape": "ovo"}, "predict"),
        (SVC, {"class_weight": {"nowhere": 1.0}}, "predict"),
        (SVC, {"C": 1.0}, "predict_proba"),
        (SVC, {"box": 1.0}, "predict"),
        (NuSVC, {"nu": 1.0}, "predict"),
        (NuSVC, {"nu": 1.5}, "predict"),
        (NuSVR, {"nu": 0.0}, "predict"),
        (SVR, {"epsilon": -1.0}, "predict"),
        (SVR, {"C": 1.0}, "decision_function"),
    ],
)
def test_errors_are_those_of_a_fit(
    make_inputs, make_task, assert_same_as_one_by_one, machine, configuration, response
):
    """What a fit refuses, the evaluator refuses for the same reason."""
    X, rng = make_inputs(0)
    y = make_labels(X, rng, 3) if machine in (SVC, NuSVC) else X[:, 0] ** 2
    task = make_task(machine(), [{}, configuration], X, y, response=response)
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize(
    "targets",
    [
        lambda y: np.zeros(len(y)),
        lambda y: np.where(y > 0, np.nan, 1.0),
        lambda y: y,
        lambda y: (y > 0).reshape(-1, 1),
        lambda y: (y > 0).astype(object),
        lambda y: np.where(y > 0, "b", "a").astype(object),
        lambda y: pd.Series(np.where(y > 0, "b", "a"), dtype="category"),
        lambda y: list(y > 0),
    ],
    ids=["one class", "nan", "numbers", "column", "object", "text", "category", "list"],
)
def test_targets_of_all_kinds(
    make_inputs, make_task, assert_same_as_one_by_one, targets
):
    """A single class and other targets that no classifier takes are errors."""
    X, _ = make_inputs(0)
    task = make_task(SVC(), [{"C": 1.0}, {"C": 2.0}], X, targets(X[:, 0]))
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize(
    "convert",
    [
        np.float32,
        sparse.csr_array,
        lambda X: np.where(X > 1.5, np.nan, X),
        lambda X: pd.DataFrame(X, columns=["a", "b"]),
        lambda X: X.tolist(),
    ],
    ids=["float32", "sparse", "nan", "frame", "list"],
)
def test_inputs_of_all_kinds(make_inputs, assert_same_as_one_by_one, convert):
    """Containers and number formats: supported, or left to scikit-learn."""
    X, rng = make_inputs(0)
    y = make_labels(X, rng, 3)
    X_train, X_test = convert(X[:N_TRAIN]), convert(X[N_TRAIN:])
    grid = [{"C": c, "gamma": g} for c in (0.1, 5.0) for g in ("scale", 0.5)]
    task = Task(
        SVC(),
        dict(enumerate(grid)),
        X_train,
        y[:N_TRAIN],
        X_test,
        response="decision_function",
    )
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize(
    "weights",
    [
        np.r_[np.zeros(9), np.ones(N_TRAIN - 9)],
        -np.ones(N_TRAIN),
        np.ones(N_TRAIN - 1),
        [2.0] * N_TRAIN,
    ],
    ids=["zeros", "negative", "short", "list"],
)
def test_odd_weights(make_inputs, make_task, assert_same_as_one_by_one, weights):
    """Whatever a fit does with odd weights, the evaluator does."""
    X, rng = make_inputs(0)
    y = make_labels(X, rng, 2)
    fit_params = {"sample_weight": weights}
    task = make_task(SVC(), [{"C": 0.1}, {"C": 1.0}], X, y, fit_params=fit_params)
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


def test_a_kernel_matrix_is_taken_as_it_is(make_inputs, assert_same_as_one_by_one):
    """With precomputed kernels nothing is shared, and nothing goes wrong."""
    X, rng = make_inputs(0)
    y = make_labels(X, rng, 2)
    K = rbf_kernel(X)
    X_train, X_test = K[:N_TRAIN, :N_TRAIN], K[N_TRAIN:, :N_TRAIN]
    grid = [{"C": 0.1}, {"C": 1.0}]
    task = Task(
        SVC(kernel="precomputed"), dict(enumerate(grid)), X_train, y[:N_TRAIN], X_test
    )
    assert_same_as_one_by_one(task)


def test_a_stopped_solver_says_so(make_inputs, make_task):
    """The warning of scikit-learn comes from here, too."""
    X, rng = make_inputs(0)
    y = make_labels(X, rng, 2)
    task = make_task(SVC(max_iter=1), [{"C": 1.0}, {"C": 2.0}], X, y)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        list(batch_evaluator_for(SVC()).evaluate(task))
    assert [str(warning.message)[:23] for warning in seen] == [
        "Solver terminated early",
        "Solver terminated early",
    ]


def test_subclasses_are_fitted_as_they_like():
    """A subclass may fit differently."""

    class Other(SVC):
        pass

    assert isinstance(batch_evaluator_for(Other()), OneByOne)
