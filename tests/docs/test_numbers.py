"""Numbers on the pages are those of the result files."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from docs_pages import RESULTS, cells, page, plain, records, script


def log_ratios(table, rule):
    """Return how much better a rule's choices are than those of full 10-fold."""
    keys = ["problem", "seed"]
    full = table[table["rule"] == "full 10-fold"].set_index(keys)
    own = table[table["rule"] == rule].set_index(keys)
    return own, full, np.log(full["test_error"].loc[own.index] / own["test_error"])


def per_cent(share, digits=1):
    return f"{100 * share:.{digits}f} %"


def mean_and_error(ratios):
    """Return a mean ratio with one standard error over problems, as pages print it."""
    problems = ratios.groupby("problem").mean()
    mean, error = np.exp(problems.mean()), problems.sem()
    return f"{mean:.3f} ± {error:.3f}".replace("0.", ".")


@pytest.mark.parametrize("name", ["README.md", "docs/user_guide/speed.md"])
def test_the_front_table_is_that_of_the_speed_runs(name):
    assert "\n".join(script("front_table.py").lines()) in page(name)


def test_the_table_of_poor_races_is_that_of_its_cells():
    table = script("speed/poor_table.py").lines()
    assert len(table) == 8
    assert "\n".join(table) in page("docs/measurements/poor_speed.md")


def test_the_table_of_scores_is_that_of_its_study():
    summary = script("scores/summary.py")
    cells_found = summary.read(RESULTS / "scores.jsonl")
    table = summary.lines(cells_found)
    text = page("docs/measurements/scores.md")
    assert "\n".join(table[2:]) in text
    assert {(one["problem"], one["split"]) for one in cells_found} == {
        (problem, split)
        for problem in {one["problem"] for one in cells_found}
        for split in (0, 1)
    }
    assert len(cells_found) == 24
    # The prose says how much the scores cost for each operation, the callable apart.
    last = [float(cells(text, name)[-1]) for name in summary.SCORES[1:-1]]
    assert "3 to 6 % more seconds for each operation" in text
    assert (min(last), max(last)) == (1.03, 1.06)
    assert "28 % more seconds for each" in text
    assert float(cells(text, "top_tenth")[-1]) == 1.28
    seconds = [float(cells(text, name)[4]) for name in summary.SCORES[1:]]
    told = (
        f"take {min(seconds):.2f} to {sorted(seconds)[-2]:.2f} times as long, the one"
    )
    assert f"{told} on a plain function {max(seconds):.2f} times." in text
    mean = np.exp(np.mean(np.log(seconds)))
    assert f"The geometric mean of the five is {mean:.2f}." in text
    more = [float(cells(text, name)[5]) for name in summary.SCORES[1:-1]]
    ratios = [
        summary.relative(one, name, "seconds")
        for one in cells_found
        for name in summary.SCORES[1:-1]
    ]
    assert f"from {min(ratios):.1f} to {max(ratios):.1f} times" in text
    assert "The operations are 7 % fewer to 11 % more than on log loss" in text
    assert (min(more), max(more)) == (0.93, 1.11)


def test_earlier_races_on_scores_differ_in_seconds_only():
    summary = script("scores/summary.py")
    now, before = (
        summary.read(RESULTS / f"scores{which}.jsonl") for which in ("", "_second")
    )
    for one, other in zip(now, before, strict=True):
        for name, found in one["scores"].items():
            same = {"seconds": other["scores"][name]["seconds"]}
            assert found["seconds"] == np.median(found.pop("seconds_of_runs"))
            assert found | same == other["scores"][name]
    text = page("docs/measurements/scores.md")
    names = ("roc_auc", "f1_macro", "balanced_accuracy", "average_precision")
    shown = [
        float(summary.row(before, name)[0].split("|")[5])
        for name in (*names, "top_tenth")
    ]
    labels = "ROC AUC", "macro F1", "balanced accuracy", "average precision"
    for seconds, label in zip(shown, (*labels, "plain function"), strict=True):
        assert f"{seconds:.2f} ({label})" in text
    all_seconds = [s["seconds"] for one in before for s in one["scores"].values()]
    assert np.median(all_seconds) < 1


def test_races_on_scores_by_later_code_cost_what_the_page_says():
    summary = script("scores/summary.py")
    now, later = (
        {(one["problem"], one["split"]): one["scores"] for one in summary.read(path)}
        for path in (RESULTS / "scores.jsonl", RESULTS / "scores_later.jsonl")
    )
    assert now.keys() == later.keys()
    for cell, scores in now.items():
        for name in scores.keys() - {"top_tenth"}:
            for what in ("choice", "operations", "fits"):
                assert scores[name][what] == later[cell][name][what]
    found = summary.read(RESULTS / "scores_later.jsonl")
    rows = {
        name: [cell.strip() for cell in summary.row(found, name)[0].split("|")]
        for name in summary.SCORES
    }
    quality, _, seconds, operations = rows.pop("top_tenth")[3:7]
    others = [float(rows[name][5]) for name in summary.SCORES[1:-1]]
    text = page("docs/measurements/scores.md")
    assert (
        f"the same quality ({quality.split()[0]}) with "
        f"{100 * (float(operations) - 1):.0f} % more operations than log loss, not 7, "
        f"and took {seconds} times the seconds, no fewer than before; the others took "
        f"{min(others):.2f} to {max(others):.2f} times."
    ) in text
    before = summary.row(summary.read(RESULTS / "scores.jsonl"), "top_tenth")[0]
    assert [cell.strip() for cell in before.split("|")][3:6:2] == [
        quality,
        seconds,
    ]


def test_the_table_of_callables_is_that_of_its_races():
    callables = script("scores/callables.py")
    found = callables.read()
    assert len(found) == 24
    text = page("docs/measurements/scores.md")
    assert "\n".join(callables.lines(found)) in text
    assert all(one["shared"]["choice"] == one["alone"]["choice"] for one in found)


def test_the_table_of_power_is_that_of_its_bootstrap():
    power = script("scores/power.py")
    found = power.read()
    assert len({one["problem"] for one in found}) == len(found) == 10
    text = page("docs/measurements/scores.md")
    assert "\n".join(power.lines(found)) in text
    clear = [float(line.split("|")[-2].strip(" %")) for line in power.lines(found)[2:]]
    assert clear[0] > 80
    assert clear[1] < 50


def test_distances_are_those_of_a_mean_over_rows():
    """For a mean over rows the bootstrap's standard error is known."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 2_000)
    right = rng.random((2, len(y))) < [[0.9], [0.8]]
    probabilities = np.where(right, y, 1 - y).astype(float)
    power = script("scores/power.py")
    (behind,) = power.excess(y, probabilities, lambda y, p: np.mean((p > 0.5) == y))
    gap = right[0].astype(float) - right[1]
    halves = [gap[y == one] for one in (0, 1)]
    error = np.sqrt(sum(half.var() / len(half) for half in halves)) / 2
    assert behind == pytest.approx(gap.mean() / error, rel=0.25)


def test_getting_started_shows_what_was_measured():
    lines = script("getting_started.py").lines()
    assert "\n".join(lines) in page("docs/getting_started.md")


def test_the_page_about_estimates_shows_what_was_measured():
    summary, text = script("estimate/summary.py"), page("docs/user_guide/estimate.md")
    problems = summary.read(summary.HELD_OUT)
    assert "\n".join(summary.lines(problems)) in text
    assert summary.words(problems) in text
    assert summary.words_by_score(problems) in text


def test_estimates_hold_as_often_as_they_say():
    """The promise of the page: 85 to 95 %, and a tenth of a plain search's bias."""
    summary = script("estimate/summary.py")
    problems = summary.read(summary.HELD_OUT)
    assert len(problems) >= 30
    assert min(len(one.told) for one in problems) >= 40
    for family in summary.FAMILIES:
        part = [one for one in problems if one.family == family]
        assert 0.85 <= summary.coverage(part) <= 0.95
    told, plain = summary.told_bias(problems)[0], summary.plain_bias(problems)[0]
    assert abs(told) < 0.1 * plain
    text = page("docs/user_guide/estimate.md")
    part = {
        family: [one for one in problems if one.family == family]
        for family in summary.FAMILIES
    }
    plain = {family: summary.plain_bias(part[family])[0] for family in part}
    above = [
        family
        for family in part
        if abs(summary.told_bias(part[family])[0]) > 0.1 * plain[family]
    ]
    assert above == ["linear", "kernel"]
    assert plain["linear"] == min(plain.values())
    assert "For linear models alone, whose `best_score_` is the least optimis" in text
    assert "and for kernel machines alone the ratio is above a tenth." in text
    by_log_loss = [one for one in problems if one.score == "neg_log_loss"]
    assert summary.coverage(by_log_loss) < 0.85
    assert "Intervals of the log loss hold less often than they say." in text


STUDY = "docs/measurements/default_strategy.md"
RULES = {
    "full 5-fold": "full 5-fold",
    '`"cvst"`': "paper",
    "`TrackAndConfirm(climbs=2)`": "track and confirm, climbs=2",
    "`TrackAndConfirm(climbs=2, n_folds=3)`": "track and confirm, climbs=2, n_folds=3",
}


@pytest.mark.parametrize("shown", RULES)
def test_how_often_a_rule_is_worse(shown):
    table = pd.read_csv(RESULTS / "rules_kernel_default.csv")
    own, full, ratios = log_ratios(table, RULES[shown])
    same = np.isclose(own[["gamma", "alpha"]], full[["gamma", "alpha"]].loc[own.index])
    expected = [
        str(len(own)),
        per_cent(same.all(axis=1).mean(), 0),
        *(per_cent((ratios < -np.log(limit)).mean()) for limit in (1.02, 1.05, 1.1)),
        per_cent((ratios > np.log(1.02)).mean()),
    ]
    section = page(STUDY).split("## How often is it worse?")[1].split("## ")[0]
    assert cells(section, shown)[1:] == expected


def test_the_ratio_on_other_models():
    table = pd.read_csv(RESULTS / "rules_models.csv")
    _, _, ratios = log_ratios(table, "track and confirm")
    problems = ratios.index.get_level_values("problem")
    others = ratios[~problems.str.endswith("knn")]
    assert others.index.get_level_values("problem").nunique() == 23
    assert f"is {mean_and_error(others)}" in page(STUDY)


EVIDENCE = "docs/measurements/default_study.md"


@pytest.fixture(scope="module")
def study():
    """Return the summary of the study of the default, and its lines."""
    pytest.importorskip("lightgbm")
    summary = script("default/summary.py")
    return summary, summary.read(RESULTS / "default.jsonl")


def without_verdict(row):
    """Return the cells of a row that the guide keeps."""
    method, _, _, loss, interval, _, *rest = row
    return [method, loss, interval, *rest]


def test_the_study_of_the_default_is_what_the_summary_prints(study):
    summary, (lines, n_failed) = study
    text = page(EVIDENCE)
    chosen = summary.parts()[summary.ALL]
    main = summary.table(lines, summary.ALL, chosen).split("\n\n")[1]
    section = text.split("## All methods")[1].split("## ")[0]
    assert main in section
    assert summary.by_part(lines) in text
    assert summary.every_table(lines) in text
    assert summary.opening(lines, n_failed).startswith("2,340 cells, 0 failed; 10 of")


def test_the_guide_keeps_the_main_table_of_the_study(study):
    summary, (lines, _) = study
    guide = page("docs/user_guide/strategies.md").split("## Measured")[1]
    for method in summary.method_names(lines):
        row = cells(summary.row(lines, method, summary.parts()[summary.ALL]), method)
        assert cells(guide, method) == without_verdict(row)


def test_the_worst_tasks_of_the_study(study):
    """Those with a race over 5 % worse, and no others."""
    summary, (lines, _) = study
    rows = summary.by_task(lines).splitlines()[2:]
    worst = [row for row in rows if not row.endswith("| 0 |")]
    section = page(EVIDENCE).split("## Tail risk")[1].split("## ")[0]
    shown = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert shown == worst
    assert len(worst) == 5


def test_sentences_with_numbers_of_the_study(study):
    """Readme, guide and the study's own text say what its file says."""
    summary, (lines, _) = study
    found = {
        part: cells(summary.row(lines, summary.DEFAULT, chosen), summary.DEFAULT)
        for part, chosen in summary.parts().items()
    }
    every = found[summary.ALL]
    loss, (low, high) = every[3], re.findall(r"[+-][\d.]+", every[4])
    over, more, operations, fits, seconds = every[7:]
    small, large = found["Fewer than 2,000 rows"], found["2,000 rows and more"]
    readme = " ".join(page("README.md").split())
    rounded = [f"{float(text.split()[0]):+.1f}" for text in (loss, low, high)]
    shown = [text.replace("-", "\N{MINUS SIGN}") for text in rounded]
    assert (
        f"{shown[0]} % on average, 90 % interval {shown[1]} to {shown[2]} %" in readme
    )
    assert f"over 5 % worse in {over} of {every[2]} races" in readme
    assert f"for {seconds[1:]} of the processor seconds" in readme
    evidence = " ".join(page(EVIDENCE).split())
    shares = f"{operations[1:]} of the operations, {fits[1:]} of the fits and"
    tail = f"{over} were over 5 % worse than full 5-fold, and {more} over 10 %"
    rows = f"more it was {large[7]} and none, with fewer {small[7]} and {small[8]}"
    for sentence in (
        f"{loss[1:]} lower on average",
        f"from {low[1:]} % lower to {high[1:]} % higher",
        f"took {shares} {seconds[1:]} of the processor seconds",
        f"In {over} of the races the choice was over 5 % worse",
        f"Over all {every[2]} races {tail}",
        f"With 2,000 rows and {rows}",
    ):
        assert sentence in evidence, sentence
    assert large[8] == "0.0 %"
    guide = " ".join(page("docs/user_guide/strategies.md").split())
    assert f"{operations[1:]} of the operations and {seconds[1:]} of the sec" in guide
    told = f"default_study.md) there were {every[2]} races. In {over} of them "
    told += (
        "the choice was over 5 % worse than that of full 5-fold cross-validation, and "
    )
    told += (
        f"in {more} over 10 % worse. With 2,000 rows and more it was {large[7]} and "
    )
    assert f"{told}none." in guide
    for name in ("docs/getting_started.md", "docs/user_guide/which_search.md"):
        assert f"for {seconds[1:]} of its " in page(name), name
    which = page("docs/measurements/peers.md")
    guide = page("docs/user_guide/which_search.md")
    chosen = summary.parts()[summary.ALL]
    others = {
        name: cells(summary.row(lines, name, chosen), name)
        for name in summary.method_names(lines)
    }
    least = others["halving"][9][1:]
    assert f"({least} of full 5-fold, the race {operations[1:]})" in which
    told = f"({others['Optuna'][3][1:]} below full 5-fold's, the race {loss[1:]})"
    assert told in which
    assert f"halving took {others['halving'][11]} and" in which
    assert f"its pruner {others['Optuna'][11]} times as many seconds" in which
    costs = {name: float(row[9]) for name, row in others.items()}
    assert min(costs, key=costs.get) == "halving"
    assert "Halving and Optuna took more seconds than full 5-fold there" in guide
    assert all(float(others[name][11]) > 1 for name in ("halving", "Optuna"))
    losses = {name: float(row[3].split()[0]) for name, row in others.items()}
    assert "Optuna's choices had the lowest loss, by less than the noise" in guide
    assert min(losses, key=losses.get) == "Optuna"


def test_the_reservation_about_the_study(study):
    """The sets that the rule for few configurations was chosen on."""
    summary, (lines, _) = study
    few = pd.read_csv(RESULTS / "rules_few.csv")
    seen = {"breast_cancer" if one == "cancer" else one for one in few["data"]}
    sets = {task.data for task in summary.TASKS.values()}
    assert seen & sets == summary.SEEN
    row = summary.row(lines, summary.DEFAULT, summary.parts()[summary.UNSEEN])
    _, n_sets, _, loss, interval, verdict, *_ = cells(row, summary.DEFAULT)
    low, high = re.findall(r"[+-][\d.]+", interval)
    evidence = " ".join(page(EVIDENCE).split())
    told = f"Without them the loss is {loss[1:]} higher than that of full 5-fold's"
    assert told in evidence
    assert f"from {low[1:]} % lower to {high[1:]} % higher. That is just" in evidence
    assert f"for the {n_sets} other sets alone the protocol's verdict is" in evidence
    assert f"verdict is *{verdict}*" in evidence
    others = (set(script("default/data_sets.py").EVERYDAY) & sets) - summary.SEEN
    assert len(others) == 9
    assert f"Nine of the {n_sets} had been in a comparison" in evidence
    rounded = [f"{float(text.split()[0]):+.1f}" for text in (loss, low, high)]
    shown = [text.replace("-", "\N{MINUS SIGN}") for text in rounded]
    readme = " ".join(page("README.md").split())
    assert f"Without them it is {shown[0]} %, {shown[1]} to {shown[2]} %" in readme
    # Those with fewer than thirty fits have the cost of the raced folds.
    same = [
        name
        for name in summary.parts()[summary.ALL]
        if all(
            lines[name, summary.DEFAULT, seed]["operations"]
            == lines[name, "raced 5-fold", seed]["operations"]
            for seed in range(10)
        )
    ]
    assert {name.split()[0] for name in same} == {"taxi", "nlswork", "friedman3"}


def test_tasks_that_the_study_tells_of(study):
    """The net on texture, and where the default took longer than full 5-fold."""
    summary, (lines, _) = study
    [net] = re.findall(r"\| texture net .*", summary.by_task(lines))
    _, _, mean, worst, over = cells(net, "texture net")
    evidence = page(EVIDENCE)
    assert f"{mean[1:]} worse on average" in evidence
    assert f"{worst[1:]} on one split" in evidence
    assert f"{mean[1:]} worse" in page("docs/user_guide/strategies.md")
    assert over == "3"
    slower = []
    for name in summary.parts()[summary.ALL]:
        [values] = summary.ratios(lines, summary.DEFAULT, "seconds", [name]).values()
        times = np.exp(np.mean(values))
        slower += [f"{name} ({times:.2f})"] if times > 1 else []
    assert len(slower) == 4
    assert all(text in evidence for text in slower), slower


FIRST_TASKS = ("held_out_seeds", "held_out", "held_out_again", "held_out_second")


@pytest.mark.parametrize(
    ("split", "names"), [("later", ("later",)), ("held_out", FIRST_TASKS)]
)
def test_everyday_tuning_is_what_the_summary_prints(split, names):
    summary = script("everyday/summary.py")
    files = [RESULTS / f"everyday_{name}.jsonl" for name in names]
    results = summary.regrets(summary.read(files, split))
    text = summary.markdown(results, "race", level=3)
    assert text.strip() in page("docs/measurements/everyday.md")
    if split == "later":
        by_task = summary.by_task(results, level=3)
        assert by_task.strip() in page("docs/measurements/everyday.md")


def test_ensembles_of_everyday_tuning_are_those_of_the_files():
    ensembles = script("everyday/ensembles.py")
    text = page("docs/measurements/everyday.md")
    assert ensembles.later() in text
    assert all(part in text for part in ensembles.table().split("\n\n"))
    kept = [
        one
        for one in records("everyday_later_ensemble.jsonl")
        if "members" in one and one["seconds"] == 60
    ]
    assert f"It was kept on {len(kept)} of 16 tasks" in text
    assert all(one["loss"] < one["alone"] for one in kept)
    rows = [line.split("|") for line in ensembles.later().splitlines()[2:]]
    mean = {(one[1].strip(), one[2].strip()): float(one[4]) for one in rows}
    smac = mean["smac, this machine", "60"]
    with_one = mean["race_ensemble, this machine", "60"] / smac
    alone = mean["race, this machine", "60"] / smac
    assert f"{with_one:.2f}".lstrip("0") + " times that of SMAC3" in text
    assert "it is " + f"{alone:.2f}".lstrip("0") + " times that" in text


def test_everyday_tuning_in_guides_and_readme():
    summary = script("everyday/summary.py")
    files = [RESULTS / "everyday_later.jsonl"]
    results = summary.regrets(summary.read(files, "later"))
    found = summary.table(results).set_index(["search", "seconds"])

    def shown(search, column="mean"):
        return [
            f"{found.loc[(search, seconds), column]:.2f}".lstrip("0")
            for seconds in (15, 60, 240)
            if (search, seconds) in found.index
        ]

    which = page("docs/user_guide/which_search.md").split("## Measured")[1]
    guide = page("docs/user_guide/proposing.md").split("240 s: mean, median")[1]
    for name, search in {
        "`RaceSearchCV`": "race",
        "SMAC3": "smac",
        "Optuna TPE + WilcoxonPruner": "optuna_tpe_wilcoxon",
        "Optuna TPE": "optuna_tpe",
    }.items():
        assert [one for one in cells(which, name)[1:] if one] == shown(search), name
        both = zip(shown(search), shown(search, "median"), strict=True)
        told = name + ", 5 folds" if "Optuna" in name else name
        assert [one for one in cells(guide, told)[1:] if one] == [
            f"{mean}, {median}" for mean, median in both
        ], name
    readme = " ".join(page("README.md").split())
    ours, smac, pruner = map(shown, ("race", "smac", "optuna_tpe_wilcoxon"))
    assert "{} after 15 s, {} after 60 s and {} after 240 s".format(*ours) in readme
    assert "SMAC3 had {}, {} and {}".format(*smac) in readme
    [plain_tpe] = shown("optuna_tpe")
    told = "with its pruner {}, {} and {} (without it {} after 60 s)"
    assert told.format(*pruner, plain_tpe) in readme
    ran = {one for one, _ in found.index} - {"race", "default"}
    assert ran == {"smac", "optuna_tpe_wilcoxon", "optuna_tpe"}


def test_what_the_page_says_of_the_later_tasks():
    summary = script("everyday/summary.py")
    results = summary.regrets(summary.read([RESULTS / "everyday_later.jsonl"], "later"))
    text = " ".join(page("docs/measurements/everyday.md").split())
    found = {
        (seconds, most): summary.ratio(
            summary.task_means(results, "race", seconds, most),
            summary.task_means(results, "smac", seconds, most),
        )
        for seconds in (15, 60, 240)
        for most in (np.inf, summary.MOST)
    }

    def two(number):
        return f"{number:.2f}".removeprefix("0")

    plain, low, high = (
        [two(found[seconds, np.inf][i]) for seconds in (15, 60, 240)] for i in range(3)
    )
    told = "has {} times its mean regret, at 60 s {} and at 240 s {} (95 % intervals "
    told += "{} to {}, {} to {} and {} to {})"
    ends = [one for pair in zip(low, high, strict=True) for one in pair]
    assert told.format(*plain, *ends) in text
    capped = [two(found[seconds, summary.MOST][0]) for seconds in (15, 60, 240)]
    assert "first column of the tables, it is {}, {} and {}.".format(*capped) in text
    rows = summary.table(results)
    medians = rows.set_index(["search", "seconds"])["median"]
    theirs = [medians[name, 240] for name in ("smac", "optuna_tpe_wilcoxon")]
    shown = [two(one) for one in (medians["race", 60], *theirs)]
    assert "the median is {} against {} and {}.".format(*shown) in text
    means = summary.table(results[results["seed"] == 0])
    means = means.set_index(["search", "seconds"])["mean"]
    three = means["race", 60], means["smac", 240], means["optuna_tpe_wilcoxon", 240]
    told = "({}, SMAC3 {}, Optuna with its pruner {})"
    assert told.format(*(f"{one:.3f}".removeprefix("0") for one in three)) in text
    for _, at in rows.groupby("seconds"):
        assert at.sort_values("rank")["search"].iloc[0] == "race"
        others = at[at["search"] != "race"]
        assert others.sort_values("mean")["search"].iloc[0] == "smac"
    assert not results[results["search"] == "race"]["refused"].any()
    late = results[results["refused"]]
    assert len(late) == 3
    assert set(late["search"]) == {"optuna_tpe_wilcoxon"}
    assert set(late["seconds"]) == {15.0}
    assert late["task"].str.endswith("forest").all()
    races = results[results["search"] == "race"]
    by_task = races.pivot_table(index="task", columns="seconds", values="regret")
    shown = by_task.round(2)
    stuck = shown[(shown[240] >= 0.15) & (shown[240] >= shown[15])].index
    told = (
        "On `subscribers-linear`, `votes-hist` and `check_times-lightgbm` the race has"
    )
    assert told in text
    assert set(stuck) == set(re.findall(r"`([\w-]+)`", told))
    used = {s: 100 * one["used"] / s for s, one in races.groupby("seconds")}
    over = used[15.0][used[15.0] > 105]
    told = f"{len(over)} of the {len(used[15.0])} races took 105 to {over.max():.0f} %"
    assert told in text
    ends = [f"{used[s].min():.0f} to {used[s].max():.0f} %" for s in (60.0, 240.0)]
    assert "At 60 s they took {}, at 240 s {}.".format(*ends) in text


def test_busy_workers_are_those_of_the_file():
    lines = (RESULTS / "busy.jsonl").read_text().splitlines()
    runs = {
        (run["task"], run["code"], run["n_jobs"]): run for run in map(json.loads, lines)
    }
    section = page("docs/measurements/everyday.md").split("## Workers and own work")[1]
    for task in {task for task, _, _ in runs}:
        busy = [runs[task, code, 2]["busy"] for code in ("before", "after")]
        own = [runs[task, code, 1]["own"] for code in ("before", "after")]
        expected = [f"{share:.2f}".lstrip("0") for share in busy]
        expected += [f"{share:.3f}".lstrip("0") for share in own]
        assert cells(section, task)[1:] == expected, task


def test_the_parts_of_the_regret_are_what_the_script_prints():
    found = script("everyday/regret_parts.py")
    text = page("docs/measurements/everyday.md")
    assert found.report() in text
    rows = found.parts()
    went_well = [row for row in rows.values() if not np.isnan(row["seen"])]
    assert f"{np.mean([row['chosen'] for row in went_well]):.2f}" == "0.18"
    quiet = [
        row["noise"]
        for task, row in rows.items()
        if task not in ("credit-mlp", "cells-forest")
    ]
    assert f"{np.nanmean(quiet):.2f}" == "0.07"
    assert f"{found.peer_mean('optuna_tpe_wilcoxon', 60.0):.2f}" == "0.48"
    now = found.now()
    shown = {key: f"{value:.2f}".removeprefix("0") for key, value in now.items()}
    assert f"{shown['same']} against {shown['before']} on the {now['n_same']}" in text
    assert f"On all {now['n']} the search has {shown['now']} now" in text
    assert f"Optuna with its pruner {shown['peer']} (one seed)" in text
    for name, new, old in (
        ("forests", "no fewer trees", "any number of trees"),
        ("first_points", "two for each parameter", "six first points"),
    ):
        means = found.variants(f"everyday_dev_{name}.jsonl")
        shown = {key: f"{mean:.2f}".removeprefix("0") for key, mean in means.items()}
        told = f"{shown[new]} against {shown[old]} (`everyday_dev_{name}.jsonl`)"
        assert told in text, name


@pytest.mark.parametrize(
    "claim",
    [
        "that full cross-validation would find",
        "1.004 ± .006",
        "68x",
        "68 times",
        "half a per cent",
        ".997 ± .004",
    ],
)
def test_claims_that_were_too_strong_do_not_come_back(claim):
    """The readme and the guide say no more than was measured."""
    for name in ("README.md", "docs/index.md", "docs/user_guide/strategies.md"):
        assert claim not in page(name), name


def killed(name):
    """Return how often searches were killed, how many, and how many ended the same."""
    known = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    outcomes = [one["outcomes"] for one in known.values()]
    return {
        "kinds": len(known),
        "kills": sum(one["kills"] for one in known.values()),
        "searches": sum(sum(one.values()) for one in outcomes),
        "same": sum(one["identical"] for one in outcomes),
        "from": sum(one["with_something"] for one in known.values()),
    }


def test_the_page_on_checkpoints_tells_of_the_kills_that_were_run():
    text = " ".join(page("docs/user_guide/checkpoints.md").split())
    each = killed("kills_every_group.json")
    assert (
        "{kills} kills (`SIGKILL`) of {searches} searches of {kinds} kinds, and {same} "
        "of them ended to the last bit".format(**each)
    ) in text
    assert "{from} of them had something on disk".format(**each) in text
    told = "{same} of {searches} searches of {kinds} kinds after {kills} kills"
    assert told.format(**killed("kills.json")) in text
    for name in ("kills_format_2.json", "kills_doubted.json"):
        told = "{same} of {searches} searches after {kills} kills"
        assert told.format(**killed(name)) in text


GRIDS = "SVC", "LightGBM"


def short(value):
    return f"{value:.2f}".removeprefix("0")


def runs_on_clusters():
    """Yield the strategy and the rows of each run, and its races."""
    races = []
    for line in (RESULTS / "clusters.jsonl").read_text().splitlines():
        one = json.loads(line)
        if one["what"] == "machine":
            races = []
            yield (one["strategy"], one["rows"]), races
        elif one["what"] in ("serial", "race") and "skipped" not in one:
            assert one.get("same_as_serial", True)
            races.append({"engine": "default", "workers": 1, **one})


def efficiencies():
    """Return seconds in one process, and shares of them by engine and workers."""
    found = {}
    for key, races in list(runs_on_clusters()):
        alone = {}
        for one in races:
            if (one["engine"], one["workers"]) == ("default", 1):
                least = min(one["seconds"], alone.get(one["case"], np.inf))
                alone[one["case"]] = least
        for case, seconds in alone.items():
            found.setdefault((*key, case, "default", 1), seconds)
        for one in races:
            case, n_workers = one["case"], one["workers"]
            if n_workers > 1:
                share = alone[case] / n_workers / one["seconds"]
                found[*key, case, one["engine"], n_workers] = share
    return found


def test_the_earlier_shares_of_clusters_are_those_of_the_runs():
    section = plain("docs/user_guide/clusters.md").split("### Earlier runs")[1]
    shares = efficiencies()

    def both(strategy, n_rows, engine, n_workers):
        key = strategy, n_rows
        pair = (shares.get((*key, one, engine, n_workers)) for one in GRIDS)
        return " and ".join(short(one) for one in pair if one is not None)

    folds, races = ("cross_validation", 2500), ("track_and_confirm", 4000)
    eight = (
        f"rows, eight workers: {both(*folds, 'default', 8)} in threads, "
        f"{both(*folds, 'dask', 8)} for SVC with Dask;"
    )
    twelve = (
        f"the same, twelve workers: {both(*folds, 'default', 12)} in threads, "
        f"{both(*folds, 'dask', 12)} with Dask;"
    )
    raced = (
        f"races on 4,000 rows, eight workers: {both(*races, 'default', 8)} in "
        f"threads, {both(*races, 'dask', 8)} with Dask."
    )
    assert [one for one in (eight, twelve, raced) if one not in section] == []


def test_the_runs_on_5000_rows_are_told():
    """How far apart they are, and their first fold on a new machine."""
    text = page("docs/user_guide/clusters.md")
    both = [
        {(one["case"], one["engine"], one["workers"]): one for one in races}
        for key, races in list(runs_on_clusters())
        if key == ("cross_validation", 5000)
    ]
    shares = [
        one["LightGBM", "default", 1]["seconds"]
        / (8 * one["LightGBM", "loky", 8]["seconds"])
        for one in both
    ]
    told = " and ".join(f"{share:.2f}"[1:] for share in shares)
    assert f"the processes of LightGBM had shares of {told}," in text
    eight = both[1]["SVC", "loky", 8]
    told = f"of the {eight['seconds']:.1f} s of eight processes with 5,000 rows the "
    assert told + f"first fold took {eight['look_seconds'][0]:.1f}." in text


def parts_of_clusters():
    """Return versions, seconds alone, and searches by version, grid, engine, place."""
    alone, found, versions = {}, {}, []
    for one in records("clusters_parts.jsonl"):
        versions.append(one["version"])
        if one["what"] == "alone":
            alone[one["version"], one["case"]] = one["seconds"]
        elif one["what"] == "search":
            key = one["version"], one["case"], one["engine"], one["place"]
            found[key] = one
    return list(dict.fromkeys(versions)), alone, found


def test_the_parts_of_a_share_make_it_up():
    """Busy over work is the share, and none of them is .9."""
    _, alone, found = parts_of_clusters()
    for (version, case, _, _), one in found.items():
        assert one["same_as_serial"]
        assert one["busy"] / one["work_by_the_clock"] == pytest.approx(one["share"])
        eight = alone[version, case] / 8 / one["seconds"]
        assert eight == pytest.approx(one["share"])
    assert max(one["share"] for one in found.values()) < 0.9
    assert "**No share is .9.**" in page("docs/user_guide/clusters.md")


def test_the_table_of_clusters_shows_the_parts_of_their_time():
    part = page("docs/user_guide/clusters.md").split("### Earlier runs")[0]
    (new, old), _, found = parts_of_clusters()
    assert f"(version {old}; the others are of {new})" in part
    case, shown = "", {}
    for row in re.findall(r"^\| (.*) \|$", part.split("## Measured")[1], re.M)[1:]:
        case_here, engine, *told = (cell.strip() for cell in row.split("|"))
        case = case_here or case
        shown[case, {"processes": "loky"}.get(engine, engine)] = told
    expected = {}
    for (version, case, engine, place), one in found.items():
        if (version, place) == (new, "free"):
            before = found.get((old, case, engine, place))
            expected[case, engine] = [
                short(one["share"]),
                short(before["share"]) if before else "",
                short(one["busy"]),
                short(one["work_by_the_clock"]),
            ]
    assert shown == expected


def test_the_sentences_on_parts_of_the_time_of_clusters():
    part = page("docs/user_guide/clusters.md").split("### Earlier runs")[0]
    (new, _), alone, found = parts_of_clusters()
    processes, threads = (
        found[new, "LightGBM", engine, "free"] for engine in ("loky", "threads")
    )
    placed = {
        one: [found[new, one, "loky", place]["share"] for place in ("even", "0-7")]
        for one in GRIDS
    }
    ranges = [
        f"{short(min(placed[one]))} to {short(max(placed[one]))}" for one in GRIDS
    ]
    told = [
        f"48 LightGBM models take {alone[new, 'LightGBM']:.1f} s in one process there",
        f"and 192 SVC {alone[new, 'SVC']:.1f} s.",
        f"{processes['parent']:.2f} of the {processes['seconds']:.2f} s of LightGBM",
        f"the processor seconds of LightGBM grew to {threads['work']:.2f} only",
        f"have shares of {ranges[1]} for LightGBM and {ranges[0]} for SVC.",
    ]
    assert [one for one in told if one not in part] == []


def test_the_commands_of_clusters_are_those_of_its_runs():
    section = page("docs/user_guide/clusters.md").split("## Measured")[1]
    told = set()
    for line in re.findall(r"^python benchmarks/clusters/run.py (.*)$", section, re.M):
        given = dict(re.findall(r"--(\S+) (\S+)", line))
        strategy = given.get("strategy", "track_and_confirm")
        told.add((strategy, int(given["rows"]), given.get("workers", "beside")))
    runs = list(runs_on_clusters())
    made = set()
    for key, races in runs:
        workers = sorted({one["workers"] for one in races if one["what"] == "race"})
        # One worker comes first wherever there are eight.
        made.add((*key, {8: "1,8", 12: "12"}[max(workers)] if workers else "beside"))
    assert told == made


def test_own_parameters_are_what_the_script_prints():
    found = script("everyday/own_parameters.py")
    runs = found.records()
    chosen = [one for one in runs if not one["is_own"]]
    better = sum(one["win"] > one["own"] for one in chosen)
    level = {
        one: f"{np.mean(found.gains(chosen, one)):.3f}".lstrip("0")
        for one in found.LEVELS
    }
    text = page("docs/measurements/everyday.md")
    n_own = len(runs) - len(chosen)
    assert (
        f"The estimator's own parameters won {n_own} of {len(runs)} searches. Of the "
        f"other {len(chosen)} winners, {better} are better than they. The mean "
        f"gain is {level[1.0]} of their score. It would be {level[0.3]} if they were "
        f"kept unless p < .3, {level[0.1]} for .1 and {level[0.05]} for .05"
    ) in text
