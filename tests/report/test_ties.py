from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV, SimplestNotWorse, load_checkpoint
from cvst.race import (
    CVST,
    Look,
    LookLosses,
    Problem,
    RaceState,
    Relay,
    TrackAndConfirm,
    Verdict,
)
from cvst.report import summary
from cvst.report._explain import why_it_won
from cvst.report._ties import Tie, tie_of
from cvst.report.machinery import settled_reason, stop_sentence


def rows_of(number):
    """Return the test rows of a fold."""
    return slice(50 + 60 * number, 110 + 60 * number)


def state_of(*tables, drops=None, fold=None):
    """Return a race of folds, each with losses of all configurations."""
    state = RaceState(Problem(n_configurations=len(tables[0]), n_samples=200))
    for number, losses in enumerate(tables):
        losses = np.asarray(losses, dtype=float)
        who = np.arange(len(losses))
        look = Look(
            slice(0, 50), rows_of(number), 50, who, "confirm", True, True,
            fold=None if fold is None else fold[number],
        )  # fmt: skip
        zeros = np.zeros(len(who))
        seen = LookLosses(losses, losses.mean(axis=1), zeros, zeros)
        last = number == len(tables) - 1
        verdict = Verdict(who == 0, zeros + np.nan, (drops or {}) if last else {})
        state = state.observe(look, seen, verdict)
    return state


@pytest.fixture
def errors():
    """Return errors of a winner, one as good and one that always errs."""
    rng = np.random.default_rng(0)
    winner = rng.random(60) < 0.2
    alike = rng.random(60) < 0.22
    return np.array([winner, alike, np.ones(60)], dtype=float)


def test_a_close_one_is_tied_and_a_bad_one_is_not(errors):
    """Witness: the binomial test on rows where just one of the two errs."""
    tie = tie_of(state_of(errors), 0)
    worse = int((errors[1] > errors[0]).sum())
    better = int((errors[1] < errors[0]).sum())
    expected = binomtest(worse, worse + better, alternative="greater").pvalue
    assert tie == Tie(1, pytest.approx(expected), 60, 0.025)


def test_folds_count_together(errors):
    tie = tie_of(state_of(errors, errors), 0)
    assert tie.n_rows == 120


def test_the_same_fold_at_another_look_is_matched_by_its_number(errors):
    """Configurations that join later run the folds again, in looks of their own."""
    state = state_of(errors[:1], errors[:1], fold=[1, 2]).admit([{"late": 1}])
    for fold in (1, 2):
        losses = errors[1:2]
        look = Look(
            slice(0, 50), rows_of(fold - 1), 50, np.array([1]), "confirm", True, True,
            fold=fold,
        )  # fmt: skip
        seen = LookLosses(losses, losses.mean(axis=1), np.zeros(1), np.zeros(1))
        state = state.observe(look, seen, Verdict(np.array([True]), np.array([0.5])))
    tie = tie_of(state, 0)
    assert (tie.n_tied, tie.n_rows) == (1, 120)


def test_what_a_test_has_dropped_is_no_tie(errors):
    assert tie_of(state_of(errors, drops={1: "paired test"}), 0) is None
    assert tie_of(state_of(errors, drops={1: "rank"}), 0).n_tied == 1


def test_a_clear_winner_and_a_lone_one_are_in_no_tie(errors):
    assert tie_of(state_of(errors[[0, 2]]), 0) is None
    assert tie_of(state_of(errors[:1]), 0) is None


def test_a_tie_is_never_called_confirmed():
    tie = Tie(3, 0.21, 5404, 0.0125)
    sentence = stop_sentence("confirmed", 9, TrackAndConfirm(), tie)
    assert sentence == (
        "The race ended after 9 looks in a tie with 3 others by paired tests on 5,404 "
        "rows (smallest p-value 0.21, where 0.013 would tell them apart)."
    )
    assert "the time is up. The leader is in a tie with" in stop_sentence(
        "time_budget", 9, None, tie
    )


class SaysConfirmed(CVST):
    """By which it means something else."""

    sentences: ClassVar = {"confirmed": "a colleague has confirmed it"}


def test_a_reason_is_not_known_by_its_text():
    tie, own = Tie(3, 0.21, 5404, 0.0125), SaysConfirmed()
    assert settled_reason("confirmed", tie, own) == "confirmed"
    assert settled_reason("confirmed", tie, Relay(TrackAndConfirm(), (5, 5))) == "tie"
    told = stop_sentence("confirmed", 9, own, tie)
    assert "a colleague has confirmed it. The leader is in a tie with 3" in told


def test_a_tie_is_named_on_the_page(proposed):
    """Witness: the tie itself."""
    page = summary(proposed)
    tie = tie_of(proposed.race_, proposed.best_index_, proposed.strategy_)
    told = " ".join([page["stop_sentence"], *page["winner"]["why"]])
    assert told.count("a tie with") == (2 if tie else 0)


@pytest.mark.parametrize(
    ("drops", "told"),
    [
        ({1: "rank", 2: "paired test"}, "a paired test found 1 of them worse, 1 was"),
        ({1: "rank", 2: "rank"}, "None of the 2 others is left: 2 were dropped for"),
        ({1: "paired test", 2: "paired test"}, "All others were dropped."),
    ],
)
def test_a_tie_does_not_say_that_tests_have_dropped_the_others(errors, drops, told):
    """Those in a tie with the winner went by their rank, and the sentence says so."""
    state = state_of(errors, drops=drops)
    configurations = [{"a": number} for number in range(3)]
    why = why_it_won(state, configurations, np.array([0]), 0, tie=tie_of(state, 0))
    assert told in why[1]
    assert ("tie" in why[-1]) == (drops[1] == "rank")


def test_of_two_in_a_tie_the_other_one_is_named(errors):
    state = state_of(errors[:2], drops={1: "rank"})
    why = why_it_won(state, [{}, {}], np.array([0]), 0, tie=tie_of(state, 0))
    assert "no paired test found it worse" in why[1]


def state_with_a_final(folds, final, drops, dropped_in_the_final=None):
    """Return a race of two folds of all, and a final fold of the first two."""
    state = state_of(folds, folds, drops=drops)
    who = np.array([0, 1])
    look = Look(slice(0, 50), rows_of(9), 50, who, "final", True, True)
    seen = LookLosses(final, final.mean(axis=1), np.zeros(2), np.zeros(2))
    verdict = Verdict(who == 0, np.full(2, np.nan), dropped_in_the_final or {})
    return state.observe(look, seen, verdict)


@pytest.fixture
def alike(errors):
    """Return losses in the folds of a winner, two as good, and one that is bad."""
    return np.vstack([errors[:2], errors[1][::-1], errors[2]])


def test_those_as_good_in_the_folds_before_a_final_are_tied_too(errors, alike):
    """They went by their rank, and no test tells them from the winner."""
    state = state_with_a_final(alike, errors[:2], {2: "rank", 3: "rank"})
    tie = tie_of(state, 0)
    assert (tie.n_tied, tie.n_before, tie.n_rows) == (2, 1, 120)
    # Three comparisons: 1 in the final, 2 and 3 in the folds.
    assert tie.level == pytest.approx(0.05 / 3)
    told = "a tie with 2 others (1 in the last stage, 1 in the folds before) by paired"
    assert tie.text.startswith(told)
    assert settled_reason("confirmed", tie, TrackAndConfirm()) == "tie"


def test_a_final_confirms_only_against_all_that_ran_the_folds(errors, alike):
    """The other one of the final is clearly worse there, but 2 never entered it."""
    final = np.array([np.zeros(60), np.ones(60)])
    state = state_with_a_final(alike, final, {2: "rank", 3: "rank"}, {1: "paired test"})
    tie = tie_of(state, 0)
    # What a test has dropped in the final is told apart, whatever the folds said.
    assert (tie.n_tied, tie.n_before) == (1, 1)
    assert "a tie with 1 other (in the folds before the last stage) by" in tie.text


def test_a_test_against_another_leader_does_not_tell_from_the_winner(errors, alike):
    """2 was dropped by a test, 3 too; the winner is not told from 2 by its own."""
    drops = {2: "paired test", 3: "paired test"}
    tie = tie_of(state_with_a_final(alike, errors[:2], drops), 0)
    assert (tie.n_tied, tie.n_before) == (2, 1)
    assert tie.level == 0.025


def the_worst(results):
    """Return the index of the lowest score."""
    return int(np.argmin(results["mean_test_score"]))


def trees(**options):
    """Return a fitted race of trees, the deeper ones of which are alike."""
    X, y = make_classification(
        300, 8, n_informative=4, flip_y=0.1, class_sep=0.7, random_state=0
    )
    grid = {"max_depth": [1, 2, 3, 5, 8, None]}
    model = DecisionTreeClassifier(random_state=0)
    return RaceGridSearchCV(model, grid, random_state=0, **options).fit(X, y)


@pytest.mark.parametrize("refit", [the_worst, SimplestNotWorse("max_depth:+")])
def test_a_tie_is_with_the_leader_whatever_refit_chooses(refit, tmp_path):
    """Witness: the same race without a choice of the user's."""
    search, plain = trees(refit=refit, checkpoint=tmp_path / "race"), trees()
    assert search.best_index_ != plain.best_index_
    assert plain.tie_ is not None
    assert search.tie_ == plain.tie_
    assert search.stop_reason_ == plain.stop_reason_ == "tie"
    assert load_checkpoint(tmp_path / "race").stop_reason_ == "tie"
    page, alone = summary(search), summary(plain)
    assert page["stop_sentence"] == alone["stop_sentence"]
    search.tie_ = None  # as a state on its own is told
    assert summary(search)["stop_sentence"] == alone["stop_sentence"]


def test_a_tie_is_about_the_score_that_was_raced_on():
    options = {"scoring": ["roc_auc", "accuracy"], "race_by": "roc_auc"}
    by_other, plain = trees(refit="accuracy", **options), trees(scoring="roc_auc")
    assert by_other.best_index_ != plain.best_index_
    assert by_other.tie_ == plain.tie_
    assert by_other.stop_reason_ == plain.stop_reason_
    why = " ".join(summary(by_other)["winner"]["why"])
    assert "Mean accuracy chose it; the race ranked" in why
