"""Races on a device are the races on the host."""

from __future__ import annotations

import gzip
import json
import logging
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cvst import CVST, CrossValidation, RaceGridSearchCV, RaceRandomSearchCV
from cvst.evaluation.device import NumpyArrays
from cvst.evaluation.kernels import _device_low_rank
from cvst.exceptions import FallbackWarning, InvalidInputError
from cvst.learners import KernelLogisticRegression

RUNS = Path(__file__).parent.parent / "reference" / "runs"
NO_TORCH = "PyTorch is not installed (extra 'gpu')"

RBF = {"alpha": [1e-3, 0.1, 10.0], "gamma": [0.1, 1.0, 10.0]}


@pytest.fixture(params=["numpy", "torch:cpu"])
def device(request):
    if request.param.startswith("torch"):
        pytest.importorskip("torch", reason=NO_TORCH)
    return request.param


def rows(n=240, n_features=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(n)


def labels(n=240, n_classes=2, seed=0):
    X, y = rows(n, seed=seed)
    return X, np.array(["a", "b", "c"])[np.digitize(y, [0.0, 0.6][: n_classes - 1])]


def both(device, estimator, grid, X, y, strategy=None, fit_params=None, **settings):
    """Return the search on the host and the one on the device."""
    found = []
    for name in ("cpu", device):
        search = RaceGridSearchCV(
            estimator,
            grid,
            strategy=CrossValidation(3) if strategy is None else strategy,
            random_state=0,
            refit=False,
            return_pointwise=True,
            device=name,
            **settings,
        )
        found.append(search.fit(X, y, **(fit_params or {})))
    return found


def assert_same(host, other, rtol=1e-6, atol=1e-9):
    assert other.best_index_ == host.best_index_
    assert other.stop_reason_ == host.stop_reason_
    np.testing.assert_array_equal(other.race_.traces, host.race_.traces)
    np.testing.assert_array_equal(other.race_.active, host.race_.active)
    looks = zip(host.pointwise_losses_, other.pointwise_losses_, strict=True)
    for (members, test, losses), (their_members, their_test, their_losses) in looks:
        np.testing.assert_array_equal(members, their_members)
        np.testing.assert_array_equal(test, their_test)
        np.testing.assert_allclose(their_losses, losses, rtol=rtol, atol=atol)
    np.testing.assert_allclose(
        other.race_.mean_losses, host.race_.mean_losses, rtol=rtol, atol=atol
    )
    for mine, theirs in zip(
        host.race_.observations, other.race_.observations, strict=True
    ):
        np.testing.assert_allclose(
            theirs.standard_errors, mine.standard_errors, rtol=1e-5, atol=1e-9
        )


# Golden runs


def load(name):
    with gzip.open(RUNS / f"{name}.json.gz") as file:
        return json.load(file)


def golden_search(run, estimator, device):
    setup, grid = run["setup"], run["grid"]
    alphas = run["N"] * np.array(grid["lambda"])
    configurations = [
        {"gamma": [gamma], "alpha": [alpha]}
        for gamma, alpha in zip(grid["gamma"], alphas, strict=True)
    ]
    strategy = CVST(
        max_steps=setup["steps"],
        stopping_window=setup["early_stopping_window"],
        similarity_level=setup["similarity_significance"],
        stopping_level=setup["early_stopping_significance"],
        loser_level=setup["beta"],
        winner_level=setup["alpha"],
        similarity="outliers" if setup["outlier_similarity"] else "auto",
    )
    return RaceGridSearchCV(
        estimator,
        configurations,
        strategy=strategy,
        ordering="given",
        refit=False,
        return_pointwise=True,
        device=device,
    )


# The larger ones are compared by benchmarks/gpu.
SMALL_RIDGE_RUNS = [
    "krr_doppler_N500_S10",
    "krr_sinc_d2_n01_N200_S10",
    "krr_sinc_d2_n01_N500_S10_fixedtest",
    "krr_sinc_d2_n01_N500_S10_outliers",
    "krr_sinc_d3_n02_N500_S10",
    "krr_threeFeatures_N333_S10",
]


@pytest.mark.parametrize("name", SMALL_RIDGE_RUNS)
def test_ridge_repeats_runs_of_the_r_package(device, name):
    run = load(name)
    part = run["train"]
    X = np.array(part["x"], dtype=float).reshape(len(part["y"]), -1)
    search = golden_search(run, KernelRidge(kernel="rbf"), device)
    extra = {}
    if run["test"]:
        X_val = np.array(run["test"]["x"], dtype=float)
        y_val = np.array(run["test"]["y"])
        extra = {"X_val": X_val.reshape(len(y_val), -1), "y_val": y_val}
    search.fit(X, np.array(part["y"]), **extra)

    kind = "result_mse_order" if run["setup"]["outlier_similarity"] else "result"
    expected = run.get(f"{kind}_exact_permutation", run[kind])
    assert search.n_looks_ == expected["steps_run"]
    for step in range(search.n_looks_):
        traces = "".join(str(int(top)) for top in search.race_.traces[:, step])
        assert traces == expected["traces"][step]
    assert search.best_index_ in expected["tied_winners"]


def test_logistic_race_on_golden_rows_is_that_of_the_host(device):
    run = load("klr_sine_d5_n025_N200_S10")
    part = run["train"]
    X = np.array(part["x"], dtype=float).reshape(len(part["y"]), -1)
    host, other = (
        golden_search(run, KernelLogisticRegression(), name).fit(X, part["y"])
        for name in ("cpu", device)
    )

    assert_same(host, other)


# Learners


@pytest.mark.parametrize(
    "grid",
    [
        {"kernel": ["rbf"], **RBF},
        {"kernel": ["laplacian"], **RBF},
        {
            "kernel": ["poly"],
            "degree": [2, 3],
            "coef0": [0.5, 1.0],
            "alpha": [1.0, 5.0],
        },
        {"kernel": ["linear"], "alpha": [0.1, 10.0]},
        [{"kernel": ["rbf", "linear"], "alpha": [0.1, 1.0]}, {"kernel": ["cosine"]}],
    ],
    ids=["rbf", "laplacian", "poly", "linear", "mixed"],
)
def test_ridge_with_any_kernel(device, grid):
    assert_same(*both(device, KernelRidge(gamma=0.3), grid, *rows()))


def test_ridge_with_weights_and_several_targets(device):
    X, y = rows()
    weights = {"sample_weight": np.random.default_rng(1).uniform(0.1, 3, len(y))}
    model = KernelRidge(kernel="rbf")

    assert_same(*both(device, model, RBF, X, y, fit_params=weights))
    assert_same(*both(device, model, RBF, X, np.column_stack([y, y**2])))


def test_ridge_with_low_rank_features(device, monkeypatch):
    """Narrow kernels stay whole, wide ones become features; both at once."""
    monkeypatch.setattr(_device_low_rank, "FEWEST_OPERATIONS", 1e6)
    monkeypatch.setattr(_device_low_rank, "SMALLEST_LIMIT", 32)
    used = []
    original = _device_low_rank.low_rank_on_device

    def watched(*arguments):
        found = original(*arguments)
        used.append(len(found))
        return found

    monkeypatch.setattr(
        "cvst.evaluation.kernels._device_ridge.low_rank_on_device", watched
    )
    X, y = rows(400, n_features=1)
    grid = {"alpha": [1e-3, 0.1, 10.0], "gamma": [0.1, 100.0, 1.0, 1e4]}

    for model in (KernelRidge(kernel="rbf"),):
        assert_same(*both(device, model, grid, X, y))
        assert_same(*both(device, model, grid, X, y, CVST()))
    assert 0 < max(used) < 4


def test_penalties_that_rounding_decides_are_left_to_scikit_learn(device, caplog):
    grid = {"alpha": [1e-9, 1e-8, 1.0], "gamma": [1.0, 5.0]}
    with caplog.at_level(logging.INFO, "cvst"):
        host, other = both(device, KernelRidge(kernel="rbf"), grid, *rows())

    assert "rounding errors might change" in caplog.text
    np.testing.assert_allclose(
        other.race_.mean_losses, host.race_.mean_losses, rtol=1e-6
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_logistic_regression(device, n_classes, scoring):
    X, y = labels(n_classes=n_classes)
    weights = {"sample_weight": np.random.default_rng(1).uniform(0.1, 3, len(y))}
    model = KernelLogisticRegression()

    assert_same(*both(device, model, RBF, X, y, scoring=scoring))
    host, other = both(device, model, RBF, X, y, scoring=scoring, fit_params=weights)
    np.testing.assert_allclose(
        other.race_.mean_losses, host.race_.mean_losses, rtol=1e-6
    )


@pytest.mark.parametrize("n_features", [2, 20], ids=["tree", "brute force"])
@pytest.mark.parametrize("whole", [False, True], ids=["fractions", "whole numbers"])
def test_neighbours(device, n_features, whole):
    """Ties included, of which whole numbers have many."""
    X, y = rows(150, n_features)
    X = np.rint(2 * X) if whole else X
    grid = {"n_neighbors": [1, 2, 5, 30, 99], "weights": ["uniform", "distance"]}

    assert_same(*both(device, KNeighborsRegressor(), grid, X, y))
    assert_same(*both(device, KNeighborsClassifier(), grid, X, y > 0))


def test_neighbours_far_from_the_origin(device):
    """There a product of matrices says nothing about distances."""
    X, y = rows(300, 3)
    grid = {"n_neighbors": [1, 2, 5, 30]}

    assert_same(*both(device, KNeighborsRegressor(), grid, X + 1e8, y))


@pytest.mark.parametrize("n_features", [3, 260], ids=["tall", "wide"])
def test_ridge_regression(device, n_features):
    """Ill-conditioned systems included, which the host solves."""
    X, y = rows(240, n_features)
    grid = {"alpha": [1e-6, 1e-3, 1.0, 1e3]}

    assert_same(*both(device, Ridge(solver="cholesky"), grid, X, y))
    assert_same(
        *both(device, RidgeClassifier(), {"alpha": [1e-3, 1.0, 50.0]}, X, y > 0)
    )


def test_pipelines_take_their_last_step_to_the_device(device):
    model = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
    grid = {f"kernelridge__{name}": values for name, values in RBF.items()}

    assert_same(*both(device, model, grid, *rows()))


def test_absolute_errors_and_residuals(device):
    settings = {"scoring": "neg_mean_absolute_error"}
    model = KernelRidge(kernel="rbf")

    assert_same(*both(device, model, RBF, *rows(), **settings))
    outliers = CVST(similarity="outliers")
    assert_same(*both(device, model, RBF, *rows(), outliers))


def test_a_time_budget_hands_out_the_work_bit_by_bit(device):
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf"),
        RBF,
        strategy="cvst",
        time_budget=60,
        random_state=0,
        device=device,
    ).fit(*rows())

    assert search.n_looks_ > 0


# Around it


class Full(NumpyArrays):
    """A device on which nothing can be factorised or sorted."""

    name = "full"

    def cholesky(self, matrices):
        raise MemoryError("it is full")

    def smallest(self, values, k):
        raise MemoryError("it is full")


class Tiny(NumpyArrays):
    """A device that the rows do not even get to."""

    name = "tiny"

    def put(self, values):
        raise MemoryError("it is full")


@pytest.mark.parametrize("device", [Full(), Tiny()], ids=["full", "tiny"])
@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (KernelRidge(kernel="rbf"), RBF),
        (KernelLogisticRegression(), RBF),
        (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}),
        (RidgeClassifier(), {"alpha": [1.0, 10.0, 100.0]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_host_takes_over_when_the_device_is_full(
    estimator, grid, device, monkeypatch
):
    """With one warning for the whole race, and the same result."""
    X, y = labels()
    y = (y == "a").astype(int)
    monkeypatch.setattr("cvst.search._setup.arrays_on", lambda name: device)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search = RaceGridSearchCV(
            estimator, grid, random_state=0, refit=False, return_pointwise=True
        ).fit(X, y)
    monkeypatch.undo()
    host = RaceGridSearchCV(
        estimator, grid, random_state=0, refit=False, return_pointwise=True
    ).fit(X, y)

    told = [one for one in caught if issubclass(one.category, FallbackWarning)]
    assert len(told) == 1
    assert "The host does the work instead" in str(told[0].message)
    assert_same(host, search)


def test_estimators_without_a_batched_solver_are_fitted_as_they_are(caplog):
    X, y = labels()
    grid = {"var_smoothing": [1e-9, 1e-3, 1.0]}
    with caplog.at_level(logging.INFO, "cvst"):
        assert_same(*both("numpy", GaussianNB(), grid, X, y))

    assert "device='numpy' is not used: GaussianNB" in caplog.text


def test_tensors_are_rows_too(device):
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    X, y = rows()
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf"), RBF, random_state=0, device=device
    )
    expected = search.fit(X, y).best_score_

    search.fit(torch.as_tensor(X), torch.as_tensor(y))

    assert search.best_score_ == expected
    assert search.predict(X[:3]).shape == (3,)


def test_unknown_devices_are_refused_before_anything_is_fitted():
    search = RaceRandomSearchCV(KernelRidge(), RBF, n_iter=3, device="gpu")
    with pytest.raises(InvalidInputError, match="device='gpu' is not known"):
        search.fit(*rows())
