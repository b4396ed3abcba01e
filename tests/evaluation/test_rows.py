"""Rows of a race: a separate test set behind the training rows, of one kind."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import SGDRegressor

from cvst import RaceGridSearchCV
from cvst.evaluation._rows import guarded, take, writable
from cvst.evaluation.machinery import Metadata, RaceData, stack_rows

FIRST = np.arange(6.0).reshape(3, 2)
SECOND = np.array([[7.0, 8.0]])


def kinds():
    """Return makers of the same table."""
    makers = [np.asarray, lambda rows: pd.DataFrame(rows, columns=["a", "b"])]
    try:
        import polars as pl
    except ImportError:
        return makers
    return [*makers, lambda rows: pl.DataFrame(rows, schema=["a", "b"], orient="row")]


@pytest.mark.parametrize("second", kinds())
@pytest.mark.parametrize("first", kinds())
def test_tables_of_different_kinds_are_stacked(first, second):
    """The kind of the training rows decides."""
    stacked = stack_rows(first(FIRST), second(SECOND))
    assert isinstance(stacked, type(first(FIRST)))
    np.testing.assert_array_equal(np.asarray(stacked), np.vstack([FIRST, SECOND]))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *product([np.asarray, pd.Series, list], repeat=2),
        (np.asarray, np.vstack),
        (pd.Series, np.vstack),
        (np.vstack, np.asarray),
    ],
)
def test_targets_of_different_kinds_are_stacked(first, second):
    """A single column counts as targets too."""
    stacked = stack_rows(first([1.0, 2.0]), second([3.0, 4.0]))
    np.testing.assert_array_equal(np.ravel(np.asarray(stacked)), [1, 2, 3, 4])


def test_series_of_polars_are_stacked_and_left_alone():
    """Appending in place would lengthen the user's own targets."""
    pl = pytest.importorskip("polars")
    y = pl.Series("y", ["a", "b"])
    for second in pl.Series("z", ["c"]), np.array(["c"]), ["c"]:
        assert stack_rows(y, second).to_list() == ["a", "b", "c"]
    assert len(y) == 2


def test_columns_are_matched_by_name():
    """A frame whose columns come in another order is the same frame."""
    first = pd.DataFrame(FIRST, columns=["a", "b"])
    stacked = stack_rows(first, pd.DataFrame(SECOND[:, ::-1], columns=["b", "a"]))
    assert list(stacked.columns) == ["a", "b"]
    np.testing.assert_array_equal(stacked, np.vstack([FIRST, SECOND]))


@pytest.mark.parametrize("as_frame", [False, True])
def test_categories_stay_categories(as_frame):
    """Other categories, or plain words, in the test set do not turn them to words."""
    first = pd.Series(["u", "v"], dtype="category", name="k")
    for second in (
        pd.Series(["v", "w"], dtype="category", name="k"),
        pd.Series(["v", "w"], name="k"),
    ):
        pair = [values.to_frame() if as_frame else values for values in (first, second)]
        stacked = stack_rows(*pair)
        column = stacked["k"] if as_frame else stacked
        assert column.tolist() == ["u", "v", "v", "w"]
        assert column.cat.categories.tolist() == ["u", "v", "w"]


@pytest.mark.parametrize(
    ("n_train", "test", "kept", "n_samples"),
    [
        (3, slice(3, 4), [0, 1, 2, 3], 4),
        # The last two are a separate test set, of which one row will do.
        (3, slice(8, 9), [0, 1, 2, 8], 3),
        (8, slice(8, 9), [0, 1, 2, 3, 4, 5, 6, 7, 8], 8),
    ],
)
def test_some_rows_alone_keep_what_belongs_to_them(n_train, test, kept, n_samples):
    """Weights, metadata and arguments of fit are cut too; what is meant is not."""
    rows = np.arange(10)
    data = RaceData(
        rows[:, None],
        rows,
        8,
        row_params={"sample_weight": rows[:8]},
        other_params={"verbose": 0},
        score_weights=rows.astype(float),
        other_weights={"brier": rows.astype(float), "auc": None},
        metadata=Metadata({"price": rows}, {"rate": 0.1}),
        other_metadata={"brier": Metadata({"price": rows})},
    )
    few = data.only(n_train, test)
    assert few.n_samples == n_samples
    assert few.n_meant == data.n_meant == 8
    for values in (
        few.X[:, 0],
        few.y,
        few.score_weights,
        few.other_weights["brier"],
        few.metadata.arguments["price"],
        few.other_metadata["brier"].arguments["price"],
    ):
        assert list(values) == kept
    # Nobody trains on the others.
    assert list(few.row_params["sample_weight"]) == kept[:n_samples]
    assert few.other_weights["auc"] is None
    assert few.other_params == {"verbose": 0}


@pytest.mark.parametrize(
    "values",
    [FIRST, np.asfortranarray(FIRST), FIRST[:, ::-1], np.arange(3), FIRST[:, 0]],
    ids=["rows", "columns", "a view", "numbers", "a column"],
)
def test_taken_rows_are_those_that_indexing_gives(values):
    """Laid out alike too: the last bits of a product depend on it."""
    for rows in (np.array([2, 0]), np.array([-1, 1, 1]), slice(1, 3)):
        expected, found = values[rows], take(values, rows)

        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
        assert found.strides == expected.strides


@pytest.mark.parametrize("made", [guarded, writable])
@pytest.mark.parametrize(
    "row",
    [[1.0], ([1.0], "a"), {"a": [1.0]}, [[[1.0]]], np.ones(1)],
    ids=lambda row: type(row).__name__,
)
def test_rows_in_lists_belong_to_each_fit(made, row):
    """A fit that standardises row by row would change them for all others."""

    def write(value):
        if isinstance(value, np.ndarray) or not isinstance(value[0], list):
            value[0] = 2.0
        else:
            write(value[0])

    rows = [row]
    (own,) = made(rows)
    assert repr(own) == repr(row)
    write([own["a"]] if isinstance(own, dict) else own)
    assert "2" not in repr(rows)
    assert "2" in repr(own)


@pytest.mark.parametrize("options", [{}, {"incremental": True}], ids=["", "further"])
def test_rows_in_lists_are_not_changed_by_a_search(options):
    class Writing(SGDRegressor):
        """Halves the first number of each row that it gets."""

        def _halved(self, X):
            for row in X:
                row[0] = row[0] / 2
            return np.array(X)

        def fit(self, X, y):
            return super().fit(self._halved(X), y)

        def partial_fit(self, X, y):
            return super().partial_fit(self._halved(X), y)

        def predict(self, X):
            return super().predict(self._halved(X))

    X = np.random.default_rng(0).normal(size=(60, 2))
    rows = X.tolist()
    grid = {"alpha": [0.01, 0.1, 1.0]}
    tables = []
    for order in grid["alpha"], grid["alpha"][::-1]:
        search = RaceGridSearchCV(
            Writing(random_state=0), {"alpha": order}, refit=False, random_state=0,
            **options,
        ).fit(rows, X[:, 0].tolist())  # fmt: skip
        assert rows == X.tolist()
        table = zip(order, search.cv_results_["mean_test_score"], strict=True)
        tables.append(sorted(table))
    np.testing.assert_array_equal(*tables)
