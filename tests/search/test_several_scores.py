"""Several scores at once: one is raced on, all are recorded."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvst import PointwiseLoss, RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV
from cvst.displays import SurvivorsDisplay
from cvst.exceptions import CVSTWarning, InvalidInputError
from cvst.report import summary
from cvst.search._results import score_columns

NAMES = ["accuracy", "roc_auc", "f1", "neg_log_loss"]
GRID = {"n_neighbors": [1, 5, 15, 41]}
CV = StratifiedKFold(4)


@pytest.fixture(scope="module")
def rows():
    return make_classification(
        160, n_features=5, weights=[0.7], flip_y=0.1, random_state=1
    )


RULE = "one_standard_error"


def one_number(estimator, X, y):
    return metrics.accuracy_score(y, estimator.predict(X))


def two_numbers(estimator, X, y):
    predicted = estimator.predict(X)
    return {
        "hits": metrics.accuracy_score(y, predicted),
        "balance": metrics.balanced_accuracy_score(y, predicted),
    }


def score_and_balance(estimator, X, y):
    found = two_numbers(estimator, X, y)
    return {"score": found["hits"], "balance": found["balance"]}


def only_score(estimator, X, y):
    return {"score": one_number(estimator, X, y)}


SEVERAL = [
    (NAMES, "roc_auc"),
    (tuple(NAMES), "f1"),
    ({"a": "accuracy", "b": make_scorer(metrics.fbeta_score, beta=2)}, "b"),
    ({"only": "roc_auc"}, "only"),
    (two_numbers, "balance"),
    (score_and_balance, "score"),
    (score_and_balance, "balance"),
]


@pytest.mark.parametrize(
    ("scoring", "refit"), SEVERAL, ids=lambda value: str(value).split(" at 0x")[0]
)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_tables_are_those_of_scikit_learn(rows, scoring, refit, n_jobs):
    """Witness: GridSearchCV on the same folds, for every score."""
    if n_jobs is not None and refit != "roc_auc":
        pytest.skip("one list is enough to show it")
    X, y = rows
    expected = GridSearchCV(
        KNeighborsClassifier(), GRID, scoring=scoring, refit=refit, cv=CV
    ).fit(X, y)
    search = RaceGridSearchCV(
        KNeighborsClassifier(),
        GRID,
        scoring=scoring,
        refit=refit,
        cv=CV,
        strategy="cross_validation",
        n_jobs=n_jobs,
    ).fit(X, y)
    assert search.multimetric_
    assert search.best_index_ == expected.best_index_
    assert search.best_params_ == expected.best_params_
    assert search.best_score_ == pytest.approx(expected.best_score_)
    assert search.score(X, y) == pytest.approx(expected.score(X, y))
    names = [name[10:] for name in expected.cv_results_ if name[:10] == "mean_test_"]
    assert ("mean_test_score" in search.cv_results_) == ("score" in names)
    for name in names:
        for column in (f"mean_test_{name}", f"std_test_{name}"):
            np.testing.assert_allclose(
                search.cv_results_[column], expected.cv_results_[column], rtol=1e-9
            )
        for fold in range(4):
            np.testing.assert_allclose(
                search.cv_results_[f"look{fold + 1}_test_{name}"],
                expected.cv_results_[f"split{fold}_test_{name}"],
            )
        if name != refit:
            np.testing.assert_array_equal(
                search.cv_results_[f"rank_test_{name}"],
                expected.cv_results_[f"rank_test_{name}"],
            )
    if callable(scoring):
        assert search.scorer_ is scoring
    else:
        assert list(search.scorer_) == list(names)


@pytest.mark.parametrize("name", ["accuracy", "roc_auc"])
def test_the_race_is_that_of_the_single_score(rows, name):
    """Recording other scores changes nothing in the race itself."""
    X, y = rows
    options = {"random_state": 0, "return_pointwise": True}
    grid = {"C": np.geomspace(1e-3, 100, 12)}
    alone = RaceGridSearchCV(LogisticRegression(), grid, scoring=name, **options).fit(
        X, y
    )
    several = RaceGridSearchCV(
        LogisticRegression(), grid, scoring=NAMES, refit=name, **options
    ).fit(X, y)
    assert several.best_index_ == alone.best_index_
    np.testing.assert_array_equal(several.race_.scores, alone.race_.scores)
    np.testing.assert_array_equal(
        several.cv_results_[f"rank_test_{name}"], alone.cv_results_["rank_test_score"]
    )
    for other in set(NAMES) - {name}:
        table = several.race_.scores_named(other)
        np.testing.assert_array_equal(np.isfinite(table), several.race_.present)


def test_models_that_share_work_are_asked_for_every_response(rows):
    """Labels and decision values of support vector machines, fitted together."""
    X, y = rows
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}
    scoring = ["roc_auc", "accuracy"]
    exact = SVC(tol=1e-8)
    expected = GridSearchCV(exact, grid, scoring=scoring, refit="roc_auc", cv=CV)
    search = RaceGridSearchCV(
        exact,
        grid,
        scoring=scoring,
        refit="roc_auc",
        cv=CV,
        strategy="cross_validation",
    )
    expected.fit(X, y)
    search.fit(X, y)
    for name in scoring:
        np.testing.assert_allclose(
            search.cv_results_[f"mean_test_{name}"],
            expected.cv_results_[f"mean_test_{name}"],
            atol=1e-9,
        )


def test_without_a_refit_race_by_says_what_to_race_on(rows):
    X, y = rows
    search = RaceGridSearchCV(
        KNeighborsClassifier(),
        GRID,
        scoring=NAMES,
        refit=False,
        race_by="f1",
        cv=CV,
        strategy="cross_validation",
    ).fit(X, y)
    means = search.cv_results_["mean_test_f1"]
    assert search.best_index_ == int(np.argmax(means))
    assert search.score_name_ == "f1"
    assert not hasattr(search, "best_estimator_")


def test_a_function_may_choose_by_all_scores(rows):
    X, y = rows

    def worst_f1(results):
        return int(np.argmin(results["mean_test_f1"]))

    search = RaceGridSearchCV(
        KNeighborsClassifier(),
        GRID,
        scoring=NAMES,
        refit=worst_f1,
        race_by="accuracy",
        cv=CV,
        strategy="cross_validation",
    ).fit(X, y)
    assert search.best_index_ == int(np.argmin(search.cv_results_["mean_test_f1"]))
    assert search.score(X, y) == pytest.approx(
        get_scorer("accuracy")(search.best_estimator_, X, y)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scoring": NAMES}, "refit=True does not say which.*'roc_auc'.*race_by"),
        ({"scoring": NAMES, "refit": False}, "refit=False does not say which"),
        ({"scoring": NAMES, "refit": "r2"}, "refit='r2' is none of the scores"),
        ({"scoring": NAMES, "race_by": "r2"}, "race_by='r2' is none of the scores"),
        (
            {"scoring": NAMES, "refit": "acuracy", "race_by": "f1"},
            "refit='acuracy' is none of the scores",
        ),
        (
            {"scoring": two_numbers, "refit": "no", "race_by": "hits"},
            "none of them is 'no'",
        ),
        ({"scoring": []}, "does not name its scores"),
        ({"scoring": ["f1", "f1"], "refit": "f1"}, "holds a name twice"),
        ({"scoring": ["f1", two_numbers], "refit": "f1"}, "something else than names"),
        ({"scoring": {1: "f1"}, "refit": "f1"}, "does not name its scores"),
        ({"scoring": "f1", "race_by": "r2"}, "scoring is only one"),
        ({"scoring": two_numbers}, "returned scores named.*nothing says.*race_by="),
        ({"scoring": two_numbers, "refit": False}, "nothing says which of them to"),
        ({"scoring": one_number, "refit": "no"}, "one number, and none.*'no'.*refit="),
        (
            {"scoring": one_number, "refit": "no", "race_by": "score"},
            "one number, and none.*'no'.*refit=",
        ),
        ({"scoring": "f1", "refit": "no"}, r"refit='no' is not.*SimplestNotWorse\("),
        ({"refit": "no"}, "refit='no' is not the name of the score"),
        ({"refit": RULE}, f"refit='{RULE}' does not say what is simple.*'alpha:-'"),
        ({"scoring": NAMES, "refit": RULE}, "does not say what is simple"),
        ({"scoring": one_number, "refit": RULE}, "does not say what is simple"),
        ({"scoring": two_numbers, "refit": "no"}, "none of them is 'no'"),
    ],
)
def test_scores_that_do_not_say_what_to_race_on_are_refused(rows, options, message):
    search = RaceGridSearchCV(KNeighborsClassifier(), GRID, **options)
    with pytest.raises(InvalidInputError, match=message):
        search.fit(*rows)


@pytest.mark.parametrize(
    ("scoring", "refit"),
    [
        ("f1", "score"),
        ("f1", "f1"),
        (make_scorer(f1_score), "f1_score"),
        (None, "score"),
        (one_number, "score"),
        (only_score, "score"),
        ({RULE: "f1"}, RULE),
    ],
)
def test_one_score_may_be_named_by_refit(rows, scoring, refit):
    """As in scikit-learn, which takes any text for True if there is one score."""
    X, y = rows
    search = RaceGridSearchCV(
        KNeighborsClassifier(), GRID, scoring=scoring, refit=refit, random_state=0
    ).fit(X, y)
    assert hasattr(search, "best_estimator_")
    assert 0 < search.score(X, y) <= 1


def test_numbers_in_arrays_are_numbers(rows):
    """scikit-learn takes the item of an array of one."""

    def in_an_array(model, X, y):
        return np.array([one_number(model, X, y)])

    def metric_in_an_array(y_true, y_pred):
        return np.array([np.mean(y_true == y_pred)])

    X, y = rows
    means = [
        RaceGridSearchCV(
            KNeighborsClassifier(),
            GRID,
            scoring=scoring,
            refit=False,
            cv=CV,
            strategy="cross_validation",
        )
        .fit(X, y)
        .cv_results_["mean_test_score"]
        for scoring in (one_number, in_an_array, make_scorer(metric_in_an_array))
    ]
    np.testing.assert_array_equal(means[0], means[1])
    np.testing.assert_allclose(means[0], means[2])


def test_a_score_that_fails_is_recorded_as_such_and_decides_nothing(rows):
    def broken(y_true, y_pred):
        raise RuntimeError("no")

    X, y = rows
    search = RaceGridSearchCV(
        KNeighborsClassifier(),
        GRID,
        scoring={"good": "accuracy", "bad": make_scorer(broken)},
        refit="good",
        error_score=-7.0,
        random_state=0,
    )
    with pytest.warns(CVSTWarning, match="'bad' could not be.*RuntimeError: no"):
        search.fit(X, y)
    assert np.all(search.cv_results_["mean_test_bad"] == -7.0)
    assert np.isfinite(search.best_score_)
    with pytest.raises(RuntimeError, match="no"):
        search.set_params(error_score="raise").fit(X, y)


def fails_for_five(estimator, X, y):
    if estimator.n_neighbors == 5:
        raise RuntimeError("no")
    return one_number(estimator, X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
def test_where_the_raced_score_fails_the_others_are_kept(rows, tmp_path):
    """Witness: GridSearchCV, for all columns of the other scores."""
    X, y = rows
    scoring = {"bad": fails_for_five, "good": "f1", "better": "roc_auc"}
    options = {"scoring": scoring, "refit": "bad", "cv": CV, "error_score": -7.0}
    theirs = GridSearchCV(KNeighborsClassifier(), GRID, **options).fit(X, y)
    options |= {"strategy": "cross_validation", "checkpoint": tmp_path / "race"}
    options["random_state"] = 0
    for _ in range(2):  # the second one reads what the first one has kept
        ours = RaceGridSearchCV(KNeighborsClassifier(), GRID, **options).fit(X, y)
        assert ours.cv_results_["mean_test_bad"][1] == -7.0
        for name in ("good", "better"):
            column = f"mean_test_{name}"
            np.testing.assert_allclose(
                ours.cv_results_[column], theirs.cv_results_[column], rtol=1e-12
            )


def test_a_score_of_what_the_model_cannot_predict_is_refused_before_any_fit(rows):
    search = RaceGridSearchCV(
        SVC(), {"C": [1.0, 2.0]}, scoring=["accuracy", "neg_log_loss"], refit="accuracy"
    )
    with pytest.raises(InvalidInputError, match="predict_proba, which SVC does not"):
        search.fit(*rows)


def test_losses_of_ones_own_stand_beside_names(rows):
    def wrong(y_true, y_pred):
        return (y_true != y_pred).astype(float)

    X, y = rows
    search = RaceGridSearchCV(
        KNeighborsClassifier(),
        GRID,
        scoring={"own": PointwiseLoss(wrong), "hits": "accuracy"},
        refit="own",
        random_state=0,
    ).fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_own"] + 1, search.cv_results_["mean_test_hits"]
    )


@pytest.mark.parametrize(
    "search",
    [
        RaceSearchCV(LogisticRegression(), {"C": [0.01, 0.1, 1.0, 10.0]}, n_iter=5),
        RaceRandomSearchCV(LogisticRegression(), {"C": [0.01, 0.1, 1.0]}, n_iter=2),
    ],
    ids=lambda search: type(search).__name__,
)
def test_all_searches_record_several_scores(rows, search):
    search.set_params(scoring=NAMES, refit="roc_auc", random_state=0).fit(*rows)
    for name in NAMES:
        column = search.cv_results_[f"mean_test_{name}"]
        assert np.isfinite(column[search.best_index_])
    assert (
        search.best_score_
        == search.cv_results_["mean_test_roc_auc"][search.best_index_]
    )


def test_pages_and_pictures_of_several_scores_are_of_the_one_raced_on(rows):
    search = RaceGridSearchCV(
        KNeighborsClassifier(), GRID, scoring=NAMES, refit="roc_auc", random_state=0
    ).fit(*rows)
    assert summary(search)["winner"]["score"] == pytest.approx(search.best_score_)
    assert SurvivorsDisplay.from_search(search) is not None


@pytest.mark.parametrize("scoring", [NAMES, two_numbers], ids=["names", "callable"])
@pytest.mark.parametrize("strategy", ["cross_validation", "track_and_confirm", "cvst"])
def test_refit_may_choose_by_another_score_than_the_race(rows, scoring, strategy):
    """Witness: GridSearchCV where all is looked at; else the ranks and the means."""
    X, y = rows
    refit, race_by = "accuracy", "neg_log_loss"
    if callable(scoring):
        refit, race_by = "hits", "balance"
    tree = DecisionTreeClassifier(random_state=0)
    grid = {"max_depth": [1, 2, 3, 4, 6], "min_samples_leaf": [1, 5, 20]}
    options = {"scoring": scoring, "cv": CV, "random_state": 0, "strategy": strategy}
    search = RaceGridSearchCV(tree, grid, refit=refit, race_by=race_by, **options)
    alone = RaceGridSearchCV(tree, grid, refit=race_by, **options).fit(X, y)
    search.fit(X, y)
    results = search.cv_results_
    # The race is that of the score that race_by names.
    assert (search.score_name_, search.best_score_name_) == (race_by, refit)
    np.testing.assert_array_equal(search.race_.mean_losses, alone.race_.mean_losses)
    column = f"rank_test_{race_by}"
    np.testing.assert_array_equal(results[column], alone.cv_results_[column])
    # The choice is that of the score that refit names.
    assert search.best_index_ == np.argmin(results[f"rank_test_{refit}"])
    assert search.best_score_ == results[f"mean_test_{refit}"][search.best_index_]
    assert search.best_score_ >= results[f"mean_test_{refit}"][alone.best_index_]
    hits = metrics.accuracy_score(y, search.predict(X))
    assert search.score(X, y) == pytest.approx(hits)
    assert search.best_score_estimate_ is None
    page = summary(search)
    assert page["winner"]["score"] == search.best_score_
    assert page["winner"]["score_name"] == refit
    if strategy == "cross_validation":
        plain = GridSearchCV(tree, grid, scoring=scoring, refit=refit, cv=CV).fit(X, y)
        assert search.best_index_ == plain.best_index_
        assert search.best_index_ != alone.best_index_
        assert search.best_score_ == pytest.approx(plain.best_score_)
        name = f"rank_test_{refit}"
        np.testing.assert_array_equal(results[name], plain.cv_results_[name])


def test_refit_chooses_among_those_that_met_the_leader(rows):
    """One that was dropped early has a score of fewer rows, which proves less."""
    X, y = rows
    search = RaceGridSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 2, 3, 4, 6, 8], "min_samples_leaf": [1, 5, 20, 60]},
        scoring=["accuracy", "neg_log_loss"],
        refit="accuracy",
        race_by="neg_log_loss",
        random_state=0,
    ).fit(X, y)
    leader = int(np.argmin(search.cv_results_["rank_test_neg_log_loss"]))
    looks = [
        {
            place
            for place, seen in enumerate(search.race_.observations)
            if seen.look.is_fold and number in seen.look.configurations
        }
        for number in (leader, search.best_index_)
    ]
    assert looks[0] == looks[1]
    means = search.cv_results_["mean_test_accuracy"]
    assert means.max() > search.best_score_


def test_a_score_that_is_undefined_cannot_choose(rows):
    X, y = rows

    def undefined(y_true, y_pred):
        return np.nan

    search = RaceGridSearchCV(
        KNeighborsClassifier(),
        GRID,
        scoring={"a": "accuracy", "no": make_scorer(undefined)},
        refit="no",
        race_by="a",
        random_state=0,
    )
    with pytest.warns(CVSTWarning, match="non-finite"):
        search.fit(X, y)
    assert search.best_index_ == np.argmin(search.cv_results_["rank_test_a"])
    assert np.isnan(search.best_score_)


def test_those_to_choose_among_rank_before_all_others():
    """Others may have as much evidence, by the same folds in looks of their own."""
    search = RaceGridSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 2, 3]},
        scoring=["accuracy", "f1"],
        refit="accuracy",
        cv=3,
        strategy="cross_validation",
    ).fit(*load_breast_cancer(return_X_y=True))
    state = search.race_
    scores = state.scores_named("f1")
    plain = score_columns(state, scores, "f1", np.nan)["rank_test_f1"]
    last = np.flatnonzero(plain == plain.max())[:1]
    ranks = score_columns(state, scores, "f1", np.nan, last)["rank_test_f1"]
    others = np.delete(np.arange(3), last)
    assert plain[last] > 1
    assert ranks[last] == 1
    assert sorted(ranks[others]) == [2, 3]
