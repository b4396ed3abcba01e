"""The rule of the default is the one that was measured."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from cvst.race import TrackAndConfirm
from cvst.search import DEFAULT_STRATEGY, STRATEGIES

ROOT = Path(__file__).parents[2]
STORED = json.loads((ROOT / "tests" / "reference" / "frozen_rule.json").read_text())

MEASURE_AGAIN = (
    "The default decides otherwise than the rule that was measured. If that is a "
    "mistake, mend it. If it is meant, docs/measurements/default_study.md is no "
    "longer evidence for the default: run benchmarks/default again on splits that "
    "nobody has seen (seeds from 10 on), rewrite the page, enter the change in "
    "docs/developer/variants.md, and only then store the new decisions by "
    "'python benchmarks/default/frozen.py tests/reference/frozen_rule.json'."
)

# Limits for more rows than any race of the study has; they came after it, and no race
# of up to 100,000 rows knows of them (tests/race/test_limits_on_rows.py).
LIMITS = {"max_test": 100_000, "max_rows": 500_000}

# Each is another number than the default's, and some race notices it.
OTHERS = {
    "first_fraction": 0.25,
    "late_fraction": 0.5,
    "min_rows": 100,
    "max_survivors": 30,
    "n_tracked": 9,
    "n_leaders": 2,
    "widen": False,
    "n_hedges": 9,
    "n_folds": 4,
    "n_raced": 14,
    "final_folds": 9,
    "climbs": 3,
    "level": 0.04,
    "direct_below": 20,
    "guarantee": "run",
}
INSIDE = {
    "N_FINALISTS": 3,
    "FEWEST_RACED": 4,
    "DOUBTFUL": 0.15,
    "LARGEST_FRACTION": 0.5,
}


def load(name):
    path = ROOT / "benchmarks" / "default" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"default_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


frozen = load("frozen")


def first_noticed(**changed):
    """Return a race that other numbers decide otherwise, None if there is none."""
    stored = STORED["races"]
    # The quick ones first.
    names = sorted(stored, key=lambda name: frozen.RACES[name].n_samples)
    return next((n for n in names if frozen.decided(n, **changed) != stored[n]), None)


def test_default_is_this_strategy_with_the_numbers_of_the_study():
    """What a search uses if nothing is said."""
    assert type(STRATEGIES[DEFAULT_STRATEGY]()) is TrackAndConfirm
    assert TrackAndConfirm().get_params() == STORED["parameters"] | LIMITS, (
        MEASURE_AGAIN
    )


def test_all_races_are_stored():
    assert set(STORED["races"]) == set(frozen.RACES)


@pytest.mark.parametrize("name", STORED["races"])
def test_races_are_decided_as_by_the_rule_of_the_study(name):
    """Winner, ranking, and which configurations enter and leave each look."""
    assert frozen.decided(name) == STORED["races"][name], MEASURE_AGAIN


@pytest.mark.parametrize("name", OTHERS)
def test_every_number_matters_to_some_race(name):
    """Or a change behind it would go unnoticed."""
    assert first_noticed(**{name: OTHERS[name]}) is not None


def test_no_number_is_left_out():
    assert set(OTHERS) | set(LIMITS) == set(TrackAndConfirm().get_params())


@pytest.mark.parametrize("name", INSIDE)
def test_numbers_inside_matter_to_some_race(name, monkeypatch):
    """Numbers that are not parameters are frozen too."""
    module = sys.modules[TrackAndConfirm.__module__]
    assert getattr(module, name) != INSIDE[name]
    monkeypatch.setattr(module, name, INSIDE[name])
    assert first_noticed() is not None
