"""Numbers of the studies that have a page of their own are those of their files."""

from __future__ import annotations

import re
import runpy
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from docs_pages import RESULTS, ROOT, cells, page, plain, records, script, tables


def lines_of_tables(text):
    return ["\n".join(table) for table in tables(text)]


# Other searches ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def peers():
    return script("peers/searches.py")


def test_other_searches_are_shown_as_measured(peers):
    """The table is that of the script, and a second count gives its medians."""
    table = "\n".join(peers.lines())
    assert table in page("docs/measurements/peers.md")
    own = pd.DataFrame(peers.read()).pivot(index="seed", columns="search")
    assert list(own.index) == list(peers.SEEDS)
    assert set(own["seconds"]) == set(peers.BASES)
    shares = {}
    for name, base in peers.BASES.items():
        share = own["seconds"][name].median() / own["seconds"][base].median()
        expected = [
            f"{own['seconds'][name].median():.1f}",
            f"{share:.2f}",
            f"{own['error'][name].median():.4f}",
        ]
        shown = [re.sub(r"^\.", "0.", cell) for cell in cells(table, name)[1:]]
        assert shown == expected, name
        shares[name] = f"{share:.2f}".removeprefix("0")
    guide = page("docs/user_guide/which_search.md")
    anova, win_loss = (
        f"R: finetune `tune_race_{one}`" for one in ("anova", "win_loss")
    )
    dask, race = shares["dask-ml `GridSearchCV`"], shares["`RaceGridSearchCV`"]
    assert f"in {dask} of its time, where the race took {race} (" in guide
    bands, net = (
        shares[f"net: {one}`"]
        for one in ("dask-ml `HyperbandSearchCV", "`RaceGridSearchCV")
    )
    told = (
        f"a net took {bands} of the time of `GridSearchCV`, where the race took {net},"
    )
    assert told in plain("docs/user_guide/which_search.md")
    errors = own["error"][[one for one in peers.BASES if one.startswith("net")]]
    gap = (errors.max(axis=1) - errors.min(axis=1)).max()
    told = f"differ by up to {gap:.3f}".replace("0.", ".")
    assert told in plain("docs/measurements/peers.md")
    hyperband = [one for one in peers.read() if "models" in one]
    assert {one["models"] for one in hyperband} == {peers.EPOCHS}
    assert f"took {shares[win_loss]} and {shares[anova]} times its seconds" in guide


def test_what_is_said_of_other_searches_is_in_their_runs(peers):
    own = pd.DataFrame(peers.read()).pivot(index="seed", columns="search")
    text = plain("docs/measurements/peers.md")
    full = "`GridSearchCV`"
    shares = own["seconds"].median() / own["seconds"][full].median()
    race, proposing = shares["`RaceGridSearchCV`"], "`RaceSearchCV`, 49 configurations"
    assert f"needs {race:.2f} of the seconds".replace("0.", ".") in text
    assert f"configurations in {shares[proposing]:.2f} of".replace("0.", ".") in text
    assert f"takes {shares['`HalvingGridSearchCV`']:.2f} of".replace("0.", ".") in text
    winners = own["winner"].map(lambda one: sorted(one.values()))
    for name in ("`RaceGridSearchCV`", "dask-ml `GridSearchCV`"):
        assert (winners[name] == winners[full]).all()
    assert (winners["`HalvingGridSearchCV`"] != winners[full]).sum() == 1
    in_r = winners["R: CVST `fastCV`"]
    assert all(
        np.allclose(ours, theirs, rtol=1e-5)
        for ours, theirs in zip(in_r, winners[full], strict=True)
    )
    medians = own["seconds"].median()
    assert 0.2 < medians["R: CVST `fastCV`"] / medians["R: CVST `CV`"] < 0.25
    others = own["error"][["Optuna TPE", "FLAML `tune`", "SMAC3"]]
    gaps = others.sub(own["error"][full], axis=0)
    assert "up to .016 above that of the full search, and up to .0055 below" in text
    assert gaps.max().max() == pytest.approx(0.016, abs=5e-4)
    assert gaps.min().min() == pytest.approx(-0.0055, abs=5e-5)
    guide = plain("docs/user_guide/which_search.md")
    assert "took about a fifth of the seconds of `GridSearchCV`, and halving about" in (
        guide
    )
    for name in ("`RaceGridSearchCV`", proposing):
        assert shares[name] == pytest.approx(0.2, abs=0.03)
    assert shares["`HalvingGridSearchCV`"] == pytest.approx(0.5, abs=0.06)
    assert "Optuna and FLAML took somewhat longer than `GridSearchCV`, and SMAC3" in (
        guide
    )
    somewhat = ["dask-ml `GridSearchCV`", "Optuna TPE", "FLAML `tune`"]
    assert shares[[*somewhat, "Optuna TPE + WilcoxonPruner"]].between(1.05, 1.25).all()
    assert "The winners were about as good" in guide
    errors = own["error"].median()[[full, *others, "`RaceGridSearchCV`", proposing]]
    assert errors.max() - errors.min() < 0.005
    # What the others do besides fitting: SMAC3's forests, and a pruner without use.
    assert shares["SMAC3"] > 10
    assert shares["Optuna TPE + WilcoxonPruner"] > shares["Optuna TPE"]
    fit = own["seconds"][full] / (49 * 5)
    assert fit.median() == pytest.approx(0.04, abs=0.005)


def test_the_peers_do_the_work_of_the_study(peers, monkeypatch):
    """Estimator, grid and rows are those of the study; the grid in R is the same."""
    folder = ROOT / "benchmarks" / "default"
    monkeypatch.syspath_prepend(folder)
    task = runpy.run_path(str(folder / "tasks.py"))["TASKS"]["quantiles svm"]
    model, space = task.model()
    assert repr(peers.ESTIMATOR) == repr(model)
    assert space == peers.GRID
    assert task.scoring == peers.SCORING
    X, _, X_fresh, _ = peers.rows(0)
    assert (len(X), len(X_fresh)) == (task.n_train, 4000)
    for name in ("finetune", "cvst"):
        in_r = page(f"benchmarks/peers/{name}.R")
        ends = re.findall(r"10\^seq\((-?\d), (-?\d), length.out = (\d)\)", in_r)
        assert len(ends) == 2
        for (low, high, count), values in zip(ends, space.values(), strict=True):
            assert np.allclose(np.logspace(int(low), int(high), int(count)), values)


# Large data -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["docs/measurements/large_data.md", "benchmarks/results/large.md"]
)
def test_large_data_shows_what_was_measured(name):
    shown = script("large/tables.py").tables(records("large.jsonl")).split("\n\n")
    assert len(shown) == 2
    for table in shown:
        assert table in page(name)
    assert shown[0] in page("docs/user_guide/large_data.md")


def test_what_is_missed_on_large_data_is_told():
    """Peaks of fits alone, and the shares of the race's own work."""
    tables, races = script("large/tables.py"), records("large.jsonl")
    fits = records("large_plain.jsonl")
    table = tables.plain_table(fits, races)
    text = page("docs/measurements/large_data.md")
    assert table in text
    assert table in page("benchmarks/results/large.md")
    peaks = {
        name: {one["case"].split()[0]: one["peak_mb"] / one["data_mb"] for one in some}
        for name, some in {
            "alone": fits,
            "raced": [one for one in races if one["rows"] == 10**7],
        }.items()
    }
    for name in ("hgb", "lightgbm"):
        assert min(peaks["alone"][name], peaks["raced"][name]) > 1.5
    assert peaks["raced"]["sgd"] <= 1.5
    own = {
        one["case"]: 100 * tables.own(one) / one["cpu_seconds"]
        for one in races
        if one["rows"] >= 10**6 and "trivial" not in one["case"]
    }
    both = own.pop("sgd 1000000"), own.pop("sgd 10000000")
    assert "With SGD it is {:.1f} and {:.1f} %,".format(*both) in text
    assert f"with boosting it is at most {max(own.values()):.1f} %" in text


def test_a_million_rows_are_shown_as_measured():
    text = page("docs/measurements/large_data.md")
    names = {
        "race": "`RaceSearchCV(time_budget=60)`",
        "optuna_hold_out": "Optuna TPE, one hold-out of a fifth",
        "optuna_folds": "Optuna TPE + WilcoxonPruner, 5 folds",
    }
    runs = {one["search"]: one for one in records("million.jsonl")}
    assert set(runs) == set(names)
    for search, one in runs.items():
        loss = f"{one['log_loss']:.4f}".removeprefix("0")
        count = str(one["configurations"])
        assert cells(text, names[search])[1:] == [count, loss]
        best = f"{one['best_possible']:.4f}".removeprefix("0")
        assert f"best log loss there can be is {best}" in text
    # The guide says in words who was best.
    assert min(runs, key=lambda search: runs[search]["log_loss"]) == "race"


def test_the_sizes_of_looks_are_those_of_stored_races():
    """Witness: races of 20,000 and ten million rows, and the same shares between."""
    looks = {one["rows"]: one["looks"] for one in records("large.jsonl")}
    guide = page("docs/user_guide/large_data.md")
    for n_rows in (20_000, 10_000_000):
        sizes = {stage: n_train for stage, n_train, _ in looks[n_rows]}
        tested = max(n_test for _, _, n_test in looks[n_rows])
        shown = cells(guide, f"{n_rows:,}")[1:]
        stages = ("first look", "late look", "confirm")
        assert shown[:3] == [f"{sizes[stage]:,}" for stage in stages]
        assert shown[3] == ("all others" if n_rows < 1e5 else f"{tested:,}")
    for n_rows in (100_000, 500_000):
        shares = [f"{n_rows * share / 5:,.0f}" for share in (1, 2, 4)]
        assert cells(guide, f"{n_rows:,}")[1:4] == shares


# Speed ------------------------------------------------------------------------------


def test_the_results_of_speed_are_those_of_the_runs():
    results = script("speed/results_table.py")
    assert "\n".join(results.lines()) in page("docs/measurements/speed.md")


def test_what_was_wanted_is_what_the_tasks_say():
    results, tasks = script("speed/results_table.py"), script("speed/tasks.py").TASKS
    for name, (_, over_plain, over_halving) in results.TASKS.items():
        wanted = tasks[name].over_grid, tasks[name].over_halving
        assert (over_plain, over_halving) == wanted, name
    assert set(tasks) == {*results.TASKS, "memory"}


def test_every_table_of_speed_is_what_the_runs_give():
    """The file that a page includes is written anew from the rows."""
    layout, stored = script("speed/layout.py"), script("speed/records.py")
    assert layout.document(stored.Records(RESULTS / "speed.csv")) == page(
        "benchmarks/results/speed.md"
    )


def test_sentences_about_draws_of_the_speed_runs():
    results = script("speed/results_table.py")
    rows, text = results.read(), plain("docs/measurements/speed.md")

    def by_draw(task, method):
        own = [r for r in rows if (r["task"], r["method"]) == (task, method)]
        return {r["repetition"]: float(r["seconds"]) for r in own}

    def listed(values, digits):
        *most, last = [f"{value:.{digits}f}" for value in values]
        return f"{', '.join(most)} and {last}"

    nusvc, plain_nusvc = (by_draw("nusvc", one) for one in ("cvst", results.PLAIN))
    ratios = [plain_nusvc[draw] / nusvc[draw] for draw in sorted(nusvc)]
    seconds = listed([nusvc[draw] for draw in sorted(nusvc)], 1)
    assert f"NuSVC took {seconds} s, which is {listed(ratios, 0)} times faster" in text
    klr, halving = (by_draw("klr", one) for one in ("cvst", results.HALVING))
    ratios = [halving[draw] / klr[draw] for draw in sorted(klr)]
    assert f"the logistic regression was {listed(ratios, 1)} times faster" in text
    krr = [results.mean_of(rows, "krr", one) for one in (results.DEFAULT, "cvst")]
    assert "takes {:.1f} s instead of {:.2f}".format(*krr) in text
    # What the default misses of the wanted ratios of kernel machines.
    missed = [
        task
        for task in ("krr", "nusvr", "nusvc", "klr")
        for other, wanted in zip(
            (results.PLAIN, results.HALVING), results.TASKS[task][1:], strict=True
        )
        if results.mean_of(rows, task, other)
        < wanted * results.mean_of(rows, task, results.DEFAULT)
    ]
    assert set(missed) == {"krr"}


def test_the_first_race_of_machines_took_what_the_page_says():
    runs = [one for one in records("poor_speed.jsonl") if one["task"] == "first_svc"]
    before, after = sorted(runs, key=lambda one: one["state"], reverse=True)
    assert before["winner"] == after["winner"]
    text = plain("docs/measurements/poor_speed.md")
    both = [f"{one['seconds']:.1f} s" for one in (before, after)]
    assert "took {} of the processor before and {} after".format(*both) in text
    clock = [f"{one['wall_seconds']:.0f} s" for one in (before, after)]
    assert "it was {} and {}".format(*clock) in text


# The design of the default ----------------------------------------------------------


DESIGN = "docs/measurements/default_strategy.md"


@pytest.mark.parametrize("name", ["kernel_lines", "row_lines", "model_lines"])
def test_tables_of_the_design_are_those_of_the_races(name):
    design = script("rules/design_tables.py")
    assert "\n".join(getattr(design, name)()) in page(DESIGN)


def test_sentences_with_numbers_of_the_design():
    design, text = script("rules/design_tables.py"), plain(DESIGN)
    variants = design.kernel_problems("rules_kernel_variants.csv")
    for rule, told in (
        ("2 finalists", "the rule *p* < 0.1 were {} and {}. "),
        ("before", "and three finalists: {} and {} at 55x"),
    ):
        own = variants[variants["rule"] == rule]
        parts = own[own["design"]], own[~own["design"]]
        shown = [design.mean_and_error(part["log_ratio"]) for part in parts]
        assert told.format(*shown) in text, rule
        if rule == "before":
            assert round(design.geometric(own["speed"])) == 55
    climbs = pd.read_csv(RESULTS / "rules_climbs.csv")
    bumps = climbs[climbs["problem"] == "bumps"].groupby("climbs")["ratio"]
    assert set(bumps.size()) == {9}
    two, four = (design.short(design.geometric(bumps.get_group(n))) for n in (2, 4))
    assert f"gave {two} with two climbs and {four} with four" in text


def test_other_models_without_those_that_decided():
    """34 of 38 problems had no part in the design."""
    models = script("rules/models_summary.py")
    found = models.ratios(pd.read_csv(RESULTS / "rules_models.csv"))
    decided = {
        "churn linear",
        "deliveries linear",
        "credit forest",
        "spam7 boosting",
    }
    own = found[(found["rule"] == "track and confirm")]
    others = own[~own["problem"].isin(decided)]["log_ratio"]
    assert (len(own), len(others)) == (38, 34)
    shown = script("rules/design_tables.py").mean_and_error(others)
    assert f"have a mean ratio of {shown}." in plain(DESIGN)


def test_what_races_lost_and_cost_is_in_the_file():
    found = script("rules/misses_summary.py")
    races = pd.read_csv(RESULTS / "rules_misses.csv")
    text = plain("docs/measurements/misses.md")
    for sentence in found.words(races):
        assert sentence in text, sentence
    table = found.cost_table(races)
    assert "\n".join(table) in page("docs/measurements/misses.md")
    guide = plain("docs/user_guide/strategies.md")
    speeds = [row.split("|")[-2].strip("x ") for row in table[2:]]
    told = "{} times cheaper than full 10-fold cross-validation for *m* = 1, {} times"
    assert told.format(*speeds[:2]) in guide
    assert f"and {speeds[2]} times for *m* = 3" in guide
    n_won, n_near = (
        races[name].sum() for name in ("winner_confirmed", "as_good_confirmed")
    )
    assert f"reached the folds in {n_won} of them, and" in guide
    assert f"cross-validated loss in {n_near}." in guide
    assert "by 0.9 % on average and 5.5 % at most" in guide


def test_the_kernel_study_counted_so_many_operations():
    design = script("rules/design_tables.py")
    table = pd.read_csv(RESULTS / "rules_kernel_default.csv")
    full = table[table["rule"] == "full 10-fold"]["operations"].unique()
    problems = design.kernel_problems("rules_kernel_default.csv")
    own = problems[problems["rule"] == "track and confirm, climbs=2"]["speed"]
    few = full[0] / design.geometric(own)
    told = f"counted {few:.0f} (geometric mean) against {full[0]:,.0f}"
    assert told in plain("docs/measurements/misses.md")


def test_few_configurations_are_shown_as_measured():
    few = script("rules/few_summary.py")
    races, text = few.read(), page("docs/measurements/few_configurations.md")
    assert "\n".join(few.lines(races)) in text
    errors = {}
    for rule in few.RULES:
        own = races[races["rule"] == rule]
        by_set = own.groupby("data")["log_ratio"].mean().sem()
        errors[rule] = [f"{one:.3f}"[1:] for one in (own["log_ratio"].sem(), by_set)]
    final, raced = errors["final too"], errors["five folds"]
    told = " ".join(text.split())
    assert f"with a final is {final[0]} and that of the raced folds {raced[0]};" in told
    assert f"they are {final[1]} and {raced[1]}." in told
    fits = races.groupby("rule")["share"].mean()
    assert fits["final too"] / fits["five folds"] == pytest.approx(5 / 3, abs=0.04)


# Tables that pages include ----------------------------------------------------------


def test_small_grids_are_those_of_the_records():
    """All tables are what the script makes of the last run of each cell."""
    pytest.importorskip("xgboost")  # the script imports it; on Linux alone
    grids = script("small_grids.py")
    name = "benchmarks/results/small_grids.md"
    records = list(grids.cells().values())
    assert grids.table(records) in page(name)
    assert grids.close_table(records) in page(name)
    assert grids.own_table(grids.known(grids.OWN)) in page(name)


def test_times_of_plain_searches_are_those_of_the_records():
    """All but the estimates, which today's code makes, to a tenth."""
    times = script("plain_time.py")
    [again] = tables(times.table())
    [stored] = tables(page("benchmarks/results/plain_time.md"))
    for now, then in zip(again, stored, strict=True):
        now, then = ([c.strip() for c in row.split("|")] for row in (now, then))
        assert now[:6] == then[:6]
    numbers = [
        [float(row.split("|")[-2]) for row in one[2:]] for one in (again, stored)
    ]
    np.testing.assert_allclose(*numbers, atol=0.011)


def test_forecasts_are_those_of_the_records():
    forecasts = script("forecasts.py")
    text = page("benchmarks/results/forecasts.md")
    again = forecasts.table(RESULTS / "forecasts.jsonl", "")
    assert lines_of_tables(again) == lines_of_tables(text)
    assert again.splitlines()[4:] == text.splitlines()[4:]  # all but date and machine


def test_final_fits_are_counted_a_second_time():
    """The table, and what the guide says of it, by pandas."""
    runs = pd.DataFrame(records("forecasts.jsonl"))
    text = page("benchmarks/results/forecasts.md")
    ratio = runs["refit"] / runs["refit_took"]
    close, far = ratio.between(0.5, 2), ~ratio.between(0.25, 4)
    kinds = {"calm and busy": runs["rows"] > 0} | {
        name: runs["condition"] == name for name in ("calm", "busy")
    }
    for name, some in kinds.items():
        most = np.exp(np.abs(np.log(ratio[some])).max())
        row = [f"{some.sum()}", f"{close[some].mean():.0%}", f"{most:.1f}"]
        assert cells(text, name)[1:] == [*row, f"{far[some].sum()}"]
    again = pd.DataFrame(records("forecasts_final_fit.jsonl")).dropna(subset="took")
    low, high = np.array(again["refit_range"].tolist()).T
    inside = again["refit_took"].between(low, high)
    share = f"{inside.mean():.0%}".replace("%", " %")
    told = f"was within a factor of two in {close.mean():.0%} of {len(runs)} races, "
    told = told.replace("%", " %")
    told += f"and its range held {share} of {len(again)} that were run for it."
    assert told in plain("docs/user_guide/planning.md")


# A level for the whole run ----------------------------------------------------------


def test_the_page_about_the_guarantee_shows_what_was_run():
    found = script("guarantee.py")
    runs, text = found.read(found.RESULTS), page("docs/theory/guarantee.md")
    assert "\n".join(found.errors_table(runs)) in text
    cost = found.cost_table(runs)
    assert "\n".join(cost) in text
    rows = {tuple(cell.strip() for cell in line.split("|")[1:3]): line for line in cost}
    more, cheaper, saved = [], {}, {}
    for problem in dict.fromkeys(problem for problem, _ in list(rows)[2:]):
        full, default, run, alone = (
            [float(cell) for cell in rows[problem, mode].split("|")[3:5]]
            for mode in ("full 5-fold", "look (default)", "run", "run, no subsets")
        )
        more += [ours / theirs for ours, theirs in zip(run, default, strict=True)]
        cheaper[problem] = [
            theirs / ours for ours, theirs in zip(run, full, strict=True)
        ]
        saved[problem] = 1 - alone[0] / full[0]
    told = f"costs {min(more):.1f} to {max(more):.1f} times the operations of the"
    assert told in text
    dear = [one for one, ratios in cheaper.items() if min(ratios) < 1]
    assert dear == ["visits, boosting", "visits, LightGBM"]
    low, high = (
        pick(ratio for one in dear for ratio in cheaper[one]) for pick in (min, max)
    )
    assert f"full cross-validation took {low:.1f} to {high:.1f} times as many" in text
    others = [x for one, ratios in cheaper.items() if one not in dear for x in ratios]
    told = f"{min(others):.1f} to {max(others):.1f} times those of the"
    assert told in text
    left = [float(rows[one, "run"].split("|")[-3]) for one in dear]
    assert f"{min(left):.0f} and {max(left):.0f} of the 36" in text
    least, second, *_, most = sorted(saved, key=saved.__getitem__)
    assert {least, second} == set(dear)
    assert 100 * max(saved[one] for one in dear) < 1
    kept = [100 * saved[one] for one in saved if one not in dear]
    assert min(kept) == 100 * saved["optdigits, k-NN"]
    told = f"saved {min(kept):.0f} % (*k*-NN) to {max(kept):.0f} % (friedman)"
    assert (most, told in text) == ("friedman", True)
    draws = Counter(one["problem"] for one in runs if one["what"] == "cost")
    # All that was listed has been run.
    assert draws == dict.fromkeys(found.PROBLEMS, 12)
    for one in runs:
        if one["what"] == "errors" and one["mode"] == "run":
            assert one["best"] <= 0.05 * one["races"]
    assert {one["races"] for one in runs if "races" in one} == {200}


# Everyday tuning --------------------------------------------------------------------


def compared(runs, key, before, after):
    """Return how often the loss became lower, higher or stayed the same."""
    losses = {}
    for one in runs:
        pair = one["task"], one["seconds"], one["seed"]
        losses.setdefault(pair, {})[one[key]] = one["loss"]
    counts = {}
    for (_, seconds, _), pair in losses.items():
        if {before, after} <= set(pair):
            sign = int(np.sign(pair[after] - pair[before]))
            counts.setdefault(seconds, Counter())[sign] += 1
    return counts


def test_what_mends_and_smaller_shares_did_on_development_tasks():
    text = plain("docs/measurements/everyday.md")
    mended = compared(
        records("everyday_dev_rounds.jsonl"), "variant", "before", "mended"
    )
    at_15, at_60 = mended[15.0], mended[60.0]
    told = f"lower in {at_15[-1]} of {at_15.total()} pairs at 15 s, the same in "
    told += f"{at_15[0]} and higher in {at_15[1]}, and at 60 s lower in "
    assert f"{told}{at_60[-1]} of {at_60.total()}" in text
    pace = compared(records("everyday_dev_pace.jsonl"), "code", "before", "after")[15.0]
    told = f"lower on {pace[-1]}, higher on {pace[1]} and the same on {pace[0]}"
    assert told in text


def test_what_two_versions_and_more_trees_did_on_development_tasks():
    text = plain("docs/measurements/everyday.md")
    runs = records("everyday_dev_versions.jsonl")
    judged = [one for one in runs if "loss" in one]
    both = compared(judged, "search", "race_before", "race")
    told = [
        f"lower in {pairs[-1]} of {pairs.total()}{{}}, the same in {pairs[0]} and "
        f"higher in {pairs[1]}"
        for pairs in (both[15.0], both[60.0])
    ]
    assert f"{told[0]}, and at 60 s {told[1]}".format(" pairs at 15 s", "") in text
    late = [one for one in runs if "loss" not in one]
    assert [(one["task"], one["seconds"]) for one in late] == [
        ("marketing-hist", 15)
    ] * 2
    assert len({one["search"] for one in late}) == 2
    trees = records("everyday_more_trees.jsonl")
    lower = sum(one["loss_with_more"] < one["loss"] for one in trees)
    assert f"300 trees the loss is lower in {lower} of {len(trees)} choices" in text
    found = compared(records("everyday_dev_trees.jsonl"), "code", "before", "after")
    told = "lower in {} of {} pairs at 15 s and in {} of {} at 60 s"
    counts = [n for s in (15.0, 60.0) for n in (found[s][-1], found[s].total())]
    assert told.format(*counts) in text


def test_which_searches_took_longer_than_asked():
    """Those of the last look, by the clock of the benchmark."""
    runs = [
        one
        for one in records("everyday_held_out_second.jsonl")
        if one["search"] == "race"
    ]
    shares = {
        seconds: [
            (one["used"] / seconds, one["task"])
            for one in runs
            if one["seconds"] == seconds
        ]
        for seconds in (15.0, 60.0, 240.0)
    }
    late = [share for share, _ in shares[15.0] if share > 1.05]
    largest = [one for one, task in shares[15.0] if task == "flights-lightgbm"]
    text = plain("docs/measurements/everyday.md")
    told = f"{len(late)} of the {len(shares[15.0])} searches took 105 to "
    assert f"{told}{max(late):.0%}".replace("%", " %") in text
    told = f"({min(largest):.0%} to {max(largest):.0%})".replace("%", "", 1)
    assert told.replace("%", " %") in text
    others = [share for seconds in (60.0, 240.0) for share, _ in shares[seconds]]
    assert "At 60 and 240 s all were within 95 and 105 %." in text
    assert min(others) >= 0.95
    assert max(others) <= 1.05
