"""Print the tables of ``docs/measurements/default_strategy.md`` from stored races.

python benchmarks/rules/design_tables.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from models_summary import FULL, PLAIN, ratios

__all__ = ["kernel_lines", "model_lines", "row_lines"]

RESULTS = Path(__file__).parents[1] / "results"
KERNEL_RULES = {
    "full 5-fold": "full 5-fold",
    "paper": '`"cvst"`',
    "track and confirm, climbs=2": "`TrackAndConfirm(climbs=2)`",
    "track and confirm, climbs=2, n_raced=0": "`TrackAndConfirm(climbs=2, n_raced=0)`",
    "track and confirm, climbs=2, n_folds=3": "`TrackAndConfirm(climbs=2, n_folds=3)`",
}
MODEL_RULES = {
    "full 5-fold": "full 5-fold",
    "paper": '`"cvst"`',
    "halving": "halving (scikit-learn's, one fit each)",
    "Optuna, same time": "Optuna (TPE, 10-fold), same time",
    "track and confirm": '`"track_and_confirm"`',
}
RACED = "track and confirm, {} folds, all raced"


def short(value: float) -> str:
    """Return a ratio as pages print it."""
    return f"{value:.3f}".removeprefix("0")


def times(value: float) -> str:
    """Return how many times faster something is."""
    return f"{value:.1f}x" if value < 9.5 else f"{value:.0f}x"


def geometric(values: pd.Series) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.log(values).mean()))


def mean_and_error(log_ratios: pd.Series) -> str:
    """Return the mean ratio, with one standard error over problems if it has one."""
    mean = short(np.exp(log_ratios.mean()))
    return f"{mean} ± {short(log_ratios.sem())}" if len(log_ratios) > 1 else mean


def worst(problems: pd.DataFrame) -> str:
    """Return the smallest mean ratio of a problem, and whose it is."""
    found = problems.loc[problems["log_ratio"].idxmin()]
    return f"{short(np.exp(found['log_ratio']))} ({found['problem']})"


def kernel_problems(name: str) -> pd.DataFrame:
    """Return a row for each rule and problem of a kernel study."""
    table = pd.read_csv(RESULTS / name)
    keys = ["problem", "seed"]
    full = table[table["rule"] == FULL].set_index(keys)
    known = full.loc[pd.MultiIndex.from_frame(table[keys])]
    table["log_ratio"] = np.log(
        known["test_error"].to_numpy() / table["test_error"].to_numpy()
    )
    table["speed"] = known["operations"].to_numpy() / table["operations"].to_numpy()
    groups = table.groupby(["rule", "design", "problem"])
    return groups[["log_ratio", "speed"]].mean().reset_index()


def kernel_lines() -> list[str]:
    """Return the table of kernel machines."""
    problems = kernel_problems("rules_kernel_default.csv")
    parts = "designed on: ratio, worst | not designed on: ratio, worst"
    lines = [f"| rule | {parts} | speed (cubic) |", "|---|---|---|---|"]
    for rule, name in KERNEL_RULES.items():
        own = problems[problems["rule"] == rule]
        both = [own[own["design"]], own[~own["design"]]]
        shown = [f"{mean_and_error(one['log_ratio'])}, {worst(one)}" for one in both]
        speed = f"{geometric(own['speed']):.0f}x"
        lines.append(f"| {name} | {' | '.join(shown)} | {speed} |")
    return lines


def row_lines() -> list[str]:
    """Return the table of other numbers of rows."""
    lines = [
        '| rows | full 5-fold | `"cvst"` | track and confirm | speed |',
        "|---|---|---|---|---|",
    ]
    for n_rows in (300, 3000):
        problems = kernel_problems(f"rules_kernel_{n_rows}.csv").groupby("rule")
        ratio = np.exp(problems["log_ratio"].mean()).map(short)
        speed = problems["speed"].agg(geometric).map("{:.0f}x".format)
        five, three = RACED.format(5), RACED.format(3)
        lines.append(
            f"| {n_rows:,} | {ratio['full 5-fold']} | {ratio['paper']} | "
            f"{ratio[five]} ({ratio[three]}) | {speed[five]} ({speed[three]}) |"
        )
    return lines


def model_lines() -> list[str]:
    """Return the table of other models; times are those of the first repetition."""
    runs = pd.read_csv(RESULTS / "rules_models.csv")
    problems, first = ratios(runs), ratios(runs[runs["seed"] == 0])
    plain = first[first["rule"] == PLAIN].set_index("problem")["faster"]
    times_of = "time, same evaluators | time, plain `GridSearchCV`"
    quality = "problems | ratio | worst | surely below .98 ¹"
    lines = [f"| rule | {quality} | {times_of} |", "|---" * 7 + "|"]

    def line(name: str, rule: str, kind: str | None = None) -> str:
        own, timed = (
            part[(part["rule"] == rule) & (kind is None or part["kind"] == kind)]
            for part in (problems, first)
        )
        faster = timed.set_index("problem")["faster"]
        cells = [
            str(len(own)),
            mean_and_error(own["log_ratio"]),
            worst(own),
            str((own["upper"] < 0.98).sum()),
            times(geometric(faster)),
            times(geometric(faster / plain.loc[faster.index])),
        ]
        return f"| {name} | {' | '.join(cells)} |"

    lines += [line(name, rule) for rule, name in MODEL_RULES.items()]
    name, rule = MODEL_RULES["track and confirm"], "track and confirm"
    kinds = sorted(problems["kind"].unique())
    return lines + [line(f"{name}, {kind}", rule, kind) for kind in kinds]


if __name__ == "__main__":
    for table in (kernel_lines(), row_lines(), model_lines()):
        print("\n".join([*table, ""]))
