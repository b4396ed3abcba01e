"""Summarise the study of models: ratios to full 10-fold cross-validation, and speed.

python benchmarks/rules/models_summary.py benchmarks/results/rules_models.csv

Where a problem has fewer than three repetitions, its standard error is that of the
paired difference on the test rows; it leaves out how the training rows were drawn.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

FULL, PLAIN = "full 10-fold", "plain 10-fold"


def ratios(table):
    """Return one row per rule and problem: mean log ratio, error, speeds."""
    keys = ["problem", "seed"]
    full = table[table["rule"] == FULL].set_index(keys)
    known = full.loc[pd.MultiIndex.from_frame(table[keys])]
    table = table.assign(
        kind=table["problem"].str.split().str[-1],
        log_ratio=np.log(known["test_error"].to_numpy() / table["test_error"]),
        speed=known["operations"].to_numpy() / table["operations"],
        faster=known["seconds"].to_numpy() / table["seconds"],
        fewer=known["fits"].to_numpy() / table["fits"],
    )
    found = []
    for (rule, kind, problem), rows in table.groupby(["rule", "kind", "problem"]):
        n_rows = len(rows)
        error = np.sqrt(np.mean(rows["error"] ** 2) / n_rows)
        if n_rows >= 3:
            error = rows["log_ratio"].std(ddof=1) / np.sqrt(n_rows)
        found.append(
            {
                "rule": rule,
                "kind": kind,
                "problem": problem,
                "log_ratio": rows["log_ratio"].mean(),
                "upper": np.exp(rows["log_ratio"].mean() + 1.96 * error),
                "speed": np.exp(np.log(rows["speed"]).mean()),
                "faster": np.exp(np.log(rows["faster"]).mean()),
                "fewer": np.exp(np.log(rows["fewer"]).mean()),
                "n": n_rows,
            }
        )
    return pd.DataFrame(found)


def line(name, rows):
    """Return the summary of some problems as text."""
    mean, error = rows["log_ratio"].mean(), rows["log_ratio"].sem()
    worst = rows.loc[rows["log_ratio"].idxmin()]
    below = rows.loc[rows["upper"] < 0.98, "problem"].tolist()
    return (
        f"{name:36s} {len(rows):3d} problems, {rows['n'].sum():3d} races  "
        f"mean {np.exp(mean):.3f} +- {error:.3f}  "
        f"worst {np.exp(worst['log_ratio']):.3f} ({worst['problem']})  "
        f"operations {np.exp(np.log(rows['speed']).mean()):.1f}x  "
        f"fits {np.exp(np.log(rows['fewer']).mean()):.1f}x  "
        f"time {np.exp(np.log(rows['faster']).mean()):.1f}x  "
        f"surely below .98: {', '.join(below) or 'none'}"
    )


def main():
    """Print a line per rule, per rule and kind of model, then all ratios."""
    problems = ratios(pd.concat([pd.read_csv(path) for path in sys.argv[1:]]))
    compared = problems[problems["rule"] != PLAIN]
    for rule, rows in compared.groupby("rule"):
        print(line(rule, rows))
    for (kind, rule), rows in compared.groupby(["kind", "rule"]):
        print(line(f"{kind}: {rule}", rows))
    plain = problems[problems["rule"] == PLAIN]
    for kind, rows in plain.groupby("kind"):
        slower = np.exp(-np.log(rows["faster"]).mean())
        print(
            f"{kind}: plain GridSearchCV takes {slower:.1f} times full 10-fold's time"
        )
    wide = compared.pivot(index="problem", columns="rule", values="log_ratio")
    print(np.exp(wide).round(3).to_string())


if __name__ == "__main__":
    main()
