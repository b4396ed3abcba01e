"""Sentences of guides that rest on a study say what its files say."""

from __future__ import annotations

import re

import pytest
from docs_pages import cells, page, plain, records, script


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
    assert told in plain("docs/migration/from_halving.md")


def test_the_guide_compares_the_default_with_halving_and_optuna():
    table = page("docs/user_guide/strategies.md").split("## Measured")[1]
    halving, optuna = (cells(table, one)[-1] for one in ("halving", "Optuna"))
    told = f"halving took {halving} and Optuna with its pruner {optuna} times as many"
    assert told in plain("docs/user_guide/which_search.md")


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


def test_machines_on_processes_took_what_the_page_on_clusters_says():
    seconds, n_rows = {}, None
    for one in records("clusters.jsonl"):
        n_rows = one["rows"] if one["what"] == "machine" else n_rows
        chosen = one["what"] == "race" and "skipped" not in one and n_rows == 4000
        if chosen and (one["case"], one["engine"]) == ("SVC", "loky"):
            seconds[one["workers"]] = f"{one['seconds']:.1f} s"
    told = f"took {seconds[4]} on four workers and {seconds[8]} on eight, longer than "
    assert f"{told}the {seconds[1]} on one" in plain("docs/user_guide/clusters.md")
