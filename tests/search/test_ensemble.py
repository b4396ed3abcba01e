"""Ensembles of confirmed configurations: weights, honest gains, and what is refused."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification, make_friedman1
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, log_loss
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from cvst import RaceGridSearchCV
from cvst.exceptions import InvalidInputError
from cvst.learners import WeightedEnsembleClassifier, WeightedEnsembleRegressor
from cvst.search._ensemble import MOST_ROUNDS, greedy_weights
from cvst.statistics import paired_excess_test

pytestmark = pytest.mark.xdist_group("ensemble")  # its search takes seconds

LABELS = make_classification(400, 8, n_informative=5, flip_y=0.15, random_state=1)
NUMBERS = make_friedman1(400, noise=1.0, random_state=0)
# Trees that split on other columns err elsewhere: their mean is better than any.
TREES = {"max_features": [0.3, 0.5, None], "min_samples_leaf": [10, 20, 30]}


def searched(estimator, grid, rows, *, fit=None, **options):
    options = {"random_state": 0, "cv": 4, "ensemble": True, **options}
    return RaceGridSearchCV(estimator, grid, **options).fit(*rows, **(fit or {}))


@pytest.fixture(scope="module")
def kept():
    """Return a search whose ensemble is better than its winner."""
    tree = DecisionTreeClassifier(random_state=0)
    return searched(tree, TREES, LABELS, scoring="neg_log_loss")


def opaque(model, X, y):
    """Score by predictions, though nothing says so."""
    return -log_loss(y, model.predict_proba(X))


def test_greedy_weights_come_near_the_best_of_all_weights():
    """Witness: every weight on a grid of twentieths."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=50)
    members = truth + rng.normal(size=(3, 50)) * [[1.0], [1.2], [3.0]]

    def score(weights):
        return -np.mean((weights @ members - truth) ** 2)

    weights = greedy_weights(score, 3)
    shares = np.arange(21) / 20
    best = max(
        score(np.array([a, b, 1 - a - b]))
        for a, b in product(shares, shares)
        if a + b <= 1
    )
    assert weights.sum() == pytest.approx(1)
    assert score(weights) == pytest.approx(best, rel=0.01)
    # Weights are shares of rounds.
    counts = [weights * n for n in range(1, MOST_ROUNDS + 1)]
    assert any(np.allclose(one, one.round()) for one in counts)


def test_a_member_that_cannot_be_improved_on_stays_alone():
    np.testing.assert_array_equal(greedy_weights(lambda w: -w[1], 2), [1.0, 0.0])
    np.testing.assert_array_equal(greedy_weights(lambda _: np.nan, 2), [1.0, 0.0])


def test_a_better_ensemble_is_kept_and_predicts_the_weighted_mean(kept):
    """Witness: scikit-learn's own voting with the same members and weights."""
    X, y = LABELS
    chosen = kept.ensemble_
    assert chosen.kept
    assert "better than the winner" in chosen.reason
    assert chosen.gain > 0
    assert chosen.interval[0] < chosen.gain < chosen.interval[1]
    assert chosen.p_value < 0.05
    assert [kept.cv_results_["params"][n] for n in chosen.configurations] == list(
        chosen.params
    )
    tree = DecisionTreeClassifier(random_state=0)
    members = [
        (str(n), clone(tree).set_params(**p)) for n, p in enumerate(chosen.params)
    ]
    voting = VotingClassifier(members, voting="soft", weights=chosen.weights)
    ours = kept.ensemble_estimator_
    expected = voting.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(ours.predict_proba(X), expected)
    np.testing.assert_array_equal(ours.predict(X), voting.predict(X))
    assert kept.best_estimator_.get_depth()  # the winner is there too


def test_the_gain_is_that_of_ensembles_chosen_by_the_other_folds(kept):
    """Witness: the same by hand, from the predictions that are kept."""
    _, y = LABELS
    known = kept.out_of_fold_predictions_
    folds = np.unique(known.fold)

    def score(weights, rows):
        mean = np.tensordot(weights, known.predictions[:, rows], axes=1)
        return -log_loss(y[rows], mean)

    def over(parts):
        return lambda weights: np.mean([score(weights, known.fold == f) for f in parts])

    n_members = len(known.configurations)
    winner = np.eye(n_members)[0]
    gains, rows_gain = [], []
    for fold in folds:
        weights = greedy_weights(over(folds[folds != fold]), n_members)
        rows = known.fold == fold
        gains.append(score(weights, rows) - score(winner, rows))
        at = np.arange(rows.sum()), y[rows]
        mean = np.tensordot(weights, known.predictions[:, rows], axes=1)
        alone = known.predictions[0, rows]
        rows_gain.append(np.log(mean[at].clip(2e-16)) - np.log(alone[at].clip(2e-16)))
    assert kept.ensemble_.gain == pytest.approx(np.mean(gains))
    p_value = paired_excess_test(np.concatenate(rows_gain)[None])[0]
    assert kept.ensemble_.p_value == pytest.approx(p_value, rel=1e-4)


@pytest.mark.parametrize(
    "scoring",
    [
        None,
        "accuracy",
        "roc_auc",
        "f1_macro",
        "average_precision",
        "neg_brier_score",
        opaque,
        {"auc": "roc_auc", "loss": "neg_log_loss"},
    ],
    ids=lambda scoring: getattr(scoring, "__name__", str(scoring)),
)
def test_any_score_of_classes_selects_an_ensemble(kept, scoring):
    """Witness: the mean over folds of the scorer itself, at the weights it found."""
    several = isinstance(scoring, dict)
    tree = DecisionTreeClassifier(random_state=0)
    search = searched(
        tree,
        {"max_features": [0.3, 0.5], "max_depth": [3, 4]},
        LABELS,
        scoring=scoring,
        refit="auc" if several else True,
    )
    chosen = search.ensemble_
    assert chosen.weights.sum() == pytest.approx(1)
    assert chosen.kept == (chosen.gain > 0)
    known = search.out_of_fold_predictions_
    _, y = LABELS
    scorer = {"auc": get_scorer("roc_auc")}["auc"] if several else scoring
    scorer = get_scorer(scorer or "accuracy") if not callable(scorer) else scorer
    places = [known.configurations.tolist().index(n) for n in chosen.configurations]

    def mean_score(weights, places):
        scores = []
        for fold in np.unique(known.fold):
            rows = known.fold == fold
            blend = np.tensordot(weights, known.predictions[places][:, rows], axes=1)
            scores.append(scorer(Known(blend), np.zeros((rows.sum(), 1)), y[rows]))
        return np.mean(scores)

    ours = mean_score(chosen.weights, places)
    alone = [mean_score(np.ones(1), [place]) for place in range(len(known.params))]
    assert ours >= max(alone) - 1e-12


class Known(ClassifierMixin, BaseEstimator):
    """A fitted classifier that says what it is told."""

    def __init__(self, proba=None):
        self.proba = proba
        self.classes_ = np.array([0, 1])

    def predict_proba(self, X):
        return self.proba

    def decision_function(self, X):
        return self.proba[:, 1]

    def predict(self, X):
        return self.proba.argmax(axis=1)


@pytest.mark.parametrize(
    "scoring", [None, "neg_root_mean_squared_error", "neg_median_absolute_error"]
)
def test_regressors_are_averaged(scoring):
    """Witness: scikit-learn's own voting with the same members and weights."""
    X, y = NUMBERS
    tree = DecisionTreeRegressor(random_state=0)
    grid = {"max_features": [0.3, 0.5, None], "max_depth": [4, 6]}
    search = searched(tree, grid, NUMBERS, scoring=scoring)
    chosen = search.ensemble_
    if scoring != "neg_median_absolute_error":
        assert chosen.kept
    if not chosen.kept:
        assert search.ensemble_estimator_ is search.best_estimator_
        return
    members = [
        (str(n), clone(tree).set_params(**p)) for n, p in enumerate(chosen.params)
    ]
    voting = VotingRegressor(members, weights=chosen.weights).fit(X, y)
    ours = search.ensemble_estimator_
    assert isinstance(ours, WeightedEnsembleRegressor)
    np.testing.assert_allclose(ours.predict(X), voting.predict(X))


def test_several_outputs_are_averaged_too():
    X, y = NUMBERS
    tree = DecisionTreeRegressor(random_state=0)
    grid = {"max_features": [0.3, 0.5], "max_depth": [5, 6]}
    search = searched(tree, grid, (X, np.column_stack([y, -y])))
    assert search.ensemble_.kept
    assert search.ensemble_estimator_.predict(X[:3]).shape == (3, 2)


def test_what_is_no_better_is_not_kept():
    """Ridge on almost equal penalties: the mean of equals is another equal."""
    search = searched(Ridge(), {"alpha": [1.0, 1.1, 1.2]}, NUMBERS)
    assert not search.ensemble_.kept
    assert search.ensemble_estimator_ is search.best_estimator_
    assert search.ensemble_.reason


def test_one_configuration_is_no_ensemble():
    with pytest.warns(UserWarning, match="one configuration only"):
        search = searched(Ridge(), {"alpha": [1.0]}, NUMBERS)
    assert not search.ensemble_.kept
    assert "one configuration" in search.ensemble_.reason
    assert search.ensemble_.weights.tolist() == [1.0]


class Words(DummyRegressor):
    """Predicts what has no mean."""

    def predict(self, X):
        return np.full(len(X), f"about {self.quantile}")


def score_of_words(model, X, y):
    return float(len(model.predict(X)) == len(y))


def test_words_are_not_averaged():
    words = Words(strategy="quantile")
    grid = {"quantile": [0.2, 0.5]}
    search = searched(words, grid, NUMBERS, scoring=score_of_words)
    assert not search.ensemble_.kept
    assert search.ensemble_.reason == "the predictions are not numbers"


def test_a_name_that_is_no_text_is_refused_as_without_an_ensemble():
    tree = DecisionTreeClassifier()
    with pytest.raises(InvalidInputError) as plain:
        searched(tree, {3: [1, 2]}, LABELS, ensemble=False)
    with pytest.raises(InvalidInputError) as refused:
        searched(tree, {3: [1, 2]}, LABELS)
    assert str(refused.value) == str(plain.value)


def test_noise_is_hardly_ever_kept():
    """Members that differ from the truth by independent noise of the same size.

    Their mean is better in truth, so noise is made common: what differs is a coin for
    each row that helps as often as it harms.
    """
    n_kept = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.normal(size=300)
        X = np.column_stack([y, rng.choice([-1, 1], size=300)])
        search = RaceGridSearchCV(
            Nudged(),
            {"step": [0.0, 1e-3, 2e-3]},
            cv=5,
            random_state=0,
            ensemble=True,
            scoring="neg_mean_absolute_error",
        ).fit(X, y)
        n_kept += search.ensemble_.kept
    assert n_kept <= 3


class Nudged(DummyRegressor):
    """Predicts the first column, moved by a coin times its step."""

    def __init__(self, step=0.0):
        super().__init__()
        self.step = step

    def predict(self, X):
        return 0.5 * X[:, 0] + self.step * X[:, 1] * (np.abs(X[:, 0]) < 1)


def test_weights_of_rows_count():
    """A row of weight zero might as well say anything."""
    X, y = LABELS
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    other = np.where(weights == 0, 1 - y, y)
    tree = DecisionTreeClassifier(random_state=0, max_depth=3)
    grid = {"max_features": [0.3, 0.5]}
    folds = [
        (np.flatnonzero(np.arange(400) % 4 != k), np.arange(k, 400, 4))
        for k in range(4)
    ]
    chosen = [
        searched(
            tree,
            grid,
            (X, targets),
            cv=folds,
            scoring="neg_log_loss",
            fit={"sample_weight": weights},
            ordering="given",
        ).ensemble_
        for targets in (y, other)
    ]
    assert chosen[0].gain == pytest.approx(chosen[1].gain)
    np.testing.assert_allclose(chosen[0].weights, chosen[1].weights)


def test_a_separate_test_set_is_nested_over_parts_of_it():
    X, y = LABELS
    tree = DecisionTreeClassifier(random_state=0)
    search = searched(
        tree,
        TREES,
        (X[:250], y[:250]),
        cv=None,
        scoring="neg_log_loss",
        fit={"X_val": X[250:], "y_val": y[250:]},
    )
    assert np.isfinite(search.ensemble_.gain)


def test_an_ensemble_is_an_estimator(kept):
    X, y = LABELS
    ours = kept.ensemble_estimator_
    assert isinstance(ours, WeightedEnsembleClassifier)
    check_is_fitted(ours)
    assert ours.n_features_in_ == 8
    np.testing.assert_array_equal(ours.classes_, [0, 1])
    copy = clone(ours)
    assert not hasattr(copy, "estimators_")
    np.testing.assert_allclose(copy.fit(X, y).predict_proba(X), ours.predict_proba(X))
    again = pickle.loads(pickle.dumps(kept))
    np.testing.assert_array_equal(
        again.ensemble_estimator_.predict_proba(X), ours.predict_proba(X)
    )
    assert again.ensemble_.reason == kept.ensemble_.reason


def test_the_same_seed_gives_the_same_ensemble(kept):
    tree = DecisionTreeClassifier(random_state=0)
    again = searched(tree, TREES, LABELS, scoring="neg_log_loss", n_jobs=2)
    np.testing.assert_array_equal(again.ensemble_.weights, kept.ensemble_.weights)
    assert again.ensemble_.gain == kept.ensemble_.gain


@pytest.mark.parametrize(
    ("estimator", "grid", "y", "options", "message"),
    [
        (SVC(), {"C": [1.0, 2.0]}, LABELS[1], {}, "probabilities, which SVC"),
        (
            Pipeline([("scale", StandardScaler()), ("svm", SVC())]),
            {"svm__C": [1.0, 2.0]},
            LABELS[1],
            {},
            "probabilities, which Pipeline",
        ),
        (
            Ridge(),
            {"alpha": [1.0, 2.0]},
            LABELS[1],
            {"refit": False},
            "refit=False",
        ),
        (
            GaussianMixture(),
            {"n_components": [1, 2]},
            None,
            {},
            "GaussianMixture without",
        ),
    ],
    ids=["svm", "pipeline", "refit", "density"],
)
def test_what_cannot_be_averaged_is_refused_in_a_sentence(
    estimator, grid, y, options, message
):
    search = RaceGridSearchCV(estimator, grid, ensemble=True, **options)
    with pytest.raises(InvalidInputError, match=message) as caught:
        search.fit(LABELS[0], y)
    assert "\n" not in str(caught.value)
    assert "ensemble=False" in str(caught.value)


def test_a_winner_without_probabilities_stays_alone():
    """Some of the configurations have them, so that nothing is refused beforehand."""
    search = searched(
        Pipeline([("model", LogisticRegression())]),
        {"model": [LogisticRegression(), LogisticRegression(C=0.1), SVC()]},
        LABELS,
    )
    known = search.out_of_fold_predictions_
    if known.response == "decision_function":
        assert "no predict_proba" in search.ensemble_.reason
    assert search.ensemble_estimator_ is search.best_estimator_


def own_score(model, X, y):
    """Ask for the model's own score."""
    return model.score(X, y)


def by_depth(model, X, y):
    """Ask for what only a model has."""
    return model.score(X, y) - 0.001 * model.get_depth()


def by_column(model, X, y):
    """Ask for predictions of other rows."""
    return float(np.mean(model.predict(X[:3]) == y[:3]))


@pytest.mark.parametrize(
    ("scoring", "message"),
    [(by_depth, "asks for get_depth"), (by_column, "predictions of 3 rows")],
)
def test_a_score_of_more_than_predictions_leaves_the_winner(scoring, message):
    """The race ends as ever, and a sentence says why no ensemble is kept."""
    tree = DecisionTreeClassifier(random_state=0)
    search = searched(tree, {"max_depth": [2, 3, 4]}, LABELS, scoring=scoring)
    assert not search.ensemble_.kept
    assert message in search.ensemble_.reason
    assert "\n" not in search.ensemble_.reason
    assert search.ensemble_estimator_ is search.best_estimator_


@pytest.mark.parametrize("is_pipeline", [False, True])
def test_the_own_score_of_a_model_selects_an_ensemble(is_pipeline):
    """Witness: the same race by accuracy."""
    tree = DecisionTreeClassifier(random_state=0)
    model = Pipeline([("tree", tree)]) if is_pipeline else tree
    grid = {"tree__max_depth" if is_pipeline else "max_depth": [2, 3, 4]}
    options = {"strategy": "cross_validation"}
    asked = searched(model, grid, LABELS, scoring=own_score, **options).ensemble_
    known = searched(model, grid, LABELS, scoring="accuracy", **options).ensemble_
    assert asked.configurations.tolist() == known.configurations.tolist()
    np.testing.assert_array_equal(asked.weights, known.weights)
    assert asked.gain == pytest.approx(known.gain, nan_ok=True)
