"""Fits that failed, told by what they have in common."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.race import Look, LookLosses, Problem, RaceState, Verdict
from cvst.report._failures import failure_sentences

GRID = [{"C": c, "penalty": p} for c in (1, 10, 100) for p in ("l1", "l2")]


def raced(failures):
    """Return a race whose first look failed for some."""
    n = len(GRID)
    look = Look(slice(0, 50), slice(50, 60), 50, np.arange(n))
    seen = LookLosses(
        losses=np.zeros((n, 10)),
        mean_losses=np.zeros(n),
        fit_seconds=np.ones(n),
        score_seconds=np.ones(n),
        failures=failures,
    )
    state = RaceState(Problem(n_configurations=n, n_samples=60))
    return state.observe(look, seen, Verdict(np.ones(n, bool), np.ones(n)))


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        ({}, []),
        (
            dict.fromkeys((0, 2, 4), "ValueError: no l1."),
            ["All 3 configurations with penalty=l1 failed: ValueError: no l1."],
        ),
        (dict.fromkeys(range(6), "E"), ["All 6 configurations failed: E."]),
        ({0: "E", 3: "E"}, ["2 of 6 configurations failed: E."]),
        ({0: "E"}, ["1 of 6 configurations failed: E."]),
    ],
)
def test_what_failed_together_is_named_together(failures, expected):
    assert failure_sentences(raced(failures), GRID) == expected


def test_many_kinds_of_errors_are_summed_up():
    sentences = failure_sentences(raced({n: f"E{n}" for n in range(5)}), GRID)
    assert len(sentences) == 4
    assert sentences[-1] == "2 configurations more failed with other errors."
