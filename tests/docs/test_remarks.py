"""Numbers in remarks below the tables of the studies are those of the files."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from docs_pages import RESULTS, cells, page, plain, records, script

from cvst.search.estimate._growth import USUAL, Growth


def short(value, digits=2):
    return f"{value:.{digits}f}".removeprefix("0")


# The design of the default ----------------------------------------------------------


DESIGN = "docs/measurements/default_strategy.md"


def log_ratios(name, rule):
    table = pd.read_csv(RESULTS / name)
    keys = ["problem", "seed"]
    full = table[table["rule"] == "full 10-fold"].set_index(keys)["test_error"]
    own = table[table["rule"] == rule].set_index(keys)["test_error"]
    return np.log(full.loc[own.index] / own).groupby("problem")


def test_problems_on_which_a_rule_is_surely_worse():
    name, text = "rules_kernel_default.csv", plain(DESIGN)
    below = {}
    for rule in pd.read_csv(RESULTS / name)["rule"].unique():
        ratios = log_ratios(name, rule)
        assert set(ratios.size()) == {9}
        assert ratios.ngroups == 34
        error = ratios.std(ddof=1) / np.sqrt(ratios.size())
        below[rule] = int((np.exp(ratios.mean() + 1.96 * error) < 0.98).sum())
    assert below.pop("paper") == 10
    assert set(below.values()) == {0}
    assert "whose upper 95 % limit is below .98; the paper's race has ten." in text
    assert "kernel machines, 34 problems, nine repetitions, 610 conf" in text
    worst = np.exp(-log_ratios(name, "paper").mean().min()) - 1
    told = f"else more, by {100 * worst:.0f} % on the worst of 34 problems"
    assert told in plain("docs/user_guide/strategies.md")


def test_problems_and_repetitions_of_the_design():
    text = plain(DESIGN)
    table = pd.read_csv(RESULTS / "rules_kernel_default.csv")
    design = table.groupby("problem")["design"].first()
    assert (design.sum(), (~design).sum()) == (27, 7)
    assert "designed on 27 of the problems; the other seven are" in text
    for rows, told in ((300, "two or three repetitions"), (3000, "one to three")):
        runs = pd.read_csv(RESULTS / f"rules_kernel_{rows}.csv")
        counts = runs.groupby("problem")["seed"].nunique()
        ends = {"two or three repetitions": (2, 3), "one to three": (1, 3)}[told]
        assert (counts.min(), counts.max()) == ends
        assert f"`rules_kernel_{rows}.csv`, {told}" in text
    assert f"one to three, and one on {(counts == 1).sum()} of the problems" in text
    climbed = pd.read_csv(RESULTS / "rules_climbs.csv")["problem"].nunique()
    n_others = len(design) - climbed
    assert f"The other {n_others} problems were not run with four climbs" in text
    models = pd.read_csv(RESULTS / "rules_models.csv")
    sets = models["problem"].str.split().str[0]
    assert sets.nunique() == 15
    assert sets[models["n_train"] < 1000].nunique() == 2
    sizes = models["n_configurations"]
    told = "on fifteen real data sets (1000 rows, two sets fewer; "
    assert f"{told}{sizes.min()} to {sizes.max()} configurations, one" in text
    twice = models.groupby("problem")["seed"].nunique()
    assert sorted(twice[twice > 1].index.str.split().str[1]) == [
        *["boosting"] * 4,
        "forest",
    ]


# Speed ------------------------------------------------------------------------------


def test_samples_and_draws_of_the_speed_runs():
    table, text = (
        pd.read_csv(RESULTS / "speed.csv"),
        plain("docs/measurements/speed.md"),
    )
    timed = table[table["method"] == "GridSearchCV cv=10"]
    parts = timed.groupby("n_configurations")["note"].unique().map(list).to_dict()
    large = parts.pop(610)
    assert large == ["scaled up from 30 configurations"]
    assert {one for notes in parts.values() for one in notes} == {
        "scaled up from 12 configurations"
    }
    assert "was timed on 30 of 610 configurations, or on 12" in text
    draws = table[table["method"] == "HalvingGridSearchCV"].groupby("task").size()
    assert set(draws[draws == 10].index) == {"krr", "neighbours", "ridge", "lasso"}
    assert "The four cheap tasks have ten draws. Full grids and halving" in text


def test_draws_of_logistic_regressions_are_as_far_apart_as_told():
    poor = script("speed/poor_table.py")
    found = poor.read()
    apart = []
    for name in ("logistic_two", "logistic_many"):
        for search in poor.RACES:
            both = poor.ratio(found, "after", name, search)
            for draw in (0, 1):
                own = [one for one in found if one["repetition"] == draw]
                apart.append(abs(poor.ratio(own, "after", name, search) / both - 1))
    assert len(apart) == 8
    assert max(apart) == pytest.approx(1 / 3, abs=0.02)
    told = "of the two draws of logistic regressions are up to a third from the ones"
    text = plain("docs/measurements/poor_speed.md")
    assert told in text
    [forest] = [
        one
        for one in found
        if (one["task"], one["search"]) == ("forest", "track_and_confirm")
    ]
    assert forest["note"] == "5 looks, tie"
    assert "8,000 trees in five looks on four fifths of the rows" in text
    assert "It ended in a tie" in text


# Small studies ----------------------------------------------------------------------


def test_what_the_page_says_of_races_on_a_card():
    lines, text = records("gpu.jsonl"), plain("docs/measurements/gpu.md")
    peaks = [f"{one['TFLOPs']:.0f}" for one in lines if one["step"] == "peak"]
    told = "of doubles reach {} TFLOP/s on this card, and stacks of smaller ones, as in"
    assert f"{told.format(peaks[0])} a look, {peaks[1]}." in text

    def race(size, strategy):
        asked = ("KRR", size, strategy)
        [one] = [
            line
            for line in lines
            if (line["step"], line.get("N"), line.get("strategy")) == asked
        ]
        return one

    share = race(10_000, "cvst")["share_of_peak"]
    assert f"A race on 10,000 rows uses {100 * share:.0f} % of that" in text
    dense = race(50_000, "track_and_confirm")["dense_share_of_peak"]
    assert 20 < dense < 25
    assert (
        "At the full speed of the card they would take over twenty times as long."
        in text
    )
    assert len(race(1000, "track_and_confirm")["looks"]) == 17
    assert "its seventeen looks came one after the other" in text
    earlier = [
        f"{one['seconds']:.2f} s instead of {race(one['N'], 'cvst')['seconds']:.2f} s"
        for one in lines
        if one["step"] == "low rank" and one["from_operations"] == 1e12
    ]
    assert '{} with `"cvst"` at 10,000 rows, {} at 20,000'.format(*earlier) in text
    runs = {kind: [one for one in lines if one["step"] == kind] for kind in (
        "same krr", "same klr"
    )}  # fmt: skip
    low_rank = [one for one in runs["same krr"] if "low rank" in one["run"]]
    counts = len(runs["same krr"]) - len(low_rank), len(runs["same klr"])
    assert (*counts, len(low_rank)) == (10, 3, 1)
    told = "ten runs of the R package with kernel ridge regression, three with kernel "
    assert f"{told}logistic regression, one race with features of low rank" in text


def test_fits_of_finetune_and_the_time_of_hyperband():
    runs = pd.DataFrame(records("peers.jsonl")).pivot(index="seed", columns="search")
    races = [f"R: finetune `tune_race_{one}`" for one in ("anova", "win_loss")]
    for name in races:
        shares = runs["fits"][name] / runs["fits"]["R: `tune_grid`"]
        assert shares.mean() == pytest.approx(2 / 3, abs=0.04)
        same = runs["winner"][name].map(str) == runs["winner"]["R: `tune_grid`"].map(
            str
        )
        assert same.all()
    text = plain("docs/measurements/peers.md")
    told = "both races chose what `tune_grid` chose, on every draw, with about two"
    assert f"{told} thirds of its fits" in text
    guide = plain("docs/user_guide/which_search.md")
    assert "chose what R's full search chose with about two thirds of its fits" in guide
    seconds = runs["seconds"].median()
    hyperband, race = "net: dask-ml `HyperbandSearchCV`", "net: `RaceGridSearchCV`"
    assert seconds[hyperband] < seconds[race] / 2
    assert "Hyperband** took less than half the time of the race" in text
    theirs, plain_search = "dask-ml `GridSearchCV`", "`GridSearchCV`"
    assert (
        runs["winner"][theirs].map(str) == runs["winner"][plain_search].map(str)
    ).all()


def test_what_is_said_of_scores_is_in_their_tables():
    """Witness: the tables of the page, which have tests of their own."""
    text = page("docs/measurements/scores.md")
    seconds = {
        name: float(cells(text, name)[4])
        for name in ("roc_auc", "f1_macro", "balanced_accuracy", "average_precision")
    }
    assert "**All but the callable are as fast as wanted.**" in text
    assert max(seconds.values()) <= 1.2 < float(cells(text, "top_tenth")[4])
    fits = [float(cells(text, n)[6]) / float(cells(text, n)[5]) for n in seconds]
    assert "they are 7 to 11 % more for each operation" in text
    assert (round(min(fits), 2), round(max(fits), 2)) == (1.07, 1.11)
    assert "balanced accuracy and macro F1 alone the mean is below .995" in text
    assert "in both cases within one standard error of it" in text
    for name in ("balanced_accuracy", "f1_macro"):
        quality = cells(text, name)[2]
        mean, error = map(float, quality.split(" ± "))
        assert mean < 0.995 < mean + error
        assert quality in text.split("**The choices")[1]
    assert "log loss tells four of five configurations from the leader" in text
    shares = {
        name: float(cells(text, name)[3][:-1]) for name in ("log loss", "roc auc")
    }
    assert shares["log loss"] == pytest.approx(80, abs=3)
    assert shares["roc auc"] < 50
    assert "and ROC AUC fewer than half" in text


def test_the_heads_of_written_pages_are_those_of_their_records():
    runs = records("forecasts.jsonl")
    told = f"{sum('took' in one for one in runs)} of {len(runs)} races ran to their end"
    assert told in plain("benchmarks/results/forecasts.md")
    text = page("benchmarks/results/plain_time.md")
    rows = re.findall(r"^\| .* s \| ([\d.]+) \|$", text, re.MULTILINE)
    ratios = [float(one) for one in rows]
    within = np.mean([0.5 <= one <= 2 for one in ratios])
    told = f"{len(ratios)} searches: {within:.0%} within a factor of two; ratios from "
    told += f"{min(ratios):.2f} to {max(ratios):.2f}, median {np.median(ratios):.2f}; "
    assert f"{told}{sum(one > 1.5 for one in ratios)} above 1.5." in text


# Guides -----------------------------------------------------------------------------


def test_races_whose_growth_was_guessed():
    """A guess is the usual share of the standard error; what was seen is not."""
    summary = script("estimate/summary.py")
    races = summary.stored.read(summary.HELD_OUT)
    made = [one[summary.RACE]["evidence"] for one in races]
    guessed = sum(one["growth"]["gain"] == USUAL * one["error"] for one in made)
    text = plain("docs/user_guide/estimate.md")
    assert f"in {guessed:,} of the {len(races):,} races of the table." in text


def test_the_race_of_the_figure_of_paths():
    pytest.importorskip("matplotlib")
    race = script("../docs/user_guide/make_figures.py").fitted_search().race_
    dropped = int((~race.active).sum())
    text = plain("docs/user_guide/strategies.md")
    told = f"dropped: {dropped} that had won none of three looks."
    assert told in text
    assert f"A race of {len(race.active)} kernel machines" in text
    assert len(race.observations) == 4
    assert "the race ended after four looks of ten" in text


def test_the_first_race_of_the_pictures():
    """The race of the readme's first example, look by look."""
    pytest.importorskip("matplotlib")
    race = script("../docs/user_guide/make_figures.py").first_race().race_
    looks = [
        (one.look.stage, len(one.look.configurations)) for one in race.observations
    ]
    first, late, folds = race.observations[:3]
    left = set(first.look.configurations) - set(first.drops)
    back = set(late.look.configurations) - left
    text = plain("docs/user_guide/strategies.md")
    told = f"After the first look {len(left)} are left. The late look has "
    told += f"{len(late.look.configurations)}, ten of which had been dropped and come "
    told += f"back; {len(folds.look.configurations)} enter the folds, two the final."
    assert told in text
    assert len(back) == 10
    assert ("final", 2) in looks
    assert f"A race of {len(race.active)} support vector machines" in text
    for name in ("README.md", "docs/index.md"):
        assert f"{len(race.active)} support vector machines, one per row" in plain(name)


def test_growth_that_is_guessed_is_that_of_the_tuning_races():
    by_problem = {}
    for one in records("estimate_tuning.jsonl"):
        known = one["evidence"]
        growth = Growth(**known["growth"])
        if growth.left:
            value = growth.value(known["optimism"]) / known["error"]
            by_problem.setdefault(one["problem"], []).append(value)
    mean = np.mean([np.mean(values) for values in by_problem.values()])
    assert round(mean, 2) == USUAL
    told = f"{USUAL} standard errors from four fifths of the rows to all, whatever the "
    told += f"number of rows. That is the mean over {len(by_problem)} other problems."
    assert told in plain("docs/user_guide/estimate.md")


def test_numbers_that_the_page_on_strategies_repeats():
    text = plain("docs/user_guide/strategies.md")
    races = pd.read_csv(RESULTS / "rules_misses.csv")
    counts = ("n_late", "n_folds_run", "n_final_folds_run")
    late, folds, final = (races[name].mean() for name in counts)
    told = f"they were *L* = {late:.0f}, *F* = {folds:.0f} and *G* = {final:.0f} on"
    assert told in text
    [size] = races["n_first"].unique()
    assert f"In [{len(races)} races of {size} kernel machines]" in text
    study = page("docs/measurements/misses.md")
    told = f"ran {len(races)} races of kernel least squares on "
    assert f"{told}{races['problem'].nunique()} such problems" in study
    [n_rows] = races["n_train"].unique()
    assert f"Each problem has {n_rows} rows, {size} configurations" in study
    small = cells(page("docs/measurements/default_study.md"), "Fewer than 2,000 rows")
    told = f"{small[1]} of its 36 sets have fewer than 2,000 rows; there {small[7]} of"
    assert told in text
    assert "It took 1.2 to 2.5 times the operations" in text
    assert "costs 1.2 to 2.5 times the operations" in page("docs/theory/guarantee.md")


def test_our_seconds_beside_more_seconds_of_the_best_peers():
    study = page("docs/measurements/everyday.md").split("## The first twelve")[0]

    def gap(ours, theirs):
        [row] = re.findall(rf"^\| {ours} s \| {theirs} s \|.*$", study, re.MULTILINE)
        return float(row.split("|")[6].split()[0])

    near, far, late = (
        gap(15, "smac 60"),
        gap(15, "optuna_tpe_wilcoxon 60"),
        gap(60, "smac 240"),
    )
    assert near < 0
    assert far < 0
    assert late > 0
    minus = "\N{MINUS SIGN}"
    text = plain("docs/user_guide/proposing.md")
    told = f"(differences {minus}{short(-near)} and {minus}{short(-far)})"
    assert told in text
    assert f"its 60 s are not worth 240 s of SMAC3 (+{short(late)})" in text


def test_memory_of_a_look_is_about_as_told():
    runs = records("memory.jsonl")
    most = max(one["grown"] for one in runs if "grown" in one) / 1e6
    assert round(most, -2) == 400
    for name in ("large_data", "planning"):
        told = "about 400 MB with all that is computed from them"
        assert told in plain(f"docs/user_guide/{name}.md").replace("\n", " ")


def test_grids_and_rows_of_small_studies():
    few = script("rules/few_summary.py").read()
    text = plain("docs/measurements/few_configurations.md")
    grids = few[few["rule"] == "five folds"]
    sizes = grids["size"]
    told = (
        f"Both rules ran on {len(grids)} grids of {sizes.min()} to {sizes.max()} conf"
    )
    assert told in text
    pairs = grids.groupby(["data", "model"]).ngroups
    assert f"losses is over the {pairs} pairs of a data set and a model" in text
    assert f"Over the {len(grids)} grids, as if they were independent" in text
    assert grids["data"].nunique() == 7
