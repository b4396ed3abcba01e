"""Ensembles of classifiers with several targets: witnesses by hand, fold by fold."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    roc_auc_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from cvst import PointwiseLoss, RaceGridSearchCV
from cvst.exceptions import CVSTWarning, InvalidInputError
from cvst.learners import WeightedEnsembleClassifier
from cvst.search._ensemble import greedy_weights

pytestmark = pytest.mark.xdist_group("ensemble")  # its search takes seconds

X, LABELS = make_multilabel_classification(300, 8, n_classes=4, random_state=0)
FOLDS = [
    (np.flatnonzero(np.arange(300) % 3 != k), np.arange(k, 300, 3)) for k in range(3)
]
# Three classes, written as text, beside two others.
X_KINDS, CODES = make_classification(
    300, 8, n_informative=5, n_classes=3, random_state=1
)
WORDS = np.array(["a", "b", "c"])[CODES]
KINDS = np.column_stack([WORDS, np.where(X_KINDS[:, 0] > 0, "no", "yes")])
TREES = {"max_features": [0.3, 0.5, None], "min_samples_leaf": [5, 10]}
# For scores by which all of the grid are confirmed.
FEW = {"max_features": [0.3, 0.5, None], "min_samples_leaf": [8]}


def searched(estimator, grid, rows=(X, LABELS), **options):
    given = {"cv": FOLDS, "ordering": "given", "ensemble": True}
    options = {"random_state": 0, **given, **options}
    return RaceGridSearchCV(estimator, grid, **options).fit(*rows)


def of_labels(prediction):
    """Return P(label = 1) of each label from either shape."""
    if isinstance(prediction, list):
        return np.column_stack([one[:, 1] for one in prediction])
    return prediction


def by_hand(estimator, known):
    """Return P(label = 0) and P(label = 1), of rows not trained on."""
    values = np.zeros((len(known.params), 300, 4, 2))
    for place, params in enumerate(known.params):
        for train, test in FOLDS:
            model = clone(estimator).set_params(**params).fit(X[train], LABELS[train])
            answer = model.predict_proba(X[test])
            if isinstance(answer, list):
                answer = np.stack(answer, axis=1)
            else:
                answer = np.stack([1 - answer, answer], axis=2)
            values[place, test] = answer
    return values


def micro(model, rows, y):
    """Score by probabilities, though nothing says so."""
    return average_precision_score(
        y, of_labels(model.predict_proba(rows)), average="micro"
    )


def table_alone(model, rows, y):
    """Score what has one table, and nothing else."""
    return average_precision_score(y, model.predict_proba(rows), average="micro")


def squares(y, prediction):
    return ((y - of_labels(prediction)) ** 2).mean(axis=1)


def by_labels(metric, **options):
    return lambda y, p: metric(y, p[..., 1] > p[..., 0], **options)


def by_values(metric, **options):
    return lambda y, p: metric(y, p[..., 1], **options)


def all_right(y, labels):
    """Return the accuracy of whole rows, rounded as a mean of losses is."""
    return 1 - np.mean(np.any(y != labels, axis=1))


class Decided(MultiOutputClassifier):
    """Gives a list of probabilities, and decision values in one table."""

    def decision_function(self, X):
        return np.column_stack([one.decision_function(X) for one in self.estimators_])


def misordered(y, values):
    """Return the share of wrong pairs: a label that is there below one that is not."""
    pairs = y[:, :, None] > y[:, None, :]
    wrong = pairs & (values[:, :, None] <= values[:, None, :])
    return wrong.sum(axis=(1, 2)) / np.maximum(pairs.sum(axis=(1, 2)), 1)


ORDER = PointwiseLoss(misordered, response="decision_function")
OWN = PointwiseLoss(squares, response="predict_proba")
SCORES = {
    "accuracy": by_labels(all_right),
    "f1_macro": by_labels(f1_score, average="macro"),
    "roc_auc": by_values(roc_auc_score),
    "average_precision": by_values(average_precision_score),
    micro: by_values(average_precision_score, average="micro"),
    table_alone: by_values(average_precision_score, average="micro"),
    ORDER: lambda y, p: -misordered(y, p[..., 1]).mean(),
    OWN: lambda y, p: -squares(y, p[..., 1]).mean(),
}


@pytest.mark.parametrize(
    ("estimator", "grid", "scoring"),
    [
        (RandomForestClassifier(8, random_state=0), FEW, "accuracy"),
        (RandomForestClassifier(8, random_state=0), FEW, "average_precision"),
        (RandomForestClassifier(8, random_state=0), FEW, micro),
        (KNeighborsClassifier(), {"n_neighbors": [5, 9], "p": [1, 2]}, "f1_macro"),
        (DecisionTreeClassifier(random_state=0), FEW, "roc_auc"),
        (DecisionTreeClassifier(random_state=0), FEW, OWN),
        (
            MLPClassifier((8,), max_iter=80, learning_rate_init=0.02, random_state=0),
            {"alpha": [0.01, 1.0, 10.0]},
            "accuracy",
        ),
        (
            MLPClassifier((8,), max_iter=80, learning_rate_init=0.02, random_state=0),
            {"alpha": [0.01, 1.0, 10.0]},
            table_alone,
        ),
        (
            OneVsRestClassifier(LogisticRegression()),
            {
                "estimator__C": [0.003, 1.0],
                "estimator__class_weight": [None, "balanced"],
            },
            "roc_auc",
        ),
        (
            MultiOutputClassifier(LogisticRegression()),
            {"estimator__C": [0.003, 0.01]},
            "average_precision",
        ),
        (
            Decided(LogisticRegression()),
            {
                "estimator__C": [0.003, 1.0],
                "estimator__class_weight": [None, "balanced"],
            },
            "roc_auc",
        ),
        (
            Decided(LogisticRegression()),
            {
                "estimator__C": [0.003, 1.0],
                "estimator__class_weight": [None, "balanced"],
            },
            ORDER,
        ),
        (
            ClassifierChain(LogisticRegression(), order="random"),
            {"random_state": [0, 1, 2]},
            "roc_auc",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_weights_and_gain_are_those_of_the_mean_by_hand(estimator, grid, scoring):
    """Witness: models fitted on the same folds, and scikit-learn's metric itself."""
    search = searched(estimator, grid, scoring=scoring)
    known, chosen = search.out_of_fold_predictions_, search.ensemble_
    assert known.response == "predict_proba"
    n_members = len(known.configurations)
    assert n_members > 1
    assert [one.tolist() for one in known.classes] == [[0, 1]] * 4
    values = by_hand(estimator, known)
    flat = values.reshape(n_members, 300, 8)
    np.testing.assert_allclose(known.predictions, flat, atol=1e-12)
    assert known.features().shape == (300, n_members * 8)

    def score(weights, test):
        mean = np.tensordot(weights, values[:, test], axes=1)
        return SCORES[scoring](LABELS[test], mean)

    def over(parts):
        return lambda weights: np.mean([score(weights, test) for _, test in parts])

    weights = greedy_weights(over(FOLDS), n_members)
    np.testing.assert_allclose(chosen.weights, weights[weights > 0])
    if len(chosen.weights) == 1:
        assert np.isnan(chosen.gain)  # on another machine, by another rounding
        return
    gains = []
    for place, (_, test) in enumerate(FOLDS):
        others = greedy_weights(over(FOLDS[:place] + FOLDS[place + 1 :]), n_members)
        gains.append(score(others, test) - score(np.eye(n_members)[0], test))
    assert chosen.gain == pytest.approx(np.mean(gains))
    assert chosen.kept == (chosen.gain > 0)


def test_a_better_ensemble_is_kept_and_predicts_by_the_mean():
    tree = DecisionTreeClassifier(random_state=0)
    search = searched(tree, TREES, scoring="average_precision")
    chosen, ours = search.ensemble_, search.ensemble_estimator_
    assert chosen.kept
    assert len(chosen.weights) > 1
    assert isinstance(ours, WeightedEnsembleClassifier)
    mean = 0
    for weight, params in zip(chosen.weights, chosen.params, strict=True):
        model = clone(tree).set_params(**params).fit(X, LABELS)
        mean = mean + weight * of_labels(model.predict_proba(X))
    np.testing.assert_allclose(of_labels(ours.predict_proba(X)), mean)
    np.testing.assert_array_equal(ours.predict(X), mean > 0.5)
    assert ours.score(X, LABELS) == accuracy_score(LABELS, mean > 0.5)


def test_what_is_no_better_is_not_kept():
    model = MultiOutputClassifier(LogisticRegression())
    search = searched(model, {"estimator__C": [1.0, 1.01]}, scoring="f1_macro")
    assert not search.ensemble_.kept
    assert search.ensemble_estimator_ is search.best_estimator_


def both(model, rows, y):
    """Score rows whose labels are all right, by a model as scikit-learn has it."""
    tables = model.predict_proba(rows)
    assert [one.shape[1] for one in tables] == [len(one) for one in model.classes_]
    return all_right(y, model.predict(rows))


@pytest.mark.parametrize("scoring", [None, both])
def test_targets_of_several_classes_are_averaged(scoring):
    """Witness: forests on the same folds; the likeliest class of each target."""
    forest = RandomForestClassifier(5, random_state=0)
    grid = {"max_features": [0.3, None], "min_samples_leaf": [5, 10]}
    rows = X_KINDS, KINDS
    search = searched(forest, grid, rows, scoring=scoring)
    known, chosen = search.out_of_fold_predictions_, search.ensemble_
    assert [one.tolist() for one in known.classes] == [["a", "b", "c"], ["no", "yes"]]
    n_members = len(known.params)
    assert n_members > 1
    values = np.zeros((n_members, 300, 5))
    for place, params in enumerate(known.params):
        for train, test in FOLDS:
            model = clone(forest).set_params(**params).fit(X_KINDS[train], KINDS[train])
            values[place, test] = np.hstack(model.predict_proba(X_KINDS[test]))
    np.testing.assert_allclose(known.predictions, values, atol=1e-12)

    def score(weights):
        mean = np.tensordot(weights, values, axes=1)
        first = np.array(["a", "b", "c"])[mean[:, :3].argmax(axis=1)]
        second = np.array(["no", "yes"])[mean[:, 3:].argmax(axis=1)]
        labels = np.column_stack([first, second])
        return np.mean([all_right(KINDS[test], labels[test]) for _, test in FOLDS])

    weights = greedy_weights(score, n_members)
    np.testing.assert_allclose(chosen.weights, weights[weights > 0])


def test_a_label_that_a_fold_lacks_has_probability_zero():
    labels = LABELS.copy()
    labels[:, 2] = 0
    labels[:40, 2] = 1
    folds = [
        (np.arange(40, 300), np.arange(40)),
        (np.arange(150), np.arange(150, 300)),
    ]
    forest = RandomForestClassifier(5, random_state=0)
    search = searched(forest, FEW, (X, labels), cv=folds, scoring="f1_micro")
    known = search.out_of_fold_predictions_
    assert known.predictions.shape[2] == 8
    assert np.all(known.predictions[:, :40, 5] == 0)
    assert np.all(known.predictions[:, :40, 4] == 1)
    assert np.any(known.predictions[:, 150:, 5] > 0)
    assert np.isnan(known.predictions[:, 40:150]).all()
    assert np.isfinite(search.ensemble_.weights).all()


def test_models_of_both_shapes_are_averaged():
    """Witness: P(label = 1) of either, by hand."""
    trees = RandomForestClassifier(25, random_state=0, min_samples_leaf=3)
    linear = OneVsRestClassifier(LogisticRegression())
    search = searched(
        Pipeline([("model", trees)]),
        {"model": [trees, linear]},
        scoring=OWN,
    )
    known = search.out_of_fold_predictions_
    assert len(known.params) == 2
    assert known.listed
    values = by_hand(Pipeline([("model", trees)]), known)
    flat = values.reshape(2, 300, 8)
    np.testing.assert_allclose(known.predictions, flat, atol=1e-12)
    assert search.ensemble_.kept
    ours = search.ensemble_estimator_
    members = [
        of_labels(clone(one).fit(X, LABELS).predict_proba(X)) for one in (trees, linear)
    ]
    names = [type(one["model"]).__name__ for one in search.ensemble_.params]
    first = names[0] == "RandomForestClassifier"
    expected = np.tensordot(
        search.ensemble_.weights, members if first else members[::-1], axes=1
    )
    np.testing.assert_allclose(of_labels(ours.predict_proba(X)), expected)


def test_models_without_probabilities_are_refused_before_any_fit():
    with pytest.raises(InvalidInputError, match="which RidgeClassifier does not"):
        searched(RidgeClassifier(), {"alpha": [1.0, 2.0]})


def test_a_chain_of_three_classes_keeps_its_labels_and_its_winner():
    """scikit-learn's chain has no probabilities of them."""
    chain = ClassifierChain(DecisionTreeClassifier(random_state=0))
    (name,) = [one for one in chain.get_params() if one.endswith("max_depth")]
    codes = np.column_stack([CODES, X_KINDS[:, 0] > 0])
    with pytest.warns(CVSTWarning, match="not their probabilities"):
        search = searched(chain, {name: [2, 3]}, (X_KINDS, codes))
    known = search.out_of_fold_predictions_
    assert known.response == "predict"
    assert known.classes is None
    assert known.predictions.shape[1:] == (300, 2)
    assert search.ensemble_estimator_ is search.best_estimator_
    assert "each class of each target" in search.ensemble_.reason


class OneNumber(DecisionTreeClassifier):
    """Gives one number for each target, whatever its classes."""

    def predict_proba(self, X, check_input=True):
        return np.full((len(X), self.n_outputs_), 0.5)


def test_one_number_for_three_classes_is_no_probability():
    with pytest.warns(CVSTWarning, match="one number for each target.* 3 classes"):
        search = searched(OneNumber(), {"max_depth": [2, 3]}, (X_KINDS, KINDS))
    assert search.out_of_fold_predictions_.response == "predict"
    assert not search.ensemble_.kept
