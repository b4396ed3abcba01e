"""Probabilities of several targets come to one table from either shape."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cvst._targets import ShapeError, Targets

LABELS = np.array([[0, 1], [1, 0], [1, 0]])
KINDS = np.array([["a", "x"], ["b", "y"], ["c", "x"]])


def test_both_shapes_give_the_same_table():
    targets = Targets.of(LABELS)
    shares = np.array([[0.2, 0.9], [0.5, 0.4]])
    listed = [np.column_stack([1 - one, one]) for one in shares.T]
    expected = [[0.8, 0.2, 0.1, 0.9], [0.5, 0.5, 0.6, 0.4]]
    np.testing.assert_allclose(targets.columns(shares, None), expected)
    known = [np.array([0, 1])] * 2
    np.testing.assert_allclose(targets.columns(listed, known), expected)
    # Of equal ones the first.
    table = targets.columns(shares, None)
    np.testing.assert_array_equal(targets.labels(table), [[0, 1], [0, 0]])
    np.testing.assert_allclose(targets.shaped_like([shares]).answer(table), shares)
    for ours, theirs in zip(
        targets.shaped_like([shares, listed]).answer(table), listed, strict=True
    ):
        np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize(
    "y", [LABELS.astype(bool), LABELS * 1.0, LABELS.tolist(), sparse.csr_array(LABELS)]
)
def test_labels_may_be_of_any_kind(y):
    targets = Targets.of(y)
    assert [one.tolist() for one in targets.classes] == [[0, 1], [0, 1]]


def test_a_label_that_is_never_there_has_two_classes():
    targets = Targets.of([[0, 0], [1, 0]])
    assert [one.tolist() for one in targets.classes] == [[0, 1], [0, 1]]
    tables = [np.array([[0.3, 0.7]]), np.array([[1.0]])]
    known = [np.array([0, 1]), np.array([0])]
    np.testing.assert_array_equal(targets.columns(tables, known), [[0.3, 0.7, 1, 0]])


def test_a_class_of_one_alone_is_certain():
    targets = Targets.of([["a", "x"], ["b", "x"]])
    table = targets.columns(np.array([[0.25, 0.0]]), None)
    np.testing.assert_array_equal(table, [[0.75, 0.25, 1.0]])


def test_one_target_is_not_several():
    assert Targets.of([0, 1]) is None
    assert Targets.of([[0], [1]]) is None


@pytest.mark.parametrize(
    ("y", "prediction", "known", "message"),
    [
        (KINDS, np.ones((2, 2)), None, "one number for each target.* 3 classes"),
        (LABELS, np.ones((2, 3)), None, r"shape \(2, 3\), and y has 2"),
        (LABELS, np.ones(2), None, r"shape \(2,\), and y has 2"),
        (LABELS, [np.ones((2, 2))], None, "1 tables, and y has 2"),
        (LABELS, [np.ones((2, 2)), np.ones((2, 1))], None, r"\(2, 1\), and it has 2"),
        (
            LABELS,
            [np.ones((2, 2))] * 2,
            [np.array([0, 7]), np.array([0, 1])],
            r"are those of \[0, 7\], and it has \[0, 1\]",
        ),
    ],
)
def test_other_shapes_are_refused_in_a_sentence(y, prediction, known, message):
    with pytest.raises(ShapeError, match=message) as caught:
        Targets.of(y).columns(prediction, known)
    assert "\n" not in str(caught.value)
