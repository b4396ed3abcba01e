"""Races of kernel machines: ridge, support vectors, logistic regression."""

from __future__ import annotations

import numpy as np
from problems import blobs, lines, two_targets, wave
from race_definition import Race, each_strategy, grid_race, quick
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR

from cvst.learners import KernelLogisticRegression

__all__ = ["KERNELS"]

WIDTHS = [0.01, 0.1, 1.0, 10.0]
PENALTIES = [0.001, 0.1, 10.0]
COSTS = [0.1, 1.0, 30.0]


def _overlap(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.exp(-np.abs(a - b).sum()))


def _ridge() -> list[Race]:
    both = {"alpha": PENALTIES, "gamma": WIDTHS}
    poly = {"alpha": PENALTIES, "degree": [1, 2, 3], "coef0": [0, 1]}
    kernels = {"kernel": ["rbf", "laplacian", "linear", "cosine"], "alpha": PENALTIES}
    X, y = wave()
    return [
        *each_strategy("kernel_ridge/rbf", KernelRidge(kernel="rbf"), both, wave()),
        *each_strategy("kernel_ridge/poly", KernelRidge(kernel="poly"), poly, wave()),
        *each_strategy("kernel_ridge/kernels", KernelRidge(gamma=0.5), kernels, wave()),
        grid_race(
            "kernel_ridge/laplacian",
            KernelRidge(kernel="laplacian"),
            both,
            wave(),
            strategy="cvst",
        ),
        grid_race(
            "kernel_ridge/sigmoid",
            KernelRidge(kernel="sigmoid"),
            {"alpha": [1.0, 10.0], "gamma": [0.001, 0.01, 0.1]},
            wave(),
            strategy="cvst",
        ),
        grid_race(
            "kernel_ridge/callable",
            KernelRidge(kernel=_overlap),
            {"alpha": [0.1, 1.0]},
            wave(80),
            strategy="cross_validation",
        ),
        grid_race(
            "kernel_ridge/two_targets",
            KernelRidge(kernel="rbf"),
            both,
            two_targets(),
            strategy=quick(),
        ),
        grid_race(
            "kernel_ridge/weights",
            KernelRidge(kernel="rbf"),
            both,
            wave(),
            fit={"sample_weight": np.arange(300) % 4},
            strategy=quick(),
        ),
        grid_race(
            "kernel_ridge/single_precision",
            KernelRidge(kernel="rbf"),
            both,
            (X.astype(np.float32), y.astype(np.float32)),
            strategy="cvst",
        ),
        grid_race(
            "kernel_ridge/default_strategy",
            KernelRidge(kernel="rbf"),
            {"alpha": np.logspace(-4, 2, 7), "gamma": np.logspace(-3, 2, 6)},
            wave(400),
        ),
        grid_race(
            "kernel_ridge/singular",
            KernelRidge(kernel="linear"),
            {"alpha": [0.0, 1e-12, 1.0]},
            lines(120),
            strategy="cvst",
        ),
        *each_strategy(
            "kernel_ridge/precomputed",
            KernelRidge(kernel="precomputed"),
            {"alpha": np.logspace(-3, 2, 6)},
            (rbf_kernel(X, gamma=1.0), y),
        ),
    ]


def _svm() -> list[Race]:
    rbf = {"C": COSTS, "gamma": WIDTHS}
    kernels = [
        {"kernel": ["rbf", "sigmoid"], "gamma": [0.05, "scale"], "C": COSTS},
        {"kernel": ["poly"], "degree": [2, 3], "coef0": [0.0, 1.0], "C": COSTS},
        {"kernel": ["linear"], "C": COSTS},
    ]
    nu = {"nu": [0.1, 0.3, 0.5], "gamma": WIDTHS}
    X, y = blobs()
    many = blobs(400, 6)
    return [
        *each_strategy("svm/svc", SVC(), rbf, blobs()),
        *each_strategy("svm/svc_kernels", SVC(), kernels, blobs(200)),
        *each_strategy("svm/svc_classes", SVC(), rbf, many),
        *each_strategy("svm/svr", SVR(), rbf | {"epsilon": [0.1]}, wave(200)),
        *each_strategy("svm/nu_svc", NuSVC(), nu, blobs()),
        *each_strategy("svm/nu_svr", NuSVR(C=5.0), nu, wave(200)),
        grid_race(
            "svm/svc_default_strategy",
            SVC(),
            {"C": np.logspace(-2, 3, 6), "gamma": np.logspace(-3, 1, 6)},
            blobs(400, 3),
        ),
        grid_race(
            "svm/svc_balanced",
            SVC(class_weight="balanced", break_ties=True),
            rbf,
            many,
            strategy=quick(),
        ),
        grid_race(
            "svm/svc_pairs",
            SVC(decision_function_shape="ovo"),
            {"C": COSTS, "class_weight": [None, "balanced", {0: 2.0}]},
            many,
            strategy="cvst",
        ),
        grid_race(
            "svm/svc_short",
            SVC(max_iter=20),
            {"C": COSTS},
            blobs(150),
            strategy="cvst",
        ),
        grid_race(
            "svm/svc_weights",
            SVC(),
            rbf,
            blobs(),
            fit={"sample_weight": 1.0 + np.arange(300) % 3},
            strategy=quick(),
        ),
        grid_race(
            "svm/svc_top_k",
            SVC(),
            {"C": COSTS, "gamma": [0.1, 1.0]},
            many,
            scoring="top_k_accuracy",
            strategy="cvst",
        ),
        grid_race(
            "svm/nu_svc_infeasible",
            NuSVC(),
            {"nu": [0.1, 0.5, 0.9], "gamma": [0.1, 1.0]},
            (X, (X[:, 0] > np.quantile(X[:, 0], 0.8)).astype(int)),
            strategy="cvst",
        ),
        grid_race(
            "svm/svc_bad_values",
            SVC(),
            {"C": [-1.0, 1.0, 10.0], "gamma": [0.1, 1.0]},
            (X, y),
            strategy=quick(),
        ),
        *each_strategy(
            "svm/svc_precomputed",
            SVC(kernel="precomputed"),
            {"C": np.logspace(-2, 3, 6)},
            (laplacian_kernel(X, gamma=0.3), y),
        ),
        *each_strategy("svm/linear_svc", LinearSVC(), {"C": COSTS}, blobs()),
        *each_strategy("svm/linear_svr", LinearSVR(), {"C": COSTS}, lines(150)),
    ]


def _probable() -> list[Race]:
    grid = {"alpha": [0.01, 1.0, 100.0], "gamma": [0.01, 0.1, 1.0]}
    kernels = {"kernel": ["rbf", "linear", "poly"], "alpha": [0.1, 1.0, 10.0]}
    model = KernelLogisticRegression()
    return [
        *each_strategy("kernel_logistic/rbf", model, grid, blobs(200)),
        *each_strategy(
            "kernel_logistic/log_loss", model, grid, blobs(200), scoring="neg_log_loss"
        ),
        *each_strategy("kernel_logistic/classes", model, grid, blobs(200, 3)),
        grid_race(
            "kernel_logistic/kernels", model, kernels, blobs(200), strategy="cvst"
        ),
        grid_race(
            "kernel_logistic/weights",
            model,
            grid,
            blobs(200),
            fit={"sample_weight": 1.0 + np.arange(200) % 2},
            strategy="cvst",
        ),
        grid_race(
            "kernel_logistic/not_converged",
            KernelLogisticRegression(max_iter=2),
            grid,
            blobs(150),
            strategy="cvst",
        ),
        grid_race(
            "gaussian_process",
            GaussianProcessRegressor(optimizer=None),
            {"kernel": [RBF(0.3), RBF(1.0), RBF(3.0)], "alpha": [0.01, 0.1]},
            wave(150),
            strategy="cvst",
        ),
    ]


KERNELS = [*_ridge(), *_svm(), *_probable()]
