"""Races of pipelines and of transformed targets."""

from __future__ import annotations

import tempfile

import numpy as np
from problems import blobs, counts, lines, two_targets, wave
from race_definition import Race, each_strategy, grid_race, quick
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    PolynomialFeatures,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import SVC

__all__ = ["PIPELINES"]

COSTS = [0.1, 1.0, 30.0]

# Kept as long as the process runs.
CACHE = tempfile.TemporaryDirectory(prefix="recorded-races-")


def _pipelines() -> list[Race]:
    scaled = make_pipeline(StandardScaler(), SVC())
    steps = Pipeline([("scale", StandardScaler()), ("model", SVC())])
    replaced = [
        {"scale": [StandardScaler(), MinMaxScaler(), "passthrough"],
         "model__C": COSTS},
        {"model": [KNeighborsClassifier(), LogisticRegression()]},
        {"model": [KNeighborsClassifier()], "model__n_neighbors": [1, 5, 20]},
    ]  # fmt: skip
    cached = make_pipeline(PCA(), LogisticRegression(), memory=CACHE.name)
    union = make_pipeline(
        FeatureUnion([("pca", PCA(2)), ("best", SelectKBest(f_classif, k=1))]),
        LogisticRegression(),
    )
    columns = make_pipeline(
        ColumnTransformer([("some", StandardScaler(), [0, 1])], remainder="drop"),
        KNeighborsClassifier(),
    )
    return [
        *each_strategy("pipeline/svm", scaled,
            {"svc__C": COSTS, "svc__gamma": [0.1, 1.0]}, blobs()),
        *each_strategy("pipeline/replaced", steps, replaced, blobs(200)),
        *each_strategy("pipeline/cached", cached,
            {"pca__n_components": [1, 2, 3], "logisticregression__C": COSTS},
            blobs(200)),
        *each_strategy("pipeline/ridge",
            make_pipeline(PolynomialFeatures(), StandardScaler(), Ridge()),
            {"polynomialfeatures__degree": [1, 2, 3], "ridge__alpha": [0.1, 10.0]},
            wave()),
        *each_strategy("pipeline/forest",
            make_pipeline(SelectKBest(f_classif), RandomForestClassifier()),
            {"selectkbest__k": [1, 2, 4],
             "randomforestclassifier__n_estimators": [3, 8]}, blobs(200)),
        *each_strategy("pipeline/kernel_ridge",
            make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")),
            {"kernelridge__alpha": [0.01, 1.0], "kernelridge__gamma": [0.1, 1.0, 10.0]},
            wave()),
        grid_race("pipeline/neighbours",
            make_pipeline(StandardScaler(), KNeighborsRegressor()),
            {"kneighborsregressor__n_neighbors": [1, 3, 8, 20],
             "standardscaler__with_std": [True, False]}, wave(), strategy="cvst"),
        grid_race("pipeline/lasso", make_pipeline(StandardScaler(), Lasso()),
            {"lasso__alpha": np.logspace(-3, 0, 5)}, lines(), strategy="cvst"),
        grid_race("pipeline/hist",
            make_pipeline(PCA(3), HistGradientBoostingClassifier()),
            {"pca__whiten": [False, True],
             "histgradientboostingclassifier__max_iter": [3, 9]}, blobs(200),
            strategy="cvst"),
        grid_race("pipeline/nested",
            make_pipeline(StandardScaler(), make_pipeline(PCA(), SVC())),
            {"pipeline__pca__n_components": [1, 3], "pipeline__svc__C": COSTS},
            blobs(200), strategy="cvst"),
        grid_race("pipeline/union", union,
            {"featureunion__pca__n_components": [1, 2, 3],
             "logisticregression__C": [0.1, 10.0]}, blobs(200), strategy="cvst"),
        grid_race("pipeline/columns", columns,
            {"columntransformer__some": [StandardScaler(), "passthrough"],
             "kneighborsclassifier__n_neighbors": [1, 5, 15]}, blobs(200),
            strategy="cvst"),
        grid_race("pipeline/failing_steps", make_pipeline(PCA(), Ridge()),
            {"pca__n_components": [2, 10, 25, 40]}, lines(200, 40), strategy="cvst"),
        grid_race("pipeline/only_steps", scaled,
            {"standardscaler__with_mean": [True, False],
             "standardscaler__with_std": [True, False]}, blobs(), strategy="cvst"),
        grid_race("pipeline/weights", scaled, {"svc__C": COSTS}, blobs(),
            fit={"svc__sample_weight": 1.0 + np.arange(300) % 2}, strategy="cvst"),
        grid_race("pipeline/log_loss",
            make_pipeline(StandardScaler(), LogisticRegression()),
            {"logisticregression__C": COSTS}, blobs(300, 4), scoring="neg_log_loss",
            strategy=quick(few=0)),
    ]  # fmt: skip


def _targets() -> list[Race]:
    logarithm = {"func": np.log, "inverse_func": np.exp}
    ridge = TransformedTargetRegressor(Ridge(), **logarithm)
    kernel = TransformedTargetRegressor(
        KernelRidge(kernel="rbf"), transformer=StandardScaler()
    )
    inside = make_pipeline(
        StandardScaler(), TransformedTargetRegressor(KNeighborsRegressor(), **logarithm)
    )
    around = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), Ridge()),
        transformer=QuantileTransformer(n_quantiles=10),
    )
    name = "transformedtargetregressor__regressor__n_neighbors"
    return [
        *each_strategy("targets/ridge", ridge,
            {"regressor__alpha": np.logspace(-2, 4, 7)}, counts()),
        *each_strategy("targets/kernel_ridge", kernel,
            {"regressor__alpha": [0.01, 1.0], "regressor__gamma": [0.1, 1.0, 10.0]},
            wave()),
        grid_race("targets/inside", inside, {name: [1, 4, 12]}, counts(),
            strategy="cvst"),
        grid_race("targets/around", around,
            {"regressor__ridge__alpha": [0.1, 10.0],
             "transformer": [QuantileTransformer(n_quantiles=5), StandardScaler()]},
            counts(), strategy="cvst"),
        grid_race("targets/replaced", kernel,
            {"regressor": [Ridge(), KNeighborsRegressor()]}, wave(), strategy="cvst"),
        grid_race("targets/two", kernel, {"regressor__gamma": [0.1, 1.0, 10.0]},
            two_targets(), strategy="cvst"),
        grid_race("targets/bad", ridge, {"regressor__alpha": [0.1, 1.0]}, wave(100),
            strategy="cvst"),
    ]  # fmt: skip


PIPELINES = [*_pipelines(), *_targets()]
