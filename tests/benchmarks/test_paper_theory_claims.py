"""Verdicts on the paper's simulations, from made-up numbers: they can say no."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pytest
from claims import Evidence
from claims_theory import theory_claims
from profiles import PROFILES
from sure import NO, PARTLY, YES

SMOKE = PROFILES["smoke"]


def found(folder, item, lines, words):
    """Return the verdict on the claim that has these words."""
    frame = pd.DataFrame([{"profile": "smoke"} | line for line in lines])
    frame.to_csv(folder / f"{item}.csv", index=False)
    claims = theory_claims(Evidence(folder, SMOKE))
    (claim,) = [one for one in claims if one.item == item and words in one.words]
    return claim


def false_negatives(open_rates, closed_rates):
    """Return lines of change points from 1 on, of races of 10 and of 20 steps."""
    for steps, (test, rates) in product(
        (10, 20), {"open": open_rates, "closed": closed_rates}.items()
    ):
        for point, rate in enumerate(rates, start=1):
            yield {
                "test": test, "max_steps": steps, "change_point": point,
                "win_probability_before": 0.1, "rate": rate, "exact": rate,
            }  # fmt: skip


@pytest.mark.parametrize(
    ("open_rates", "closed_rates", "expected"),
    [
        ((0.0, 0.1, 0.2), (0.2, 0.3, 0.4), YES),
        # More nearly everywhere, but by less than twice.
        ((0.3, 0.4, 0.5), (0.4, 0.5, 0.6), PARTLY),
        # Far more on average, less in one of three settings.
        ((0.1, 0.1, 0.1), (0.9, 0.9, 0.0), PARTLY),
        ((0.2, 0.3, 0.4), (0.1, 0.2, 0.3), NO),
        ((0.2, 0.3), (0.1, 0.9), NO),
    ],
)
def test_the_closed_test_drops_far_more(tmp_path, open_rates, closed_rates, expected):
    lines = false_negatives(open_rates, closed_rates)
    claim = found(tmp_path, "false-negatives", lines, "closed test")
    assert claim.verdict == expected


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ((0.0, 0.0, *[0.0] * 5, 0.3), PARTLY),  # 10 steps: nothing later than 2 until 8
        ((0.0, 0.1, *[0.2] * 6), NO),
    ],
)
def test_the_safety_zone_is_free_of_false_negatives(tmp_path, rates, expected):
    """Up to change point 2 of 10 steps and 7 of 20, and not beyond."""
    lines = list(false_negatives(rates, rates))
    if expected == PARTLY:
        lines = [
            line
            | (
                {"rate": 0.1}
                if (line["max_steps"], line["change_point"]) == (20, 7)
                else {}
            )
            for line in lines
        ]
    claim = found(tmp_path, "false-negatives", lines, "open test")
    assert claim.verdict == expected


@pytest.mark.parametrize(
    ("curves", "expected"),
    [
        ([(90, 40, 20, 10), (80, 39, 19, 9)], YES),
        ([(90, 40, 20, 10), (80, 60, 50, 9)], PARTLY),
        ([(90, 40, 41, 10), (80, 60, 50, 9)], NO),
    ],
)
def test_a_rapid_decline_halves_and_never_rises(tmp_path, curves, expected):
    lines = [
        {"test": test, "problem": "easy", "max_steps": steps, "median": median}
        for test, curve in zip(("open", "closed"), curves, strict=True)
        for steps, median in zip((10, 20, 30, 40), curve, strict=True)
    ]
    claim = found(tmp_path, "speed-simulation", lines, "rapid decline")
    assert claim.verdict == expected


@pytest.mark.parametrize(("bound", "expected"), [(0.0526, YES), (0.07, NO)])
def test_the_bound_converges(tmp_path, bound, expected):
    lines = [{"win_probability": 0.95, "max_steps": 200, "bound": bound}]
    assert found(tmp_path, "error-bound", lines, "converges").verdict == expected
