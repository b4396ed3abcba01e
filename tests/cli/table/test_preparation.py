from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cvst.cli.models._catalogue import find_model
from cvst.cli.table import _preparation
from cvst.cli.table._columns import ColumnOptions, learning_problem
from cvst.cli.table._preparation import prepared_model


def prepared(people, model, target="cost", raw=False, **said):
    other = "ill" if target == "cost" else "cost"
    learning = learning_problem(
        people, ColumnOptions(target, drop=[other, *said.pop("drop", [])], raw=raw)
    )
    return learning, prepared_model(find_model(model, has_grid=True), learning, raw)


def test_scaled_inputs_equal_those_made_by_hand(people):
    """Median, mean and variance by NumPy, one indicator per category and gap."""
    learning, made = prepared(people, "ridge")
    actual = made.estimator.fit(learning.X, learning.target.values)[0].transform(
        learning.X
    )
    age = people["age"].fillna(people["age"].median()).to_numpy()
    expected = np.column_stack(
        [
            *((people["city"] == city) for city in ("Kiel", "Köln", "Ulm")),
            people["city"].isna(),
            ~people["member"],
            people["member"],
            *(
                (values - np.mean(values)) / np.std(np.asarray(values))
                for values in (age, people["income"], people["clinic"])
            ),
        ]
    ).astype(float)
    np.testing.assert_allclose(actual, expected, atol=1e-12)


def test_trees_get_numbers_unscaled_marked_gaps_and_numbered_categories(people):
    learning, made = prepared(people, "boosting")
    made.estimator.set_params(model__max_iter=2)
    fitted = made.estimator.fit(learning.X, learning.target.values)
    actual = fitted[0].transform(learning.X)
    codes = {"Kiel": 0, "Köln": 1, "Ulm": 2}
    expected = [codes.get(city, -1) for city in people["city"]]
    np.testing.assert_array_equal(actual[:, 0], expected)
    age = people["age"].fillna(people["age"].median())
    np.testing.assert_array_equal(actual[:, 2], age)
    np.testing.assert_array_equal(actual[:, 5], people["age"].isna())
    assert fitted[-1].is_categorical_.tolist() == [True] * 2 + [False] * 4


@pytest.mark.parametrize("model", ["ridge", "forest", "boosting", "logistic"])
def test_unseen_categories_and_new_gaps_are_predicted(model, people):
    """A small subset never shows everything that comes later."""
    target = "ill" if model == "logistic" else "cost"
    learning, made = prepared(people, model, target)
    if model != "ridge":
        name = "n_estimators" if model == "forest" else "max_iter"
        made.estimator.set_params(**{f"model__{name}": 20})
    fitted = made.estimator.fit(learning.X[:20], learning.target.values[:20])
    later = learning.X[20:].assign(city="Rom", income=np.nan)
    assert len(fitted.predict(later)) == len(later)


@pytest.mark.parametrize("model", ["ridge", "forest", "boosting"])
def test_a_column_may_be_empty_in_the_training_rows(model, people):
    """It counts as constant there, and the other rows keep their columns."""
    learning, made = prepared(people, model)
    X = learning.X.assign(age=np.where(np.arange(len(people)) < 50, np.nan, 40.0))
    fitted = made.estimator.fit(X[:50], learning.target.values[:50])
    assert np.isfinite(fitted.predict(X)).all()


def test_the_target_is_scaled_and_comes_back(people):
    """Kernel ridge has no intercept: without scaling it would miss a mean of 1000."""
    learning, made = prepared(people, "krr")
    assert made.prefix == "model__regressor__"
    made.estimator.set_params(**{f"{made.prefix}gamma": 0.1})
    fitted = made.estimator.fit(learning.X, learning.target.values)
    far_away = learning.X[:1].assign(income=1e9)
    np.testing.assert_allclose(
        fitted.predict(far_away), learning.target.values.mean(), atol=1.0
    )


def test_raw_leaves_the_model_alone(people):
    learning, made = prepared(people, "ridge", raw=True, drop=["name", "city"])
    assert isinstance(made.estimator, Ridge)
    assert made.prefix == ""
    assert learning.numbers == ["age", "income", "member", "clinic"]


def test_what_happens_is_said(people):
    _, made = prepared(people, "krr")
    assert made.sentences == [
        "Numbers (3 columns): gaps filled with the median, scaled.",
        "Categories (2 columns): one indicator per category.",
        "Target: scaled; predictions come back in its own units.",
    ]


def test_thousands_of_numbers_are_prepared_like_a_few(people, monkeypatch):
    """Without a search by name, under the same path, with the same result."""
    drop = ["city", "member", "clinic"]
    few = prepared(people, "ridge", drop=drop)
    monkeypatch.setattr(_preparation, "MOST_NAMED", 1)
    learning, many = prepared(people, "ridge", drop=drop)
    assert not isinstance(many.estimator[0], type(few[1].estimator[0]))
    for made in (few[1], many):
        made.estimator.set_params(prepare__numbers__impute__strategy="mean")
        made.estimator.fit(learning.X, learning.target.values)
    np.testing.assert_array_equal(
        few[1].estimator.predict(learning.X), many.estimator.predict(learning.X)
    )


@pytest.mark.parametrize("model", ["ridge", "boosting"])
def test_many_columns_of_both_kinds_are_prepared_like_a_few(model, people, monkeypatch):
    """By their places, but a fitted model knows them by name, in any order."""
    _, few = prepared(people, model)
    monkeypatch.setattr(_preparation, "MOST_NAMED", 1)
    learning, many = prepared(people, model)
    columns = {name: chosen for name, _, chosen in many.estimator[0].transformers}
    assert columns == {"numbers": [0, 1, 4], "categories": [2, 3]}
    for made in (few, many):
        made.estimator.fit(learning.X, learning.target.values)
    expected = few.estimator.predict(learning.X)
    turned = learning.X[learning.X.columns[::-1]].assign(more=1)
    for X in (learning.X, turned):
        np.testing.assert_array_equal(many.estimator.predict(X), expected)
    names = [made.estimator[0].get_feature_names_out() for made in (few, many)]
    np.testing.assert_array_equal(*names)
    with pytest.raises(ValueError, match=r"columns are missing: {'income'}"):
        many.estimator.predict(learning.X.drop(columns="income"))
