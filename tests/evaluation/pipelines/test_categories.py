from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from cvst import RaceGridSearchCV
from cvst.evaluation.pipelines import _branches
from cvst.evaluation.pipelines._categories import known_categories

NAMES = ["city", "colour", "plan", "one"]


def encoder(**settings):
    usual = {"sparse_output": False, "handle_unknown": "infrequent_if_exist"}
    return OneHotEncoder(**usual | settings)


def texts(gaps, n_rows=30):
    """Return rows: the first 20 to train on, the others to test."""
    rng = np.random.default_rng(0)
    rows = rng.choice(["Ulm", "Kiel", "ärger", "", "kiel", "10", "9"], (n_rows, 4))
    rows = rows.astype(object)
    rows[:, 3] = "always"
    rows[[22, 27], [0, 3]] = "never seen before"
    if "train" in gaps:
        rows[[3, 8, 15], [0, 0, 2]] = np.nan
    if "test" in gaps:
        rows[[21, 25], [1, 2]] = float("nan")
    return rows


def frame_of(rows):
    return pd.DataFrame(rows, columns=NAMES)


CONTAINERS = {
    "rows": lambda rows: rows,
    "columns": np.asfortranarray,
    "frame": lambda rows: frame_of(rows).astype(object),
    "frame of texts": lambda rows: frame_of(rows).infer_objects(),
    "mixed frame": lambda rows: frame_of(rows).astype({"city": object}),
}


@pytest.mark.parametrize("gaps", ["", "train", "test", "train and test"])
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("unknown", ["ignore", "infrequent_if_exist"])
@pytest.mark.parametrize("most", [None, 9])
def test_it_is_what_the_encoder_returns(most, unknown, container, gaps):
    """To the last bit and in the same order of memory; a gap is a category."""
    X = CONTAINERS[container](texts(gaps))
    take = X.iloc if hasattr(X, "iloc") else X
    train, test = take[:20], take[20:]
    own = encoder(handle_unknown=unknown, max_categories=most)

    known, rows = known_categories(own, train)
    actual = rows, known.transform(test)

    assert not hasattr(own, "categories_")
    expected = own.fit_transform(train), own.transform(test)
    for ours, theirs in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs, strict=True)
        assert ours.flags.c_contiguous == theirs.flags.c_contiguous


class Own(OneHotEncoder):
    """Somebody's encoder, which may do anything."""


FULL = texts("")
FRAME = frame_of(FULL)
UNSURE = {
    "another class": (Own(sparse_output=False, handle_unknown="ignore"), FULL),
    "another step": (OrdinalEncoder(), FULL),
    "sparse": (encoder(sparse_output=True), FULL),
    "unknown ones refused": (encoder(handle_unknown="error"), FULL),
    "given categories": (encoder(categories=[["Ulm"]] * 4), FULL),
    "one dropped": (encoder(drop="first"), FULL),
    "rare ones": (encoder(min_frequency=2), FULL),
    "too many": (encoder(max_categories=3), FULL),
    "as many as may be": (encoder(max_categories=8), FULL),
    "a wrong number": (encoder(max_categories=0), FULL),
    "short numbers": (encoder(dtype=np.float32), FULL),
    "other names": (encoder(feature_name_combiner=lambda *_: "x"), FULL),
    "frames wanted": (encoder().set_output(transform="pandas"), FRAME),
    "numbers among texts": (encoder(), np.where(FULL == "10", 10.0, FULL)),
    "whole numbers among texts": (encoder(), np.where(FULL == "10", 10, FULL)),
    "another gap": (encoder(), np.where(FULL == "10", None, FULL)),
    "a gap of pandas": (encoder(), np.where(FULL == "10", pd.NA, FULL)),
    "fixed texts": (encoder(), FULL.astype(str)),
    "categories of pandas": (encoder(), FRAME.astype("category")),
    "truth values": (encoder(), FRAME.assign(one=True)),
    "odd names": (encoder(), pd.DataFrame(FULL, columns=[1, *"abc"])),
    "one dimension": (encoder(), FULL[:, 0]),
    "no columns": (encoder(), FULL[:, :0]),
    "a list": (encoder(), FULL.tolist()),
}


@pytest.mark.parametrize("case", UNSURE)
def test_whatever_is_not_plain_is_left_to_the_encoder(case):
    own, X = UNSURE[case]
    assert known_categories(own, X) is None


def test_frames_wanted_everywhere_are_left_to_the_encoder():
    with sklearn.config_context(transform_output="pandas"):
        assert known_categories(encoder(), FRAME) is None


def test_odd_test_rows_are_left_to_the_encoder():
    """None is another category than the gaps of the training rows."""
    rows = texts("train")
    known, _ = known_categories(encoder(), rows[:20])
    odd = rows[20:].copy()
    odd[2, 0] = None
    expected = encoder().fit(rows[:20]).transform(odd)
    np.testing.assert_array_equal(known.transform(odd), expected, strict=True)


@pytest.mark.parametrize("gaps", ["", "train and test"])
def test_a_search_does_not_notice(gaps, monkeypatch):
    """Every score, the winner and the model are those of encoders that are fitted."""
    rng = np.random.default_rng(1)
    X = frame_of(np.tile(texts(gaps), (5, 1)))
    X["x"] = rng.normal(size=len(X))
    X.loc[40, "city"] = "seen once"
    y = (X["x"] + (X["city"] == "Ulm") + rng.normal(size=len(X)) > 0).to_numpy()
    prepare = make_column_transformer((encoder(), NAMES), (StandardScaler(), ["x"]))
    model = make_pipeline(prepare, LogisticRegression())
    grid = {"logisticregression__C": np.logspace(-3, 3, 7)}
    quick = RaceGridSearchCV(model, grid, random_state=0).fit(X, y)
    calls = []
    monkeypatch.setattr(
        _branches, "known_categories", lambda *given: calls.append(given)
    )
    slow = RaceGridSearchCV(model, grid, random_state=0).fit(X, y)
    assert calls
    assert quick.best_params_ == slow.best_params_
    for name, expected in slow.cv_results_.items():
        if "time" not in name and name != "params":
            np.testing.assert_array_equal(quick.cv_results_[name], expected, name)
    np.testing.assert_array_equal(quick.decision_function(X), slow.decision_function(X))
