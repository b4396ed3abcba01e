from __future__ import annotations

import shlex
from argparse import Namespace
from types import SimpleNamespace

import pytest

from cvst import CVST
from cvst.cli.commands._options import repeat_command


def repeated(arguments, **search):
    options = Namespace(arguments=arguments)
    found = SimpleNamespace(**{"stop_reason_": "max_steps", "n_steps_": 4, **search})
    return shlex.split(repeat_command(options, found))


def test_a_race_that_ended_by_itself_is_repeated_as_it_was_typed():
    arguments = ["search", "my data.csv", "-t", "y", "--grid", "a=[1, 2]"]
    assert repeated(arguments) == ["cvst", *arguments]


@pytest.mark.parametrize("budget", [["--budget", "10m"], ["--budget=10m"]])
def test_a_budget_is_replaced_by_what_it_chose(budget):
    """Otherwise another machine, or a busier hour, would give another race."""
    words = repeated(
        ["search", "d.csv", *budget, "--steps", "12", "-t", "y"],
        stop_reason_="time_budget",
        budget_settings_={"strategy": CVST(max_steps=7, loser_level=0.25)},
    )
    assert words == [
        *["cvst", "search", "d.csv", "-t", "y", "--steps", "7"],
        *["--loser-level", "0.25", "--max-looks", "4"],
    ]


def test_an_interrupt_is_replaced_by_the_look_it_came_after():
    words = repeated(
        ["search", "d.csv", "--max-looks=9"], stop_reason_="interrupted", n_steps_=2
    )
    assert words == ["cvst", "search", "d.csv", "--max-looks", "2"]
