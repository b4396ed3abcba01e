"""Searches by scores of all rows together: what is raced, ranked and reported."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    PredefinedSplit,
    StratifiedKFold,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC

from cvst import (
    CVST,
    RaceGridSearchCV,
    RaceRandomSearchCV,
    RaceSearchCV,
    TrackAndConfirm,
)
from cvst.exceptions import CVSTWarning


def labels(n=240, seed=0, n_classes=2, weights=(0.8,)):
    return make_classification(
        n,
        n_features=6,
        n_informative=4,
        n_classes=n_classes,
        weights=list(weights) if n_classes == 2 else None,
        flip_y=0.1,
        random_state=seed,
    )


def outlying_numbers(n=203, seed=0):
    X, y = make_regression(n, 5, noise=20.0, random_state=seed)
    rng = np.random.default_rng(seed)
    y[rng.choice(n, 6, replace=False)] += rng.normal(0, 900, 6)
    return X, y


def shown(value):
    """Name a case the same in every process, for tests that run side by side."""
    return getattr(value, "__name__", str(value))


def opaque_cost(estimator, X, y):
    """Weigh misses of the rare class five times."""
    predicted = estimator.predict(X)
    return -float(np.mean(np.where(y == 1, 5.0, 1.0) * (predicted != y)))


# Too few iterations for a shared path: plain fits are a witness to the last digit.
PLAIN = 99

CLASSIFIER = KNeighborsClassifier(), {"n_neighbors": [1, 5, 9, 15, 41]}
REGRESSOR = KNeighborsRegressor(), {"n_neighbors": [1, 3, 5, 9, 25]}

CASES = [
    *[
        (name, *CLASSIFIER, 2)
        for name in (
            "roc_auc",
            "average_precision",
            "f1",
            "f1_macro",
            "balanced_accuracy",
            "matthews_corrcoef",
            "jaccard",
            "jaccard_micro",
            "precision",
            "recall",
            "accuracy",
            "neg_log_loss",
            "d2_log_loss_score",
            make_scorer(metrics.cohen_kappa_score),
            opaque_cost,
        )
    ],
    *[
        (name, *CLASSIFIER, 3)
        for name in ("roc_auc_ovr_weighted", "roc_auc_ovo", "f1_weighted")
    ],
    *[
        (name, *REGRESSOR, 0)
        for name in (
            None,
            "r2",
            "neg_root_mean_squared_error",
            "neg_mean_squared_error",
            "neg_median_absolute_error",
            "neg_max_error",
            "explained_variance",
            "d2_absolute_error_score",
        )
    ],
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scoring", ["roc_auc_ovr_weighted", "roc_auc_ovr"])
def test_a_fold_without_one_of_the_classes_has_no_area(scoring):
    """As in scikit-learn; a label that nobody has may lack its own area."""
    X, y = labels(n_classes=3)
    folds = np.arange(len(y)) % 3
    folds[(y == 2) & (folds == 0)] = 1
    Y = np.eye(3, dtype=int)[y]
    Y[:, :2] |= np.random.default_rng(0).random((len(y), 2)) < 0.5
    estimator, grid = CLASSIFIER
    for truth, finite in ((y, False), (Y, "weighted" in scoring)):
        given = {"scoring": scoring, "cv": PredefinedSplit(folds)}
        if truth is Y:
            average = "weighted" if "weighted" in scoring else "macro"
            given["scoring"] = make_scorer(
                metrics.roc_auc_score, response_method="predict_proba", average=average
            )
        theirs = GridSearchCV(estimator, grid, **given, refit=False).fit(X, truth)
        ours = RaceGridSearchCV(
            estimator, grid, **given, strategy="cross_validation", refit=False
        ).fit(X, truth)
        found = ours.cv_results_["mean_test_score"]
        np.testing.assert_allclose(found, theirs.cv_results_["mean_test_score"])
        assert np.isfinite(found).all() == finite


# scikit-learn warns where no row is predicted to be positive.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("scoring", "estimator", "grid", "n_classes"), CASES, ids=shown
)
def test_cross_validation_is_that_of_scikit_learn(scoring, estimator, grid, n_classes):
    """Witness: GridSearchCV on the same folds, of unequal sizes and with outliers."""
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        pytest.skip("this version of scikit-learn has no such score")
    for seed in range(2):
        if n_classes:
            X, y = labels(123, seed, n_classes)
            cv = StratifiedKFold(4, shuffle=True, random_state=seed)
        else:
            X, y = outlying_numbers(83, seed=seed)
            cv = KFold(4, shuffle=True, random_state=seed)
        expected = GridSearchCV(estimator, grid, scoring=scoring, cv=cv).fit(X, y)
        search = RaceGridSearchCV(
            estimator, grid, scoring=scoring, cv=cv, strategy="cross_validation"
        ).fit(X, y)
        assert search.best_index_ == expected.best_index_
        assert search.best_score_ == pytest.approx(expected.best_score_, rel=1e-9)
        for name in ("mean_test_score", "std_test_score"):
            np.testing.assert_allclose(
                search.cv_results_[name],
                expected.cv_results_[name],
                rtol=1e-8,
                atol=1e-12,
            )
        # Ties share a rank there and are broken by the order of the grid here.
        by_rank = np.argsort(search.cv_results_["rank_test_score"])
        assert np.all(np.diff(expected.cv_results_["rank_test_score"][by_rank]) >= 0)


@pytest.mark.parametrize(
    "scoring", ["r2", "neg_root_mean_squared_error", "neg_mean_absolute_error"]
)
def test_the_winner_of_a_race_has_the_best_score_of_the_deciding_folds(scoring):
    """Among those that ran all folds of the last stage, whatever outliers do."""
    for seed in range(3):
        X, y = outlying_numbers(201, seed)
        grid = {"n_neighbors": [1, 2, 3, 4, 5, 7, 9, 12, 15, 20, 30]}
        search = RaceGridSearchCV(
            KNeighborsRegressor(), grid, scoring=scoring, random_state=seed, refit=False
        ).fit(X, y)
        state = search.race_
        last = [seen.look.stage == state.stage for seen in state.observations]
        n_folds = (state.present & np.array(last)).sum(axis=1)
        complete = n_folds == n_folds[search.best_index_]
        assert np.sum(complete) >= 1
        means = state.scores[:, last].mean(axis=1)
        assert means[search.best_index_] >= means[complete].max() - 1e-12
        assert search.best_score_ == pytest.approx(means[search.best_index_])


class Column(RegressorMixin, BaseEstimator):
    """Predicts one of its inputs."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return X[:, self.column]


@pytest.mark.parametrize(
    "strategy", ["cross_validation", TrackAndConfirm(level=1e-9)], ids=str
)
@pytest.mark.parametrize(
    ("scoring", "errors"),
    [
        # Fold by fold; the other one has the smaller mean squared error.
        ("r2", {0: (0.95, 4.4), 1: (0.3, 7.0)}),
        ("neg_root_mean_squared_error", {0: (6.0, 6.0), 1: (0.1, 10.0)}),
    ],
)
def test_scores_and_not_losses_are_averaged_over_folds(scoring, errors, strategy):
    """Targets that vary ten times as much in the second fold; checked by hand."""
    signs = np.tile([1.0, -1.0, -1.0, 1.0], 10)
    fold = np.repeat([0, 1], 20)
    y = np.tile([1.0, -1.0], 20) * np.where(fold == 0, 1.0, 10.0)
    X = np.column_stack(
        [y + signs * np.array(errors[one])[fold] for one in sorted(errors)]
    )
    squares = [np.mean(np.square(errors[one])) for one in sorted(errors)]
    assert np.argmin(squares) == 0
    cv = PredefinedSplit(fold)
    grid = {"column": [0, 1]}
    expected = GridSearchCV(Column(), grid, scoring=scoring, cv=cv).fit(X, y)
    assert expected.best_index_ == 1
    search = RaceGridSearchCV(
        Column(), grid, scoring=scoring, cv=cv, strategy=strategy, random_state=0
    ).fit(X, y)
    assert search.best_index_ == 1
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize("strategy", ["track_and_confirm", "cvst"])
@pytest.mark.parametrize(
    "scoring", ["roc_auc", "f1_macro", "average_precision", opaque_cost], ids=shown
)
def test_the_score_of_each_look_is_the_scorers_own(scoring, strategy):
    """Witness: the scorer called on the same fit and rows."""
    X, y = labels(400)
    grid = {"C": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]}
    search = RaceGridSearchCV(
        LogisticRegression(max_iter=PLAIN),
        grid,
        scoring=scoring,
        strategy=strategy,
        rescale=None,
        random_state=0,
        return_pointwise=True,
    ).fit(X, y)
    scorer = get_scorer(scoring)
    state = search.race_
    for seen, (numbers, rows, losses) in zip(
        state.observations[:3], search.pointwise_losses_, strict=False
    ):
        train = np.setdiff1d(np.arange(len(X)), rows)
        if len(train) != seen.look.n_train:
            continue
        for place in (0, len(numbers) - 1):
            params = state.configurations[numbers[place]]
            model = LogisticRegression(max_iter=PLAIN, **params).fit(X[train], y[train])
            expected = scorer(model, X[rows], y[rows])
            assert seen.scores[place] == pytest.approx(expected, abs=1e-6)
            assert losses[place].mean() == pytest.approx(seen.mean_losses[place])


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "neg_log_loss"])
@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (SVC(tol=1e-8), {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}),
        (
            HistGradientBoostingClassifier(max_iter=20, random_state=0),
            {"max_iter": [5, 10, 20], "learning_rate": [0.1, 0.3]},
        ),
        (LogisticRegression(max_iter=PLAIN), {"C": [0.01, 0.1, 1.0]}),
        (KNeighborsClassifier(), {"n_neighbors": [3, 9, 27]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_shared_work_scores_like_single_fits(scoring, estimator, grid):
    """Witness: GridSearchCV, which fits every configuration by itself."""
    if scoring == "neg_log_loss" and isinstance(estimator, SVC):
        pytest.skip("SVC has no probabilities")
    X, y = labels(160)
    cv = StratifiedKFold(3)
    expected = GridSearchCV(estimator, grid, scoring=scoring, cv=cv).fit(X, y)
    search = RaceGridSearchCV(
        estimator, grid, scoring=scoring, cv=cv, strategy="cross_validation"
    ).fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"],
        expected.cv_results_["mean_test_score"],
        atol=1e-6,
    )


def test_a_fold_without_a_score_does_not_end_the_race():
    """Sorted labels: some folds test one class only, and so have no area."""
    X, y = labels(120)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    cv = KFold(4)
    search = RaceGridSearchCV(
        KNeighborsClassifier(),
        {"n_neighbors": [1, 5, 15]},
        scoring="roc_auc",
        cv=cv,
        strategy="cross_validation",
        ordering="given",
    )
    with pytest.warns(CVSTWarning, match="score is nan in .* looks that decide"):
        search.fit(X, y)
    defined = np.isfinite(search.race_.scores)
    assert np.any(~defined.all(axis=0))
    assert np.all(defined == defined[0])
    assert not any(seen.failures for seen in search.race_.observations)
    means = np.nanmean(search.race_.scores, axis=1)
    assert search.best_index_ == int(np.argmax(means))


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", opaque_cost], ids=shown)
def test_scores_do_not_depend_on_the_number_of_workers(scoring):
    X, y = labels(200)
    grid = {"C": np.geomspace(1e-3, 10, 8)}
    one, several = (
        RaceGridSearchCV(
            LogisticRegression(), grid, scoring=scoring, random_state=0, n_jobs=jobs
        ).fit(X, y)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.race_.scores, several.race_.scores)
    np.testing.assert_array_equal(one.race_.p_values, several.race_.p_values)


def test_weights_enter_the_score():
    X, y = labels(150)
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    cv = StratifiedKFold(3)
    search = RaceGridSearchCV(
        LogisticRegression(max_iter=PLAIN),
        {"C": [0.1, 1.0]},
        scoring="roc_auc",
        cv=cv,
        strategy="cross_validation",
        rescale=None,
    ).fit(X, y, sample_weight=weights)
    for fold, (train, test) in enumerate(cv.split(X, y)):
        for place, C in enumerate((0.1, 1.0)):
            model = LogisticRegression(C=C, max_iter=PLAIN).fit(
                X[train], y[train], weights[train]
            )
            expected = metrics.roc_auc_score(
                y[test], model.decision_function(X[test]), sample_weight=weights[test]
            )
            assert search.race_.scores[place, fold] == pytest.approx(expected, abs=1e-6)


def test_a_proposing_search_and_a_random_one_take_any_score():
    X, y = labels(150)
    space = {"C": [0.001, 0.01, 0.1, 1.0, 10.0]}
    searches = [
        RaceSearchCV(
            LogisticRegression(), space, n_iter=6, scoring="roc_auc", random_state=0
        ),
        RaceRandomSearchCV(
            LogisticRegression(), space, n_iter=4, scoring="roc_auc", random_state=0
        ),
    ]
    for search in searches:
        search.fit(X, y)
        assert 0.5 < search.best_score_ <= 1
        assert search.score(X, y) == pytest.approx(
            metrics.roc_auc_score(y, search.decision_function(X))
        )


def test_numbers_with_a_regressor_of_few_rows_are_raced_by_r2():
    """A test fold of one row has no r2, but its error still counts."""
    X, y = outlying_numbers(12)
    search = RaceGridSearchCV(
        Ridge(), {"alpha": [0.1, 1e6]}, cv=KFold(12), strategy="cross_validation"
    )
    with pytest.warns(CVSTWarning, match=r"in 12 of the 12 looks that decide\. Check"):
        search.fit(X, y)
    assert np.isnan(search.race_.scores).all()
    errors = [
        np.mean(
            [
                (Ridge(alpha=alpha).fit(X[a], y[a]).predict(X[b])[0] - y[b][0]) ** 2
                for a, b in KFold(12).split(X)
            ]
        )
        for alpha in (0.1, 1e6)
    ]
    assert search.best_index_ == int(np.argmin(errors))


def test_paired_tests_decide_the_papers_race():
    X, y = labels(600)
    search = RaceGridSearchCV(
        LogisticRegression(),
        {"C": [1e-6, 0.1, 1.0]},
        scoring="roc_auc",
        strategy=CVST(max_steps=8),
        random_state=0,
    ).fit(X, y)
    assert search.best_params_["C"] >= 0.1


@pytest.mark.parametrize(
    ("scoring", "of_all_rows"),
    [
        ("accuracy", False),
        ("neg_log_loss", False),
        ("roc_auc", True),
        ("balanced_accuracy", True),
        (opaque_cost, True),
    ],
    ids=shown,
)
def test_the_race_knows_whether_its_score_is_of_all_rows(scoring, of_all_rows):
    """Fewer go on by such a score, of those that the test cannot tell apart."""
    X, y = labels()
    grid = {"C": [0.1, 1.0]}
    search = RaceGridSearchCV(LogisticRegression(), grid, scoring=scoring).fit(X, y)
    assert search.race_.problem.of_all_rows is of_all_rows
