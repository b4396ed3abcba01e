"""The page about proposing while racing says what runs."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "user_guide" / "proposing.md"

pytestmark = pytest.mark.skipif(
    not PAGE.exists(), reason="source distributions have no pages"
)


def test_its_code_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    assert "learning_rate" in capsys.readouterr().out
    assert names["search"].race_.n_looks >= 1


def load_summary():
    """Load the script by its path: other benchmarks have a summary too."""
    path = ROOT / "benchmarks" / "everyday" / "summary.py"
    spec = importlib.util.spec_from_file_location("everyday_summary", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_its_table_is_that_of_the_stored_results():
    """Sixteen tasks never seen before; witness: the summary of the benchmark."""
    summary = load_summary()
    files = [RESULTS / "everyday_later.jsonl"]
    table = summary.regrets(summary.read(files, "later"))
    assert table["task"].nunique() == 16
    rows = {
        "`RaceSearchCV`": ("race", [15.0, 60.0, 240.0]),
        "Optuna TPE + WilcoxonPruner, 5 folds": (
            "optuna_tpe_wilcoxon",
            [15.0, 60.0, 240.0],
        ),
        "SMAC3": ("smac", [15.0, 60.0, 240.0]),
        "Optuna TPE, 5 folds": ("optuna_tpe", [60.0]),
    }
    text = PAGE.read_text(encoding="utf-8")
    for label, (search, budgets) in rows.items():
        line = next(one for one in text.splitlines() if one.startswith(f"| {label} |"))
        for seconds in budgets:
            mine = table[(table["search"] == search) & (table["seconds"] == seconds)]
            of_tasks = (
                mine["regret"].clip(upper=summary.MOST).groupby(mine["task"]).mean()
            )
            shown = f"{of_tasks.mean():.2f}, {of_tasks.median():.2f}"
            assert shown.replace("0.", ".") in line, (label, seconds)
