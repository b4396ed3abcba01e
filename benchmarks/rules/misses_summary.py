"""Say what races lost and what they cost: the numbers of ``misses.md``.

python benchmarks/rules/misses_summary.py
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

__all__ = ["cost_table", "words"]

RESULTS = Path(__file__).parents[1] / "results" / "rules_misses.csv"
COLUMNS = "first look", "late look", "confirm", "final", "all", "full 10-fold"
# Which part of the rows is trained on: first look, late look, folds, final.
SHARES = (0.2, 0.4, 0.8, 0.9)
COUNTS = ("n_first", "n_late", "n_folds_run", "n_final_folds_run")
POWERS = {1: "*n*", 2: "*n*<sup>2</sup>", 3: "*n*<sup>3</sup>"}


def cost_table(races: pd.DataFrame) -> list[str]:
    """Return fits on all rows, by how the cost of a fit grows, line by line."""
    means = [float(races[name].mean()) for name in COUNTS]
    lines = [f"| cost of a fit | {' | '.join(COLUMNS)} | speed |", "|---" * 8 + "|"]
    for power, name in POWERS.items():
        parts = [mean * share**power for mean, share in zip(means, SHARES, strict=True)]
        full = 10 * means[0] * 0.9**power
        cells = [*parts, sum(parts), full]
        shown = " | ".join(f"{cell:.0f}" for cell in cells)
        lines.append(f"| {name} | {shown} | {full / sum(parts):.0f}x |")
    return lines


def words(races: pd.DataFrame) -> list[str]:
    """Return the sentences of the page that hold numbers."""
    lost = races[~races["winner_confirmed"]]
    by = lost["left_by"].value_counts()
    excess = races["excess_of_choice"]
    late, folds, final = (float(races[name].mean()) for name in COUNTS[1:])
    choice = f"by {excess.mean():.1%} on average and {excess.max():.1%} at most "
    choice += f"({races.loc[excess.idxmax(), 'problem']})"
    tested = f"by a test in the first look ({by['paired test']}) or set aside by rank "
    counts = f"*L* = {late:.0f} in the late look, *F* = {folds:.0f} in folds of the "
    counts += f"confirmation and the climbs ({races['n_confirm'].mean():.0f} in the "
    return [
        f"reached the folds in {races['winner_confirmed'].sum()} of {len(races)} races",
        f"{tested}in the first or the late look ({by['rank']})",
        f"was there in {races['as_good_confirmed'].sum()} of {len(races)}",
        choice.replace("%", " %"),
        f"{counts}first fold), *G* = {final:.0f} in those of the final",
    ]


if __name__ == "__main__":
    table = pd.read_csv(RESULTS)
    print("\n".join([*words(table), "", *cost_table(table)]))
