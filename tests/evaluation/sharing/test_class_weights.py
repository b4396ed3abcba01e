"""Weights of classes are those of scikit-learn, to the last bit."""

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from cvst.evaluation.sharing import class_weights


@pytest.mark.parametrize(
    "labels", [[0, 1, 1], ["b", "a", "b", "c"], [2.0, -1.0], [True, False, False]]
)
@pytest.mark.parametrize("times", [1, 7, 101])
def test_balanced_classes_weigh_as_in_scikit_learn(labels, times):
    labels = np.array((labels * times)[: 3 * times + 1])
    classes, positions = np.unique(labels, return_inverse=True)
    expected = compute_class_weight("balanced", classes=classes, y=labels)
    found = class_weights("balanced", classes, positions, labels)
    np.testing.assert_array_equal(found, expected)


def test_other_weights_are_left_to_scikit_learn():
    labels = np.array([0, 1, 1])
    classes, positions = np.unique(labels, return_inverse=True)
    found = class_weights({1: 3.0}, classes, positions, labels)
    np.testing.assert_array_equal(found, [1.0, 3.0])
    with pytest.raises(ValueError, match="class_weight"):
        class_weights("even", classes, positions, labels)
