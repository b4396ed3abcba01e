"""Numbers in the prose of the guides are those of a file, or of the code."""

from __future__ import annotations

import re

import numpy as np
import pytest
from docs_pages import page, plain, records
from sklearn.linear_model import Ridge

from cvst import RaceGridSearchCV
from cvst.evaluation.svm._fits import LOAD_SECONDS
from cvst.race import Problem, TrackAndConfirm, _cvst
from cvst.report import html_report
from cvst.search._random import MOST_DRAWS
from cvst.search.budget import _gate, _growth, _legs, _start
from cvst.search.checkpoint import _pace
from cvst.theory import steady_steps


def test_shares_of_time_for_saving():
    """The allowed ones are those of the code, the measured ones those of the file."""
    text = plain("docs/user_guide/checkpoints.md")
    allowed = [f"{100 * share:g} %" for share in (_pace.SHARE, _pace.SYNC_SHARE)]
    told = "Writing may take {} of the time and waiting for the disk {},"
    assert told.format(*allowed) in text
    # Of the long races; in the short ones fits sleep or run elsewhere.
    long = page("benchmarks/results/saving.md").split("## Short races")[0]
    rows = long.splitlines()
    shares = [
        float(re.match(r" ([\d.]+)% ", row.split("|")[6])[1])
        for row in rows
        if row.startswith("| ") and "turns" not in row
    ]
    assert len(shares) == 6
    told = f"all of it took {min(shares):.2f} to {max(shares):.2f} % of the processor"
    assert told in text


def test_what_short_races_pay_for_saving():
    """A constant below a second, a share above; both as the table has them."""
    part = page("benchmarks/results/saving.md").split("## After half a second")[1]
    rows = [row.split("|") for row in part.splitlines() if row.startswith("| ")][1:]
    # By seconds: above one, about half of one, and less.
    kinds = [[], [], []]
    for row in rows:
        seconds = float(row[2])
        kind = 0 if seconds >= 1 else 1 if seconds >= 0.4 else 2
        kinds[kind].append((seconds, float(row[4].split("%")[0])))
    long, half, short = (
        [sorted(values) for values in zip(*kind, strict=True)] for kind in kinds
    )
    text = plain("docs/user_guide/checkpoints.md")
    assert {float(row[3]) for row in rows if float(row[2]) < 1} == {10}
    assert "a constant of about 10 ms" in text
    assert len(long[0]) == 1
    assert (
        f"One that takes {long[0][0]:g} seconds of the processor spent "
        f"{long[1][0]:.1f} % of it on its checkpoint, "
        f"three of {half[0][0]:g} to {half[0][-1]:g} seconds "
        f"{half[1][0]:.1f} to {half[1][-1]:.1f} %, and "
        f"three of {short[0][0]:g} to {short[0][-1]:g} seconds "
        f"{short[1][0]:.1f} to {short[1][-1]:.1f} %"
    ) in text
    assert len(half[0]) == len(short[0]) == 3


def test_the_time_that_loading_the_solver_is_taken_to_cost():
    for name in ("docs/user_guide/shared_work.md", "docs/developer/compiled_solver.md"):
        assert f"{LOAD_SECONDS} seconds" in plain(name), name


def test_the_sentences_on_clusters():
    """All runs of the file, rounded as the page has them."""
    runs = records("clusters.jsonl")
    text = plain("docs/user_guide/clusters.md")
    tasks = [
        one["ms_per_task"]
        for one in runs
        if one["what"] == "overhead" and one["engine"] == "dask"
    ]
    assert f"takes {min(tasks):.0f} to {max(tasks):.0f} ms with Dask" in text
    alone = [one["beside"] for one in runs if one["what"] == "beside"]
    told = f"run at {min(alone):.2f} to {max(alone):.2f} of the speed"
    assert told.replace("0.", ".") in text
    first, *others = next(
        one["look_seconds"]
        for one in runs
        if (one["what"], one.get("case"), one.get("engine"), one.get("workers"))
        == ("race", "SVC", "dask", 8)
    )
    assert f"first look took {first:.1f} s and the later ones {others[-1]:.1f} s" in (
        text
    )


def test_the_bytes_that_clusters_carry():
    """Counted with Dask, in races on 4,000 rows and in whole folds of 2,500."""
    counted, rows = {4000: [], 2500: []}, None
    for one in records("clusters.jsonl"):
        if one["what"] == "machine":
            rows = one["rows"]
        elif one["what"] == "race" and one.get("tasks"):
            counted[rows].append(one)
    races, folds = counted[4000], counted[2500]

    def ends(runs, key, case=None, digits=0):
        own = [one[key] / 1000 for one in runs if case in (None, one["case"])]
        return "{:.0f} to {:.0f} kB".format(
            *(round(one, digits) for one in (min(own), max(own)))
        )

    [sent] = {one["rows_bytes"] for one in races}
    tasks = [one["sent_per_task"] for one in races]
    assert 20 <= min(tasks) <= max(tasks) <= 40
    told = [
        f"4,000 x 20 numbers are {sent / 1000:.0f} kB, sent once",
        (
            f"{ends(races, 'sent_per_look')} that are sent out and some 30 bytes for "
            "each task"
        ),
        (
            f"{ends(races, 'back_per_look', 'SVC', -1)} came back per look of SVC, and "
            f"{ends(races, 'back_per_look', 'LightGBM', -1)} of LightGBM"
        ),
        f"whole fold of 2,500 rows is {ends(folds, 'sent_per_look')}.",
    ]
    text = plain("docs/user_guide/clusters.md")
    assert [one for one in told if one not in text] == []


def test_reports_are_as_large_as_the_page_says():
    """Ridges that share their work: a report of 2,000 of them takes no time."""
    pytest.importorskip("plotly")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + rng.normal(size=300)
    sizes = []
    for count in (40, 2000):
        grid = {"alpha": np.logspace(-3, 3, count)}
        search = RaceGridSearchCV(Ridge(), grid, random_state=0).fit(X, y)
        sizes.append(len(html_report(search).encode()) / 1e6)
    told = "One file of about 2 MB (under 3 MB for 2,000 configurations)"
    assert told in page("docs/user_guide/pictures.md")
    assert round(sizes[0]) == 2
    assert sizes[1] < 3


def test_rows_below_which_there_are_fewer_looks():
    """By the plans of races on as many rows and one fewer."""

    def stages(n_samples):
        rows = np.arange(n_samples)
        folds = {
            count: tuple(
                (np.setdiff1d(rows, part), part) for part in np.array_split(rows, count)
            )
            for count in TrackAndConfirm().fold_counts
        }
        problem = Problem(64, n_samples, folds=folds)
        looks = TrackAndConfirm().planned_looks(problem)
        return {one.stage for one in looks if one.stage.endswith("look")}

    assert stages(249) == set()
    assert stages(250) == stages(469) == {"first look"}
    assert stages(470) == {"first look", "late look"}
    told = "Below some 470 rows there is one look. Below 250 rows, and for fewer than "
    told += f"{TrackAndConfirm().direct_below} fits, all configurations go to the folds"
    assert told in plain("docs/user_guide/strategies.md")
    text = plain("docs/recipes/small_data.md")
    assert "**Below 250 rows** all configurations go to the folds at once" in text
    assert "Below some 470 rows there is one look at a subset before them" in text
    assert "fewer than 250 rows" in plain("docs/user_guide/what_can_go_wrong.md")
    assert "fewer than thirty configurations or 250 rows" in plain("README.md")


def test_what_a_plan_assumes():
    text = plain("docs/user_guide/planning.md")

    def ends(growth):
        return f"{growth.flattest:g} to {growth.steepest:g}"

    assert f"{ends(_growth.NEAR_LINEAR)} for linear models and nets" in text
    assert f"{ends(_growth.SORTED)} for trees, which sort their rows" in text
    assert _growth.FACTORED[::2] == _growth.KERNEL[::2]
    assert f"{ends(_growth.BINNED)} for boosting on binned columns" in text
    assert f"{ends(_growth.KERNEL)} for kernel machines" in text
    assert f"{ends(_growth.UNKNOWN)} for learners that are not known" in text
    assert (_cvst.SURVIVAL_RATE, _cvst.END_RATE) == (0.2, 0.4)
    assert "all of them in the safety zone, and a fifth beyond it" in text
    assert "four races of ten are taken to end" in text


def test_what_a_time_budget_does_in_numbers():
    text = plain("docs/user_guide/planning.md")
    steady = steady_steps()
    jumps = sorted(set(range(steady[0], steady[-1])) - set(steady))
    told = "{}, {} and {} at the default levels".format(*jumps)
    assert f"the number of steps, up to {steady[-1]}." in text
    assert told in text
    assert _gate.CHUNK_SHARE == 0.01
    assert "in chunks of about a hundredth of the time that is left" in text
    assert f"with more than {_legs.WORTHWHILE:.0%} of".replace("%", " %") in text
    assert f"further draws, up to {MOST_DRAWS} times `n_iter`" in text
    assert _start.EXCUSED == 1 / 5
    assert (
        "What preparing and measuring took, up to a fifth of a second, is never the"
        in text
    )
