"""A race that ends within a final that has not decided: what its scores come from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV
from cvst.cli.results import race_looks
from cvst.displays import IncumbentDisplay
from cvst.race._ranking import rank_all
from cvst.race.machinery import meetings
from cvst.report import summary

GRID = {
    "max_depth": list(range(3, 15)),
    "min_samples_leaf": [1, 2, 3, 4, 6],
    "criterion": ["gini", "entropy"],
}

# Looks before the final, and folds in it from which on it decides.
BEFORE, FEWEST = 7, 5


@pytest.fixture(scope="module")
def broken_off():
    """Return one race, broken off after each look of its final."""
    X, y = (values[:900] for values in load_digits(return_X_y=True))
    tree = DecisionTreeClassifier(random_state=0)
    races = {
        n: RaceGridSearchCV(tree, GRID, random_state=0, max_looks=BEFORE + n).fit(X, y)
        for n in (0, 1, FEWEST - 1, FEWEST)
    }
    stages = [one.look.stage for one in races[FEWEST].race_.observations]
    assert stages[BEFORE:] == ["final"] * FEWEST
    assert stages[BEFORE - 1] == "confirm"
    return races


@pytest.mark.parametrize("n_final", [1, FEWEST - 1])
def test_folds_of_a_final_that_has_not_decided_make_no_score(broken_off, n_final):
    """The score is that of the folds that chose the winner."""
    before, search = broken_off[0], broken_off[n_final]
    results, best = search.cv_results_, search.best_index_
    assert "folds that confirm" in search.strategy_.criterion(search.race_)
    confirmed = [results[f"look{look}_test_score"][best] for look in range(3, 8)]
    assert search.best_score_ == results["mean_test_score"][best] == np.mean(confirmed)
    assert results["std_test_score"][best] == pytest.approx(np.std(confirmed))
    assert search.best_score_n_train_ == before.best_score_n_train_ == 720
    assert best == before.best_index_
    assert search.best_score_ == before.best_score_


@pytest.mark.parametrize("n_final", [0, 1, FEWEST - 1, FEWEST])
def test_rank_1_has_the_best_score_of_the_stage_that_decides(broken_off, n_final):
    search = broken_off[n_final]
    results, state = search.cv_results_, search.race_
    decided = "final" if n_final == FEWEST else "confirm"
    ran = [
        number
        for number in range(state.n_configurations)
        if all(
            state.present[number, place]
            for place, one in enumerate(state.observations)
            if one.look.stage == decided
        )
    ]
    means, ranks = results["mean_test_score"][ran], results["rank_test_score"][ran]
    assert len(ran) > 1
    assert means[np.argmin(ranks)] == means.max()
    assert np.all(np.diff(means[np.argsort(ranks)]) <= 0)


def test_enough_folds_of_the_final_decide(broken_off):
    search = broken_off[FEWEST]
    results, best = search.cv_results_, search.best_index_
    final = [results[f"look{BEFORE + n}_test_score"][best] for n in range(1, 6)]
    assert search.best_score_ == np.mean(final)
    assert search.best_score_n_train_ == 810


def test_reports_and_displays_show_the_same(broken_off):
    search = broken_off[FEWEST - 1]
    page = summary(search)
    assert page["winner"]["score_rows"] == "720"
    leaders = page["measures"][0]["leader"]
    assert leaders[-1] == pytest.approx(search.best_score_)
    # As it stood then, so that the first folds of a final change nothing.
    assert leaders[BEFORE:] == [leaders[BEFORE - 1]] * (FEWEST - 1)
    shown = [look.score for look in race_looks(search)]
    assert shown == pytest.approx(leaders)
    display = IncumbentDisplay.from_search(search)
    assert display.losses[BEFORE:] == pytest.approx([1 - search.best_score_] * 4)
    assert "over the 5 folds that decided" in " ".join(page["winner"]["why"])
    assert search.tie_.n_rows == 900


def test_the_history_of_a_race_that_was_decided_stays(broken_off):
    """What led after the first fold of the final had the score of then."""
    early, late = summary(broken_off[1]), summary(broken_off[FEWEST])
    told, later = (page["measures"][0]["leader"] for page in (early, late))
    assert later[: BEFORE + 1] == told
    shown = [look.score for look in race_looks(broken_off[FEWEST])]
    assert shown[: BEFORE + 1] == pytest.approx(told)


def test_the_stage_that_decides_is_met_first(broken_off):
    search = broken_off[1]
    first = meetings(search.race_, search.best_index_)[0]
    assert {one.look.stage for one in first.looks} == {"confirm"}


def test_a_final_that_leaves_one_has_decided(broken_off):
    """However few its folds: there is nothing to be decided any more."""
    state = broken_off[1].race_
    assert "final" not in broken_off[1].strategy_.criterion(state)
    winner, other = broken_off[1].strategy_.ranking(state)[:2].tolist()
    last = replace(state.observations[-1], drops={winner: "sequential test"})
    ended = replace(state, observations=(*state.observations[:-1], last))
    assert "folds of the final" in broken_off[1].strategy_.criterion(ended)
    ranks = rank_all(ended, broken_off[1].strategy_.ranking(ended), by_mean=True)
    assert ranks[other] == 1
