from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    mutual_info_classif,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    PolynomialFeatures,
    QuantileTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, LinearSVC

from cvst.evaluation.sharing._randomness import draws_at_random

RNG = np.random.default_rng(0)
TALL = RNG.normal(size=(600, 20)) * np.arange(1, 21)
WIDE = RNG.normal(size=(60, 600))
LABELS = (RNG.random(600) < 0.5).astype(int)

EXACT = [
    (StandardScaler(), TALL),
    (PCA(3), TALL),
    (PCA(3), TALL[:50]),
    (PCA(0.9), WIDE),
    (PCA(), WIDE),
    (PCA(3, svd_solver="full"), WIDE),
    (PCA(3, random_state=0), WIDE),
    (PCA(3, random_state=np.random.RandomState(0)), WIDE),
    (make_pipeline(StandardScaler(), PCA(3)), TALL),
    (FeatureUnion([("a", PCA(2)), ("b", StandardScaler())]), TALL),
    (ColumnTransformer([("a", make_pipeline(PCA(5), PCA(2)), [0, 1, 2, 3, 4])]), TALL),
    (KernelPCA(2, eigen_solver="dense"), TALL),
    (KernelPCA(2), TALL[:200]),
    (QuantileTransformer(n_quantiles=50), TALL),
    (QuantileTransformer(n_quantiles=50, subsample=None), TALL),
    (KBinsDiscretizer(3, encode="ordinal", strategy="kmeans"), TALL),
    (SelectFromModel(LogisticRegression()), TALL),
    (SelectFromModel(LinearSVC(dual=False)), TALL),
    (SelectFromModel(Lasso(0.01)), TALL),
    (SelectFromModel(ElasticNet(0.01)), TALL),
    (SelectFromModel(Ridge()), TALL),
    (RFE(SVC(kernel="linear", C=0.01), n_features_to_select=18), TALL[:100]),
    (RFE(RidgeClassifier(), n_features_to_select=18), TALL),
    (SelectKBest(partial(mutual_info_classif, random_state=0)), TALL[:100]),
    (
        SequentialFeatureSelector(Ridge(), n_features_to_select=1, cv=KFold(2)),
        TALL[:60, :4],
    ),
]

RANDOM = [
    (TruncatedSVD(2), TALL),
    (PCA(3), WIDE),
    (PCA(3), sparse.csr_matrix(TALL)),
    (PCA(3, svd_solver="arpack"), TALL),
    (make_pipeline(PolynomialFeatures(), PCA(3)), TALL),
    (FeatureUnion([("a", PCA(2)), ("b", Nystroem())]), TALL),
    (ColumnTransformer([("a", "drop", [0])], remainder=TruncatedSVD(2)), TALL),
    (KernelPCA(2), TALL),
    (QuantileTransformer(n_quantiles=50, subsample=500), TALL),
    (KBinsDiscretizer(3, subsample=500), TALL),
    (SelectFromModel(RandomForestClassifier()), TALL),
    (SelectFromModel(VotingClassifier([("a", RandomForestClassifier())])), TALL),
    (SelectFromModel(LogisticRegression(solver="saga")), TALL),
    (SelectFromModel(LogisticRegression(solver="liblinear")), TALL),
    (SelectFromModel(Lasso(selection="random")), TALL),
    (SelectFromModel(Ridge(solver="sag")), TALL),
    (SelectFromModel(LinearSVC()), TALL),
    (SelectKBest(mutual_info_classif), TALL),
    (SelectKBest(partial(mutual_info_classif, n_neighbors=2)), TALL),
    (TargetEncoder(), TALL),
    (SequentialFeatureSelector(Ridge(), cv=KFold(2, shuffle=True)), TALL),
    (SequentialFeatureSelector(Ridge(), cv=ShuffleSplit(2)), TALL),
]


@pytest.mark.parametrize(("transformer", "X"), EXACT)
def test_what_counts_as_exact_is_exact(transformer, X):
    """Two clones, fitted at different points of the global stream, agree to a bit."""
    assert not draws_at_random(transformer, X)
    results = []
    for seed in (1, 2):
        # A generator of one's own would not be used: it is the global one that
        # random_state=None stands for.
        np.random.seed(seed)  # noqa: NPY002
        results.append(clone(transformer).fit_transform(X, LABELS[: X.shape[0]]))
    first, second = (r.toarray() if sparse.issparse(r) else r for r in results)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("transformer", "X"), RANDOM)
def test_what_may_differ_counts_as_random(transformer, X):
    """Each of these uses its generator, as its documentation says."""
    assert draws_at_random(transformer, X)


def test_a_class_of_ones_own_is_believed():
    """By its tag, by its parameter, else it counts as deterministic."""

    class Own(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            return self

        def transform(self, X):
            return X

    class Seeded(Own):
        def __init__(self, random_state=None):
            self.random_state = random_state

    class Tagged(Own):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.non_deterministic = True
            return tags

    assert not draws_at_random(Own(), TALL)
    assert draws_at_random(Tagged(), TALL)
    assert draws_at_random(Seeded(), TALL)
    assert not draws_at_random(Seeded(1), TALL)
