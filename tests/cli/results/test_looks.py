"""The table of looks, short and long."""

from __future__ import annotations

from cvst.cli.results import looks_table


def race_of(leaders):
    """Return looks as a summary has them, one per leader."""
    return [
        {
            "look": number,
            "stage": "screen" if number < len(leaders) else "confirm",
            **dict.fromkeys(("rows", "tested", "top", "dropped", "left"), 7),
            "score": 0.5 + 0.001 * leader,
            "leader": {"depth": leader},
        }
        for number, leader in enumerate(leaders, start=1)
    ]


def lines_of(text):
    """Return the numbers of the looks that a table shows."""
    rows = (line.split() for line in text.splitlines()[1:])
    return [int(words[0]) for words in rows if words and words[0].isdigit()]


def test_a_short_race_is_told_in_full():
    text = looks_table(race_of([1] * 40), "", "accuracy")
    assert lines_of(text) == list(range(1, 41))
    assert "shown" not in text


def test_a_long_race_is_told_by_what_changed():
    leaders = [1] * 10 + [2] * 30 + [5] * 2
    text = looks_table(race_of(leaders), "", "accuracy")
    assert lines_of(text) == [1, 11, 41, 42]
    assert text.endswith(
        "(42 looks; shown are those after which another configuration led, and the "
        "last.)"
    )


def test_the_last_look_is_not_told_twice():
    text = looks_table(race_of([1] * 50 + [2]), "", "accuracy")
    assert lines_of(text) == [1, 51]
