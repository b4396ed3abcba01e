from __future__ import annotations

import json
import shlex
from argparse import Namespace
from types import SimpleNamespace

import pytest
from fake_clock import Clock
from sklearn.dummy import DummyRegressor

from cvst import CVST, RaceRandomSearchCV
from cvst.cli._main import build_parser
from cvst.cli.commands._repeat import OPEN, repeat_command
from cvst.race import Relay


def repeated(arguments, n_looks=4, proposes=False, **search):
    out = "results" if "--out" in arguments else None
    budget = 10.0 if "--time-budget" in arguments else None
    options = Namespace(arguments=arguments, out=out, time_budget=budget)
    race = SimpleNamespace(observations=[None] * n_looks)
    found = SimpleNamespace(**{"stop_reason_": "max_steps", "race_": race, **search})
    return shlex.split(repeat_command(options, found, proposes))


def test_a_race_that_ended_by_itself_is_repeated_as_it_was_typed():
    arguments = ["search", "my data.csv", "-t", "y", "--grid", "a=[1, 2]"]
    assert repeated(arguments) == ["cvst", *arguments]


@pytest.mark.parametrize(
    "budget", [["--time-budget", "10m"], ["--time-budget=10m"], ["--budget", "10m"]]
)
@pytest.mark.parametrize("steps", ["--max-steps", "--steps"])
def test_a_budget_is_replaced_by_what_it_chose(budget, steps):
    """Otherwise another machine, or a busier hour, would give another race."""
    words = repeated(
        ["search", "d.csv", *budget, steps, "12", "-t", "y"],
        stop_reason_="time_budget",
        budget_settings_={"strategy": CVST(max_steps=7, loser_level=0.25)},
    )
    assert words == [
        *["cvst", "search", "d.csv", "-t", "y", "--max-steps", "7"],
        *["--loser-level", "0.25", "--max-looks", "4"],
    ]


def test_an_interrupt_is_replaced_by_the_look_it_came_after():
    words = repeated(
        ["search", "d.csv", "--max-looks=9"], stop_reason_="interrupted", n_looks=2
    )
    assert words == ["cvst", "search", "d.csv", "--max-looks", "2"]


def test_results_that_are_there_may_be_replaced():
    """Otherwise the command would be refused by the folder it has written itself."""
    arguments = ["search", "d.csv", "--out", "results"]
    assert repeated(arguments) == ["cvst", *arguments, "--overwrite"]
    arguments += ["--overwrite"]
    assert repeated(arguments) == ["cvst", *arguments]


def test_the_program_is_named_as_it_was_started(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/somewhere/cvst/__main__.py", "search"])
    assert repeated(["search", "d.csv"])[:3] == ["python", "-m", "cvst"]


def test_proposals_within_a_budget_are_repeated_with_that_budget():
    """What was proposed depends on the clock: there is nothing to write out instead."""
    arguments = ["search", "d.csv", "-t", "y", "--time-budget", "10s"]
    words = repeated(arguments, proposes=True, stop_reason_="time_budget")
    assert words == ["cvst", *arguments]


@pytest.mark.parametrize(
    "chosen",
    [
        {"strategy": Relay(CVST(), (5, 5))},
        {"strategy": CVST(), "param_grid": [{"alpha": [1.0]}]},
        {"n_iter": 3},
    ],
)
def test_what_no_option_says_is_repeated_with_the_budget(chosen):
    """Legs, and configurations that were left out, are the choice of the clock."""
    arguments = ["search", "d.csv", "-t", "y", "--time-budget", "10s"]
    settings = {"max_looks": None, **chosen}
    words = repeated(arguments, budget_settings_=settings, stop_reason_="time_budget")
    assert words == ["cvst", *arguments]


@pytest.mark.parametrize("strategy", ["track_and_confirm", "cvst"])
def test_a_search_in_legs_is_reported(cvst, people_csv, monkeypatch, strategy):
    """On a clock that moves with fits alone, so that legs follow for certain."""
    clock, fit = Clock(), DummyRegressor.fit

    def slow(self, X, y, sample_weight=None):
        clock.now += 0.05 + 0.05 * len(X) / 240
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(DummyRegressor, "fit", slow)
    monkeypatch.setattr("cvst.evaluation._one_by_one.perf_counter", clock)
    monkeypatch.setattr(RaceRandomSearchCV, "_clock", staticmethod(clock))
    result = cvst(
        *["search", people_csv, "-t", "cost", "--drop", "ill", "--random-state", "0"],
        *["--model", "sklearn.dummy:DummyRegressor", "--n-iter", "8"],
        *["--grid", 'strategy=["quantile"] quantile=uniform(0.1, 0.9)'],
        *["--strategy", strategy, "--time-budget", "60s", "--json"],
    )
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert document["n_configurations"] > 8
    assert "--time-budget 60s" in document["repeat"]


def test_interrupted_proposals_are_repeated_up_to_the_same_look():
    arguments = ["search", "d.csv", "-t", "y", "--n-iter", "20"]
    words = repeated(arguments, proposes=True, stop_reason_="interrupted")
    assert words == ["cvst", *arguments, "--max-looks", "4"]


@pytest.mark.parametrize("table", ["-data.csv", "--overwrite", "--max-steps=3"])
def test_what_follows_two_dashes_stays_behind_the_options(table):
    """The command runs as it stands, whatever the table is called."""
    words = repeated(
        [
            "search",
            "-t",
            "y",
            "-m",
            "ridge",
            "--out",
            "r",
            "--max-looks=9",
            "--",
            table,
        ],
        stop_reason_="time_budget",
        budget_settings_={"strategy": CVST(max_steps=7, loser_level=0.25)},
    )
    options = build_parser().parse_args(words[1:])
    assert options.data == table
    assert options.overwrite
    assert (options.max_looks, options.max_steps, options.loser_level) == (4, 7, 0.25)


def test_two_dashes_before_the_command_are_no_end_of_options():
    arguments = ["--", "search", "d.csv", "--checkpoint", "race", "--out", "results"]
    expected = ["cvst", "--", "search", "d.csv", "--out", "results", "--overwrite"]
    assert repeated(arguments) == expected


@pytest.mark.parametrize("option", ["--time-order", "--live"])
@pytest.mark.parametrize(
    "checkpoint", [["--checkpoint", "race"], ["--checkpoint=race"]]
)
def test_the_table_is_not_taken_for_the_value_of_an_option(option, checkpoint):
    """Without what stood between them, it would be."""
    given = ["search", "-t", "y", "-m", "ridge", option, *checkpoint, "d.csv"]
    [before, after] = [
        vars(build_parser().parse_args(words)) for words in (given, repeated(given)[1:])
    ]
    assert after == {**before, "checkpoint": None}


def test_all_options_with_an_optional_value_are_known():
    [commands] = [one for one in build_parser()._actions if one.dest == "command"]
    found = {
        name
        for action in commands.choices["search"]._actions
        if action.option_strings and action.nargs == "?"
        for name in action.option_strings
    }
    assert found == set(OPEN)
