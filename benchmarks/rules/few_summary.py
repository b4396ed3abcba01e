"""Summarise races of few configurations: the table of ``few_configurations.md``.

python benchmarks/rules/few_summary.py

Losses on fresh rows and fits are ratios to those of the plain search on the same grid.
The mean of the losses is that of logarithms over pairs of a data set and a model, and ±
is one standard error over these pairs: grids of one pair share their rows.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["PLAIN", "RULES", "lines", "read"]

RESULTS = Path(__file__).parents[1] / "results" / "rules_few.csv"
PLAIN = "full 5-fold"
RULES = {"five folds": "raced 5 folds", "final too": "and a final"}


def read(path: Path = RESULTS) -> pd.DataFrame:
    """Return one row for each rule and grid, with both ratios."""
    table = pd.read_csv(path)
    keys = ["data", "model", "size", "seed"]
    plain = table[table["rule"] == PLAIN].set_index(keys)
    known = plain.loc[pd.MultiIndex.from_frame(table[keys])]
    loss = table["test_loss"].clip(lower=1e-9) / known["test_loss"].to_numpy()
    return table.assign(
        log_ratio=np.log(loss), share=table["fits"] / known["fits"].to_numpy()
    )


def row(name: str, size: str, grids: pd.DataFrame) -> str:
    """Return one line of the table."""
    pairs = grids.groupby(["data", "model"])["log_ratio"].mean()
    ratio = f"{np.exp(pairs.mean()):.3f} ± {pairs.sem():.3f}"
    shares = f"{grids['share'].mean():.2f} | {grids['share'].max():.2f}"
    return f"| {name} | {size} | {len(grids)} | {ratio} | {shares} |"


def lines(table: pd.DataFrame) -> list[str]:
    """Return the table: each rule on all grids, and by their size."""
    found = [
        "| rule | configurations | grids | loss on fresh rows | fits | most fits |",
        "|---|---|---|---|---|---|",
    ]
    for rule, name in RULES.items():
        own = table[table["rule"] == rule]
        found.append(row(name, "all", own))
        found += [row(name, str(size), part) for size, part in own.groupby("size")]
    return found


if __name__ == "__main__":
    print("\n".join(lines(read())))
