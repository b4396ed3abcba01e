from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cvst import RaceGridSearchCV
from cvst.evaluation.pipelines import _stages
from cvst.evaluation.pipelines._gaps import imputed

NAMES = list("abcdefg")


def numbers(gaps, n_rows=30):
    """Return rows: the first 20 to train on, the others to test."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n_rows, len(NAMES)))
    rows[:, 5] = np.round(rows[:, 5])
    if "train" in gaps:
        rows[rng.integers(0, 20, size=6), [1, 1, 1, 4, 4, 6]] = np.nan
    if "test" in gaps:
        rows[[21, 25], [2, 4]] = np.nan
    return rows


def frame_of(rows):
    return pd.DataFrame(rows, columns=NAMES)


CONTAINERS = {
    "rows": lambda rows: rows,
    "columns": np.asfortranarray,
    "every other": lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
    "short": lambda rows: rows.astype(np.float32),
    "frame": frame_of,
    "short frame": lambda rows: frame_of(rows).astype(np.float32),
    "pieces": lambda rows: pd.concat(
        [frame_of(rows)[[name]] for name in NAMES], axis=1
    ),
    "with whole numbers": lambda rows: frame_of(rows).assign(a=range(len(rows))),
    "whole numbers": lambda rows: frame_of(np.arange(rows.size).reshape(rows.shape)),
}


@pytest.mark.parametrize("gaps", ["", "train", "test", "train and test"])
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("strategy", ["mean", "median"])
@pytest.mark.parametrize("marks", [False, True])
def test_it_is_what_the_imputer_returns(container, gaps, strategy, marks):
    """To the last bit, in the same order of memory, and as rows of its own."""
    X = CONTAINERS[container](numbers(gaps))
    take = X.iloc if hasattr(X, "iloc") else X
    train, test = take[:20], take[20:]
    imputer = SimpleImputer(strategy=strategy, add_indicator=marks)
    actual = imputed(imputer, train, test)
    full = not gaps or container == "whole numbers"
    assert (actual is not None) == (full or (strategy == "median" and not marks))
    assert not hasattr(imputer, "statistics_")
    if actual is None:
        return
    expected = imputer.fit_transform(train), imputer.transform(test)
    for ours, theirs, given in zip(actual, expected, (train, test), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs, strict=True)
        assert ours.flags.c_contiguous == theirs.flags.c_contiguous
        assert not np.shares_memory(ours, np.asarray(given))


class Own(SimpleImputer):
    """Somebody's imputer, which may do anything."""


FULL = numbers("")
EMPTY = np.where(np.arange(len(NAMES)) == 2, np.nan, FULL)
TEXT = frame_of(FULL).assign(a="x")
UNSURE = {
    "another class": (Own(), FULL),
    "another step": (StandardScaler(), FULL),
    "another mark of gaps": (SimpleImputer(missing_values=0.0), FULL),
    "a constant": (SimpleImputer(strategy="constant"), FULL),
    "the commonest": (SimpleImputer(strategy="most_frequent"), FULL),
    "no such strategy": (SimpleImputer(strategy="best"), FULL),
    "a wrong flag": (SimpleImputer(keep_empty_features="no"), FULL),
    "rows in place": (SimpleImputer(copy=False), FULL),
    "frames wanted": (SimpleImputer().set_output(transform="pandas"), frame_of(FULL)),
    "infinite": (SimpleImputer(strategy="median"), np.where(FULL > 1, np.inf, FULL)),
    "an empty column": (SimpleImputer(strategy="median"), EMPTY),
    "text": (SimpleImputer(strategy="median"), TEXT),
    "truth values": (SimpleImputer(), frame_of(FULL) > 0),
    "whole numbers": (SimpleImputer(), FULL.astype(int)),
    "names twice": (SimpleImputer(), pd.DataFrame(FULL, columns=list("aabcdef"))),
    "odd names": (SimpleImputer(), pd.DataFrame(FULL, columns=[1, *"bcdefg"])),
    "one dimension": (SimpleImputer(), FULL[:, 0]),
    "a list": (SimpleImputer(), FULL.tolist()),
}


@pytest.mark.parametrize("case", UNSURE)
def test_whatever_is_not_plain_is_left_to_the_imputer(case):
    imputer, X = UNSURE[case]
    take = X.iloc if hasattr(X, "iloc") else X
    assert imputed(imputer, take[:20], take[20:]) is None


def test_frames_wanted_everywhere_are_left_to_the_imputer():
    with sklearn.config_context(transform_output="pandas"):
        assert imputed(SimpleImputer(), FULL, FULL) is None


@pytest.mark.parametrize("gaps", ["", "train and test"])
@pytest.mark.parametrize("mixed", [False, True])
def test_a_search_does_not_notice(mixed, gaps, monkeypatch):
    """Every score, the winner and the model are those of imputers that are fitted."""
    X = frame_of(np.tile(numbers(gaps), (5, 1)))
    X += np.random.default_rng(1).normal(size=X.shape)
    y = np.asarray(X["a"] + X["b"].fillna(0) > 0)
    fill = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    if mixed:
        X["city"] = np.where(X["c"] > 0, "Ulm", "Kiel")
        fill = make_column_transformer((fill, NAMES), (OneHotEncoder(), ["city"]))
    model = make_pipeline(fill, LogisticRegression())
    grid = {"logisticregression__C": np.logspace(-3, 3, 7)}
    quick = RaceGridSearchCV(model, grid, random_state=0).fit(X, y)
    calls = []
    monkeypatch.setattr(_stages, "imputed", lambda *given: calls.append(given))
    slow = RaceGridSearchCV(model, grid, random_state=0).fit(X, y)
    assert calls
    assert quick.best_params_ == slow.best_params_
    for name, expected in slow.cv_results_.items():
        if "time" not in name and name != "params":
            np.testing.assert_array_equal(quick.cv_results_[name], expected, name)
    np.testing.assert_array_equal(quick.decision_function(X), slow.decision_function(X))
