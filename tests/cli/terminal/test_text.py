from __future__ import annotations

from cvst.cli.terminal import counted, table


def test_one_thing_is_singular():
    assert counted(1, "configuration") == "1 configuration"
    assert counted(0, "look") == "0 looks"
    assert counted(12_000, "row") == "12,000 rows"


def test_columns_of_a_table_stand_under_each_other():
    text = table(["step", "who"], [[1, "a"], [1000, "long name"]], left=["who"])
    assert text.split("\n") == [" step  who", "    1  a", "1,000  long name"]
