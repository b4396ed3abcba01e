"""Races of neighbours, linear models, ensembles, and learners fitted one by one."""

from __future__ import annotations

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from problems import blobs, counts, lines, two_targets, wave
from race_definition import Race, each_strategy, grid_race, quick
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.metrics import pairwise_distances
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBClassifier, XGBRegressor

__all__ = ["MODELS"]


def _neighbours() -> list[Race]:
    grid = {"n_neighbors": [1, 3, 8, 20], "weights": ["uniform", "distance"]}
    metrics = grid | {"metric": ["euclidean", "manhattan"]}
    X, y = blobs(200)
    return [
        *each_strategy("neighbours/classes", KNeighborsClassifier(), grid, blobs()),
        *each_strategy("neighbours/numbers", KNeighborsRegressor(), metrics, wave()),
        *each_strategy("neighbours/too_many", KNeighborsRegressor(),
            {"n_neighbors": [1, 5, 60, 100]}, wave(110)),
        grid_race("neighbours/log_loss", KNeighborsClassifier(), grid, blobs(300, 4),
            scoring="neg_log_loss", strategy="cvst"),
        grid_race("neighbours/two_targets", KNeighborsRegressor(), grid, two_targets(),
            strategy=quick()),
        grid_race("neighbours/sparse", KNeighborsClassifier(), grid,
            (sparse.csr_matrix(X), y), strategy="cvst"),
        grid_race("neighbours/own_weights", KNeighborsRegressor(weights=np.exp),
            {"n_neighbors": [2, 5, 9]}, wave(150), strategy="cvst"),
        grid_race("neighbours/precomputed", KNeighborsClassifier(metric="precomputed"),
            {"n_neighbors": [1, 3, 8, 20]}, (pairwise_distances(X), y),
            strategy=quick()),
    ]  # fmt: skip


def _linear() -> list[Race]:
    alphas = {"alpha": np.logspace(-3, 4, 8)}
    lasso = {"alpha": np.logspace(-3, 0, 7)}
    net = lasso | {"l1_ratio": [0.2, 0.8], "fit_intercept": [True, False]}
    X, y = lines()
    weights = {"sample_weight": np.arange(300) % 3}
    return [
        *each_strategy("ridge/path", Ridge(), alphas, lines()),
        *each_strategy("ridge/classes", RidgeClassifier(), alphas, blobs()),
        *each_strategy("ridge/wide", Ridge(), alphas, lines(120, 200)),
        *each_strategy("ridge/solvers", Ridge(),
            {"alpha": [0.1, 10.0, 1e3], "solver": ["svd", "cholesky", "lsqr"]},
            lines()),
        grid_race("ridge/many_classes", RidgeClassifier(), alphas, blobs(300, 7),
            strategy=quick()),
        grid_race("ridge/balanced", RidgeClassifier(class_weight="balanced"), alphas,
            blobs(), strategy="cvst"),
        grid_race("ridge/two_targets", Ridge(), alphas, two_targets(),
            strategy="cvst"),
        grid_race("ridge/penalty_per_target", Ridge(),
            {"alpha": [[0.1, 1.0], [10.0, 1.0]]}, two_targets(), strategy="cvst"),
        grid_race("ridge/sparse", Ridge(), alphas, (sparse.csr_matrix(X), y),
            strategy="cvst"),
        grid_race("ridge/weights", Ridge(), alphas, lines(), fit=weights,
            strategy="cvst"),
        grid_race("ridge/positive", Ridge(positive=True), alphas, lines(),
            strategy="cvst"),
        *each_strategy("lasso/path", Lasso(), lasso, lines()),
        *each_strategy("lasso/elastic_net", ElasticNet(), net, lines()),
        grid_race("lasso/weights", Lasso(), lasso, lines(), fit=weights,
            strategy="cvst"),
        grid_race("lasso/not_converged", Lasso(max_iter=2), lasso, lines(100, 50),
            strategy="cvst"),
        grid_race("lasso/sparse", ElasticNet(), lasso, (sparse.csr_matrix(X), y),
            strategy=quick()),
        grid_race("lasso/two_targets", Lasso(), lasso, two_targets(), strategy="cvst"),
        grid_race("lasso/zero", Lasso(), {"alpha": [0.0, 0.1, 1.0]}, lines(),
            strategy="cross_validation"),
    ]  # fmt: skip


def _boosting() -> list[Race]:
    rounds = {"n_estimators": [3, 8, 15], "learning_rate": [0.1, 0.5]}
    hist = {"max_iter": [3, 8, 15], "learning_rate": [0.1, 0.5]}
    light = {"n_jobs": 1, "verbose": -1, "min_child_samples": 5}
    extreme = {"n_jobs": 1, "max_depth": 3}
    return [
        *each_strategy("boosting/classes", GradientBoostingClassifier(), rounds,
            blobs(200)),
        *each_strategy("boosting/numbers", GradientBoostingRegressor(), rounds,
            wave(200)),
        *each_strategy("boosting/hist_classes", HistGradientBoostingClassifier(), hist,
            blobs(200, 3)),
        *each_strategy("boosting/hist_numbers", HistGradientBoostingRegressor(), hist,
            wave(200)),
        *each_strategy("boosting/lightgbm_classes", LGBMClassifier(**light), rounds,
            blobs(200)),
        *each_strategy("boosting/lightgbm_numbers", LGBMRegressor(**light), rounds,
            wave(200)),
        *each_strategy("boosting/xgboost_classes", XGBClassifier(**extreme), rounds,
            blobs(200)),
        *each_strategy("boosting/xgboost_numbers", XGBRegressor(**extreme), rounds,
            wave(200)),
        grid_race("boosting/subsample", GradientBoostingRegressor(subsample=0.5),
            rounds | {"max_depth": [1, 3]}, wave(200), strategy="cvst"),
        grid_race("boosting/early_stopping",
            HistGradientBoostingRegressor(early_stopping=True), hist, wave(200),
            strategy="cvst"),
        grid_race("boosting/hist_log_loss", HistGradientBoostingClassifier(), hist,
            blobs(200), scoring="neg_log_loss", strategy=quick()),
        grid_race("boosting/lightgbm_log_loss", LGBMClassifier(**light), rounds,
            blobs(200, 3), scoring="neg_log_loss", strategy=quick()),
        grid_race("boosting/xgboost_log_loss", XGBClassifier(**extreme), rounds,
            blobs(200, 3), scoring="neg_log_loss", strategy="cvst"),
        grid_race("boosting/seeds", GradientBoostingRegressor(max_features=1),
            {"n_estimators": [3, 8], "random_state": [0, 1, 2]}, wave(200),
            strategy="cvst"),
        grid_race("boosting/weights", HistGradientBoostingRegressor(), hist, wave(200),
            fit={"sample_weight": np.arange(200) % 3}, strategy="cvst"),
    ]  # fmt: skip


def _trees() -> list[Race]:
    trees = {"n_estimators": [3, 8, 15], "max_features": [1, 2]}
    rounds = {"n_estimators": [3, 8, 15], "learning_rate": [0.3, 1.0]}
    bags = {"n_estimators": [2, 5, 9], "max_samples": [0.5, 1.0]}
    depths = {"max_depth": [1, 2, 4, None], "min_samples_leaf": [1, 5, 20]}
    models = {
        "forest_classes": (RandomForestClassifier(), trees, blobs(200, 3)),
        "forest_numbers": (RandomForestRegressor(), trees, wave(200)),
        "extra_classes": (ExtraTreesClassifier(), trees, blobs(200)),
        "extra_numbers": (ExtraTreesRegressor(), trees, wave(200)),
        "adaboost_classes": (AdaBoostClassifier(), rounds, blobs(200)),
        "adaboost_numbers": (AdaBoostRegressor(), rounds, wave(200)),
        "bagging_classes": (BaggingClassifier(), bags, blobs(200)),
        "bagging_numbers": (BaggingRegressor(), bags, wave(200)),
        "tree_classes": (DecisionTreeClassifier(), depths, blobs()),
        "tree_numbers": (DecisionTreeRegressor(), depths, wave()),
    }
    races = [
        race
        for name, (model, grid, data) in models.items()
        for race in each_strategy(f"trees/{name}", model, grid, data)
    ]
    return [
        *races,
        grid_race("trees/forest_out_of_bag", RandomForestClassifier(oob_score=True),
            trees, blobs(200), strategy="cvst"),
        grid_race("trees/forest_warm", RandomForestRegressor(warm_start=True), trees,
            wave(200), strategy="cvst"),
        grid_race("trees/forest_log_loss", RandomForestClassifier(), trees,
            blobs(200, 3), scoring="neg_log_loss", strategy=quick()),
        grid_race("trees/forest_two_targets", RandomForestRegressor(), trees,
            two_targets(200), strategy="cvst"),
        grid_race("trees/forest_default_strategy", ExtraTreesRegressor(),
            {"n_estimators": [2, 4, 8], "max_features": [1, 2],
             "min_samples_leaf": [1, 2, 4, 8, 16, 32]}, wave(400)),
    ]  # fmt: skip


def _alone() -> list[Race]:
    costs = {"C": np.logspace(-3, 2, 6)}
    small = {"hidden_layer_sizes": (5,), "max_iter": 30}
    networks = {"alpha": [1e-4, 1.0], "learning_rate_init": [0.001, 0.03, 0.3]}
    gradients = {"alpha": [1e-5, 1e-3, 1e-1], "penalty": ["l1", "l2"]}
    X, _ = blobs()
    return [
        *each_strategy("alone/naive_bayes", GaussianNB(),
            {"var_smoothing": np.logspace(-9, 1, 6)}, blobs(300, 3)),
        *each_strategy("alone/logistic", LogisticRegression(), costs, blobs()),
        *each_strategy("alone/network", MLPClassifier(**small), networks, blobs(150)),
        *each_strategy("alone/poisson", PoissonRegressor(),
            {"alpha": [0.0, 0.1, 1.0, 10.0]}, counts()),
        grid_race("alone/network_numbers", MLPRegressor(**small), networks, wave(150),
            strategy="cvst"),
        grid_race("alone/discriminant", LinearDiscriminantAnalysis(),
            {"shrinkage": [None, 0.1, 0.9], "solver": ["lsqr", "svd"]}, blobs(),
            strategy="cvst"),
        grid_race("alone/density", KernelDensity(), {"bandwidth": [0.1, 0.3, 1.0, 3.0]},
            (X, None), strategy="cvst"),
        grid_race("alone/mixture", GaussianMixture(), {"n_components": [1, 2, 4]},
            (X, None), strategy=quick(few=0)),
        *each_strategy("incremental/gradients", SGDClassifier(), gradients, blobs(),
            incremental=True),
        *each_strategy("incremental/naive_bayes", GaussianNB(),
            {"var_smoothing": np.logspace(-9, 1, 6)}, blobs(300, 3), incremental=True),
        grid_race("incremental/numbers", SGDRegressor(), gradients, lines(),
            incremental=True, strategy="cvst"),
        grid_race("incremental/network", MLPClassifier(hidden_layer_sizes=(5,)),
            {"solver": ["adam", "lbfgs"], "alpha": [0.01, 1.0]}, blobs(150),
            incremental=True, strategy="cvst"),
        grid_race("incremental/weights", BernoulliNB(), {"alpha": [0.1, 1.0, 10.0]},
            blobs(), fit={"sample_weight": 1.0 + np.arange(300) % 2}, incremental=True,
            strategy="cvst"),
        grid_race("alone/gradients", SGDClassifier(), gradients, blobs(),
            strategy="cvst"),
    ]  # fmt: skip


MODELS = [*_neighbours(), *_linear(), *_boosting(), *_trees(), *_alone()]
