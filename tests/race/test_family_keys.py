"""What tells families apart, and how often a value has to say what it is."""

from __future__ import annotations

from copy import deepcopy

from cvst.race.machinery import FamilyKeys


class Told:
    """Counts how often it is written."""

    def __init__(self, name):
        self.name = name
        self.n_times = 0

    def __repr__(self):
        self.n_times += 1
        return f"Told({self.name})"


def test_equal_texts_are_one_family():
    """Whatever the order and the rounds; numbers of other kinds are others."""
    key = FamilyKeys(("rounds",))
    first = key({"a": Told("x"), "rounds": 10, "b": 1})
    assert first == key({"b": 1, "a": Told("x"), "rounds": 70})
    assert first == key({"b": 1, "a": Told("x")})
    assert first != key({"b": 1.0, "a": Told("x")})
    assert first != key({"b": True, "a": Told("x")})
    assert first != key({"b": 1, "a": Told("y")})


def test_each_value_is_written_once():
    """The text of an estimator takes as long as a short fit."""
    key, value = FamilyKeys(()), Told("x")
    keys = {key({"a": value, "b": number}) for number in range(20)}
    assert len(keys) == 20
    assert value.n_times == 1


def test_values_that_are_gone_are_not_taken_for_others():
    """Python gives their addresses away again, in another process at the latest."""
    key = FamilyKeys(())
    keys = [key({"a": Told(str(number))}) for number in range(50)]
    assert len(set(keys)) == 50
    value = Told("x")
    before = key({"a": value})
    travelled, value.name = deepcopy(key), "y"
    assert travelled({"a": value}) != before
