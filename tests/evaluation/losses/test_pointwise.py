"""Losses of the user's own: their shape, their classes, their life as a scorer."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC

from cvst._targets import to_array
from cvst.evaluation import PointwiseLoss, resolve_loss
from cvst.evaluation.losses._pointwise import align_columns
from cvst.exceptions import InvalidInputError


def absolute(y_true, y_pred):
    return np.abs(y_true - y_pred)


def true_class_missed(y_true, probabilities):
    classes = np.array(["a", "b", "c"])
    return 1 - probabilities[np.arange(len(y_true)), np.searchsorted(classes, y_true)]


def test_a_loss_and_its_score_are_the_function_and_minus_the_mean():
    loss = PointwiseLoss(absolute)
    losses = loss.losses([1.0, 2.0, 3.0], [1.0, 0.0, 4.0])
    np.testing.assert_array_equal(losses, [0, 2, 1])
    np.testing.assert_array_equal(loss.score([1.0, np.nan], None), [-1, np.nan])
    assert loss.name == "absolute"
    assert PointwiseLoss(absolute, name="mine").name == "mine"


@pytest.mark.parametrize(
    "returned", [1.0, np.ones(2), np.ones((3, 1)), np.ones((1, 3))], ids=str
)
def test_a_loss_of_a_wrong_shape_is_refused_with_both_shapes(returned):
    loss = PointwiseLoss(lambda y, p: returned, name="odd")
    with pytest.raises(InvalidInputError, match=r"'odd'.*shape \(.*3 rows.*\(3,\)"):
        loss.losses([1, 2, 3], [1, 2, 3])


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("builtins", "list"),
        ("numpy", "array"),
        ("pandas", "Series"),
        ("polars", "Series"),
    ],
)
def test_targets_of_any_container_reach_the_function_as_arrays(module, name):
    container = getattr(pytest.importorskip(module), name)
    seen = []

    def spy(y_true, y_pred):
        seen.extend([type(y_true), type(y_pred)])
        return y_true - y_pred

    losses = PointwiseLoss(spy).losses(container([3.0, 4.0]), container([1.0, 1.0]))
    np.testing.assert_array_equal(losses, [2, 3])
    assert seen == [np.ndarray, np.ndarray]


def test_a_loss_of_right_and_wrong_becomes_zero_and_one():
    losses = PointwiseLoss(lambda y, p: y != p).losses(["x", "y"], ["x", "z"])
    assert losses.dtype == np.float64
    np.testing.assert_array_equal(losses, [0, 1])


def test_without_targets_the_function_gets_none():
    loss = PointwiseLoss(lambda y, p: p if y is None else p + 99)
    np.testing.assert_array_equal(loss.losses(None, np.array([1.0, 2.0])), [1, 2])


def test_bound_rows_give_the_same_losses_as_unbound_ones():
    loss = PointwiseLoss(absolute)
    bound = loss.bind([1.0, 2.0])
    for prediction in ([0.0, 0.0], [1.0, 5.0]):
        np.testing.assert_array_equal(
            bound(prediction, None), loss.losses([1.0, 2.0], prediction)
        )


def test_a_class_missing_from_the_training_rows_gets_probability_zero():
    """Witness: the columns of a model that was shown two of three classes."""
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[rng.integers(3, size=60)]
    X = rng.normal(size=(60, 2)) + (y == "c")[:, None]
    model = LogisticRegression().fit(X[y != "b"], y[y != "b"])
    loss = resolve_loss(
        PointwiseLoss(true_class_missed, response="predict_proba"), model, y
    )
    probabilities = model.predict_proba(X)
    losses = loss.losses(y, probabilities, model.classes_)
    np.testing.assert_array_equal(losses[y == "b"], 1.0)
    np.testing.assert_allclose(losses[y == "a"], 1 - probabilities[y == "a", 0])
    np.testing.assert_allclose(losses[y == "c"], 1 - probabilities[y == "c", 1])


def test_decision_values_of_two_classes_out_of_three_are_spread_over_the_three():
    values = np.array([0.5, -2.0])
    aligned = align_columns(values, np.array([0, 2]), np.array([0, 1, 2]), -np.inf)
    np.testing.assert_array_equal(aligned, [[-0.5, -np.inf, 0.5], [2, -np.inf, -2]])


def test_decision_values_of_two_classes_stay_as_scikit_learn_gives_them():
    y = np.array([0, 1] * 10)
    X = np.arange(20.0)[:, None]
    model = SVC().fit(X, y)
    margin = PointwiseLoss(lambda y, d: -(2 * y - 1) * d, response="decision_function")
    loss = resolve_loss(margin, model, y)
    values = model.decision_function(X)
    np.testing.assert_allclose(
        loss.losses(y, values, model.classes_), np.where(y == 1, -values, values)
    )


def test_residuals_are_target_minus_prediction_for_single_numbers_only():
    loss = PointwiseLoss(absolute)
    np.testing.assert_array_equal(loss.residuals([1.0, 5.0], [2.0, 1.0]), [-1, 4])
    assert loss.residuals(["a"], ["b"]) is None
    assert loss.residuals([[1.0, 2.0]], [[1.0, 2.0]]) is None
    assert loss.residuals(None, [1.0]) is None
    classes = resolve_loss(loss, LogisticRegression(), [0, 1, 1])
    assert classes.residuals([0, 1], [1, 1]) is None


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint64])
def test_residuals_of_unsigned_numbers_do_not_wrap_around(kind):
    truth, predicted = np.array([1, 200], dtype=kind), np.array([2, 100], dtype=kind)
    found = PointwiseLoss(absolute).residuals(truth, predicted)
    np.testing.assert_array_equal(found, [-1.0, 100.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"function": "accuracy"}, r"'accuracy' cannot be called.*f\(y_true, y_pred\)"),
        ({"function": absolute, "response": "transform"}, "'transform'.*'predict'"),
    ],
)
def test_arguments_that_make_no_loss_are_refused(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        PointwiseLoss(**arguments)


def test_resolving_leaves_the_users_object_alone():
    loss = PointwiseLoss(absolute)
    resolved = resolve_loss(loss, LogisticRegression(), [0, 1, 1])
    assert loss.classes is None
    np.testing.assert_array_equal(resolved.classes, [0, 1])


def test_copies_and_pickles_give_the_same_losses():
    loss = PointwiseLoss(absolute)
    for copy in (clone(loss, safe=False), pickle.loads(pickle.dumps(loss))):
        np.testing.assert_array_equal(copy.losses([1.0], [3.0]), [2])


def test_scikit_learn_takes_the_loss_as_a_scorer():
    """Witness: its own score of the same metric."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + rng.normal(size=60)
    search = GridSearchCV(
        Ridge(), {"alpha": [0.1, 10]}, scoring=PointwiseLoss(absolute)
    )
    expected = GridSearchCV(
        Ridge(), {"alpha": [0.1, 10]}, scoring="neg_mean_absolute_error"
    )
    np.testing.assert_allclose(
        search.fit(X, y).cv_results_["mean_test_score"],
        expected.fit(X, y).cv_results_["mean_test_score"],
    )
    labels = np.where(y > 0.5, "c", np.where(y > -0.5, "b", "a"))
    scores = cross_val_score(
        LogisticRegression(),
        X,
        labels,
        scoring=PointwiseLoss(true_class_missed, response="predict_proba"),
    )
    assert np.all((scores < 0) & (scores > -1))


def test_weights_of_a_scorer_weigh_the_mean():
    model = Ridge().fit([[0.0], [1.0]], [0.0, 1.0])
    X, y, weights = [[0.0], [1.0]], [5.0, 9.0], [3.0, 1.0]
    losses = absolute(np.array(y), model.predict(X))
    score = PointwiseLoss(absolute)(model, X, y, sample_weight=weights)
    assert score == pytest.approx(-(3 * losses[0] + losses[1]) / 4)


def test_sparse_labels_are_opened():
    np.testing.assert_array_equal(to_array(sparse.csr_matrix([[0, 1]])), [[0, 1]])
