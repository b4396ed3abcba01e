"""Every score of scikit-learn: equal to its scorer, or refused with a way out."""

from __future__ import annotations

import doctest
import re
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.cluster import DBSCAN
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import (
    GammaRegressor,
    LogisticRegression,
    LogisticRegressionCV,
    PoissonRegressor,
    Ridge,
    TweedieRegressor,
)
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvst.evaluation import PointwiseLoss, resolve_loss
from cvst.evaluation.losses._resolve import _shown
from cvst.exceptions import InvalidInputError, UnsupportedScoreError

PAGE = Path(__file__).parents[3] / "docs" / "user_guide" / "losses.md"

N_TRAIN, N_TEST = 60, 80


def data(kind):
    """Return inputs, targets and an estimator for a kind of task."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N_TRAIN + N_TEST, 3))
    signal = X[:, 0] + 0.8 * rng.normal(size=len(X))
    if kind == "binary":
        return X, (signal > 0.5).astype(int), LogisticRegression()
    if kind == "strings":
        return (
            X,
            np.array(["x", "y", "z"])[np.digitize(signal, [-0.5, 0.5])],
            KNeighborsClassifier(15),
        )
    if kind == "sets":
        other = X[:, 1] + rng.normal(size=len(X))
        y = np.column_stack([signal > 0, other > 0.3, signal > 1]).astype(int)
        return X, y, KNeighborsClassifier()
    if kind == "numbers":
        return X, np.exp(signal), PoissonRegressor()
    assert kind == "outputs"
    y = np.column_stack([np.exp(signal), np.exp(-signal) + X[:, 2] ** 2])
    return X, y, KNeighborsRegressor()


LABELS = ["accuracy"]
MICRO = ["f1_micro", "precision_micro", "recall_micro", "recall_weighted"]
PROBABILITIES = [
    "neg_log_loss",
    "neg_brier_score",
    "d2_log_loss_score",
    "d2_brier_score",
]
NUMBERS = [
    "r2",
    "d2_absolute_error_score",
    "neg_mean_absolute_error",
    "neg_mean_absolute_percentage_error",
    "neg_mean_squared_error",
    "neg_mean_squared_log_error",
]
SINGLE_NUMBERS = [
    "neg_mean_gamma_deviance",
    "neg_mean_poisson_deviance",
    "neg_root_mean_squared_error",
    "neg_root_mean_squared_log_error",
]
SETS = ["f1_samples", "jaccard_samples", "precision_samples", "recall_samples"]

SUPPORTED = {
    "binary": [*LABELS, *MICRO, "jaccard_micro", *PROBABILITIES],
    "strings": [*LABELS, *MICRO, "jaccard_micro", *PROBABILITIES, "top_k_accuracy"],
    "sets": [*LABELS, *SETS],
    "numbers": [*NUMBERS, *SINGLE_NUMBERS],
    "outputs": NUMBERS,
}
NAMED = [
    (kind, name)
    for kind, names in SUPPORTED.items()
    for name in names
    if name in get_scorer_names()
]

SCORERS = [
    ("numbers", make_scorer(metrics.d2_pinball_score, alpha=0.8)),
    ("numbers", make_scorer(metrics.d2_pinball_score, alpha=0.0)),
    ("numbers", make_scorer(metrics.d2_tweedie_score, power=1.5)),
    ("numbers", make_scorer(metrics.d2_tweedie_score)),
    *[
        (
            "numbers",
            make_scorer(
                metrics.mean_tweedie_deviance, power=power, greater_is_better=False
            ),
        )
        for power in (-1, 0, 1, 1.5, 2, 3)
    ],
    (
        "numbers",
        make_scorer(
            partial(metrics.mean_pinball_loss, alpha=0.1), greater_is_better=False
        ),
    ),
    (
        "outputs",
        make_scorer(metrics.mean_pinball_loss, alpha=0.9, greater_is_better=False),
    ),
    ("outputs", make_scorer(metrics.d2_pinball_score, alpha=0.2)),
    ("outputs", make_scorer(metrics.r2_score, multioutput="variance_weighted")),
    ("outputs", make_scorer(metrics.r2_score, multioutput=[0.2, 0.6])),
    (
        "outputs",
        make_scorer(
            metrics.mean_squared_error, multioutput=[3, 1], greater_is_better=False
        ),
    ),
    ("sets", make_scorer(metrics.fbeta_score, beta=2, average="samples")),
    ("sets", make_scorer(metrics.f1_score, average="samples", zero_division=1)),
    ("sets", make_scorer(metrics.hamming_loss, greater_is_better=False)),
    ("strings", make_scorer(metrics.hamming_loss, greater_is_better=False)),
    ("strings", make_scorer(metrics.zero_one_loss, greater_is_better=False)),
    (
        "strings",
        make_scorer(metrics.fbeta_score, beta=0.5, average="micro", pos_label=None),
    ),
    (
        "strings",
        make_scorer(
            metrics.log_loss,
            greater_is_better=False,
            response_method="predict_proba",
            labels=["x", "y", "z"],
        ),
    ),
    (
        "strings",
        make_scorer(
            metrics.brier_score_loss,
            greater_is_better=False,
            response_method="predict_proba",
            scale_by_half=True,
        ),
    ),
    (
        "strings",
        make_scorer(
            metrics.top_k_accuracy_score,
            response_method=("decision_function", "predict_proba"),
            k=1,
        ),
    ),
    (
        "binary",
        make_scorer(metrics.top_k_accuracy_score, response_method="predict_proba", k=1),
    ),
    (
        "strings",
        make_scorer(metrics.d2_log_loss_score, response_method="predict_proba"),
    ),
]


def raced_score(loss, model, X, y, weights=None):
    """Score a fitted model as a race does: losses, their mean, the score of it."""
    prediction = getattr(model, loss.response)(X)
    classes = getattr(model, "classes_", None)
    losses = loss.losses(y, prediction, classes, weights)
    mean = np.average(losses, weights=weights)
    return loss.score(np.array([mean]), y, weights)[0]


def assert_equals_scikit_learn(kind, scoring):
    X, y, estimator = data(kind)
    model = estimator.fit(X[:N_TRAIN], y[:N_TRAIN])
    X_test, y_test = X[N_TRAIN:], y[N_TRAIN:]
    weights = np.random.default_rng(0).integers(0, 4, N_TEST).astype(float)
    loss = resolve_loss(scoring, estimator, y)
    scorer = get_scorer(scoring)
    for sample_weight in (None, weights):
        actual = raced_score(loss, model, X_test, y_test, sample_weight)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rows without labels
            expected = scorer(model, X_test, y_test, sample_weight=sample_weight)
        assert actual == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("kind", "name"), NAMED)
def test_a_named_score_of_a_race_is_scikit_learns(kind, name):
    """Witness: the scorer of that name on the same model and rows."""
    assert_equals_scikit_learn(kind, name)


@pytest.mark.parametrize(("kind", "scorer"), SCORERS, ids=_shown)
def test_a_scorer_object_with_arguments_is_scikit_learns(kind, scorer):
    """Witness: the scorer itself on the same model and rows."""
    assert_equals_scikit_learn(kind, scorer)


def test_sets_are_not_compared_with_single_labels():
    _, y, estimator = data("sets")
    for name in SETS:
        with pytest.raises(InvalidInputError, match=r"sets of labels.*'accuracy'"):
            resolve_loss(name, estimator, y[:, 0])


@pytest.mark.parametrize(
    "name", ["neg_mean_gamma_deviance", "neg_mean_poisson_deviance"]
)
def test_a_deviance_of_several_outputs_is_refused(name):
    """Witness: scikit-learn refuses it too."""
    _, y, estimator = data("outputs")
    with pytest.raises(UnsupportedScoreError, match=r"2 outputs.*works is '(.*)'") as r:
        resolve_loss(name, estimator, y)
    nearest = re.search("works is '(.*)'", str(r.value)).group(1)
    assert resolve_loss(nearest, estimator, y)


class Echo(RegressorMixin, BaseEstimator):
    """Predicts its inputs."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0] if X.shape[1] == 1 else X

    def __sklearn_is_fitted__(self):
        return True


VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e3, 1e3, width=32))


@st.composite
def predictions(draw):
    shape = draw(st.tuples(st.integers(2, 9), st.integers(1, 3)))
    truth = draw(arrays(float, shape, elements=VALUES))
    constant = draw(arrays(bool, shape[1]))
    truth[:, constant] = 2.0
    predicted = draw(arrays(float, shape, elements=VALUES))
    if draw(st.booleans()):
        predicted[:, 0] = truth[:, 0]
    weights = draw(arrays(float, shape[0], elements=st.integers(0, 5).map(float)))
    weights[0] += 1.0
    weighted = draw(st.booleans())
    return truth, predicted, weights if weighted else None


@settings(max_examples=60, deadline=None)
@given(case=predictions())
@pytest.mark.parametrize(
    "scorer",
    [
        get_scorer("r2"),
        get_scorer("neg_mean_absolute_error"),
        make_scorer(metrics.r2_score, multioutput="variance_weighted"),
        make_scorer(metrics.d2_pinball_score, alpha=0.7),
    ],
    ids=["r2", "absolute", "variance weighted", "pinball"],
)
def test_constant_outputs_and_perfect_predictions_score_as_in_scikit_learn(
    scorer, case
):
    """Witness: scikit-learn's conventions where a target has no spread."""
    truth, predicted, weights = case
    y = truth if truth.shape[1] > 1 else truth[:, 0]
    loss = resolve_loss(scorer, Echo(), y)
    actual = raced_score(loss, Echo(), predicted, y, weights)
    expected = scorer(Echo(), predicted, y, sample_weight=weights)
    assert actual == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_rows_of_weight_zero_do_not_spoil_a_constant_output():
    """Witness: scikit-learn counts the output as perfectly explained."""
    y = np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 2.0]])
    predicted = np.array([[1.5, 2.0], [3.0, 2.0], [5.0, 9.0]])
    weights = np.array([1.0, 1.0, 0.0])
    loss = resolve_loss("r2", Echo(), y)
    expected = get_scorer("r2")(Echo(), predicted, y, sample_weight=weights)
    assert raced_score(loss, Echo(), predicted, y, weights) == pytest.approx(expected)


class Certain(ClassifierMixin, BaseEstimator):
    """Returns its inputs as probabilities."""

    classes_ = np.array([0, 1, 2])

    def predict_proba(self, X):
        return X

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_certainty_of_a_wrong_class_costs_what_it_costs_in_scikit_learn(dtype):
    y = np.array([0, 1, 2, 0])
    X = np.eye(3, dtype=dtype)[[0, 1, 2, 1]]
    loss = resolve_loss("neg_log_loss", Certain(), y)
    expected = get_scorer("neg_log_loss")(Certain(), X, y)
    assert np.isfinite(expected)
    assert raced_score(loss, Certain(), X, y) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("score", "name"),
    [("neg_log_loss", "log_loss"), ("neg_brier_score", "brier_score_loss")],
)
def test_a_class_missing_from_the_training_rows_counts_as_probability_zero(score, name):
    """Witness: scikit-learn's metric on probabilities with a column of zeros."""
    X, y, estimator = data("strings")
    seen = (y != "y") & (np.arange(len(y)) < N_TRAIN)
    model = estimator.fit(X[seen], y[seen])
    loss = resolve_loss(score, estimator, y)
    losses = loss.losses(y, model.predict_proba(X), model.classes_)
    filled = np.insert(model.predict_proba(X), 1, 0.0, axis=1)
    expected = getattr(metrics, name)(y, filled, labels=["x", "y", "z"])
    assert np.mean(losses) == pytest.approx(expected)


def test_a_class_that_only_the_separate_test_set_holds_is_a_miss():
    _, _, estimator = data("strings")
    loss = resolve_loss("neg_log_loss", estimator, ["x", "z"])
    losses = loss.losses(["x", "y"], np.array([[0.5, 0.5]] * 2), np.array(["x", "z"]))
    np.testing.assert_allclose(losses, [np.log(2), -np.log(np.finfo(float).eps)])


def test_a_guess_never_hits_a_class_that_the_model_does_not_know():
    _, _, estimator = data("strings")
    loss = resolve_loss("top_k_accuracy", estimator, ["x", "y", "z"])
    losses = loss.losses(["x", "y", "z"], np.ones((3, 1)), np.array(["x"]))
    np.testing.assert_array_equal(losses, [0, 1, 1])


def test_zero_one_losses_are_exactly_zero_and_one():
    loss = resolve_loss(None, LogisticRegression(), ["no", "yes"])
    losses = loss.losses(["no", "yes", "no"], np.array(["no", "no", "yes"], object))
    assert losses.tolist() == [0.0, 1.0, 1.0]


def logistic_with_own_score():
    """Return a search over penalties, in the form that each version wants."""
    names = LogisticRegressionCV().get_params()
    newer = {"l1_ratios": (0.0,), "use_legacy_attributes": False}
    arguments = newer if "use_legacy_attributes" in names else {}
    return LogisticRegressionCV(scoring="neg_log_loss", **arguments)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        make_pipeline(StandardScaler(), SVC()),
        DecisionTreeClassifier(random_state=0),
        logistic_with_own_score(),
        GridSearchCV(
            KNeighborsClassifier(), {"n_neighbors": [3]}, scoring="neg_log_loss"
        ),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_the_default_score_is_the_classifiers_own(estimator):
    """Witness: the score method of the fitted estimator."""
    X, y, _ = data("binary")
    model = estimator.fit(X[:N_TRAIN], y[:N_TRAIN])
    loss = resolve_loss(None, estimator, y)
    expected = model.score(X[N_TRAIN:], y[N_TRAIN:])
    assert raced_score(loss, model, X[N_TRAIN:], y[N_TRAIN:]) == pytest.approx(expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(),
        PoissonRegressor(),
        GammaRegressor(),
        TweedieRegressor(power=1.5),
        TweedieRegressor(power=0),
        make_pipeline(StandardScaler(), PoissonRegressor()),
    ],
)
def test_the_default_score_is_the_regressors_own(estimator, weighted):
    """Witness: the score method of the fitted estimator."""
    X, y, _ = data("numbers")
    model = estimator.fit(X[:N_TRAIN], y[:N_TRAIN])
    last = model[-1] if hasattr(model, "steps") else model
    inputs = model[:-1].transform(X) if hasattr(model, "steps") else X
    loss = resolve_loss(None, estimator, y)
    weights = np.arange(1.0, N_TEST + 1) if weighted else None
    expected = last.score(inputs[N_TRAIN:], y[N_TRAIN:], sample_weight=weights)
    actual = raced_score(loss, model, X[N_TRAIN:], y[N_TRAIN:], weights)
    assert actual == pytest.approx(expected)


def test_the_default_score_of_several_labels_per_row_is_all_right_or_wrong():
    """Witness: the score method of MultiOutputClassifier."""
    X, y, _ = data("sets")
    estimator = MultiOutputClassifier(LogisticRegression())
    model = estimator.fit(X[:N_TRAIN], y[:N_TRAIN])
    loss = resolve_loss(None, estimator, y)
    expected = model.score(X[N_TRAIN:], y[N_TRAIN:])
    assert raced_score(loss, model, X[N_TRAIN:], y[N_TRAIN:]) == pytest.approx(expected)


@pytest.mark.parametrize(
    "estimator",
    [
        KernelDensity(),
        GaussianMixture(random_state=0),
        make_pipeline(StandardScaler(), KernelDensity()),
    ],
)
def test_a_density_is_raced_on_minus_its_logarithm(estimator):
    """Witness: the model's log density; KernelDensity.score sums it over the rows."""
    X, _, _ = data("binary")
    model = estimator.fit(X[:N_TRAIN])
    loss = resolve_loss(None, estimator, None)
    score = raced_score(loss, model, X[N_TRAIN:], None)
    assert score == pytest.approx(model.score_samples(X[N_TRAIN:]).mean())


OF_NUMBERS = [
    "d2_absolute_error_score",
    "explained_variance",
    "neg_max_error",
    "neg_mean_absolute_error",
    "neg_mean_absolute_percentage_error",
    "neg_mean_gamma_deviance",
    "neg_mean_poisson_deviance",
    "neg_mean_squared_error",
    "neg_mean_squared_log_error",
    "neg_median_absolute_error",
    "neg_root_mean_squared_error",
    "neg_root_mean_squared_log_error",
    "r2",
]


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint64, bool])
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_numbers_of_any_type_are_scored_as_floats(name, kind):
    """Witness: scikit-learn on floats; 1 - 2 is 255 among unsigned bytes."""
    if name not in get_scorer_names():
        pytest.skip("not a name in this version")
    if kind is bool and "deviance" in name:
        pytest.skip("not defined at zero")
    rng = np.random.default_rng(0)
    y, prediction = rng.integers(1, 250, size=(2, 60)).astype(np.uint8)
    if kind is bool:
        y, prediction = y > 100, prediction > 150
    floats = y.astype(float), prediction.astype(float)
    scorer = get_scorer(name)
    expected = scorer._sign * scorer._score_func(*floats, **scorer._kwargs)
    y, prediction = y.astype(kind), prediction.astype(kind)
    loss, witness = (resolve_loss(name, Ridge(), one) for one in (y, floats[0]))
    assert loss.value(y)(prediction, None) == pytest.approx(expected)
    np.testing.assert_allclose(loss.losses(y, prediction), witness.losses(*floats))
    residuals = loss.residuals(y, prediction)
    if residuals is not None:
        np.testing.assert_array_equal(residuals, floats[0] - floats[1])


def test_a_function_of_the_user_gets_targets_of_their_own_type():
    seen = []

    def metric(y_true, y_pred):
        seen.append((y_true.dtype, y_pred.dtype))
        return 0.0

    y = np.arange(50, dtype=np.uint8)
    resolve_loss(make_scorer(metric), Ridge(), y).value(y)(y, None)
    assert seen == [(np.uint8, np.uint8)]


def test_residuals_are_signed_for_numbers_and_absent_for_the_rest():
    squared = resolve_loss("r2", Ridge(), [1.0, 2.0])
    np.testing.assert_array_equal(
        squared.residuals([1.0, 2.0], np.array([[3.0], [0.0]])), [-2, 2]
    )
    outputs = resolve_loss("r2", Ridge(), [[1.0, 2.0], [2.0, 1.0]])
    assert outputs.residuals([[1.0, 2.0]], [[1.0, 2.0]]) is None
    for name in ("accuracy", "neg_log_loss"):
        labels = resolve_loss(name, LogisticRegression(), [0, 1])
        assert labels.residuals([0, 1], [1, 1]) is None


@pytest.mark.parametrize(
    ("scoring", "y", "message"),
    [
        ("acuracy", [0, 1], "'acuracy' is not a score.*did you mean 'accuracy'"),
        ("accuracy", None, "y is None"),
        ("accuracy", [0.5, 1.0], "y holds numbers such as 0.5.*'r2'"),
        ("r2", ["a", "b"], r"needs numbers.*\['a'\].*'accuracy'"),
        ("neg_log_loss", [[0, 1], [1, 0]], "one label per row"),
        ("neg_mean_gamma_deviance", [0.0, 1.0], "targets above 0, but y holds 0"),
        ("neg_mean_poisson_deviance", [-1.0, 1.0], "at least 0, but y holds -1"),
        ("neg_mean_squared_log_error", [-1.0, 1.0], "above -1, but y holds -1"),
        ("top_k_accuracy", [0, 1], "k=2 cannot tell models of 2 classes apart"),
        (["accuracy", "r2"], [0, 1], "is not one score"),
        (metrics.accuracy_score, [0, 1], r"make_scorer\(accuracy_score\)"),
        (make_scorer(metrics.mean_absolute_error), [0.0, 1.0], "prefers the worst"),
        (
            make_scorer(metrics.accuracy_score, greater_is_better=False),
            [0, 1],
            "prefers the worst.*greater_is_better=True",
        ),
        (
            make_scorer(metrics.log_loss, greater_is_better=False),
            [0, 1],
            "needs predict_proba",
        ),
        (
            make_scorer(metrics.mean_pinball_loss, alpha=2, greater_is_better=False),
            [0.0, 1.0],
            "alpha=2.*between 0 and 1",
        ),
        (
            make_scorer(
                metrics.mean_tweedie_deviance, power=0.5, greater_is_better=False
            ),
            [0.0, 1.0],
            "power=0.5",
        ),
        (
            make_scorer(metrics.r2_score, multioutput=[1, 2, 3]),
            [[0.0, 1.0], [1.0, 2.0]],
            "for 2 outputs",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_sentence(scoring, y, message):
    with pytest.raises(InvalidInputError, match=message):
        resolve_loss(scoring, LogisticRegression(), y)


def own_metric(y_true, y_pred):
    return 0.0


def test_a_score_that_is_several_numbers_is_refused_with_a_way_out():
    scorer = make_scorer(metrics.r2_score, multioutput="raw_values")
    with pytest.raises(UnsupportedScoreError, match="'uniform_average'"):
        resolve_loss(scorer, Ridge(), [[0.0, 1.0], [1.0, 2.0]])


@pytest.mark.parametrize("estimator", [DBSCAN(), IsolationForest()], ids=str)
def test_an_estimator_without_a_score_of_its_own_asks_for_one(estimator):
    with pytest.raises(InvalidInputError, match="Pass scoring"):
        resolve_loss(None, estimator, None)


def test_a_prediction_outside_the_domain_of_the_loss_is_an_error():
    """Witness: scikit-learn raises a ValueError too."""
    loss = resolve_loss("neg_mean_gamma_deviance", Ridge(), [1.0, 2.0])
    with pytest.raises(ValueError, match=r"prediction is -1.*above 0"):
        loss.losses([1.0, 2.0], [1.0, -1.0])


@pytest.mark.parametrize(
    ("name", "y", "prediction"),
    [
        ("r2", [1.0, 2.0], np.ones((2, 2))),
        ("accuracy", [0, 1], np.ones((2, 2))),
        ("neg_log_loss", [0, 1], np.ones((2, 3))),
    ],
)
def test_a_prediction_of_a_wrong_shape_is_an_error(name, y, prediction):
    loss = resolve_loss(name, LogisticRegression(), y)
    with pytest.raises(InvalidInputError, match="shape"):
        loss.losses(y, prediction)


def test_a_column_of_targets_is_as_good_as_a_row():
    for name, y in (("r2", [1.0, 2.0, 4.0]), ("accuracy", [0, 1, 1])):
        loss = resolve_loss(name, Ridge(), np.array(y)[:, None])
        losses = loss.losses(np.array(y)[:, None], np.array(y))
        np.testing.assert_array_equal(losses, np.zeros(3))


def test_a_loss_of_the_users_own_passes_through():
    loss = PointwiseLoss(own_metric)
    assert resolve_loss(loss, Ridge(), [1.0, 2.0]) is loss
    assert resolve_loss(loss, KernelDensity(), None) is loss


def test_the_page_names_every_score_that_works_and_its_examples_run():
    page = PAGE.read_text(encoding="utf-8")
    for names in SUPPORTED.values():
        assert all(f"`{name}`" in page for name in names)
    failures, examples = doctest.testfile(str(PAGE), module_relative=False)
    assert failures == 0
    assert examples > 0


def test_a_default_that_is_going_to_change_is_the_one_of_today():
    """Newer versions of scikit-learn mark it by the word "warn"."""
    estimator = LogisticRegressionCV()
    loss = resolve_loss(None, estimator, ["no", "yes"])
    expected = resolve_loss("accuracy", estimator, ["no", "yes"])
    assert loss.name == expected.name
