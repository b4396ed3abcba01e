from __future__ import annotations

import copy
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from cvst.evaluation.sharing._value_keys import value_key

DIFFERENT = [
    None,
    True,
    1,
    1.0,
    np.float64(1.0),
    np.float32(1.0),
    np.int64(1),
    "1",
    b"1",
    0.0,
    -0.0,
    float("nan"),
    1j,
    [1],
    (1,),
    (1.0,),
    {1: 2},
    {2: 1},
    [],
    {},
    np.array([1.0]),
    np.array([[1.0]]),
    np.array([1.0], dtype=np.float32),
    np.array([1]),
    np.asfortranarray(np.zeros((2, 3))),
    np.zeros((2, 3)),
    np.zeros((3, 2)),
    np.array([1, None], dtype=object),
    np.array([1, None], dtype=object),
    np.random.RandomState(0),
    np.random.RandomState(0),
    np.sum,
    np.mean,
    StandardScaler,
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_mean=0),
    StandardScaler().set_output(transform="pandas"),
    MinMaxScaler(),
    make_pipeline(StandardScaler()),
    make_pipeline(StandardScaler(), MinMaxScaler()),
    ColumnTransformer([("a", StandardScaler(), [0])]),
    ColumnTransformer([("a", StandardScaler(), [1])]),
    FrozenEstimator(StandardScaler()),
    FrozenEstimator(StandardScaler()),
]


def test_different_values_have_different_keys():
    """No two of a list of values that scikit-learn can tell apart are confused."""
    for first, second in combinations(DIFFERENT, 2):
        assert value_key(first) != value_key(second), (first, second)


@pytest.mark.parametrize("value", DIFFERENT)
def test_a_value_equals_itself(value):
    """The key is a function of the value, hashable even where the value is not."""
    assert value_key(value) == value_key(value)
    assert hash(value_key(value)) == hash(value_key(value))


@pytest.mark.parametrize(
    "value",
    [
        [1, "two", {"three": (3.0, None)}],
        float("nan"),
        np.arange(6.0).reshape(2, 3),
        StandardScaler(with_std=False),
        StandardScaler().set_output(transform="pandas"),
        make_pipeline(StandardScaler(), MinMaxScaler((0, 2))),
        ColumnTransformer([("a", StandardScaler(), [0, 2])]),
    ],
)
def test_copies_of_plain_values_and_estimators_are_equal(value):
    """What is compared by content survives the copies that cloning makes."""
    assert value_key(copy.deepcopy(value)) == value_key(value)
    assert value_key(clone(value, safe=False)) == value_key(value)


def test_what_cannot_be_compared_equals_nothing_else():
    """A deep copy of a random state may be anywhere in its stream."""
    state = np.random.RandomState(0)
    assert value_key([state]) == value_key([state])
    assert value_key([state]) != value_key([copy.deepcopy(state)])
