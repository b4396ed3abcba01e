"""What a search is made of: the words and the parameters are those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV
from cvst._sklearn_compat import deep_parameters, own_parameters
from cvst.search._wording import described
from cvst.search.checkpoint._values import packed


class Own(BaseEstimator):
    """Of the user's, in a module of the user's."""

    def __init__(self, inner=None, width=1):
        self.inner = inner
        self.width = width


class Secretive(Ridge):
    """Writes itself in a way of its own."""

    def __repr__(self):
        return "a secret"


class LaterPipeline(Pipeline):
    """Derived from one that has the parameters of its steps."""


ESTIMATORS = [
    Ridge(alpha=np.float64(2)),
    LogisticRegression(C=float("nan")),
    RandomForestClassifier(max_features=None),
    RandomForestClassifier(max_depth=3, class_weight={0: 1.0, 1: 2.0}),
    make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)),
    LaterPipeline([("ridge", Ridge(alpha=3.0))]),
    make_pipeline(Own(Ridge(2.0)), "passthrough", memory="folder"),
    FeatureUnion([("a", StandardScaler()), ("b", "drop")]),
    ColumnTransformer([("a", StandardScaler(), [0, 1])]),
    VotingClassifier([("tree", DecisionTreeClassifier(max_depth=2))]),
    CalibratedClassifierCV(LogisticRegression(), cv=3),
    FunctionTransformer(np.log1p),
    Own(inner=[Ridge(), 2]),
    Secretive(),
    RaceGridSearchCV(Ridge(), {"alpha": [1.0]}, random_state=0),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_estimators_are_described_as_they_describe_themselves(estimator):
    assert described(estimator, 10_000) == " ".join(repr(estimator).split())


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_parameters_are_those_that_estimators_tell(estimator):
    """Twice: the second time the names are known."""
    for _ in range(2):
        assert own_parameters(estimator) == estimator.get_params(deep=False)
        assert deep_parameters(estimator) == estimator.get_params(deep=True)


def test_long_lists_are_described_by_their_beginning():
    assert described(list(range(10**6)), 10) == "[0, 1, 2,…"
    assert described(((8,), [0.1]), 80) == "((8,), [0.1])"


def test_a_list_that_holds_itself_is_a_value_like_others(tmp_path, rows):
    """A tree refuses it as a depth; the race goes on, with a checkpoint, too."""
    circle = [1]
    circle.append(circle)
    assert "digest" in str(packed(circle, []))
    assert len(described(circle, 40)) == 40
    search = RaceGridSearchCV(
        DecisionTreeClassifier(),
        {"max_depth": [circle, 2, 3]},
        random_state=0,
        max_looks=2,
        checkpoint=tmp_path / "race",
    )
    X, y = rows
    with pytest.warns(FitFailedWarning, match="1 of 3 configurations"):
        search.fit(X, y > 0)
    assert search.best_params_["max_depth"] in (2, 3)
