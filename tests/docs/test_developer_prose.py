"""Numbers in the prose for developers, of the theory and of the paper's discussion."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from docs_pages import RESULTS, cells, page, plain, records, script
from scipy.stats import norm

from cvst import TrackAndConfirm
from cvst.cli.table._preparation import MOST_CATEGORIES
from cvst.evaluation import BatchEvaluator
from cvst.evaluation.svm import _fits
from cvst.race import Strategy, _track_and_confirm
from cvst.statistics import WaldTest
from cvst.theory import drop_error_bound, first_drop, safety_zone


def short(value, digits=2):
    return f"{value:.{digits}f}".removeprefix("0")


# What was run where -----------------------------------------------------------------


RAN = "docs/developer/where_it_ran.md"


def ratios(name, race, over, under):
    """Return the ratios of seconds of two versions, round by round."""
    return np.array(
        [
            one[over]["seconds"] / one[under]["seconds"]
            for one in records(name)
            if " ".join(one["race"]) == race
        ]
    )


def last_line(name):
    """Return the cells of the last line that the script prints."""
    table = script("speed/before_after.py").table(RESULTS / name)
    return [cell.strip() for cell in table.splitlines()[-1].strip("|").split("|")]


def test_the_redesign_took_the_seconds_that_the_page_says():
    name, text = "before_after.jsonl", plain(RAN)
    rounds = Counter(" ".join(one["race"]) for one in records(name))
    assert sorted(rounds.values()) == [3] * 7 + [4]
    assert (
        "Eight races of `benchmarks/speed` ran on a busy machine, three times" in text
    )
    assert "three times each and one of them four times" in text
    _, _, after, now = last_line(name)
    told = f"The redesign: {after}".replace(
        " (", " times the seconds (geometric mean; "
    )
    assert told.replace("mean; ", "mean; 90 % range ") in text
    assert f"Until November: {now}." in text
    middle = {
        (race, version): np.median(ratios(name, race, version, "before"))
        for race in rounds
        for version in ("after", "now")
    }
    first = {race: value for (race, one), value in middle.items() if one == "after"}
    ends = short(min(first.values()), 3), short(max(first.values()), 3)
    assert "By race the medians go from {} to {},".format(*ends) in text
    above = {race for race, value in first.items() if value > 1.03}
    assert above == {"ridge cvst", "lasso cvst"}
    seconds = {
        race: np.median(
            [
                o["before"]["seconds"]
                for o in records(name)
                if " ".join(o["race"]) == race
            ]
        )
        for race in above
    }
    assert seconds["lasso cvst"] == pytest.approx(1 / 5, abs=0.03)
    assert seconds["ridge cvst"] == pytest.approx(1 / 2, abs=0.05)
    assert "the two above 1.03 are short, of a fifth and half a second" in text
    last = {race: value for (race, one), value in middle.items() if one == "now"}
    two = [short(last.pop(race)) for race in ("ridge cvst", "krr cvst")]
    assert 'with `strategy="cvst"` ({} and {})'.format(*two) in text
    ends = short(min(last.values())), short(max(last.values()))
    assert "All others are between {} and {}.".format(*ends) in text


def test_all_races_took_the_seconds_that_the_page_says():
    name, text = "before_after_all.jsonl", plain(RAN)
    rounds = Counter(" ".join(one["race"]) for one in records(name))
    assert (len(rounds), max(rounds.values())) == (25, 15)
    few = [rounds[race] for race in rounds if race.startswith("boosting")]
    assert (min(few), max(few)) == (1, 3)
    mean, reach = last_line(name)[2].split(" (")
    told = (
        f"The redesign takes {mean} times the seconds (geometric mean over 25 races; "
    )
    assert f"{told}90 % range {reach}" in text
    middle = {race: np.median(ratios(name, race, "after", "before")) for race in rounds}
    ends = short(min(middle.values()), 3), short(max(middle.values()), 3)
    assert "By race the medians go from {} to {};".format(*ends) in text
    assert {race for race, value in middle.items() if value > 1.03} == {
        "forest track_and_confirm",
        "neighbours cvst",
        "klr cvst",
        "klr track_and_confirm",
        "nusvc track_and_confirm",
    }
    assert rounds["forest track_and_confirm"] == 2
    table = script("speed/before_after.py").table(RESULTS / name, 12)
    now = table.splitlines()[-1].strip("|").split("|")[-1].strip()
    assert f"Until now: {now}." in text
    longest = max(ratios(name, race, "now", "before").max() for race in rounds)
    assert round(longest) == 6


def test_rounding_took_the_seconds_that_the_page_says():
    name, text = "before_after_rounding.jsonl", plain(RAN)

    def told(race, over, under):
        found = ratios(name, race, over, under)
        assert len(found) == 5
        return [short(one) for one in (np.median(found), found.min(), found.max())]

    own = told("ridge cvst", "faster", "november")
    sentence = (
        "ridge takes {} times the seconds of 28e560b (median; rounds from {} to {})"
    )
    assert sentence.format(*own) in text
    new, old = (told("ridge cvst", one, "before") for one in ("faster", "november"))
    sentence = "and {} times those of 96dd43a, where 28e560b takes {} (rounds from {} "
    sentence += "to {} and from {} to {})"
    assert sentence.format(new[0], old[0], *new[1:], *old[1:]) in text
    new, old = (told("krr cvst", one, "before") for one in ("faster", "november"))
    sentence = "{} times those of 96dd43a ({} to {}), where 28e560b takes {} ({} to {})"
    assert sentence.format(*new, *old) in text


# The compiled solver, libraries -----------------------------------------------------


def test_what_the_compiled_solver_costs():
    text = plain("docs/developer/compiled_solver.md")
    # Where it is installed: a workflow tests the wheel, without the sources.
    folder = Path(_fits.__file__).parent / "compiled"
    lines = sum(
        len(path.read_text(encoding="utf-8").splitlines())
        for path in folder.glob("*.py")
    )
    told = f"Some {round(lines, -3):,} lines that few people will want to change"
    assert told in text
    assert (
        f"it starts after {_fits.BACKGROUND_SECONDS:.0f} seconds".replace("2", "two")
        in text
    )
    arrays = (folder / "_state.py").read_text(encoding="utf-8")
    kinds = re.findall(r"np\.empty\(\(n_points, n_points\)(?:, np\.(\w+))?\)", arrays)
    assert len(kinds) == 2
    of_pair = sum(np.dtype(kind or "float64").itemsize for kind in kinds)
    assert f"{of_pair} bytes per pair of training rows" in text


def test_most_categories_that_get_an_indicator():
    text = page("docs/developer/libraries.md")
    assert f"one indicator for each of the {MOST_CATEGORIES} most frequent" in text


# Every variant ----------------------------------------------------------------------


VARIANTS = "docs/developer/variants.md"
PEERS = ("full 10-fold", "full 5-fold", "paper", "paper, no early stopping")


def test_how_far_variants_are_apart():
    """Exact ratios, since the table has three digits."""
    design, text = script("rules/design_tables.py"), plain(VARIANTS)
    apart = {}
    for path in sorted(RESULTS.glob("rules_kernel*.csv")):
        problems = design.kernel_problems(path.name)
        own = problems[~problems["rule"].isin(PEERS)]
        means = own.groupby("rule")["log_ratio"].mean()
        apart[path.name] = 100 * np.expm1(means.max() - means.min())
    assert len(apart) == 6
    assert apart.pop("rules_kernel_3000.csv") == pytest.approx(1, abs=0.05)
    assert max(apart.values()) < 0.5
    told = "differ from each other by less than half a per cent in the mean, except on "
    assert f"{told}3,000 rows, where it is one per cent." in text


def seeds(name, **chosen):
    table = pd.read_csv(RESULTS / name)
    for column, value in chosen.items():
        table = table[table[column] == value]
    return f"{table['seed'].min()} to {table['seed'].max()}"


def test_draws_on_which_variants_were_judged():
    text = plain(VARIANTS)
    raced, default = "rules_kernel_raced.csv", "rules_kernel_default.csv"
    climbs = pd.read_csv(RESULTS / "rules_climbs.csv")
    assert set(climbs["problem"]) == {"bumps", "blocks"}
    assert "compares two climbs with four on bumps and blocks" in text
    told = f"were compared on {seeds(raced)}, and the number of climbs on "
    assert f"{told}{seeds('rules_climbs.csv')} of two problems." in text
    assert f"**Seeds {seeds(default)} are not fresh.**" in text
    design = pd.read_csv(RESULTS / default).groupby("problem")["design"].first()
    told = f"**{design.sum()} of the {len(design)} kernel problems were designed on.**"
    assert told in text
    misses = pd.read_csv(RESULTS / "rules_misses.csv")
    assert sorted(misses["seed"].unique()) == [0, 1]
    assert f"`rules_misses.csv` ({len(misses)} races, seeds 0 and 1)" in text
    used = [one["seed"] for one in records("default.jsonl")]
    told = f"**Seeds {min(used)} to {max(used)} of the tasks of `benchmarks/default`"
    assert told in text
    assert TrackAndConfirm().climbs == 4
    assert "**The default as shipped (four climbs)" in text


def test_the_rule_that_came_after_the_freeze():
    """Its numbers are those of the code, its draws those that its study names."""
    text = plain(VARIANTS)
    raced = [TrackAndConfirm()._most_after("confirm", folds) for folds in (1, 2, 3)]
    of_all, usual = _track_and_confirm.DOUBTFUL_OF_ALL_ROWS, _track_and_confirm.DOUBTFUL
    told = f"*p* > {of_all}, not {usual}, counts as about as good in the folds and in "
    assert told + "the final" in text
    told = "few configurations have the limits {}, {} and {} too"
    assert told.format(*raced) in text
    study = (RESULTS.parent / "scores" / "README.md").read_text(encoding="utf-8")
    [line] = [one for one in study.splitlines() if "*Development problems*" in one]
    splits = sorted(set(re.findall(r"(\d)(?: each)?\)", line)))
    told = "twelve development problems that are not those of the study of scores, "
    assert told + "{} or {} splits each".format(*splits[-2:]) in text
    assert re.search(r"\(9d6c9f1\) before the problems above were run again", study)
    assert "(9d6c9f1 below)" in text
    guide = plain("docs/user_guide/strategies.md")
    assert "and scores of all rows together, such as ROC AUC." in guide


@pytest.mark.parametrize("name", [VARIANTS, "docs/measurements/default_study.md"])
def test_the_frozen_rule_is_a_commit(name):
    """A clone may lack a tag; the protocol names the same commit."""
    protocol = RESULTS.parent / "default" / "PROTOCOL.md"
    [commit] = re.findall(
        r"The rule is that of commit (\w+) and is frozen", protocol.read_text("utf-8")
    )
    text = plain(name)
    assert f"frozen at commit {commit}" in text
    assert text.count("frozen-rule") == text.count(f"`git tag frozen-rule-1 {commit}`")


def test_two_climbs_and_four_on_blocks():
    table = pd.read_csv(RESULTS / "rules_climbs.csv")
    blocks = np.log(table[table["problem"] == "blocks"].set_index("climbs")["ratio"])
    [mean] = {short(np.exp(blocks[count].mean()), 3) for count in (2, 4)}
    text = plain("docs/measurements/default_strategy.md")
    assert f"on blocks it is {mean} with either (`benchmarks/rules" in text


# The discussion of the paper --------------------------------------------------------


DISCUSSION = "docs/paper/discussion.md"


def test_numbers_of_other_pages_in_the_discussion():
    """Witness: tables with tests of their own."""
    text = plain(DISCUSSION)
    study = page("docs/measurements/default_study.md").split("## By kind")[0]
    fits = cells(study, "Friedman race")[-2]
    assert f"as good as full 5-fold, {fits} times its fits" in text
    assert cells(study, "Friedman race")[5] == "as good"
    [row] = re.findall(
        r"^\| `rules_kernel_variants.csv` \| before, wide=False, climbs=2, 10 tracked, "
        r"3 leaders, n_hedges=5 \|.*$",
        page(VARIANTS),
        re.MULTILINE,
    )
    worst, problem = re.search(r"([\d.]+) \((.*?)\)", row).groups()
    assert problem.startswith("noisy sinc d=4")
    assert f"noisy sinc (d = 4) fell to {short(float(worst))} of full cross" in text


def test_what_the_discussion_says_of_options():
    """Ratios of errors and seconds to the usual race, from the runs themselves."""
    items, text = script("paper/items.py"), plain(DISCUSSION)
    words = {
        "shuffled": "the error is {} times that of the usual race",
        "twenty_steps": "With twenty steps {} at {} times the seconds",
        "quick_losers": "with a loser level of .3 {} at {};",
        "sure_differences": "with a similarity level of .01 {} at {}.",
    }
    assert set(words) == set(items.OPTIONS) - {"cvst"}
    for method, sentence in words.items():
        found = [ratios_to_usual(learner, method) for learner in ("KRR", "SVR")]
        assert all(set(counts) == {items.OPTION_REPETITIONS} for *_, counts in found)
        assert all(len(counts) == 13 for *_, counts in found)
        errors = " and ".join(f"{np.exp(m):.3f} ± {e:.3f}" for m, e, _, _ in found)
        seconds = " and ".join(f"{speed:.1f}" for _, _, speed, _ in found)
        assert sentence.format(errors, seconds) in text
        if method == "shuffled":
            assert f"at {seconds} times the seconds; neither differs from 1 by" in text
            assert all(abs(mean) < 2 * error for mean, error, _, _ in found)
            most = [np.expm1(abs(mean) + 2 * error) for mean, error, _, _ in found]
            rooms = " and ".join(f"{one:.0%}".replace("%", " %") for one in most)
            assert f"the intervals leave room for {rooms}." in text
    assert f"13 problems each, {items.OPTION_REPETITIONS} repetitions" in text


def ratios_to_usual(learner, method):
    """Return mean and error of log ratios, ratio of seconds, and runs per problem."""
    runs = pd.read_csv(RESULTS / "paper" / "runs.csv")
    runs = runs[(runs["learner"] == learner) & (runs["device"].fillna("") == "")]
    key = ["data", "d", "noise", "n_train", "repetition", "machine"]
    usual, own = runs[runs["method"] == "cvst"], runs[runs["method"] == method]
    both = own.merge(usual, on=key, suffixes=("", "_usual"))
    # Some were run on two machines.
    both = both.drop_duplicates([name for name in key if name != "machine"])
    both["log"] = np.log(both["error"] / both["error_usual"])
    both["speed"] = both["seconds"] / both["seconds_usual"]
    groups = both.groupby(["data", "d", "noise"], dropna=False)
    logs, speeds = groups["log"].mean(), groups["speed"].median()
    error = logs.std() / np.sqrt(len(logs))
    speed = np.exp(np.log(speeds).mean())
    return logs.mean(), error, speed, list(groups["log"].count())


# Theory -----------------------------------------------------------------------------


def test_what_the_page_about_the_guarantee_says_in_words():
    found, text = script("guarantee.py"), plain("docs/theory/guarantee.md")
    default = TrackAndConfirm()
    rng = np.random.default_rng(0)
    problem = found.simulated_problem(600, 6, rng, default.fold_counts)
    looks = default.planned_looks(problem)
    assert f"A race has up to {len(looks)} looks" in text
    assert rf"\approx {1 / (4 * norm.sf(np.sqrt(2))):.2f}$" in text
    told = f"{problem.n_configurations} configurations on a grid, {problem.n_samples} "
    assert f"{told}rows and level 0.05." in text
    share = found.OWN_SHARE
    told = f"(a share of {share:g}, which is {share**2:.0%} of its variance)"
    assert told.replace("0.9", ".9").replace("%", " %") in text
    runs = found.read(found.RESULTS)
    assert {one["rows"] for one in runs if one["what"] == "errors"} == {600}
    error = 100 * np.sqrt(0.05 * 0.95 / 200)
    assert f"A share of 5 % has a standard error of {error:.1f} % here." in text
    counted = [
        one["best_by_test"] / one["races"]
        for one in runs
        if (one["what"], one.get("loss"), one["mode"]) == ("errors", "0/1", "look")
    ]
    assert max(counted) > 0.05
    assert (
        "With 0/1 losses the tests of the default alone exceed 5 % over a race" in text
    )


def test_what_the_guarantee_costs_beside_full_cross_validation():
    found, text = script("guarantee.py"), plain("docs/theory/guarantee.md")
    runs = [one for one in found.read(found.RESULTS) if one["what"] == "cost"]
    table = pd.DataFrame(runs).groupby(["problem", "mode"])
    assert set(table.size()) == {3}
    model, grid, (X, _) = found._drawn("moons", 0)
    sizes = [len(values) for values in grid.values()]
    sides = " \N{MULTIPLICATION SIGN} ".join(map(str, sizes))
    assert f"Means of three draws, {len(X) // 2:,} rows." in text
    told = (
        f"grids of {sides} values: two with `{type(model).__name__}`, two with kernel"
    )
    assert told in text


def test_limits_and_zones_that_the_page_on_planning_names():
    text = plain("docs/theory/planning.md")
    shares = [f"${safety_zone(steps) / steps:.2f}\\,S$" for steps in (10, 20)]
    assert "only the reading above gives the {} and {} of the".format(*shares) in text
    assert f"With $S = 7$ the zone is {safety_zone(7):.2f}," in text
    assert first_drop(WaldTest(7)) == 1  # by the line; no race drops so early
    limits = [f"{(1 - chance) / chance:.4f}" for chance in (0.9, 0.95)]
    assert "the {} and {} above".format(*limits) in text
    ceiling = 9 / ((1 + 2 + 3) / 11)
    assert rf"\frac{{9}}{{(1+2+3)/11}} = {ceiling:g}.$$" in text
    bounds = np.array([drop_error_bound(0.9, steps) for steps in range(20, 400)])
    assert "Such numbers of steps become rarer, but there is no last one." in text
    assert np.mean(bounds[:80] > 0.15) > np.mean(bounds[80:] > 0.15) > 0
    assert bounds[0] - bounds.min() < 0.002
    assert "Beyond 20 steps the bound hardly falls any more." in text


# Protocols --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("protocol", "name"),
    [
        (Strategy, "docs/developer/add_a_strategy.md"),
        (BatchEvaluator, "docs/developer/add_a_batch_evaluator.md"),
    ],
)
def test_the_page_names_all_that_is_asked(protocol, name):
    asked = {one for one in vars(protocol) if not one.startswith("_")}
    assert len(asked) > 8
    text = page(name)
    missing = {one for one in asked if not re.search(rf"\b{one}\b", text)}
    assert not missing
