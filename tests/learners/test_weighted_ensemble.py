"""Weighted means of models keep scikit-learn's contract."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from cvst.exceptions import InvalidInputError
from cvst.learners import WeightedEnsembleClassifier, WeightedEnsembleRegressor

CLASSIFIER = WeightedEnsembleClassifier(
    [LogisticRegression(), DecisionTreeClassifier(random_state=0)], [2, 1]
)
REGRESSOR = WeightedEnsembleRegressor(
    [Ridge(), DecisionTreeRegressor(random_state=0)], [1, 3]
)
# Both with several targets.
SEVERAL = WeightedEnsembleClassifier(
    [KNeighborsClassifier(), DecisionTreeClassifier(random_state=0)], [2, 1]
)
X, LABELS = make_multilabel_classification(200, 6, n_classes=3, random_state=0)
LISTS = [
    MultiOutputClassifier(LogisticRegression()),
    KNeighborsClassifier(),
    DecisionTreeClassifier(random_state=0, max_depth=3),
]
TABLES = [
    OneVsRestClassifier(LogisticRegression()),
    MLPClassifier((5,), solver="lbfgs", max_iter=30, random_state=0),
]


@parametrize_with_checks([CLASSIFIER, REGRESSOR, SEVERAL])
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_probabilities_are_the_weighted_mean_of_the_members():
    X, y = load_iris(return_X_y=True)
    words = np.array(["a", "b", "c"])[y]
    members = [LogisticRegression(max_iter=500, class_weight={"a": 3}), GaussianNB()]
    ours = WeightedEnsembleClassifier(members, weights=[3, 1]).fit(X, words)
    parts = [one.fit(X, words).predict_proba(X) for one in members]
    np.testing.assert_allclose(ours.predict_proba(X), 0.75 * parts[0] + 0.25 * parts[1])
    assert set(ours.predict(X)) == {"a", "b", "c"}


def test_weights_of_rows_reach_every_member():
    X, y = load_iris(return_X_y=True)
    rows = np.arange(len(y)) % 2
    ours = WeightedEnsembleRegressor([Ridge(), Ridge(alpha=5)])
    ours.fit(X, y, sample_weight=rows)
    parts = [Ridge(alpha=a).fit(X, y, rows).predict(X) for a in (1, 5)]
    np.testing.assert_allclose(ours.predict(X), np.mean(parts, axis=0))


@pytest.mark.parametrize(
    ("members", "weights", "message"),
    [
        ([], None, "nothing to average"),
        ([SVC()], None, "SVC has no predict_proba"),
        ([GaussianNB()], [1, 2], "one number for each"),
        ([GaussianNB()], [-1], "none below 0"),
        ([GaussianNB()], [0], "not all 0"),
        ([GaussianNB()], [np.nan], "does not fit 1 members"),
    ],
)
def test_bad_members_and_weights_are_refused(members, weights, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidInputError, match=message):
        WeightedEnsembleClassifier(members, weights).fit(X, y)


@pytest.mark.parametrize(
    "members", [LISTS, TABLES, [*TABLES, *LISTS]], ids=["lists", "tables", "mixed"]
)
@pytest.mark.filterwarnings("ignore:lbfgs failed")
def test_several_targets_are_averaged_whatever_their_shape(members):
    """Witness: P(label = 1) of each member by hand."""
    weights = np.arange(1, len(members) + 1)
    ours = WeightedEnsembleClassifier(members, weights).fit(X, LABELS)
    answers = [clone(one).fit(X, LABELS).predict_proba(X) for one in members]
    present = [
        np.column_stack([table[:, 1] for table in one])
        if isinstance(one, list)
        else one
        for one in answers
    ]
    mean = np.average(present, axis=0, weights=weights)
    assert [one.tolist() for one in ours.classes_] == [[0, 1]] * 3
    given = ours.predict_proba(X)
    if members is TABLES:
        np.testing.assert_allclose(given, mean)
    else:
        expected = [np.column_stack([1 - one, one]) for one in mean.T]
        np.testing.assert_allclose(given, expected, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), mean > 0.5)
    assert get_scorer("roc_auc")(ours, X, LABELS) == pytest.approx(
        roc_auc_score(LABELS, mean)
    )


def test_targets_of_several_classes_have_a_table_each():
    rows, y = load_iris(return_X_y=True)
    kinds = np.column_stack(
        [np.array(["a", "b", "c"])[y], np.where(rows[:, 0] > 5.8, "long", "short")]
    )
    members = [KNeighborsClassifier(), DecisionTreeClassifier(max_depth=2)]
    ours = WeightedEnsembleClassifier(members, [3, 1]).fit(rows, kinds)
    first, second = (clone(one).fit(rows, kinds).predict_proba(rows) for one in members)
    means = [0.75 * one + 0.25 * two for one, two in zip(first, second, strict=True)]
    for given, mean in zip(ours.predict_proba(rows), means, strict=True):
        np.testing.assert_allclose(given, mean)
    assert [one.tolist() for one in ours.classes_] == [
        ["a", "b", "c"],
        ["long", "short"],
    ]
    expected = [
        names[mean.argmax(axis=1)]
        for names, mean in zip(ours.classes_, means, strict=True)
    ]
    np.testing.assert_array_equal(ours.predict(rows), np.column_stack(expected))
    # One target again.
    assert ours.fit(rows, y).predict_proba(rows).shape == (150, 3)
    np.testing.assert_array_equal(ours.classes_, [0, 1, 2])


def test_a_label_that_is_never_there_is_never_predicted():
    labels = LABELS.copy()
    labels[:, 1] = 0
    ours = WeightedEnsembleClassifier([LISTS[1], LISTS[2]]).fit(X, labels)
    assert [one.shape for one in ours.predict_proba(X)] == [(200, 2)] * 3
    assert not ours.predict(X)[:, 1].any()


def test_members_know_several_targets_or_the_ensemble_does_not():
    several, one = (get_tags(model) for model in (SEVERAL, CLASSIFIER))
    assert several.classifier_tags.multi_label
    assert several.target_tags.multi_output
    assert not one.classifier_tags.multi_label
    assert not one.target_tags.multi_output
