"""The loss of a constant prediction."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier

from cvst import PointwiseLoss
from cvst.evaluation import resolve_loss
from cvst.evaluation.losses import constant_loss


def test_frequencies_of_the_classes_are_the_constant_of_log_loss():
    """Witness: scikit-learn's dummy classifier and its metric."""
    y = np.array(["a", "b", "b", "b"])
    X = np.zeros((4, 1))
    dummy = DummyClassifier().fit(X, y)
    loss = resolve_loss("neg_log_loss", dummy, y)
    expected = log_loss(y, dummy.predict_proba(X))
    assert constant_loss(loss, y) == pytest.approx(expected)


def test_several_outputs_have_no_constant_probabilities():
    """A loss of lists of probabilities is not asked about anything else."""
    seen = []

    def first_output(y_true, probabilities):
        seen.append(probabilities)
        return 1 - probabilities[0][np.arange(len(y_true)), y_true[:, 0]]

    loss = PointwiseLoss(first_output, response="predict_proba")
    assert constant_loss(loss, np.array([[0, 1], [1, 2]])) is None
    assert not seen


def test_losses_that_cannot_judge_a_constant_are_let_off():
    """Whatever a user's function raises, the race goes on without the hint."""

    def picky(y_true, y_pred):
        raise KeyError("only fitted models, please")

    assert constant_loss(PointwiseLoss(picky), np.array([1.0, 2.0])) is None


def test_sparse_labels_are_no_obstacle():
    """Sets of labels may come as a sparse matrix: the same as a dense one."""
    y = np.eye(4, 2, dtype=int)
    loss = resolve_loss("f1_samples", KNeighborsClassifier(), y)
    assert constant_loss(loss, sparse.csr_matrix(y)) == constant_loss(loss, y)
