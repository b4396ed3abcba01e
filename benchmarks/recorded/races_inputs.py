"""Races on odd but legal input: frames, groups, weights, time, few rows, failures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
from problems import (
    Cliff,
    Fussy,
    FussyClassifier,
    Hungry,
    blobs,
    labels,
    lines,
    two_targets,
    wave,
)
from race_definition import Race, cvst, each_strategy, grid_race, quick
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["INPUTS"]

ALPHAS = {"alpha": np.logspace(-3, 4, 8)}
DEPTHS = {"max_depth": [1, 2, 4, 8], "min_samples_leaf": [1, 5, 20]}
NEIGHBOURS = {"n_neighbors": [1, 3, 8, 20]}


def _frames() -> list[Race]:
    X, y = wave()
    frame = pd.DataFrame(X, columns=["first", "second"])
    frame["kind"] = np.where(X[:, 0] > 0, "up", "down")
    encoded = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough"),
        Ridge(),
    )
    grid = {"ridge__alpha": [0.1, 10.0, 1e3]}
    words = np.array(["ham", "spam", "eggs"])[blobs(300, 3)[1]]
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    return [
        *each_strategy("frame/pandas", encoded, grid,
            (frame, pd.Series(y, index=range(5, 305)))),
        *each_strategy("frame/polars", KNeighborsRegressor(), NEIGHBOURS,
            (table, pl.Series(y))),
        grid_race("frame/kernel_ridge", KernelRidge(kernel="rbf"),
            {"gamma": [0.1, 1.0, 10.0]}, (frame[["first", "second"]], y),
            strategy="cvst"),
        grid_race("frame/lists", Ridge(), ALPHAS, (X.tolist(), y.tolist()),
            strategy="cvst"),
        grid_race("frame/words", KNeighborsClassifier(), NEIGHBOURS,
            (blobs(300, 3)[0], words), strategy="cvst"),
        grid_race("frame/categories", LogisticRegression(), {"C": [0.01, 1.0, 100.0]},
            (pd.DataFrame(blobs(300, 3)[0]), pd.Series(words, dtype="category")),
            strategy=quick(few=0)),
        *each_strategy("sparse/svm", SVC(), {"C": [0.1, 10.0], "gamma": [0.1, 1.0]},
            (sparse.csr_matrix(blobs(200)[0]), blobs(200)[1])),
        grid_race("sparse/columns", SVR(), {"C": [0.1, 10.0]},
            (sparse.csc_matrix(X), y), strategy="cvst"),
        grid_race("sparse/array", KernelRidge(kernel="rbf"), {"gamma": [0.1, 1, 10.0]},
            (sparse.csr_array(X), y), strategy="cvst"),
        grid_race("sparse/naive_bayes", MultinomialNB(), {"alpha": [0.01, 1.0, 100.0]},
            (sparse.csr_matrix(np.abs(blobs()[0])), blobs()[1]), strategy="cvst"),
        grid_race("shape/column", Ridge(), ALPHAS, (X, y[:, None]), strategy="cvst"),
        grid_race("shape/labels", DecisionTreeClassifier(), DEPTHS, labels(),
            strategy="cvst"),
        grid_race("shape/two_targets", DecisionTreeRegressor(), DEPTHS, two_targets(),
            strategy=quick()),
        grid_race("shape/two_labels", DecisionTreeClassifier(), DEPTHS,
            (labels()[0], labels()[1][:, :2] + [[0, 5]]), strategy="cvst"),
        *each_strategy("shape/many_classes", GaussianNB(),
            {"var_smoothing": [1e-9, 0.1, 10.0]}, blobs(480, 25)),
        grid_race("shape/rare_class", GaussianNB(), {"var_smoothing": [1e-9, 0.1, 9.0]},
            (blobs()[0], np.where(np.arange(300) < 3, 7, blobs()[1])),
            strategy="cvst"),
        grid_race("shape/rare_class_log_loss", KNeighborsClassifier(), NEIGHBOURS,
            (blobs()[0], np.where(np.arange(300) < 4, 7, blobs()[1])),
            strategy="cvst", scoring="neg_log_loss"),
        grid_race("shape/one_class", DecisionTreeClassifier(), DEPTHS,
            (blobs()[0], np.zeros(300, dtype=int)), strategy="cvst"),
        grid_race("shape/constant_target", DecisionTreeRegressor(), DEPTHS,
            (X, np.ones(300)), strategy="cvst"),
    ]  # fmt: skip


def _rows() -> list[Race]:
    X, y = wave()
    groups = np.repeat(np.arange(30), 10)
    uneven = np.minimum(np.arange(300) // 7, 20)
    names = np.array([f"group {number}" for number in groups])
    folds = list(KFold(3, shuffle=True, random_state=1).split(X))
    weights = np.random.default_rng(5).uniform(size=300)
    holes = np.where(np.arange(300) % 3, weights, 0.0)
    kernel = rbf_kernel(X, gamma=1.0)
    tree, classes = DecisionTreeRegressor(), DecisionTreeClassifier()
    held_out = wave(80, seed=9)
    validation = {"X_val": held_out[0], "y_val": held_out[1]}
    return [
        *each_strategy("groups/numbers", tree, DEPTHS, (X, y), fit={"groups": groups}),
        *each_strategy("groups/classes", classes, DEPTHS, blobs(), ordering="grouped",
            fit={"groups": names}),
        *each_strategy("groups/uneven", tree, DEPTHS, (X, y), fit={"groups": uneven}),
        grid_race("groups/folds", tree, DEPTHS, (X, y), fit={"groups": groups},
            cv=GroupKFold(4), strategy=quick()),
        *each_strategy("weights/numbers", tree, DEPTHS, (X, y),
            fit={"sample_weight": weights}),
        *each_strategy("weights/zeros", tree, DEPTHS, (X, y),
            fit={"sample_weight": holes}),
        *each_strategy("weights/classes", classes, DEPTHS, blobs(),
            fit={"sample_weight": holes}, scoring="neg_log_loss"),
        *each_strategy("held_out/numbers", tree, DEPTHS, (X, y), fit=validation),
        grid_race("held_out/weights", tree, DEPTHS, (X, y),
            fit=validation | {"sample_weight": holes}, strategy="cvst"),
        grid_race("held_out/groups", tree, DEPTHS, (X, y),
            fit=validation | {"groups": groups}, strategy="cvst"),
        grid_race("held_out/kernel", KernelRidge(kernel="precomputed"), ALPHAS,
            (kernel[:200, :200], y[:200]),
            fit={"X_val": kernel[200:, :200], "y_val": y[200:]}, strategy="cvst"),
        grid_race("held_out/shuffled", tree, DEPTHS, (X, y), fit=validation,
            strategy=cvst(shuffle_each_step=True)),
        *each_strategy("time/splitter", tree, DEPTHS, (X, y), cv=TimeSeriesSplit(4)),
        *each_strategy("time/given", tree, DEPTHS, (X, y), ordering="given"),
        grid_race("order/shuffled_classes", classes, DEPTHS, blobs(),
            ordering="shuffled", strategy="cvst"),
        grid_race("order/stratified_numbers", tree, DEPTHS, (X, y),
            ordering="stratified", strategy="cvst"),
        grid_race("order/seed", tree, DEPTHS, (X, y), random_state=7, strategy=quick()),
        grid_race("order/state", tree, DEPTHS, (X, y),
            random_state=np.random.RandomState(3), strategy=quick()),
        *each_strategy("cv/number", tree, DEPTHS, (X, y), cv=4),
        *each_strategy("cv/own", tree, DEPTHS, (X, y), cv=folds),
        grid_race("cv/generator", tree, DEPTHS, (X, y), cv=iter(folds),
            strategy=quick()),
        grid_race("cv/shuffle_split", tree, DEPTHS, (X, y),
            cv=ShuffleSplit(3, random_state=0), strategy=quick()),
        grid_race("cv/repeated", tree, DEPTHS, (X, y),
            cv=RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
            strategy=quick()),
        grid_race("cv/predefined", tree, DEPTHS, (X, y),
            cv=PredefinedSplit(np.arange(300) % 4 - 1), strategy="cross_validation"),
        grid_race("cv/stratified", classes, DEPTHS, blobs(),
            cv=StratifiedKFold(4, shuffle=True, random_state=2), strategy=quick()),
    ]  # fmt: skip


def _small() -> list[Race]:
    X, y = lines(60, 3)
    few = {"alpha": [0.1, 1.0, 100.0]}
    sizes = (1, 2, 5, 8, 12, 21, 22, 31)
    rare = (blobs(60)[0], np.r_[np.zeros(56), np.ones(4)])
    halves = (blobs()[0], np.repeat([0, 1], 150))
    return [
        *(grid_race(f"small/{n_rows}/cvst", Ridge(), few, (X[:n_rows], y[:n_rows]),
            strategy="cvst") for n_rows in sizes),
        *(grid_race(f"small/{n_rows}/track", Ridge(), few, (X[:n_rows], y[:n_rows]))
          for n_rows in sizes),
        *(grid_race(f"small/{n_rows}/time", Ridge(), few, (X[:n_rows], y[:n_rows]),
            ordering="given") for n_rows in (6, 20, 31)),
        *each_strategy("small/rare", GaussianNB(), {"var_smoothing": [1e-9, 1.0]},
            rare),
        *each_strategy("small/sorted", DecisionTreeClassifier(), DEPTHS, halves,
            ordering="given"),
        grid_race("small/held_out", Ridge(), few, (X[:8], y[:8]),
            fit={"X_val": X[20:], "y_val": y[20:]}, strategy="cvst"),
        grid_race("small/groups", Ridge(), few, (X, y), strategy=quick(few=0),
            fit={"groups": np.arange(60) // 10}),
    ]  # fmt: skip


def _failures() -> list[Race]:
    data = wave()
    moods = {"mood": ["good", "raises", "nan", "inf", "huge"], "shift": [0.0, 0.5]}
    hungry = {"alpha": np.logspace(-3, 4, 8), "least": [0, 70, 150]}
    narrow = quick(n_tracked=1, n_leaders=1, n_hedges=0)
    three = {"max_depth": [1, 2, 3]}
    with_gaps = np.where(np.arange(300)[:, None] == 5, np.nan, data[0])
    choices = {"choice": [0, 1], "mood": ["good", "nan", "raises"]}
    return [
        *each_strategy("failing/moods", Fussy(), moods, data),
        *each_strategy("failing/moods_zero", Fussy(), moods, data, error_score=0.0),
        *each_strategy("failing/hungry", Hungry(), hungry, data),
        *each_strategy("failing/all_hungry", Hungry(least=130), ALPHAS, data),
        *each_strategy("failing/late", Fussy(),
            {"mood": ["good", "late"], "shift": [0.0, 0.3, 0.6]}, data),
        *each_strategy("failing/all", Fussy(mood="raises"), {"shift": [0.0, 1.0]},
            data),
        *each_strategy("failing/raise", Fussy(), moods, data, error_score="raise"),
        *each_strategy("failing/classes", FussyClassifier(), choices, blobs(),
            scoring="neg_log_loss"),
        grid_race("failing/all_nan", Fussy(mood="nan"), {"shift": [0.0, 1.0]}, data,
            strategy="cvst"),
        grid_race("failing/all_infinite", Fussy(mood="huge"), {"shift": [0.0, 1.0]},
            data, strategy=quick(few=0)),
        grid_race("failing/cliff", Cliff(), {"level": list(range(40))}, data,
            strategy=narrow),
        grid_race("failing/bad_values", SVR(), {"C": [-1.0, 1.0], "gamma": [0.1, 1.0]},
            data, strategy="cvst"),
        grid_race("failing/gaps_refused", Ridge(), ALPHAS, (with_gaps, data[1]),
            strategy="cvst"),
        grid_race("failing/gaps_allowed", DecisionTreeRegressor(), three,
            (with_gaps, data[1]), strategy="cvst"),
        grid_race("failing/one_configuration", Fussy(mood="raises"), {"shift": [0.0]},
            data),
        grid_race("failing/cut_short", Hungry(least=1000), ALPHAS, data, max_looks=1,
            strategy=quick()),
    ]  # fmt: skip


INPUTS = [*_frames(), *_rows(), *_small(), *_failures()]
