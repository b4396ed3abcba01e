"""Sentences of guides that rest on a study say what its files say."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from docs_pages import RESULTS, cells, page, plain, records, script
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from cvst import RaceGridSearchCV
from cvst.exceptions import InvalidInputError


def test_what_a_scaler_adds_and_what_halving_takes():
    """Two sentences that rest on the speed runs."""
    results = script("speed/results_table.py")
    rows = results.read()
    longer = [
        results.mean_of(rows, "pipeline", one) / results.mean_of(rows, "svc", one)
        for one in ("cvst", results.DEFAULT)
    ]
    assert longer == pytest.approx([1 + 1 / 6, 1 + 1 / 5], abs=0.03)
    told = 'about a sixth longer with `strategy="cvst"` and a fifth with the default'
    assert told in plain("docs/user_guide/shared_work.md")
    ratios = [
        results.mean_of(rows, task, results.HALVING)
        / results.mean_of(rows, task, results.DEFAULT)
        for task in results.TASKS
    ]
    told = f"took {min(ratios):.1f} to {max(ratios):.0f} times less processor time"
    page_on_halving = plain("docs/migration/from_halving.md")
    assert told in page_on_halving
    study = page("docs/measurements/default_study.md").split("## By kind")[0]
    halving, default = (cells(study, one) for one in ("halving", "track_and_confirm"))
    assert halving[5] == "open"
    assert f"was {halving[3]} against full 5-fold, with a 90 % interval from " in (
        page_on_halving
    )
    assert f"from {halving[4]}. So whether its winners are as good is open there" in (
        page_on_halving
    )
    told = f"it took {halving[-1]} times the seconds, the default {default[-1]}."
    assert told in page_on_halving


def test_what_races_of_the_folds_alone_save():
    row = cells(page("docs/measurements/few_configurations.md"), "raced 5 folds | all")
    assert f"{row[4].removeprefix('0')} of the fits were made on" in plain("README.md")


def test_the_guide_compares_the_default_with_halving_and_optuna():
    table = page("docs/user_guide/strategies.md").split("## Measured")[1]
    halving, optuna = (cells(table, one)[-1] for one in ("halving", "Optuna"))
    told = f"halving took {halving} and Optuna with its pruner {optuna} times as many"
    assert told in plain("docs/measurements/peers.md")


def test_differences_that_the_page_on_proposals_tells():
    """Witness: the rows of the study, which have a test of their own."""
    study = page("docs/measurements/everyday.md").split("## The first twelve")[0]
    text = plain("docs/user_guide/proposing.md")

    def difference(ours, theirs):
        [row] = re.findall(rf"^\| {ours} \| {theirs} \|.*$", study, re.MULTILINE)
        return [float(one) for one in re.findall(r"[-+]\d\.\d+", row.split("|")[-3])]

    number = r"([\u2212+]\.\d\d)"
    three = rf"{number},(?: 95 % interval)? {number} to {number}"
    for ours, theirs, told in (
        ("15 s", "smac 15 s", rf"difference {three} over tasks"),
        ("60 s", "smac 60 s", rf"and at 60 s \({three}\)"),
        ("240 s", "smac 240 s", rf"At 240 s \({three}\)"),
    ):
        shown = re.search(told, text).groups()
        shown = [float(one.replace("\N{MINUS SIGN}", "-")) for one in shown]
        # The study has three digits, and the page rounds what lies behind them.
        assert shown == pytest.approx(difference(ours, theirs), abs=0.0056), theirs


def interval(part, ours, theirs):
    """Return the ends of a difference, from the tables of the study."""
    [row] = re.findall(rf"^\| {ours} s \| {theirs} s \|.*$", part, re.MULTILINE)
    low, high = re.search(r"\[(\S+), (\S+)\]", row).groups()
    return float(low), float(high)


def test_which_differences_are_within_the_noise():
    """A difference is, if its interval has zero inside."""
    now, before = page("docs/measurements/everyday.md").split("## The first twelve")

    def noisy(part, ours, theirs):
        low, high = interval(part, ours, theirs)
        return low < 0 < high

    pruner = "optuna_tpe_wilcoxon"
    which, guide = (
        plain(f"docs/user_guide/{one}.md") for one in ("which_search", "proposing")
    )
    told = "At 60 s the differences to SMAC3 and to Optuna are beyond the noise of "
    assert f"{told}sixteen tasks; at 240 s the difference to SMAC3 is not." in which
    assert not any(noisy(now, 60, f"{one} 60") for one in ("smac", pruner))
    assert noisy(now, 240, "smac 240")
    assert "Both of these differences to SMAC3 are within the noise." in guide
    assert noisy(now, 15, "smac 60")
    assert noisy(now, 60, "smac 240")
    told = "clearly ahead of Optuna with its pruner at 15 and 240 s. At 60 s it was "
    assert f"{told}ahead by less than the noise" in guide
    assert [noisy(before, s, f"{pruner} {s}") for s in (15, 60, 240)] == [0, 1, 0]
    told = "There the differences to Optuna with its pruner and to SMAC3 are within the"
    assert f"{told} noise" in which
    assert noisy(before, 60, "smac 60")
    told = "was ahead of Optuna's TPE with its Wilcoxon pruner within 15, 60 and 240 "
    told += "seconds. On twelve before these, which were run three times while we "
    told += "fixed bugs, the difference within 60 seconds was "
    assert f"{told}within the noise" in plain("docs/migration/from_optuna.md")
    assert not any(noisy(now, s, f"{pruner} {s}") for s in (15, 60, 240))


def test_tasks_and_sets_that_no_search_had_seen():
    tasks = {one["task"] for one in records("everyday_later.jsonl")}
    sets = {one.split("-")[0] for one in tasks}
    assert (len(tasks), len(sets)) == (16, 13)
    told = "Sixteen tasks on thirteen data sets that no search had seen before"
    assert told in plain("docs/user_guide/proposing.md")
    assert "On sixteen tasks that" in plain("docs/user_guide/which_search.md")
    assert "On sixteen tasks that" in plain("docs/migration/from_optuna.md")


def test_in_how_many_races_another_configuration_wins():
    found = pd.DataFrame(records("default.jsonl"))
    found = found[~found["task"].str.endswith("knn")]
    params = found.pivot(index=["task", "seed"], columns="method")["params"].map(str)
    same = (params["track_and_confirm"] == params["full 5-fold"]).mean()
    assert same == pytest.approx(2 / 3, abs=0.05)
    told = "in a third of the races another configuration, on average as good"
    assert told in plain("docs/migration/from_grid_search.md")


def test_draws_and_fresh_rows_of_the_front_table():
    rows = pd.read_csv(RESULTS / "speed.csv")
    tasks = script("front_table.py").TASKS
    draws = rows[rows["task"].isin(tasks)].groupby(["method", "task"]).size()
    race = draws["track_and_confirm"]
    assert set(race[race == 10].index) == {"krr", "neighbours"}
    assert set(race) == {1, 3, 10}
    assert (draws["GridSearchCV cv=10"][["krr", "neighbours"]] == 1).all()
    text = plain("docs/user_guide/speed.md")
    told = (
        "Kernel ridge and neighbours have ten draws of the data (one for the time of "
    )
    assert f"{told}`GridSearchCV`), the others three or one." in text
    pytest.importorskip("lightgbm")
    fresh = script("speed/tasks.py").N_TEST
    assert f"the winner on {fresh:,} fresh rows" in text


def test_rows_of_the_problems_of_the_estimate():
    summary = script("estimate/summary.py")
    problems = {one["problem"] for one in summary.stored.read(summary.HELD_OUT)}
    sizes = {int(re.search(r" (\d+)x\d+ ", one)[1]) for one in problems}
    told = f"three families of models and {min(sizes)} to {max(sizes):,} rows"
    assert told in plain("docs/user_guide/estimate.md")


@pytest.mark.parametrize(
    ("model", "scores", "reason"),
    [
        (KNeighborsClassifier(), ("roc_auc", "top_k_accuracy"), "of 2 classes apart"),
        (LinearSVC(), ("accuracy", "neg_log_loss"), "asks for predict_proba"),
    ],
)
def test_another_score_that_can_tell_nothing_is_refused_as_the_guide_says(
    model, scores, reason
):
    told = (
        "Where it is known before the first fit that it can tell nothing, the search "
    )
    assert f"{told}refuses it with the reason" in plain("docs/user_guide/losses.md")
    X, y = make_classification(60, random_state=0)
    [name] = {"n_neighbors", "C"} & set(model.get_params())
    search = RaceGridSearchCV(model, {name: [1, 5]}, scoring=scores, refit=scores[0])
    with pytest.raises(InvalidInputError, match=reason):
        search.fit(X, y)
