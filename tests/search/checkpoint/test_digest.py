"""A digest depends on the content of a value, and on nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import loguniform, norm, rv_continuous, rv_discrete, rv_histogram
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

from cvst.search.checkpoint._digest import digest

pytestmark = pytest.mark.xdist_group("digest")  # two ask the same processes

TABLE = pd.DataFrame(
    {"a": [1.0, 2.0], "b": ["x", "y"], "c": pd.Categorical(["u", "v"])}
)
MATRIX = sparse.csr_matrix(np.eye(3))


# One byte, seven that mean nothing, and a number.
PARTS = np.dtype([("small", "u1"), ("large", "f8")], align=True)


class Shifted:
    """Holds a distribution of SciPy, and more."""

    def __init__(self, dist, by):
        self.dist = dist.dist
        self.by = by


class uniform_gen(rv_continuous):  # noqa: N801 - named as SciPy names them
    """Looks like one of SciPy's, and is not."""

    def _pdf(self, x):
        return np.ones_like(x)


def double(x):
    return 2 * x


def pairs():
    """Return pairs of values that differ in one thing."""
    X = np.arange(12.0).reshape(3, 4)
    other = X.copy()
    other[2, 3] = np.nextafter(11.0, 12.0)
    return {
        "bit": (X, other),
        "order of categories": (
            TABLE,
            TABLE.assign(c=pd.Categorical(["u", "v"], categories=["v", "u"])),
        ),
        "shape": (X, X.reshape(4, 3)),
        "type": (X, X.astype(np.float32)),
        "number": (1, 1.0),
        "truth": (1, True),
        "nesting": ([1, [2]], [[1], 2]),
        "words": (["ab", "c"], ["a", "bc"]),
        "quotes": (["a', 'b"], ["a", "b"]),
        "day": (date(2026, 1, 1), date(2026, 1, 2)),
        "decimal": (Decimal("1.5"), Decimal("1.6")),
        "moment": (pd.Timestamp(0, tz="UTC"), pd.Timestamp(1, tz="UTC")),
        "moments": (
            pd.DataFrame({"t": pd.date_range("2020", periods=3, tz="UTC")}),
            pd.DataFrame({"t": pd.date_range("2021", periods=3, tz="UTC")}),
        ),
        "generator": (np.random.default_rng(0), np.random.default_rng(1)),
        "words or numbers": (["1", "2"], [1, 2]),
        "list or tuple": ([1, 2], (1, 2)),
        "sign": ([0.0, 1.0], [-0.0, 1.0]),
        "words in an array": (
            np.array(["a", "b"], object),
            np.array(["b", "a"], object),
        ),
        "objects": (np.array(["a", None], object), np.array(["b", None], object)),
        "cell": (TABLE, TABLE.assign(b=["x", "z"])),
        "column": (TABLE, TABLE.rename(columns={"a": "A"})),
        "sparse": (MATRIX, sparse.csr_matrix(np.diag([1.0, 1.0, 2.0]))),
        "parameter": (Ridge(alpha=1.0), Ridge(alpha=1.1)),
        "step": (make_pipeline(Ridge(1.0)), make_pipeline(Ridge(2.0))),
        "distribution": (loguniform(1, 10), loguniform(1, 11)),
        "family": (norm(0, 1), loguniform(1, 2)),
        "keyword": (norm(scale=1), norm(scale=2)),
        "histogram": tuple(
            rv_histogram(np.histogram(one, bins=2)) for one in ([1, 2, 9], [1, 8, 9])
        ),
        "histogram with a scale": tuple(
            rv_histogram(np.histogram(one, bins=2))(scale=2)
            for one in ([1, 2, 9], [1, 8, 9])
        ),
        "table": tuple(
            rv_discrete(values=([1, 2], one)) for one in ([0.5, 0.5], [0.2, 0.8])
        ),
        "around one of SciPy": (Shifted(norm(), 1), Shifted(norm(), 2)),
        "limits": (uniform_gen(a=0, b=1)(), uniform_gen(a=0, b=2)()),
        "number in a configuration": ({"a": 1}, {"a": 1.0}),
        "nothing in a configuration": ({"a": None}, {"a": "None"}),
        "text in a configuration": ({"a', 'b": 1}, {"a": 1, "b": 1}),
        "code": (lambda x: x + 1, lambda x: x + 2),
        "argument": (partial(double, 1), partial(double, 2)),
        "scorer": (
            make_scorer(mean_pinball_loss, alpha=0.1),
            make_scorer(mean_pinball_loss),
        ),
        "splitter": (KFold(3), KFold(4)),
        "seed": (np.random.RandomState(0), np.random.RandomState(1)),
        "mask": (np.ma.array(X, mask=X > 10), np.ma.array(X, mask=X > 9)),
        "long number": (
            np.longdouble(1),
            np.nextafter(np.longdouble(1), np.longdouble(2)),
        ),
        "long numbers": (
            X.astype(np.clongdouble),
            X * (1 + 1j * np.finfo(np.longdouble).eps),
        ),
        "part": (np.array([(1, 2.0)], PARTS), np.array([(1, 3.0)], PARTS)),
    }


@pytest.mark.parametrize("name", pairs())
def test_a_difference_shows(name):
    one, other = pairs()[name]
    again, _ = pairs()[name]
    assert digest(one) != digest(other)
    assert digest(one) == digest(again)


def test_layout_order_and_fits_do_not_count():
    X = np.random.default_rng(0).normal(size=(50, 20))
    assert digest(X) == digest(np.asfortranarray(X)) == digest(X[::-1][::-1])
    assert digest({"a": 1, "b": {2, 3}}) == digest({"b": {3, 2}, "a": 1})
    forest = RandomForestClassifier(n_estimators=2, random_state=0)
    before = digest(forest)
    assert digest(forest.fit(X, X[:, 0] > 0)) == before


def gap_after(values, width, gap):
    """Return copies of an array, with bytes of either kind in the gaps of each part."""
    for noise in (1, 2):
        one = values.copy()
        one.view(np.uint8).reshape(-1, width)[:, gap] = noise
        yield one


@pytest.mark.skipif(np.finfo(np.longdouble).nmant != 63, reason="other long numbers")
@pytest.mark.parametrize("dtype", [np.longdouble, np.clongdouble])
def test_bytes_that_long_numbers_do_not_use_do_not_count(dtype):
    """Ten of sixteen bytes mean something; the others hold what was there before."""
    one, other = gap_after(np.arange(10).astype(dtype), 16, slice(10, 16))
    assert one.tobytes() != other.tobytes()
    assert digest(one) == digest(other)


def test_bytes_between_the_parts_of_a_record_do_not_count():
    records = np.array([(1, 2.0), (3, 4.0)], PARTS)
    one, other = gap_after(records, 16, slice(1, 8))
    assert one.tobytes() != other.tobytes()
    assert digest(one) == digest(other)


def test_circles_end():
    circle = [1]
    circle.append(circle)
    assert len(digest(circle)) == 32


SCRIPT = """
import sys
import numpy as np
from scipy.stats import loguniform
from sklearn.linear_model import Ridge
from sklearn.svm import SVC
from sklearn.metrics import get_scorer
from cvst.search.checkpoint._digest import digest

np.random.random(int(sys.argv[1]))
print(digest([loguniform(1, 2), SVC(), get_scorer('r2'), {'x', 'y', 'z'}]))

class Own(Ridge):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight)

print(digest(Own()))

class Own(Ridge):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, 2 * y, sample_weight)

print(digest(Own()))
"""


@pytest.fixture(scope="module")
def told():
    """Return what two processes tell, each with a seed of hashes of its own."""
    return [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, seed],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for seed in ("1", "2")
    ]


def test_another_process_agrees(told):
    """Whatever the seed of its hashes, and whatever was drawn there before."""
    one, other = told
    assert one[0] == other[0]


def test_a_class_of_the_script_counts_with_its_methods(told):
    """The same ones in another run, and not those that were edited."""
    one, other = told
    assert one[1] == other[1]
    assert one[1] != one[2]


@pytest.mark.parametrize(
    "wrap", [lambda one: one, lambda one: [1, one], lambda one: {"a": one, "b": 2}]
)
def test_long_integers_are_told_apart(wrap):
    """Python refuses to write more than 4,300 digits."""
    assert digest(wrap(10**5000)) == digest(wrap(10**5000))
    assert digest(wrap(10**5000)) != digest(wrap(10**5000 + 1))
    assert digest(wrap(10**5000)) != digest(wrap(-(10**5000)))
