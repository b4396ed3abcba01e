"""``scoring=None`` is the estimator's own ``score``, whatever it computes."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.covariance import EllipticEnvelope, ShrunkCovariance
from sklearn.datasets import make_classification
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_selection import RFE, RFECV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, PoissonRegressor, RANSACRegressor
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cvst import RaceGridSearchCV, RaceSearchCV
from cvst.exceptions import InvalidInputError

X, Y = make_classification(400, 6, n_informative=4, flip_y=0.2, random_state=0)


class Thrifty(DecisionTreeClassifier):
    """Pays for errors and for depth."""

    def score(self, X, y, sample_weight=None):
        return -8 * float(np.mean(self.predict(X) != y)) - self.get_depth()


class Absolute(DecisionTreeRegressor):
    def score(self, X, y, sample_weight=None):
        return -float(np.mean(np.abs(self.predict(X) - y)))


class Median(BaseEstimator):
    """Neither a classifier nor a regressor, and without targets."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y=None):
        self.centre_ = np.median(X, axis=0) + self.shift
        return self

    def score(self, X, y=None):
        return -float(np.mean(np.abs(X - self.centre_)))


DEPTHS = {"max_depth": [1, 2, 3, 5, 8, 12]}
SHIFTS = {"shift": [-1.0, -0.1, 0.0, 0.2, 1.0]}
KINDS = {
    "classifier": (Thrifty(random_state=0), DEPTHS, Y),
    "regressor": (Absolute(random_state=0), DEPTHS, X[:, 0] + Y),
    "pipeline": (
        make_pipeline(StandardScaler(), Thrifty(random_state=0)),
        {"thrifty__max_depth": DEPTHS["max_depth"]},
        Y,
    ),
    "neither": (Median(), SHIFTS, None),
}


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_an_own_score_is_that_of_grid_search(kind, n_jobs):
    estimator, grid, y = KINDS[kind]
    cv = KFold(5)
    theirs = GridSearchCV(estimator, grid, cv=cv).fit(X, y)
    ours = RaceGridSearchCV(
        estimator,
        grid,
        cv=cv,
        strategy="cross_validation",
        random_state=0,
        n_jobs=n_jobs,
    ).fit(X, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


def test_it_decides_a_race():
    """By accuracy, deeper trees win: a level costs as much as an eighth of the rows."""
    grid = {"max_depth": list(range(1, 41))}
    tree = Thrifty(random_state=0)
    plain = RaceGridSearchCV(tree, grid, scoring="accuracy", random_state=0).fit(X, Y)
    own = RaceGridSearchCV(tree, grid, random_state=0).fit(X, Y)
    assert own.best_params_["max_depth"] < plain.best_params_["max_depth"]
    full = GridSearchCV(tree, grid, cv=KFold(10)).fit(X, Y)
    assert own.best_params_ == full.best_params_
    proposed = RaceSearchCV(tree, grid, n_iter=20, random_state=0).fit(X, Y)
    assert proposed.best_score_ < 0


class Wrapped(DecisionTreeClassifier):
    """Its score says that it is scikit-learn's."""

    @functools.wraps(DecisionTreeClassifier.score)
    def score(self, X, y, sample_weight=None):
        return -self.get_depth() - np.average(self.predict(X) != y)


class Weighted(DecisionTreeClassifier):
    def score(self, X, y, sample_weight=None):
        return -3 * np.average(self.predict(X) != y, weights=sample_weight)


HIDDEN = {
    "wrapped": (Wrapped(random_state=0), DEPTHS, {}),
    "in a search": (
        GridSearchCV(Thrifty(random_state=0), {"min_samples_leaf": [1, 20]}, cv=2),
        {"estimator__max_depth": [1, 3, 8]},
        {},
    ),
    "weights": (
        Weighted(random_state=0),
        DEPTHS,
        {"sample_weight": np.random.default_rng(0).uniform(0.1, 9, len(Y))},
    ),
}


@pytest.mark.parametrize("kind", HIDDEN)
def test_an_own_score_is_found_wherever_it_is(kind):
    """Witness: what GridSearchCV calls; weights are those of the fit and the score."""
    estimator, grid, params = HIDDEN[kind]
    cv = KFold(4)
    ours = RaceGridSearchCV(
        estimator, grid, cv=cv, strategy="cross_validation", random_state=0
    ).fit(X, Y, **params)
    weights = params.get("sample_weight", np.ones(len(Y)))
    for configuration, mean in zip(
        ours.cv_results_["params"], ours.cv_results_["mean_test_score"], strict=True
    ):
        scores = [
            clone(estimator)
            .set_params(**configuration)
            .fit(
                X[train],
                Y[train],
                **({"sample_weight": weights[train]} if params else {}),
            )
            .score(
                X[test], Y[test], **({"sample_weight": weights[test]} if params else {})
            )
            for train, test in cv.split(X)
        ]
        assert mean == pytest.approx(np.mean(scores))


FULL_RANK, LABELS = make_classification(
    150, 6, n_informative=6, n_redundant=0, flip_y=0.2, random_state=0
)
COUNTS = np.random.default_rng(0).poisson(np.exp(FULL_RANK[:, 0] / 2))
FEATURES = {"n_features_to_select": [1, 4]}
FEWEST = {"min_features_to_select": [1, 5]}
THRESHOLDS = {"threshold": [0.6, 0.75, 0.9]}
HALF_KNOWN = np.where(np.random.default_rng(1).random(150) < 0.3, -1, LABELS)
DELEGATES = {
    "features, deviance": (RFE(PoissonRegressor()), FEATURES, COUNTS),
    "features, own score": (RFE(Thrifty(random_state=0)), FEATURES, LABELS),
    "features in a pipeline": (
        make_pipeline(StandardScaler(), RFE(PoissonRegressor())),
        {"rfe__n_features_to_select": [1, 4]},
        COUNTS,
    ),
    "features in a search": (
        GridSearchCV(RFE(PoissonRegressor()), {"step": [3]}, cv=2),
        {"estimator__n_features_to_select": [1, 5]},
        COUNTS,
    ),
    "features by folds, area": (
        RFECV(LogisticRegression(), cv=2, scoring="roc_auc"),
        FEWEST,
        LABELS,
    ),
    # Not the explained deviance: RFECV scores regressors by r2.
    "features by folds": (RFECV(PoissonRegressor(), cv=2), FEWEST, COUNTS),
    "labels unknown": (
        SelfTrainingClassifier(LogisticRegression()),
        THRESHOLDS,
        HALF_KNOWN,
    ),
    "labels unknown, own score": (
        SelfTrainingClassifier(Thrifty(random_state=0)),
        THRESHOLDS,
        HALF_KNOWN,
    ),
    "inliers": (RANSACRegressor(random_state=0), {"min_samples": [0.2, 0.5]}, COUNTS),
    "inliers, deviance": (
        RANSACRegressor(
            PoissonRegressor(), min_samples=0.5, max_trials=5, random_state=0
        ),
        {"min_samples": [0.3, 0.6]},
        COUNTS,
    ),
    "fitted before, deviance": (
        make_pipeline(
            StandardScaler(),
            FrozenEstimator(PoissonRegressor().fit(FULL_RANK, COUNTS)),
        ),
        {"standardscaler__with_mean": [True, False]},
        COUNTS,
    ),
    "outliers": (
        EllipticEnvelope(random_state=0),
        {"contamination": [0.05, 0.2, 0.4]},
        2 * LABELS - 1,
    ),
}


@pytest.mark.parametrize("kind", DELEGATES)
def test_scores_that_ask_another_estimator(kind):
    """Witness: ``GridSearchCV`` on the same folds."""
    estimator, grid, y = DELEGATES[kind]
    cv = KFold(3)
    theirs = GridSearchCV(estimator, grid, cv=cv).fit(FULL_RANK, y)
    ours = RaceGridSearchCV(
        estimator, grid, cv=cv, strategy="cross_validation", random_state=0
    ).fit(FULL_RANK, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )
    assert ours.score(FULL_RANK, y) == pytest.approx(theirs.score(FULL_RANK, y))


@pytest.mark.parametrize("name", ["sklearn", "lightgbm", "xgboost"])
def test_scores_of_known_packages_are_not_asked(name):
    """Their values by row are known, and let the tests decide sooner."""
    package = pytest.importorskip(name)
    if name == "sklearn":
        models = [DecisionTreeClassifier(), DecisionTreeRegressor()]
    elif name == "lightgbm":
        models = [package.LGBMClassifier(), package.LGBMRegressor()]
    else:
        models = [package.XGBClassifier(), package.XGBRegressor()]
    from cvst.evaluation.losses import resolve_loss

    for model in models:
        assert resolve_loss(None, model, [0, 1, 1]).name in (
            "accuracy_score",
            "r2_score",
        )


def test_without_any_score_it_is_refused():
    class Bare(BaseEstimator):
        def fit(self, X, y=None):
            return self

    with pytest.raises(InvalidInputError, match="a score of its own"):
        RaceGridSearchCV(Bare(), {}).fit(X)


class Counts(PoissonRegressor):
    """A subclass with the score of its family."""


@pytest.mark.parametrize(
    ("estimator", "grid", "with_targets"),
    [
        (KMeans(n_init=2, random_state=0), {"n_clusters": [2, 3, 5, 8]}, False),
        (
            make_pipeline(StandardScaler(), KMeans(n_init=2, random_state=0)),
            {"kmeans__n_clusters": [2, 4, 6]},
            False,
        ),
        (ShrunkCovariance(), {"shrinkage": [0.0, 0.2, 0.9]}, False),
        (
            LatentDirichletAllocation(
                max_iter=3, max_doc_update_iter=20, random_state=0
            ),
            {"n_components": [2, 4]},
            False,
        ),
        (Counts(), {"alpha": [0.01, 1.0, 100.0]}, True),
    ],
    ids=["clusters", "clusters in a pipeline", "covariance", "topics", "subclass"],
)
def test_any_score_method_of_scikit_learn_is_raced(estimator, grid, with_targets):
    """Witness: ``GridSearchCV`` on the same folds."""
    rng = np.random.default_rng(0)
    X = rng.poisson(3, size=(200, 4)).astype(float)
    y = rng.poisson(np.exp(X[:, 0] / 4)) if with_targets else None
    theirs = GridSearchCV(estimator, grid, cv=5).fit(X, y)
    ours = RaceGridSearchCV(
        estimator, grid, cv=5, strategy="cross_validation", random_state=0
    ).fit(X, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )
    assert ours.best_params_ == theirs.best_params_
    raced = RaceGridSearchCV(estimator, grid, random_state=0).fit(X, y)
    assert np.isfinite(raced.best_score_)


def test_an_estimator_without_a_score_is_told_so():
    with pytest.raises(InvalidInputError, match=r"DBSCAN .* has no method score"):
        RaceGridSearchCV(DBSCAN(), {"eps": [0.1, 0.2]}).fit(np.ones((30, 2)))
