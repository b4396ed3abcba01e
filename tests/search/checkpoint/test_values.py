"""Values survive the way to disk and back to the last bit, without pickle."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from cvst.search.checkpoint._values import Shown, packed, unpacked

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.builds(np.float64, st.floats()),
    st.builds(np.int32, st.integers(-(2**31), 2**31 - 1)),
    st.builds(np.bool_, st.booleans()),
    st.slices(20),
    arrays_of.arrays(
        st.sampled_from(["<f8", "<f4", ">i2", "?", "<i8", "<c16"]),
        arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    ),
    arrays_of.arrays("<f8", 9, elements=st.sampled_from([0.0, 1.0, -0.0])),
)
KEYS = st.one_of(st.text(), st.integers(), st.booleans())
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEYS, inner, max_size=4),
    ),
    max_leaves=12,
)


def same(one, other):
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray | np.generic):
        kinds = one.dtype == other.dtype and one.shape == other.shape
        return kinds and one.tobytes() == other.tobytes()
    if isinstance(one, float):
        both = math.isnan(one) and math.isnan(other)
        return both or (
            one == other and math.copysign(1, one) == math.copysign(1, other)
        )
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same(list(one.items()), list(other.items()))
    return one == other


@given(VALUES)
def test_what_comes_back_is_what_went(value):
    arrays = []
    text = json.dumps(packed(value, arrays), allow_nan=False)
    content = [array.tobytes() for array in arrays]
    assert same(unpacked(json.loads(text), content), value)


def test_losses_of_zero_and_one_take_a_bit_each():
    arrays = []
    packed(np.array([0.0, 1.0] * 400), arrays)
    assert sum(array.nbytes for array in arrays) == 100


def test_other_values_are_text_unless_known():
    value = packed({"kernel": len}, [])
    assert value["kernel"]["$text"] == "len"
    assert unpacked(value, [])["kernel"] == Shown("len", value["kernel"]["digest"])
    known = {value["kernel"]["digest"]: len}
    assert unpacked(value, [], known) == {"kernel": len}


@pytest.mark.parametrize(
    "entry",
    [
        {"$array": 0, "dtype": "|O", "shape": [1]},
        {"$array": 0, "dtype": "<f8", "shape": [3]},
        {"$array": 0, "dtype": "<f8", "shape": [-1, -1]},
        {"$array": 0, "dtype": "<f8", "shape": [10**12], "as": "bits"},
        {"$array": 5, "dtype": "<f8", "shape": [1]},
        {"$scalar": "AAAA", "dtype": "|O"},
        {"$run": "print"},
    ],
)
def test_what_we_would_not_write_is_refused(entry):
    with pytest.raises((ValueError, IndexError)):
        unpacked(entry, [bytes(8)])


@pytest.mark.parametrize(
    "value",
    [10**5000, -(10**5000), 2**2000, {"v": [10**5000]}],
    ids=["long", "negative", "last", "inside"],
)
def test_long_integers_come_back(value):
    """Python refuses to write more than 4,300 digits."""
    document = json.dumps(packed(value, []))
    assert unpacked(json.loads(document), []) == value
