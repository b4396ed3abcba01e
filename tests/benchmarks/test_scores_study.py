"""The summary of the study of scores, by hand."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "scores" / "summary.py"


@pytest.fixture
def summary():
    """Return the script, loaded by its path: others have the same name."""
    spec = importlib.util.spec_from_file_location("scores_summary", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cell(problem, split, **scores):
    """Return a line of results; a score has full, race, seconds and operations."""
    keys = ("full", "race", "seconds", "operations")
    return {
        "problem": problem,
        "split": split,
        "scores": {
            name: dict(zip(keys, values, strict=True))
            | {"fits": 4, "choice": 1, "full_choice": 1}
            for name, values in scores.items()
        },
    }


def test_ratios_are_means_over_splits_and_then_over_problems(summary):
    cells = [
        cell("a", 0, neg_log_loss=(-0.2, -0.4, 1, 10), roc_auc=(0.8, 0.9, 2, 10)),
        cell("a", 1, neg_log_loss=(-0.2, -0.2, 1, 10), roc_auc=(0.8, 0.8, 2, 40)),
        cell("b", 0, accuracy=(0.9, 0.9, 3, 10), roc_auc=(0.9, 0.8, 3, 10)),
    ]
    table = summary.lines(cells)
    [by_loss] = [line for line in table if line.startswith("| neg_log_loss ")]
    [by_area] = [line for line in table if line.startswith("| roc_auc ")]
    assert by_loss.split(" | ")[1:3] == ["1", "0.750 ± 0.000"]
    # (0.2 / 0.1 + 1) / 2 for the first problem, 0.1 / 0.2 for the second.
    assert by_area.split(" | ")[1:3] == ["2", "1.000 ± 0.500"]
    seconds, operations = np.sqrt(2 * 1), np.sqrt(np.sqrt(1 * 4) * 1)
    assert by_area.split(" | ")[4:6] == [f"{seconds:.2f}", f"{operations:.2f}"]
    assert "accuracy" not in " ".join(table)
    assert table[-1] == "Mean over scores: 0.875; wanted: .995."
