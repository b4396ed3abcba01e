"""Pictures of another score than the one that was raced on."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV
from cvst.displays import (
    ContourDisplay,
    ImportanceDisplay,
    IncumbentDisplay,
    LearningCurvesDisplay,
    LossSurfaceDisplay,
    ParallelCoordinatesDisplay,
    SlicesDisplay,
)
from cvst.exceptions import InvalidInputError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

DISPLAYS = [
    ContourDisplay,
    ImportanceDisplay,
    IncumbentDisplay,
    LearningCurvesDisplay,
    LossSurfaceDisplay,
    ParallelCoordinatesDisplay,
    SlicesDisplay,
]


@pytest.fixture(scope="module")
def search():
    """Return a race with two more scores than the one that decided."""
    X, y = make_classification(400, 6, weights=[0.8], flip_y=0.1, random_state=0)
    grid = {"max_depth": [1, 2, 4, 8, None], "min_samples_leaf": [1, 2, 5, 10, 30, 90]}
    return RaceGridSearchCV(
        DecisionTreeClassifier(random_state=0),
        grid,
        scoring=["neg_log_loss", "f1", "balanced_accuracy"],
        refit="neg_log_loss",
        random_state=0,
    ).fit(X, y)


def final(search, name):
    """Return minus the score of ``cv_results_``."""
    return -search.cv_results_[f"mean_test_{name}"]


@pytest.mark.parametrize("score", ["f1", "neg_log_loss"])
def test_curves_end_at_minus_the_score(search, score):
    display = LearningCurvesDisplay.from_search(search, score=score)
    expected = final(search, score)
    curves = [*display.survivors, *display.dropped, *display.others]
    assert len(curves) == 30
    confirmed = [one for one in curves if len(one.losses) >= 3]
    assert confirmed
    for one in confirmed:
        assert (
            expected[one.index] in one.losses.round(12)
            or np.isclose(one.losses, expected[one.index]).any()
        )
        assert np.isnan(one.errors).all()


def test_the_leader_is_that_of_the_race_with_its_other_score(search):
    by_loss = IncumbentDisplay.from_search(search)
    by_score = IncumbentDisplay.from_search(search, score="f1")
    np.testing.assert_array_equal(by_loss.incumbents, by_score.incumbents)
    assert by_score.losses[-1] == pytest.approx(final(search, "f1")[search.best_index_])
    points = np.concatenate(
        [one.other_scores["f1"] for one in search.race_.observations]
    )
    np.testing.assert_array_equal(by_score.point_losses, -points)


def test_a_surface_has_minus_the_score_of_each_cell(search):
    display = LossSurfaceDisplay.from_search(
        search, x="min_samples_leaf", y="max_depth", score="balanced_accuracy"
    )
    expected = final(search, "balanced_accuracy")
    assert sorted(display.losses.ravel()) == pytest.approx(sorted(expected))


@pytest.mark.parametrize("kind", [SlicesDisplay, ParallelCoordinatesDisplay])
def test_comparable_scores_of_those_seen_alike_differ_like_the_scores(search, kind):
    """Between those with the same looks, no rows have to be made up for."""
    display = kind.from_search(search, score="f1")
    looks = [tuple(row) for row in search.race_.present]
    alike = [n for n, row in enumerate(looks) if row == looks[search.best_index_]]
    table = search.race_.scores_named("f1")[alike]
    table = table[:, search.race_.present[search.best_index_]]
    gaps = -table.mean(axis=1) + table[0].mean()
    ours = display.losses[alike] - display.losses[alike[0]]
    np.testing.assert_allclose(ours, gaps, atol=1e-9)


@pytest.mark.parametrize("kind", DISPLAYS)
def test_every_picture_says_what_it_draws(search, kind):
    import matplotlib.pyplot as plt

    texts = []
    for score in (None, "f1"):
        display = kind.from_search(search, score=score).plot()
        figure = display.figure_
        figure.canvas.draw()
        shown = figure.findobj(matplotlib.text.Text)
        texts.append(" ".join(one.get_text() for one in shown))
        plt.close(figure)
    assert "minus f1" not in texts[0]
    assert "minus f1" in texts[1]


@pytest.mark.parametrize("kind", DISPLAYS)
def test_a_score_that_was_not_recorded_is_refused(search, kind):
    message = (
        "score='roc_auc' was not recorded.*'neg_log_loss', 'balanced_accuracy', 'f1'"
    )
    with pytest.raises(InvalidInputError, match=message):
        kind.from_search(search, score="roc_auc")
