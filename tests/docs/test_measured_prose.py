"""Numbers in the prose of the measurements that no other test compares with a file."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from docs_pages import RESULTS, page, plain, records, script
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import ParameterGrid


def short(value, digits=2):
    return f"{value:.{digits}f}".removeprefix("0")


NAMED = {6: "six"}

# Everyday tuning --------------------------------------------------------------------


EVERYDAY = "docs/measurements/everyday.md"


def means(*names):
    """Return the mean regrets that some files give."""
    summary = script("everyday/summary.py")
    files = [RESULTS / f"everyday_{name}.jsonl" for name in names]
    table = summary.table(summary.regrets(summary.read(files, "held_out")))
    return table.set_index(["search", "seconds"])["mean"]


def test_what_earlier_runs_of_the_everyday_tasks_had():
    first, text = means("held_out"), plain(EVERYDAY)
    race = [short(first["race", seconds], 3) for seconds in (15, 60)]
    smac = short(first["smac", 60], 3)
    told = "`race` had {} at 15 s and {} at 60 s, beside {} of SMAC3 at 60 s."
    assert told.format(*race, smac) in text
    mended = means("held_out", "held_out_again")
    three = means("held_out_seeds", "held_out", "held_out_again")
    shown = [short(one["race", s], 3) for one in (mended, three) for s in (15, 60)]
    assert "it had {} and {}, and {} and {} with three seeds".format(*shown) in text


def test_what_is_said_of_the_last_run_is_in_its_tables():
    """Witness: the tables of the page, which have a test of their own."""
    text = page(EVERYDAY)
    rows = dict(
        re.findall(r"^\| 15 s \| (\w+) 15 s \| 12 \| (.*?) \| [-+]", text, re.MULTILINE)
    )
    pruner, tpe = (
        [short(float(one)) for one in rows[name].split(" | ")]
        for name in ("optuna_tpe_wilcoxon", "optuna_tpe")
    )
    told = "({} against {} of Optuna with its pruner on three seeds, {} against {} of"
    assert told.format(*pruner, *tpe) in plain(EVERYDAY)


def test_the_parts_of_the_regret_in_words():
    parts = script("everyday/regret_parts.py")
    text, rows = plain(EVERYDAY), parts.parts()
    well = {task: row for task, row in rows.items() if not np.isnan(row["seen"])}
    chosen, seen = (
        short(np.mean([row[name] for row in well.values()]))
        for name in ("chosen", "seen")
    )
    told = f"({len(well)} tasks) the regret is {chosen}, and the best of those judged"
    assert f"{told} has {seen}." in text
    boosted = [
        row["chosen"]
        for task, row in rows.items()
        if task.split("-")[1] in ("lightgbm", "xgboost", "hist")
    ]
    assert len(boosted) == 9
    assert f"have a regret of {short(np.mean(boosted))} on average" in text
    cells = records("everyday_diagnosis.jsonl")
    searches = [one for one in cells if one["version"] == "before"]
    assert f"({len(searches)} of the {2 * len(rows)} searches;" in text
    judged = [one["n_judged"] for one in searches if "n_judged" in one]
    told = f"among those judged, {min(judged)} to {max(judged)} for each search"
    assert told in text
    failed = [one["task"] for one in cells if one["end"] == "error"]
    forests = {
        (one["task"], one["seed"])
        for one in cells
        if one["version"] == "before" and one["task"].endswith("forest")
    }
    assert (len(failed), len(forests)) == (4, 6)
    assert all(task.endswith("forest") for task in failed)
    assert "Four of the six searches over forests ended in an error" in text


def test_noise_and_cost_of_the_searches_in_words():
    parts = script("everyday/regret_parts.py")
    text, rows = plain(EVERYDAY), parts.parts()
    noise = {task: row["noise"] for task, row in rows.items()}
    quiet = [
        value
        for task, value in noise.items()
        if task not in ("credit-mlp", "cells-forest")
    ]
    shown = [short(np.nanmean(list(one))) for one in (noise.values(), quiet)]
    told = "The standard error is {} on average, {} without `credit-mlp` and"
    assert told.format(*shown) in text
    well = {task for task, row in rows.items() if not np.isnan(row["seen"])}
    peers = records("everyday_dev.jsonl")
    regret = parts.Scale([*peers, *records("everyday_diagnosis.jsonl")])
    theirs = [
        min(parts.MOST, regret(one["task"], one.get("loss")))
        for one in peers
        if (one["search"], one["seconds"]) == ("optuna_tpe_wilcoxon", 60.0)
        and one["task"] in well
    ]
    assert len(theirs) == len(well) == 22
    every = short(parts.peer_mean("optuna_tpe_wilcoxon", 60.0))
    told = f"which has {every} on these tasks at 60 s (one seed) and "
    assert f"{told}{short(np.mean(theirs))} on the 22 where all went well." in text
    ours = [
        short(np.mean([rows[task]["chosen"] for task in some])) for some in (well, rows)
    ]
    told = "It is reached on these 22 ({}), and not quite with the errors ({})."
    assert told.format(*ours) in text
    few = {task: row["chosen"] for task, row in rows.items() if row["n"] <= 60}
    assert min(rows[task]["n"] for task in few) == 9
    assert "the tasks with few configurations (9 to 60) have small regrets" in text
    assert max(few, key=few.get) == "spambase-xgboost"
    assert sorted(few.values())[-2] < 0.16


def test_how_the_last_run_stands_beside_its_peers():
    now = means("held_out_seeds", "held_out", "held_out_again", "held_out_second")
    text, pruner = plain(EVERYDAY), "optuna_tpe_wilcoxon"
    assert "At 15 s the mean regret is about half of the best peer's" in text
    assert "At 240 s it is less than half of that of Optuna with its pruner" in text
    assert now["race", 240] < now[pruner, 240] / 2
    peers = {
        name: value
        for (name, seconds), value in now.items()
        if seconds == 60 and name != "race"
    }
    assert "At 60 s it is the lowest" in text
    assert min(peers.values()) / 2 < now["race", 60] < min(peers.values())
    names = ("race", pruner, "smac", "optuna_tpe", "flaml_tune", "random", "halving")
    told = "the race had {}, Optuna with its pruner {}, SMAC3 {}, Optuna TPE {}, "
    told += "FLAML's tune {}, random search {} and halving {}."
    shown = [short(now[name, 60]) for name in names]
    assert told.format(*shown) in plain("docs/measurements/peers.md")
    told = (
        "Optuna's TPE alone, FLAML's tune, random search and halving were behind in 60"
    )
    assert told in plain("docs/user_guide/which_search.md")
    told = "({} against {} of Optuna with its pruner and {} of SMAC3)"
    guide = plain("docs/user_guide/proposing.md")
    assert told.format(*shown[:3]) in guide


def test_single_searches_with_more_folds_in_words():
    parts = script("everyday/regret_parts.py")
    text, rows = plain(EVERYDAY), parts.parts()
    cells = records("everyday_diagnosis.jsonl")
    regret = parts.Scale([*records("everyday_dev.jsonl"), *cells])
    found = {(one["task"], one["seed"], one["version"]): one for one in cells}
    more = [key[:2] for key in found if key[2] == "more folds"]
    assert len(more) == 15
    before = [
        min(parts.MOST, regret(task, found[task, seed, "before"].get("loss")))
        for task, seed in more
    ]
    folds = [row["more"] for row in rows.values() if not np.isnan(row["more"])]
    told = f"{short(np.mean(folds))} instead of {short(np.mean(before))} in the same"
    assert told in text
    old, new = (found["spambase-linear", 0, one] for one in ("before", "more folds"))
    told = f"{old['n_families']:,} configurations gave a loss of "
    told += f"{short(old['loss'], 3)} on fresh rows, and {new['n_families']} of which "
    assert f"{told}the best ran other folds too gave {short(new['loss'], 3)}." in text
    old, new = (found["optdigits-mlp", 0, one] for one in ("before", "more folds"))
    told = f"{new['n_families']} configurations found no good region and "
    assert f"{told}{old['n_families']} did before" in text


def test_what_is_said_of_busy_workers():
    runs = [one for one in records("busy.jsonl") if one["code"] == "after"]
    text = plain(EVERYDAY)
    fits = [1000 * one["fit"] for one in runs if one["task"] == "concrete-kernel_ridge"]
    assert f"take {min(fits):.0f} to {max(fits):.0f} ms, and there neither" in text
    [net] = [one for one in runs if (one["task"], one["n_jobs"]) == ("credit-mlp", 2)]
    assert f"once they run, they are busy {short(net['started'])} of the time" in text


# The study of the default -----------------------------------------------------------


STUDY = "docs/measurements/default_study.md"


@pytest.fixture(scope="module")
def races():
    """Return losses, parameters and fits of the study, a column for each method."""
    found = pd.DataFrame(records("default.jsonl"))
    found = found[~found["task"].str.endswith("knn")]
    return found.pivot(index=["task", "seed"], columns="method")


def test_how_often_the_study_chose_the_same(races):
    params, text = races["params"].map(str), plain(STUDY)
    same = {
        name: f"{(params[name] == params['full 5-fold']).mean():.0%}".replace("%", " %")
        for name in ("track_and_confirm", "raced 5-fold")
    }
    every = records("default.jsonl")
    assert {one["seed"] for one in every} == set(range(10))
    assert f"{len(every):,} cells, none failed, all ten splits complete" in text
    told = "Nearly always it is the same configuration ({} of the default's races)"
    assert told.format(same["track_and_confirm"]) in text
    assert f"chose the same in {same['raced 5-fold']} of the races" in text
    guide = plain("docs/user_guide/which_search.md")
    assert f"chose the same in {same['raced 5-fold']} of the races" in guide


def test_what_the_study_says_of_other_methods():
    """Witness: the table of the page, which has a test of its own."""
    rows = {
        cells[0].strip(): [cell.strip() for cell in cells]
        for cells in (
            line.strip("|").split("|")
            for line in page(STUDY).split("## By kind")[0].splitlines()
            if line.startswith("| ")
        )
    }
    text = plain(STUDY)
    assert f"and {rows['halving'][-1]} times the seconds" in text
    assert f"took {rows['Friedman race'][-2]} times the fits of full 5-fold" in text
    worse = [float(rows[name][7][:-1]) for name in ("halving", "track_and_confirm")]
    assert "over 5 % worse more than twice as often" in text
    assert 2 * worse[1] < worse[0] < 3 * worse[1]
    default = rows["track_and_confirm"]
    for name, column in (("Operations", 9), ("Fits", 10), ("Seconds", 11)):
        part = text.split(f"**{name}** are ")[1].split(" - **")[0]
        assert f"The ratio is {default[column].removeprefix('0')}" in part
    assert "took as many seconds as the default" in text
    assert float(rows["raced 5-fold"][-1]) == pytest.approx(
        float(default[-1]), abs=0.03
    )
    assert "it took twice the seconds of full 5-fold" in text
    assert float(rows["Optuna"][-1]) == pytest.approx(2, abs=0.05)


def test_single_splits_that_the_study_tells_of(races):
    text, losses = plain(STUDY), races["loss"]
    net = losses.loc["texture net"]
    full, default = net["full 5-fold"], net["track_and_confirm"]
    logs = np.log(default / full)
    assert "Two thirds of that come from 164.0 % on one split; on six of ten" in text
    assert f"{np.exp(logs.max()) - 1:.1%}" == "164.0%"
    assert logs.max() / logs.sum() == pytest.approx(2 / 3, abs=0.02)
    assert (default == full).sum() == 6
    worst = logs.idxmax()
    shown = f"{short(default[worst], 3)} and {short(full[worst], 3)}."
    assert f"of the six for both: its file has {shown}" in text
    again = {one["method"]: one["losses"] for one in records("default_again.jsonl")}
    told = "Over six seeds of the model it is {} to {} (median {}) for the default's "
    told += "choice on that split, and {} to {} (median {}) for that of full 5-fold."
    seen = [
        short(number(again[name]), 3)
        for name in ("track_and_confirm", "full 5-fold")
        for number in (min, max, np.median)
    ]
    assert told.format(*seen) in text
    assert {len(one) for one in again.values()} == {6}
    for name, once in (("track_and_confirm", default), ("full 5-fold", full)):
        # The study's own seed is the first, and was the worst.
        assert again[name][0] == max(again[name]) == pytest.approx(once[worst])
    pairs = []
    for name in ("Optuna", "halving"):
        split = (net[name] / full).idxmax()
        pairs.append(f"{short(net[name][split], 3)} against {short(full[split], 3)}")
    assert f"had such a split too ({', '.join(pairs)})" in text
    cancer = losses.loc["breast_cancer svm"]
    one = 1 / 189 / cancer["full 5-fold"]
    told = f"is {100 * one.min():.0f} to {100 * one.max():.0f} % of the loss of full"
    assert told in text
    ratios = cancer["track_and_confirm"] / cancer["full 5-fold"]
    mean = 100 * (np.exp(np.log(ratios).mean()) - 1)
    told = f"mean of {mean:.0f} % says as little as its worst split of "
    told += f"+{100 * (ratios.max() - 1):.0f} %."
    assert told.replace("-", "\N{MINUS SIGN}") in text.replace("+-", "-")


def test_tasks_of_the_study_are_as_many_and_as_large_as_told():
    pytest.importorskip("lightgbm")
    tasks, methods = script("default/tasks.py"), plain(STUDY)
    every = tasks.TASKS.values()
    rows = [one.n_train for one in every]
    told = f"30 real sets and 6 generators, {min(rows)} to {max(rows):,} training rows"
    assert told in methods
    chosen = [one for one in every if one.learner != "knn"]
    assert sum(one.generated for one in chosen) == 6
    kinds = Counter(one.family for one in chosen)
    told = "linear models {linear}, boosting {boosting}, forests and trees {forest}, "
    told += "support vector machines {svm}, nets {net}."
    assert told.format(**kinds) in methods
    [cancer] = [one for one in chosen if one.data == "breast_cancer"]
    fresh = len(load_breast_cancer().target) - cancer.n_train
    assert f"a single error among {fresh} fresh rows" in methods
    assert len({one.data for one in chosen}) == len(chosen) == 36
    sizes = set()
    for one in chosen:
        space = one.model()[1]
        if one.space == "random":
            sizes.add(tasks.N_DRAWS)
            continue
        sizes.add(len(ParameterGrid(space)))
    told = f"{min(sizes)} to {max(sizes)} configurations"
    assert told in methods
    guides = [f"docs/user_guide/{one}.md" for one in ("which_search", "strategies")]
    for name in ("README.md", "docs/getting_started.md", *guides):
        assert told in plain(name), name
    generated = sum(one.generated for one in chosen)
    told = f"Five of the {len(chosen) - generated} real sets and {generated} generators"
    assert told in plain("docs/user_guide/strategies.md")
    assert f"On {len(chosen)} data sets fixed" in plain("docs/getting_started.md")
    told = f"the study has two nets and {NAMED[kinds['svm']]} support vector machines"
    assert told in plain("docs/user_guide/strategies.md")
    assert kinds["net"] == 2


# The design of the default ----------------------------------------------------------


def test_variants_that_failed():
    table = pd.read_csv(RESULTS / "rules_kernel_variants.csv")
    text = plain("docs/measurements/default_strategy.md")
    design = script("rules/design_tables.py")
    problems = design.kernel_problems("rules_kernel_variants.csv")
    start = "before, wide=False, climbs=2, 10 tracked, 3 leaders, "
    worst = []
    for name in ("n_hedges=5", "late_fraction=0.3"):
        own = problems[problems["rule"] == start + name]
        lowest = own.loc[own["log_ratio"].idxmin()]
        assert lowest["problem"].startswith("noisy sinc d=4")
        worst.append(short(np.exp(lowest["log_ratio"])))
    assert start + "n_hedges=5" in set(table["rule"])
    told = "with *d* = 4 to {}, and a late look on .3 of the rows lowered it to {}."
    assert told.format(*worst) in text


def test_errors_of_neighbours_on_digits():
    """The fresh rows of the set are those that were not trained on."""
    table = pd.read_csv(RESULTS / "rules_models.csv")
    own = table[table["problem"] == "digits knn"].set_index("rule")
    n_fresh = 1797 - int(own["n_train"].iloc[0])
    full, race = (
        own["test_error"][one] for one in ("full 10-fold", "track and confirm")
    )
    counts = f"{race * n_fresh:.0f} errors instead of {full * n_fresh:.0f}"
    told = f"(digits, {full / race:.3f}: {counts})"
    assert told in plain("docs/measurements/default_strategy.md")


# Speed ------------------------------------------------------------------------------


def test_what_twenty_times_would_leave_for_boosting():
    results = script("speed/results_table.py")
    rows = results.read()
    plain_search, race = (
        results.mean_of(rows, "boosting_classes", one)
        for one in (results.PLAIN, "cvst")
    )
    told = f"would leave {plain_search / 20:.0f} s for the whole race, which takes "
    assert f"{told}{race:.0f} s" in plain("docs/measurements/speed.md")


def test_what_is_left_for_poor_grids():
    """What the races lack, by their seconds, and trees by the grid: 16 groups."""
    text = page("docs/measurements/poor_speed.md")
    poor = script("speed/poor_table.py")
    cells = poor.read()
    for name, label in (
        ("logistic_two", "logistic regression, two classes"),
        ("logistic_many", "logistic regression, six classes"),
    ):
        lacking = 20 / poor.ratio(cells, "before", name, "track_and_confirm")
        assert (
            f"{label} | 20x needs a race {lacking:.1f} times as fast as before; "
            f"it is {became_faster(cells, name, 'track_and_confirm'):.1f} times as fast"
        ) in text
    sizes, n_groups = [20, 50, 100], 16
    n_trees = 10 * n_groups * sum(sizes)
    assert (
        f"grows {n_trees:,} trees ({10 * n_groups * 3} fits of 57 on average)" in text
    )
    once = n_groups * max(sizes)
    assert f"{5 * once:,} trees in five looks" in text
    assert f"takes {once:,} trees. With the final fit that would be 16x" in text
    assert round(n_trees / (once + max(sizes))) == 16
    [task] = re.findall(
        r"RandomForestClassifier\(.*?\),\n\s+rows_of", poor_tasks(), re.S
    )
    assert re.findall(r"\[(.*?)\]", task) == [
        "20, 50, 100",
        '"sqrt", 0.1, 0.3, 0.5',
        "1, 2, 5, 10",
    ]


def became_faster(cells, name, search):
    """Return the seconds of the first draw before over those after."""
    before, after = (
        one["seconds"]
        for state in ("before", "after")
        for one in cells
        if [one["task"], one["search"], one["state"], one["repetition"]]
        == [name, search, state, 0]
    )
    return before / after


def test_what_poor_races_gained_is_told_by_their_seconds():
    """Not by their ratios to a search that was measured twice too."""
    text = page("docs/measurements/poor_speed.md")
    poor = script("speed/poor_table.py")
    cells = poor.read()
    table = poor.seconds_lines()
    assert len(table) == 6
    assert "\n".join(table) in text
    gained = {
        name: became_faster(cells, name, "track_and_confirm")
        for name in ("whole_brute", "logistic_two", "logistic_many")
    }
    told = (
        "became {whole_brute:.1f} times as fast for neighbours by brute force, and "
        "{logistic_two:.1f} and {logistic_many:.1f} times for logistic regressions"
    )
    assert told.format(**gained) in text
    assert all(became_faster(cells, "whole_tree", one) < 1 for one in poor.RACES)
    slower = [
        1 / became_faster(cells, name, poor.PLAIN)
        for name in poor.SHORT
        if name not in ("forest", "boosting")
    ]
    assert max(slower) == pytest.approx(1.5, abs=0.05)
    assert "`GridSearchCV` was measured again too, and took up to half as long" in text


def test_the_limits_of_poor_races():
    """The tables, and the seconds and counts that the sentences take from the runs."""
    text = page("docs/measurements/poor_speed.md")
    table = script("speed/limits_table.py")
    found = table.read()
    assert len(found) == len(table.TASKS) == 4
    assert "\n".join(table.lines(found)) in text
    parts = {one["task"]: table.parts(one) for one in found}
    limits = {one["task"]: table.limits(one) for one in found}
    tree, two, many, boosting = found
    twentieth = {
        one["task"]: one["configurations"] * one["full_fit_seconds"] / 2
        for one in found
    }
    missing = {
        one["task"]: one["race_seconds"] - twentieth[one["task"]] for one in found
    }
    searched = [look["searched"] for look in tree["looks"]]
    first = boosting["looks"][0]
    small, full = first["seconds"] / first["configurations"], boosting[FULL]
    five = parts["logistic_two"]["first look"] + parts["logistic_two"]["folds"]
    subsets = parts["logistic_many"]["first look"] + parts["logistic_many"]["late look"]
    told = [
        f"neighbours of {tree['plain_searched']:,} rows",
        (
            f"searches for {round(sum(searched), -3):,} (counted), and "
            f"{round(searched[0], -3):,} of them in its first look, for "
            f"{tree['looks'][0]['configurations']} configurations on "
            f"{tree['looks'][0]['test']:,} rows"
        ),
        (
            f"That look takes {parts['whole_tree']['first look']:.1f} s, and a 20th of "
            f"`GridSearchCV` is {twentieth['whole_tree']:.1f} s"
        ),
        (
            f"These take {five:.2f} s, which leaves "
            f"{twentieth['logistic_two'] - five:.2f} s for the end; it takes "
            f"{parts['logistic_two']['end']:.2f} s"
        ),
        (
            f"No bound rules it out: {missing['logistic_two']:.2f} s are missing, of a "
            "race of half a second"
        ),
        (
            f"No bound rules it out: {missing['logistic_many']:.2f} s are missing, of "
            f"{many['race_seconds']:.1f} s"
        ),
        (
            f"The subsets take {subsets:.2f} s, the five folds "
            f"{parts['logistic_many']['folds']:.2f} s, the ten folds of the last two "
            f"configurations {parts['logistic_many']['ten folds']:.2f} s"
        ),
        f"than the {missing['logistic_many']:.2f} s that are missing",
        (
            f"on {first['train']} rows takes {small:.2f} s, and one on 1,800 rows "
            f"{full:.2f} s: {full / small:.1f} times as long, for 4.5 times the rows"
        ),
        (
            f"takes {parts['boosting']['first look']:.1f} s of the "
            f"{twentieth['boosting']:.1f} s that 20x would leave, and the ten folds of "
            f"one configuration {10 * full:.1f} s"
        ),
        f"With both, {limits['boosting']['and ten folds']:.1f}x is the limit",
        (
            f"five folds take {parts['boosting']['folds']:.0f} s, and "
            f"{parts['boosting']['climbs']:.0f} s go into climbs"
        ),
        f"At most {limits['boosting']['and ten folds']:.0f}x for a race that looks",
    ]
    assert [one for one in told if one not in text] == []
    assert parts["whole_tree"]["first look"] > twentieth["whole_tree"]
    assert limits["whole_tree"]["small fits"] > 20
    assert (
        min(limits[one]["one look"] for one in ("logistic_two", "logistic_many")) > 20
    )
    assert parts["logistic_many"]["ten folds"] > missing["logistic_many"]
    assert two["configurations"] == 20
    notes = [one["note"] for one in (tree, two, many)]
    assert notes == ["5 looks, tie", "5 looks, tie", "17 looks, tie"]


FULL = "full_fit_seconds"


def poor_tasks():
    return page("benchmarks/speed/poor_tasks.py")


def test_how_boosting_does_on_larger_data():
    results = script("speed/results_table.py")
    rows = results.read()
    ratios = [
        results.mean_of(rows, task, results.PLAIN)
        / results.mean_of(rows, task, results.DEFAULT)
        for task in results.TASKS
        if task.startswith("boosting")
    ]
    told = f"[{min(ratios):.0f}x to {max(ratios):.0f}x](speed.md)"
    assert told in page("docs/measurements/poor_speed.md")


# Small studies ----------------------------------------------------------------------


def test_libraries_of_large_data_take_what_the_page_says():
    [size] = {one["before_mb"] for one in records("large.jsonl") if not one["data_mb"]}
    assert f"libraries ({size} MB)" in plain("docs/measurements/large_data.md")


def test_grids_that_were_slower_than_a_plain_search():
    """The file has a cell once more where it was measured again."""
    runs = {}
    for one in records("small_grids.jsonl"):
        ratio = np.median(np.divide(one["raced"], one["plain"]))
        runs.setdefault((one["name"], one["size"]), []).append((ratio, one))
    slower = [cell for cell in runs.values() if cell[0][0] > 1]
    text = plain("benchmarks/results/small_grids.md")
    again = [cell[-1][0] for cell in slower]
    assert len(slower) == 5
    told = "Of the five cells above 1 in the first measurement none stays there: with "
    told += f"more runs they are at {min(again):.2f} to {max(again):.2f}. Four were "
    assert told in text
    *_, (before, same_rows), (ratio, one) = runs["XGBoost, early stopping", 12]
    told = f"was at {before:.2f} with {len(same_rows['raced'])} runs, all on the same "
    assert told in text
    [of_plain] = set(one["fits"]["plain"])
    rounds = np.divide(one["rounds"]["raced"], one["rounds"]["plain"])
    told = (
        f"makes the {of_plain} fits of the plain search, on as many rows, and no more"
    )
    assert told in text
    told = "XGBoost makes as many fits as the plain search in "
    told += f"{one['fits']['raced'].count(of_plain)} of {len(one['raced'])} runs; it "
    told += f"takes {rounds.min():.2f} to {rounds.max():.2f} times the rounds, "
    told += f"{np.median(rounds):.2f} in the median, and {ratio:.2f} times the seconds"
    assert told in text
    [[(name, size), (ratio, one)]] = [
        (cell, seen[-1]) for cell, seen in runs.items() if seen[-1][0] > 1
    ]
    assert (name, size) == ("forest", 2)
    count = int(np.sum(np.greater(one["raced"], one["plain"])))
    told = f"the forest with 2 configurations, at {ratio:.3f}, slower in {count} of "
    assert told + f"{len(one['raced'])} runs" in text
    counts = [len(cell[-1][1]["raced"]) for cell in runs.values() if len(cell) > 1]
    told = f"were measured again, with {min(counts)} to {max(counts)} runs;"
    assert told in text


def test_fits_are_a_small_part_of_a_short_race_on_a_card():
    lines = records("gpu.jsonl")
    [one] = [
        line
        for line in lines
        if (line["step"], line.get("N"), line.get("strategy")) == ("KRR", 1000, "cvst")
    ]
    assert one["fit_seconds"] / one["seconds"] == pytest.approx(1 / 5, abs=0.02)
    told = 'the fits take a fifth of the time of a race with `"cvst"`'
    assert told in plain("docs/measurements/gpu.md")
    changes = [one.get("largest_relative_change", 0) for one in lines]
    assert max(changes) < 1e-7
    assert "differ by less than a part in ten million" in page(
        "docs/measurements/gpu.md"
    )


def test_the_guarantee_beside_full_cross_validation():
    """Witness: the table of the page, which has a test of its own."""
    text = page("docs/theory/guarantee.md")
    line = r"^\| ([\w, -]+) \| (full 5-fold|run) \| (\d+) \| (\d+) "
    rows = re.findall(line, text, re.M)
    counts = {(row[0], row[1]): np.array(row[2:], dtype=float) for row in rows}
    problems = dict.fromkeys(name for name, _ in counts)
    assert len(problems) == 11
    cheaper = [counts[one, "full 5-fold"] / counts[one, "run"] for one in problems]
    dear = [one for one, ratio in zip(problems, cheaper, strict=True) if min(ratio) < 1]
    assert all(one.startswith("visits") for one in dear)
    assert (
        f"In {len(dear)} of {len(problems)} problems, the guarantee cost more" in text
    )
    assert f"in {len(dear)} of {len(problems)} problems more than full" in page(
        "docs/user_guide/strategies.md"
    )
