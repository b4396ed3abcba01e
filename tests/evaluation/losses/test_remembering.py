"""A scorer that is called on blocks costs one prediction of each row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier

from cvst.evaluation import resolve_loss
from cvst.evaluation._protocol import FittedModel
from cvst.evaluation.losses.influence._remembering import remembering

X, Y = make_classification(90, 4, random_state=0)
ASKED = []


class Counted(LogisticRegression):
    """Notes how many rows it is asked about."""

    def predict_proba(self, X):
        ASKED.append(len(X))
        return super().predict_proba(X)


def top_share(model, X, y):
    """Return the share of ones among the third ranked highest."""
    ranked = model.predict_proba(X)[:, 1]
    return float(np.mean(np.asarray(y)[np.argsort(-ranked)[: len(ranked) // 3]]))


def greedy_with_its_input(model, X, y):
    """Write into what was predicted, as a careless scorer may."""
    proba = model.predict_proba(X)
    hits = float(np.mean((proba[:, 1] > 0.5) == y))
    proba[:] = -1
    return hits


def unremembered(scorer, model, rows):
    """Return the losses with every block predicted by itself."""
    loss = resolve_loss(scorer, model, Y)
    score = scorer(model, rows, Y)
    influence = loss._by_block(Y, None)(FittedModel(model, rows), score)
    return loss.top - score - influence


@pytest.mark.parametrize("scorer", [top_share, greedy_with_its_input])
@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_losses_are_those_of_blocks_predicted_by_themselves(scorer, kind):
    rows = kind(X)
    model = Counted().fit(rows, Y)
    expected = unremembered(scorer, model, rows)
    ASKED.clear()
    loss = resolve_loss(scorer, model, Y)
    found = loss.assess(Y)(FittedModel(model, rows), None)
    np.testing.assert_array_equal(found.losses, expected)
    assert ASKED == [90]
    assert "predict_proba" not in vars(model), "the model itself stays as it is"


def test_other_rows_and_arguments_go_to_the_model_itself():
    model = Counted().fit(X, Y)
    fitted = remembering(FittedModel(model, X))
    np.testing.assert_array_equal(
        fitted.model.predict_proba(X[:5]), model.predict_proba(X[:5])
    )
    np.testing.assert_array_equal(fitted.model.predict(X=X), model.predict(X))
    assert fitted.model.score(X, Y) == model.score(X, Y)
    assert isinstance(fitted.model, Counted)
    assert not hasattr(fitted.model, "score_samples")


def test_several_outputs_are_cut_one_by_one():
    labels = np.column_stack([Y, X[:, 0] > 0]).astype(int)
    model = MultiOutputClassifier(DecisionTreeClassifier(max_depth=2)).fit(X, labels)
    rows = np.arange(0, 90, 7)
    block = remembering(FittedModel(model, X)).at(rows)
    for ours, expected in zip(
        block.model.predict_proba(block.X), model.predict_proba(X[rows]), strict=True
    ):
        np.testing.assert_array_equal(ours, expected)


class Uncopied(DummyClassifier):
    """Refuses to be copied."""

    def __copy__(self):
        raise TypeError("one of a kind")


def test_a_model_that_cannot_be_copied_is_asked_as_it_is():
    model = Uncopied().fit(X, Y)
    fitted = FittedModel(model, X)
    assert remembering(fitted) is fitted
