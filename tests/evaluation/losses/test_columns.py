"""Columns of predictions belong to the classes of the targets, or there is no score."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvst import PointwiseLoss, RaceGridSearchCV
from cvst.evaluation import resolve_loss
from cvst.exceptions import InvalidInputError, InvalidPredictionError

RNG = np.random.default_rng(0)
PROBABILITIES = "predict_proba"

TWO, THREE = np.array(["a", "b"] * 6), np.array(["a", "b", "c"] * 4)
CHANCES = {2: RNG.dirichlet([1, 1], 12), 3: RNG.dirichlet([1, 1, 1], 12)}
SETS = (RNG.random((12, 3)) < 0.5).astype(int)


def first_column(y, values):
    return float(np.mean(values[:, 0] if values.ndim == 2 else values))


def first_table(y, tables):
    return float(np.mean(tables[0] @ np.arange(tables[0].shape[1])))


def squares(y, chances):
    return (chances[:, 0] - 0.5) ** 2


def with_chances(metric, **arguments):
    return make_scorer(metric, response_method=PROBABILITIES, **arguments)


OF_TWO = [
    "neg_log_loss",
    "neg_brier_score",
    "roc_auc",
    with_chances(metrics.average_precision_score, pos_label="b"),
    with_chances(metrics.roc_auc_score, max_fpr=0.5),
    with_chances(first_column),
    PointwiseLoss(squares, response=PROBABILITIES),
]
OF_THREE = [
    "neg_log_loss",
    "d2_brier_score",
    "top_k_accuracy",
    "roc_auc_ovr",
    "roc_auc_ovo",
    with_chances(first_column),
    PointwiseLoss(squares, response=PROBABILITIES),
]


def value(scoring, y, prediction, classes, estimator=None):
    """Return the score of a prediction by a model that knows some classes."""
    loss = resolve_loss(scoring, estimator or LogisticRegression(), y)
    known = None if classes is None else np.array(classes)
    return loss.value(y)(prediction, known)


CASES = [(TWO, one) for one in OF_TWO] + [(THREE, one) for one in OF_THREE]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_columns_of_other_classes_have_no_score(case):
    """As many, more, fewer of which one is another, and numbers for texts."""
    y, scoring = CASES[case]
    n_classes = len(np.unique(y))
    for classes in (["x", "y", "z"], [0, 1, 2], ["a", "aa", "b"]):
        with pytest.raises(InvalidPredictionError, match=r"and y has \['a', 'b'"):
            value(scoring, y, CHANCES[n_classes], classes[:n_classes])
    with pytest.raises(InvalidPredictionError, match="Let it predict labels of y"):
        value(scoring, y, CHANCES[5 - n_classes], ["a", "q", "r"][: 5 - n_classes])


@pytest.mark.parametrize("case", range(len(CASES)))
def test_columns_in_another_order_are_put_in_order(case):
    """Witness: the same columns in the order of the labels."""
    y, scoring = CASES[case]
    classes = np.unique(y)
    chances = CHANCES[len(classes)]
    backwards = value(scoring, y, chances[:, ::-1], classes[::-1])
    assert backwards == value(scoring, y, chances, classes)


def test_a_decision_for_the_other_one_of_two_classes_is_turned():
    decisions = RNG.normal(size=12)
    turned = value("roc_auc", TWO, -decisions, ["b", "a"])
    assert turned == value("roc_auc", TWO, decisions, ["a", "b"])


def test_three_columns_are_none_of_two_classes():
    with pytest.raises(InvalidInputError, match=r"shape \(12, 3\), not \(12, 2\)"):
        value("roc_auc", TWO, CHANCES[3], None)


def tables(*classes):
    """Return chances of several targets, a table for each, and their classes."""
    chances = [RNG.dirichlet(np.ones(len(one)), 12) for one in classes]
    return chances, [np.array(one) for one in classes]


OF_SETS = {
    "roc_auc": "roc_auc",
    "micro": with_chances(metrics.roc_auc_score, average="micro"),
    "average_precision": "average_precision",
    "brier": "neg_brier_score",
    "partial": with_chances(metrics.roc_auc_score, max_fpr=0.5),
    "own": with_chances(first_column),
}


# Of a set of labels they need not, and scikit-learn says so every time.
@pytest.mark.filterwarnings("ignore:The y_prob values do not sum to one")
@pytest.mark.parametrize("name", OF_SETS)
def test_a_label_that_a_subset_lacked_is_never_expected(name):
    """Witness: one table with a 0 for it, which scikit-learn takes for a 1."""
    chances, classes = tables([0], [0, 1], [0, 1])
    whole = np.column_stack([np.zeros(12), chances[1][:, 1], chances[2][:, 1]])
    loss = resolve_loss(OF_SETS[name], DecisionTreeClassifier(), SETS)
    assert loss.value(SETS)(chances, classes) == loss.value(SETS)(whole, None)


@pytest.mark.parametrize("name", OF_SETS)
@pytest.mark.parametrize(
    ("classes", "told"),
    [
        ([[1, 2]] * 3, r"are those of \[1, 2\], and it has \[0, 1\]"),
        ([["0", "1"]] * 3, r"are those of \['0', '1'\], and it has \[0, 1\]"),
        ([[0, 1]] * 2, "are 2 tables, and y has 3 targets"),
        ([[0, 1, 2]] * 3, "and it has"),
        ([None, [0, 1], [0, 1]], r"have shape \(12, 1\), and it has 2 classes"),
    ],
)
def test_tables_of_other_classes_have_no_score(name, classes, told):
    chances, known = tables(*([0] if one is None else one for one in classes))
    loss = resolve_loss(OF_SETS[name], DecisionTreeClassifier(), SETS)
    with pytest.raises(InvalidInputError, match=told):
        loss.value(SETS)(chances, None if None in classes else known)


@pytest.mark.parametrize(
    "scoring",
    [with_chances(first_table), PointwiseLoss(squares, response=PROBABILITIES)],
)
def test_tables_of_several_targets_have_a_column_for_each_class(scoring):
    """Witness: the same tables with a column of zeros."""
    y = np.column_stack([THREE, TWO])
    chances, classes = tables(["a", "c"], ["a", "b"])
    whole = np.column_stack([chances[0][:, 0], np.zeros(12), chances[0][:, 1]])
    if isinstance(scoring, PointwiseLoss):
        scoring = PointwiseLoss(
            lambda y, tables: tables[0] @ np.arange(3), response=PROBABILITIES
        )
    loss = resolve_loss(scoring, DecisionTreeClassifier(), y)
    known = [np.array(["a", "b", "c"]), classes[1]]
    expected = loss.value(y)([whole, chances[1]], known)
    assert loss.value(y)(chances, classes) == expected


LABEL_SCORES = ["accuracy", "f1_micro", "f1_macro", "f1_weighted"]


@pytest.mark.parametrize("name", [*LABEL_SCORES, "f1_samples", "jaccard_samples"])
def test_numbers_are_no_sets_of_labels(name):
    """Witness: scikit-learn refuses the mix, too."""
    scorer = metrics.get_scorer(name)
    model = Ridge().fit(RNG.normal(size=(12, 2)), SETS)
    with pytest.raises(ValueError, match="mix of multilabel-indicator"):
        scorer(model, RNG.normal(size=(12, 2)), SETS)
    with pytest.raises(InvalidPredictionError, match="numbers such as"):
        value(name, SETS, SETS + 0.3, None, Ridge())
    if name != "accuracy":
        with pytest.raises(InvalidPredictionError, match="other values than 0 and 1"):
            value(name, SETS, 2 * SETS, None, Ridge())


@pytest.mark.parametrize("name", [*LABEL_SCORES, "f1", "balanced_accuracy"])
def test_numbers_are_no_labels(name):
    y = SETS[:, 0]
    with pytest.raises(InvalidPredictionError, match="numbers such as"):
        value(name, y, y + 0.3, None, Ridge())
    # As floats they are labels.
    assert value(name, y, y.astype(float), None, Ridge()) == 1


@pytest.mark.parametrize("kind", ["f1", "jaccard", "precision", "recall"])
@pytest.mark.parametrize("y", [SETS + 1, np.column_stack([TWO, THREE])])
def test_several_classes_per_row_are_no_sets_of_labels(kind, y):
    with pytest.raises(InvalidInputError, match="a table of 0 and 1, but y holds"):
        resolve_loss(f"{kind}_samples", KNeighborsClassifier(), y)


@pytest.mark.parametrize(
    ("metric", "arguments", "y", "told"),
    [
        ("brier_score_loss", {"pos_label": "x"}, TWO, "pos_label='x' is not among"),
        ("d2_brier_score", {"pos_label": 1}, TWO, "pos_label=1 is not among"),
        ("average_precision_score", {"pos_label": "b"}, THREE, "more than two classes"),
        ("average_precision_score", {"pos_label": 0}, SETS, "Leave pos_label out"),
        ("log_loss", {"labels": ["a", "b"]}, THREE, r"lack \['c'\] of y"),
        ("top_k_accuracy_score", {"labels": [0, 1, 2]}, THREE, r"lack \['a', 'b', 'c'"),
        ("cohen_kappa_score", {"labels": ["z"]}, THREE, "is in y"),
    ],
)
def test_labels_that_y_does_not_have_are_refused(metric, arguments, y, told):
    """Witness: scikit-learn refuses them, once all is fitted."""
    function = getattr(metrics, metric)
    labels = metric == "cohen_kappa_score"
    scorer = make_scorer(
        function,
        greater_is_better="loss" not in metric,
        response_method="predict" if labels else PROBABILITIES,
        **arguments,
    )
    with pytest.raises(InvalidInputError, match=told):
        resolve_loss(scorer, KNeighborsClassifier(), y)
    X = RNG.normal(size=(12, 2))
    with pytest.raises(ValueError, match="label"):
        scorer(KNeighborsClassifier().fit(X, y), X, y)


def with_positive(y, values, pos_label):
    return float(np.mean(values[y == pos_label]))


def test_a_metric_of_ones_own_gets_the_column_of_its_positive_label():
    def score(label):
        scorer = with_chances(with_positive, pos_label=label)
        return value(scorer, TWO, CHANCES[2], ["a", "b"])

    assert score("a") == pytest.approx(CHANCES[2][::2, 0].mean())
    assert score("b") == pytest.approx(CHANCES[2][1::2, 1].mean())
    with pytest.raises(
        InvalidInputError, match="pos_label='c' is not among the labels"
    ):
        score("c")


class Renamed(ClassifierMixin, BaseEstimator):
    """Predicts chances of other classes than those of y, if it is told to."""

    def __init__(self, renames=False):
        self.renames = renames

    def fit(self, X, y):
        self.model_ = KNeighborsClassifier(3).fit(X, y)
        known = self.model_.classes_
        self.classes_ = np.char.upper(known) if self.renames else known
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc_ovr", "top_k_accuracy"])
def test_a_configuration_that_renames_classes_fails(scoring):
    """Witness: GridSearchCV gives both the same score."""
    X, y, folds = RNG.normal(size=(60, 2)), np.tile(THREE, 5), KFold(3)
    grid = {"renames": [False, True]}
    plain = GridSearchCV(Renamed(), grid, scoring=scoring, cv=folds).fit(X, y)
    with pytest.warns(FitFailedWarning, match="1 of 2 configurations failed"):
        search = RaceGridSearchCV(
            Renamed(), grid, scoring=scoring, cv=folds, strategy="cross_validation"
        ).fit(X, y)
    ours, theirs = (one.cv_results_["mean_test_score"] for one in (search, plain))
    assert theirs[0] == theirs[1]
    assert ours[0] == pytest.approx(theirs[0])
    assert np.isnan(ours[1])
    assert (
        "The model predicts the classes ['A', 'B'" in search.cv_results_["failure"][1]
    )


def test_decisions_between_pairs_of_classes_are_not_decisions_for_classes():
    """Of three classes there are three pairs."""
    X, y = RNG.normal(size=(60, 2)), np.tile(THREE, 5)
    for model, grid in (
        (SVC(decision_function_shape="ovo"), {"C": [1, 2]}),
        (SVC(), {"decision_function_shape": ["ovr", "ovo"]}),
    ):
        search = RaceGridSearchCV(model, grid, scoring="top_k_accuracy")
        with pytest.raises(
            InvalidInputError, match="Set decision_function_shape='ovr'"
        ):
            search.fit(X, y)


def test_a_loss_of_ones_own_scores_rows_that_lack_a_class():
    """As a scorer of GridSearchCV, whose folds may lack one that the model knows."""
    X = RNG.normal(size=(12, 2))
    model = KNeighborsClassifier(3).fit(X, THREE)
    loss = PointwiseLoss(squares, response=PROBABILITIES)
    rows = THREE != "c"
    expected = -np.mean(squares(None, model.predict_proba(X[rows])))
    assert loss(model, X[rows], THREE[rows]) == pytest.approx(expected)
