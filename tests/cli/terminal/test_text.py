from __future__ import annotations

import numpy as np

from cvst._text import counted
from cvst.cli.terminal import shown_parameters, table


def test_one_thing_is_singular():
    assert counted(1, "configuration") == "1 configuration"
    assert counted(0, "look") == "0 looks"
    assert counted(12_000, "row") == "12,000 rows"


def test_columns_of_a_table_stand_under_each_other():
    text = table(["step", "who"], [[1, "a"], [1000, "long name"]], left=["who"])
    assert text.split("\n") == [" step  who", "    1  a", "1,000  long name"]


def test_numbers_are_shown_as_people_write_them():
    """Whatever NumPy calls them, also within a tuple."""
    parameters = {
        "alpha": np.float64(0.1),
        "sizes": (np.int64(8), np.float64(0.5)),
        "one": (np.float32(2),),
        "flag": np.bool_(True),
        "name": "rbf",
        "function": len,
    }
    assert shown_parameters(parameters) == (
        "alpha=0.1 sizes=(8,0.5) one=(2,) flag=True name=rbf function=len"
    )


def test_parameters_forge_no_line():
    """A grid in a file may be a stranger's, as column names are."""
    assert shown_parameters({"a\nb": "x\nWinner: y"}) == r"a\nb=x\nWinner: y"
