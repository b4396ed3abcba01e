"""Whether what a file tells is what a search writes: its types, shapes and numbers.

Whoever can write a file can write checksums too. What is found here ends in one
sentence, and not somewhere in a race that goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from cvst._typing import Rows
from cvst.race import Look, Observation, Problem

__all__ = [
    "check_begin",
    "check_configurations",
    "check_fits",
    "check_group",
    "check_known",
    "check_lengths",
    "check_look",
    "check_observation",
    "check_outcome",
    "check_pointwise",
    "check_rows",
    "check_state",
]

# What a look is besides its rows, and which of it may be missing: None is not kept.
NUMBERS_OF_LOOK = ("n_train", "fewest_folds")
OPTIONAL_OF_LOOK = ("rounds", "fold")
ANSWERS_OF_LOOK = ("keep_losses", "is_fold", "may_fail")

# What an observation has for each configuration, and what it may have.
TABLES = ("mean_losses", "top", "p_values", "fit_seconds", "score_seconds")
OPTIONAL_TABLES = ("standard_errors", "scores")

# Whole numbers beyond do not fit into arrays.
LARGEST = 2**62


def _expect(is_right: object, what: str) -> None:
    if not is_right:
        raise ValueError(f"{what} is not what a search writes")


def _is_whole(value: Any) -> bool:
    # True as the number of a configuration would be a mask.
    known = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return known and -LARGEST < int(value) < LARGEST


def _is_real(value: Any) -> bool:
    # A float may be infinite, but is not a number of thousands of digits.
    return isinstance(value, float | bool | np.floating) or _is_whole(value)


def _is_array(value: Any, kinds: str, *shape: int | None) -> bool:
    return (
        isinstance(value, np.ndarray)
        and value.dtype.kind in kinds
        and value.ndim == len(shape)
        and all(n in (None, m) for n, m in zip(shape, value.shape, strict=True))
    )


def _is_ascending(value: Any) -> bool:
    return _is_array(value, "iu", None) and bool(
        (value >= 0).all() and (value[1:] > value[:-1]).all()
    )


def check_begin(values: Mapping[str, Any]) -> None:
    """Check how a race began, as far as one that goes on reads it."""
    for name in ("problem", "strategy"):
        _expect(isinstance(values[name], Mapping), f"its {name}")
    problem = values["problem"]
    for name in ("constant_loss", "seconds"):
        one = problem[name]
        _expect(one is None or _is_real(one), f"the {name} of its problem")
    spent = values["spent"]
    _expect(_is_real(spent) and isfinite(spent), "its time")
    budget = values["budget"]
    if budget is None:
        return
    _expect(isinstance(budget, Mapping), "its time budget")
    if "in_turn" in budget:
        _check_numbers(budget["in_turn"], "the order of its time budget")
        return
    for name in ("raced", "left_out"):
        _check_numbers(budget[name], f"what its time budget has {name}")
    for name, kind in (("strategy", str), ("model", Mapping)):
        _expect(isinstance(budget[name], kind), f"the {name} of its time budget")


def _check_numbers(values: Any, what: str) -> None:
    known = isinstance(values, list) and all(_is_whole(n) and n >= 0 for n in values)
    _expect(known and len(set(values)) == len(values), what)


def check_fits(begin: Mapping[str, Any], n_configurations: int) -> None:
    """Check that a time budget numbers configurations that a search has.

    Raises
    ------
    ValueError
        If it does not.
    """
    budget = begin["budget"] or {}
    raced, left = budget.get("raced", [1]), budget.get("left_out", [])
    _expect(raced, "what its time budget has raced")
    _expect(not set(raced) & set(left), "what its time budget has left out")
    numbers = (*raced, *left) if "raced" in budget else budget.get("in_turn", [])
    _expect(
        all(number < n_configurations for number in numbers),
        "a number of a configuration in its time budget",
    )


def check_look(values: Any) -> None:
    """Check all of a look but its rows."""
    _expect(isinstance(values, Mapping), "a look")
    for name in NUMBERS_OF_LOOK:
        one = values.get(name, 1)
        _expect(_is_whole(one) and one >= 0, f"the {name} of a look")
    for name in OPTIONAL_OF_LOOK:
        one = values.get(name, 0)
        _expect(_is_whole(one) and one >= 0, f"the {name} of a look")
    for name in ANSWERS_OF_LOOK:
        one = values.get(name, False)
        _expect(isinstance(one, bool | np.bool_), f"the {name} of a look")
    _expect(isinstance(values.get("stage", ""), str), "the stage of a look")
    members = values["configurations"]
    known = _is_ascending(members) and len(members)
    _expect(known, "the list of configurations of a look")


def check_rows(rows: Any) -> None:
    """Check rows, whichever there are."""
    if isinstance(rows, slice):
        ends = (rows.start, rows.stop)
        known = all(one is None or (_is_whole(one) and one >= 0) for one in ends)
        _expect(known and rows.step in (None, 1), "a slice of rows")
    else:
        known = _is_array(rows, "iu", None) and (rows >= 0).all()
        _expect(known, "a set of rows")


def check_observation(seen: Mapping[str, Any], look: Mapping[str, Any]) -> None:
    """Check what was seen in a look against its configurations."""
    members = look["configurations"]
    n, numbers = len(members), set(members.tolist())
    for name in (*TABLES, *OPTIONAL_TABLES):
        if name in TABLES or name in seen:
            kinds = "b" if name == "top" else "biuf"
            _expect(_is_array(seen[name], kinds, n), f"what a look has as {name}")
    for name in ("seconds", "elapsed"):
        _expect(_is_real(seen.get(name, 0.0)), f"the time of a look ({name})")
    for name in ("drops", "failures"):
        reasons = seen.get(name, {})
        known = isinstance(reasons, Mapping) and all(
            _is_whole(number) and isinstance(why, str)
            for number, why in reasons.items()
        )
        _expect(known, f"what a look has as {name}")
    _expect(numbers.issuperset(seen.get("failures", {})), "a failure of a look")
    others = seen.get("other_scores", {})
    known = isinstance(others, Mapping) and all(
        isinstance(name, str) and _is_array(one, "biuf", n)
        for name, one in others.items()
    )
    _expect(known, "what a look has as other scores")
    kept = seen.get("kept", np.array([], dtype=np.intp))
    known = _is_ascending(kept) and numbers.issuperset(kept.tolist())
    _expect(known, "what a look has kept")
    if len(kept) or "losses" in seen:
        known = _is_array(seen["losses"], "biuf", len(kept), None)
        _expect(known, "what a look has as losses")


def check_pointwise(facts: Mapping[str, Any], look: Mapping[str, Any]) -> None:
    """Check what is told of a look besides: who joined, and losses to be returned."""
    check_configurations(facts.get("joined", []))
    if "pointwise" in facts:
        n = len(look["configurations"])
        known = _is_array(facts["pointwise"], "biuf", n, None)
        _expect(known, "what a look has as pointwise losses")


def check_configurations(joined: Any) -> None:
    """Check configurations that join a race."""
    known = isinstance(joined, list) and all(
        isinstance(one, dict) and all(isinstance(name, str) for name in one)
        for one in joined
    )
    _expect(known, "a list of configurations that joined")


def check_outcome(values: Any) -> None:
    """Check what is known of a configuration of a look under way."""
    _expect(isinstance(values, Mapping), "an outcome")
    number = values["configuration"]
    _expect(_is_whole(number) and number >= 0, "the number of a configuration")
    for name in ("losses", "residuals"):
        known = name not in values or _is_array(values[name], "biuf", None)
        _expect(known, f"what an outcome has as {name}")
    for name in ("fit_seconds", "score_seconds", "score"):
        _expect(_is_real(values.get(name, 0.0)), f"what an outcome has as {name}")
    for name in ("reason", "details"):
        known = isinstance(values.get(name, ""), str)
        _expect(known, f"what an outcome has as {name}")
    others = values.get("others", {})
    known = isinstance(others, Mapping) and all(
        isinstance(name, str) and _is_real(one) for name, one in others.items()
    )
    _expect(known, "what an outcome has as other scores")
    left = set(values) - OF_OUTCOME
    _expect(not left, f"what an outcome has as {', '.join(sorted(left))}")


OF_OUTCOME = {
    "configuration",
    "losses",
    "residuals",
    "score",
    "others",
    "fit_seconds",
    "score_seconds",
    "reason",
    "details",
}


def check_group(values: Mapping[str, Any]) -> None:
    """Check the outcomes of a record, and of what they are."""
    _expect(isinstance(values["outcomes"], list), "a list of outcomes")
    for one in values["outcomes"]:
        check_outcome(one)
    for name in ("number", "ticket", "n_configurations"):
        one = values.get(name, 1)
        _expect(_is_whole(one) and one >= 0, f"the {name} of a group")
    if values.get("joined") is not None:
        check_configurations(values["joined"])
    if values.get("look") is not None:
        check_look(values["look"])


def check_state(
    looks: Iterable[Observation], problem: Problem, n_configurations: int
) -> None:
    """Check that looks are of the configurations and rows that a search has."""
    n_rows = problem.n_samples + problem.n_validation
    checked: set[int] = set()
    for seen in looks:
        look = seen.look
        numbers = (int(look.configurations[-1]), *seen.drops)
        known = all(0 <= number < n_configurations for number in numbers)
        _expect(known, "a number of a configuration")
        for rows in (look.train, look.test):
            # Sets of rows are told once, and looks share them.
            if id(rows) not in checked:
                checked.add(id(rows))
                _expect(_last_row(rows) < n_rows, "a number of a row")
        _expect(look.n_train <= n_rows, "a number of rows")


def check_known(outcomes: Sequence[Mapping[str, Any]], look: Look) -> None:
    """Check that outcomes are of a look's configurations, one of each."""
    numbers = [int(one["configuration"]) for one in outcomes]
    known = len(set(numbers)) == len(numbers)
    known = known and set(look.configurations.tolist()).issuperset(numbers)
    _expect(known, "the number of a configuration that is done")


def check_lengths(tables: Iterable[Any], n_points: int) -> None:
    """Check that losses are of as many rows as their look is tested on."""
    for one in tables:
        if one is not None:
            _expect(np.shape(one)[-1] == n_points, "the number of losses of a look")


def _last_row(rows: Rows) -> int:
    if isinstance(rows, slice):
        return max(rows.start or 0, (rows.stop or 1) - 1)
    return int(rows.max()) if len(rows) else 0
