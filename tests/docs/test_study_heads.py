"""What the heads of studies say was run: tasks, data sets, seeds, seconds, grids."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from docs_pages import RESULTS, page, plain, records, script
from sklearn.model_selection import ParameterGrid

EVERYDAY = "docs/measurements/everyday.md"
WORDS = {
    2: "two",
    3: "three",
    5: "five",
    8: "eight",
    9: "nine",
    10: "ten",
    12: "twelve",
    13: "thirteen",
    15: "fifteen",
    16: "sixteen",
}


@pytest.fixture(scope="module")
def regrets():
    """Return how to read the regrets of some files."""
    summary = script("everyday/summary.py")

    def read(split, *names):
        files = [RESULTS / f"everyday_{name}.jsonl" for name in names]
        return summary.regrets(summary.read(files, split))

    return read


def data_sets(tasks):
    return tasks.str.rsplit("-", n=1).str[0].nunique()


def seeds(runs, search, seconds):
    own = runs[(runs["search"] == search) & (runs["seconds"] == seconds)]
    return sorted(own["seed"].unique())


def test_later_tasks_are_as_many_as_told(regrets):
    runs, text = regrets("later", "later"), plain(EVERYDAY)
    count = WORDS[runs["task"].nunique()]
    kinds = pd.Series(runs["task"].unique()).str.rsplit("-", n=1).str[1]
    assert set(kinds.replace("kernel_ridge", "neighbours").value_counts()) == {2}
    told = f"So {count} more were named, two of each kind of model (neighbours and "
    told += "kernel ridge are one kind), on "
    assert f"{told}{WORDS[data_sets(runs['task'])]} data sets that no search" in text
    for search in ("race", "smac", "optuna_tpe_wilcoxon"):
        assert seeds(runs, search, 15) == seeds(runs, search, 60) == [0, 1, 2]
        assert seeds(runs, search, 240) == [0]
    assert "have seeds 0 to 2 at 15 and 60 s, and seed 0 at 240 s; Optuna" in text
    assert seeds(runs, "optuna_tpe", 60) == [0]
    assert "Optuna without a pruner has seed 0 at 60 s." in text


def test_default_parameters_on_the_task_with_machines(regrets):
    """They won most races, and most choices of the others were worse."""
    runs = regrets("later", "later")
    own = runs[(runs["task"] == "emissions-svm") & (runs["seconds"] < 240)]
    races, others = own[own["search"] == "race"], own[own["search"] != "race"]
    assert (races["regret"] == 1).mean() > 0.5
    assert (others["regret"] > 1).mean() > 0.5
    told = (
        "On `emissions-svm` default parameters are hard to beat: they win most of the "
    )
    told += "races at 15 and 60 s, and most choices of the others are worse."
    assert told in plain(EVERYDAY)


def test_first_tasks_are_as_many_as_told(regrets):
    names = "held_out_seeds", "held_out", "held_out_again", "held_out_second"
    runs, text = regrets("held_out", *names), plain(EVERYDAY)
    told = f"These are {WORDS[runs['task'].nunique()]} tasks on "
    assert f"{told}{WORDS[data_sets(runs['task'])]} data sets." in text
    pairs = runs.groupby(["search", "seconds"])["seed"].nunique()
    several = {pair for pair, count in pairs.items() if count == 3}
    assert several == {
        ("race", 15), ("race", 60), ("smac", 60),
        ("optuna_tpe_wilcoxon", 15), ("optuna_tpe_wilcoxon", 60),
    }  # fmt: skip
    assert set(pairs) == {1, 3}
    told = (
        "At 15 and 60 s `race`, Optuna with its pruner and (at 60 s) SMAC3 have seeds"
    )
    assert f"{told} 0 to 2, all others seed 0." in text
    flaml = runs[runs["search"] == "flaml_automl"]["task"].nunique()
    assert f"`flaml_automl` has the {WORDS[flaml]} tasks for which FLAML has a" in text


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "rounds",
            "On {} development tasks of boosting (15 s of processor time, seeds",
        ),
        ("pace", "On {} development tasks (15 s of processor time, seed 0,"),
        ("now", "on {} tasks with many configurations (60 s, seed 0,"),
        ("forests", "the {} development tasks with forests (30 s, seeds 2 and 3)"),
        ("first_points", "over {} development tasks (30 s, seeds 0 and 1)"),
    ],
)
def test_development_tasks_are_as_many_as_told(name, told):
    runs = records(f"everyday_dev_{name}.jsonl")
    tasks = {one["task"] for one in runs}
    assert told.format(WORDS[len(tasks)]) in plain(EVERYDAY)
    seconds = {one["seconds"] for one in runs}
    assert seconds <= {15.0, 30.0, 60.0}
    assert f"{min(seconds):.0f} s" in told
    found = sorted({one["seed"] for one in runs})
    expected = {"forests": [2, 3], "pace": [0], "now": [0]}
    assert found == expected.get(name, [0, 1])


def test_models_on_the_sets_of_the_design():
    problems = pd.read_csv(RESULTS / "rules_models.csv")["problem"].drop_duplicates()
    counts = problems.str.split().str[1].value_counts().to_dict()
    assert counts == {"knn": 15, "linear": 14, "boosting": 4, "forest": 4, "svm": 1}
    told = (
        "k-NN on all, linear models on fourteen, boosting and forests on four each, a"
    )
    text = plain("docs/measurements/default_strategy.md")
    assert f"{told} support vector machine on one." in text
    # The script itself needs a package of data sets.
    source = page("benchmarks/rules/models.py")
    listed = dict(re.findall(r'^    "(\w+)": \(("[^)]*")\),$', source, re.MULTILINE))
    listed = {
        f"{name} {kind}"
        for kind, names in listed.items()
        for name in re.findall(r"\w+", names)
    }
    missing = sorted(one.split()[0] for one in listed - set(problems))
    told = "The script lists three more sets for the latter ({}, {} and {}), which were"
    assert told.format(*missing) in text
    assert {one.split()[1] for one in listed - set(problems)} == {"svm"}


def test_grids_of_large_data():
    cases, text = script("large/cases.py"), plain("docs/measurements/large_data.md")
    _, sgd = cases.learner("sgd")
    sizes = len(sgd["alpha"]), len(sgd["loss"])
    assert (
        "`SGDClassifier(max_iter=2)` over {} penalties and {} losses".format(*sizes)
        in text
    )
    model, boosting = cases.learner("hgb")
    sizes = [len(values) for values in boosting.values()]
    told = f"are boosting of {WORDS[model.max_iter]} rounds over "
    assert "{}{} learning rates and {} numbers of".format(told, *sizes) in text
    assert len(ParameterGrid(sgd)) == len(ParameterGrid(boosting)) == 50
    runs = [one for one in records("large.jsonl") if one["case"].startswith("grid")]
    most = max(one["configurations"] for one in runs)
    assert f"`RidgeClassifier` over {most:,} penalties" in text
    raced = max(one["raced_rows"] for one in records("large.jsonl"))
    assert f"the rows that are raced, up to {raced:,}, and the libraries" in text


def test_fits_of_a_short_race_on_a_card():
    [race] = [
        one
        for one in records("gpu.jsonl")
        if (one["step"], one.get("N"), one.get("strategy")) == ("KRR", 1000, "cvst")
    ]
    assert race["fit_seconds"] / race["seconds"] == pytest.approx(1 / 5, abs=0.02)
    told = 'At 1,000 rows the fits take a fifth of the time of a race with `"cvst"`.'
    assert told in plain("docs/measurements/gpu.md")
    changes = [
        one["largest_relative_change"]
        for one in records("gpu.jsonl")
        if "largest_relative_change" in one
    ]
    assert len(changes) > 10
    assert max(changes) < 1e-7
    told = "Mean losses differ by less than a part in ten million."
    assert told in plain("docs/measurements/gpu.md")
