"""Summarise a study of rules: ratios to full 10-fold cross-validation, and speed.

python benchmarks/rules/summary.py benchmarks/results/rules_kernel.csv
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd


def line(rule, part, rows):
    """Return the summary of a rule on some problems as text."""
    worst = rows.loc[rows["ratio"].idxmin()]
    below = rows.loc[rows["upper"] < 0.98, "problem"].tolist()
    return (
        f"{rule:32s} {part:15s} {len(rows):2d} problems, {rows['n'].sum():3d} races  "
        f"mean {np.exp(rows['log_ratio'].mean()):.3f} "
        f"+- {rows['log_ratio'].sem():.3f}  "
        f"worst {worst['ratio']:.3f} ({worst['problem']})  "
        f"speed {np.exp(np.log(rows['speed']).mean()):.0f}x  "
        f"surely below .98: {', '.join(below) or 'none'}"
    )


def main():
    """Print one line per rule and task or part, then one per problem."""
    table = pd.concat([pd.read_csv(path) for path in sys.argv[1:]])
    keys = ["problem", "seed"]
    full = table[table["rule"] == "full 10-fold"].set_index(keys)
    known = full.loc[pd.MultiIndex.from_frame(table[keys])]
    table["log_ratio"] = np.log(
        known["test_error"].to_numpy() / table["test_error"].to_numpy()
    )
    table["speed"] = known["operations"].to_numpy() / table["operations"].to_numpy()
    groups = table.groupby(["rule", "task", "design", "problem"])
    problems = groups.agg(
        log_ratio=("log_ratio", "mean"),
        error=("log_ratio", lambda v: v.std(ddof=1) / np.sqrt(len(v))),
        speed=("speed", "mean"),
        n=("log_ratio", "size"),
    ).reset_index()
    problems["ratio"] = np.exp(problems["log_ratio"])
    problems["upper"] = np.exp(problems["log_ratio"] + 1.96 * problems["error"])
    for (rule, task), rows in problems.groupby(["rule", "task"]):
        print(line(rule, task, rows))
    for (rule, design), rows in problems.groupby(["rule", "design"]):
        print(line(rule, "designed on" if design else "not designed on", rows))
    wide = problems.pivot(index=["design", "problem"], columns="rule", values="ratio")
    print(wide.round(3).to_string())


if __name__ == "__main__":
    main()
