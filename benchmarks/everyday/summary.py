"""Summarise results of everyday tuning as Markdown.

    python benchmarks/everyday/summary.py results.jsonl --split dev --out summary.md

The regret of a loss on fresh rows is 0 for the best loss that any search had on the
task, with any seed and budget, and 1 for default parameters. A search that refused
counts as default parameters. Regrets are averaged over the seeds of a task, then over
tasks; intervals are of a bootstrap over tasks.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["paired", "regrets", "table"]

# A single wild choice would otherwise decide a mean.
MOST = 2.0

# Where no search gains more than this part of the default's loss, it is all noise, and
# regrets are measured by this part.
LEAST_GAIN = 1e-3

N_BOOTSTRAP = 10_000

_HEAD = (
    f"| search | mean (at most {MOST:g}) | mean | median | mean rank | refused "
    "| tasks | time used | tried |"
)
_PAIRED_HEAD = (
    "| ours | theirs | tasks | ours | theirs | difference [95 %] | better / worse |"
)


def read(paths: list[Path], split: str) -> pd.DataFrame:
    """Return the cells of some files; what comes last counts."""
    lines = [json.loads(s) for path in paths for s in path.read_text().splitlines()]
    cells = pd.DataFrame(lines).drop(columns=["params", "reason"], errors="ignore")
    cells = cells[cells["end"] != "not for this"]
    if split != "all":
        splits = _splits(cells)
        if split not in set(splits):
            raise SystemExit(
                f"There is no cell of the split {split!r} in these files. Give --split "
                f"one of {', '.join(sorted(set(splits)))}, or all."
            )
        cells = cells[splits == split]
    key = ["task", "search", "seconds", "seed"]
    return cells.drop_duplicates(key, keep="last").reset_index(drop=True)


def _splits(cells: pd.DataFrame) -> pd.Series:
    """Return the split of each cell; older files only say whether it is held out."""
    splits = cells.get("split", pd.Series(index=cells.index, dtype=object))
    held_out = cells.get("held_out", pd.Series(index=cells.index, dtype=object))
    return splits.fillna(held_out.map({True: "held_out", False: "dev"}))


def regrets(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of searches with their regret, and whether they refused.

    A cell that ended in an error counts as a refusal.
    """
    given_up = cells["end"].isin(["refused", "error"])
    loss = cells["loss"].where(~given_up)
    default = cells[cells["search"] == "default"].set_index("task")["loss"]
    missing = sorted(set(cells["task"]) - set(default.index))
    if missing:
        raise SystemExit(
            f"There is no loss of default parameters for {', '.join(missing)}. "
            f"Run the search 'default' on them."
        )
    best = loss.groupby(cells["task"]).min()
    scale = np.maximum(default - best, LEAST_GAIN * default.abs())
    task = cells["task"]
    regret = (loss - task.map(best)) / task.map(scale)
    result = cells.assign(regret=regret.fillna(1.0), refused=given_up)
    return result[result["search"] != "default"].reset_index(drop=True)


def table(results: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each budget and search.

    Ranks are among the searches that were run on the same task, budget and seed.
    """
    same = ["task", "seconds", "seed"]
    capped = results.assign(
        capped=results["regret"].clip(upper=MOST),
        rank=results.groupby(same)["regret"].rank(),
        share=results["used"] / results["seconds"],
    )
    tasks = capped.groupby(["seconds", "search", "task"]).agg(
        capped=("capped", "mean"),
        regret=("regret", "mean"),
        rank=("rank", "mean"),
        refused=("refused", "sum"),
        cells=("regret", "size"),
        share=("share", "mean"),
        tried=("n_tried", "mean"),
    )
    rows = tasks.groupby(["seconds", "search"]).agg(
        mean=("capped", "mean"),
        uncapped=("regret", "mean"),
        median=("regret", "median"),
        rank=("rank", "mean"),
        refused=("refused", "sum"),
        cells=("cells", "sum"),
        tasks=("cells", "size"),
        used=("share", "mean"),
        tried=("tried", "median"),
    )
    return rows.reset_index().sort_values(["seconds", "mean"])


def task_means(
    results: pd.DataFrame, search: str, seconds: float, most: float = MOST
) -> pd.Series:
    """Return the capped regret by task and seed of a search with a budget."""
    chosen = results[(results["search"] == search) & (results["seconds"] == seconds)]
    return chosen.set_index(["task", "seed"])["regret"].clip(upper=most)


def paired(ours: pd.Series, theirs: pd.Series) -> dict[str, float]:
    """Compare two searches on the tasks and seeds that both have.

    Parameters
    ----------
    ours, theirs : Series
        Regrets by task and seed.

    Returns
    -------
    dict
        Means, the mean difference with a 95 % interval over tasks, and the tasks on
        which ours is better and worse by more than 0.01.
    """
    means = _both(ours, theirs)
    differences = (means["ours"] - means["theirs"]).to_numpy()
    n = len(differences)
    if n == 0:
        return {"tasks": 0}
    drawn = np.random.default_rng(0).integers(n, size=(N_BOOTSTRAP, n))
    low, high = np.quantile(differences[drawn].mean(axis=1), [0.025, 0.975])
    return {
        "tasks": n,
        "ours": means["ours"].mean(),
        "theirs": means["theirs"].mean(),
        "difference": differences.mean(),
        "low": low,
        "high": high,
        "better": int((differences < -0.01).sum()),
        "worse": int((differences > 0.01).sum()),
    }


def _both(ours: pd.Series, theirs: pd.Series) -> pd.DataFrame:
    """Return the means by task over the seeds that both have."""
    both = pd.concat({"ours": ours, "theirs": theirs}, axis=1).dropna()
    return both.groupby("task").mean()


def ratio(ours: pd.Series, theirs: pd.Series) -> tuple[float, float, float]:
    """Return the ratio of mean regrets with a 95 % interval over tasks."""
    means = _both(ours, theirs).to_numpy()
    drawn = np.random.default_rng(0).integers(
        len(means), size=(N_BOOTSTRAP, len(means))
    )
    mine, other = np.moveaxis(means[drawn].mean(axis=1), -1, 0)
    low, high = np.quantile(mine / other, [0.025, 0.975])
    mine, other = means.mean(axis=0)
    return float(mine / other), float(low), float(high)


def _ratios(results: pd.DataFrame, ours: str) -> Iterator[str]:
    """Yield one line for each budget and each other search."""
    for seconds in sorted(set(results["seconds"])):
        at = results[results["seconds"] == seconds]
        for search in sorted(set(at["search"]) - {ours}):
            shown = []
            for most in (np.inf, MOST):
                found = ratio(
                    task_means(at, ours, seconds, most),
                    task_means(at, search, seconds, most),
                )
                shown.append("{:.2f} [{:.2f}, {:.2f}]".format(*found))
            yield f"| {seconds:g} s | {search} | {' | '.join(shown)} |"


def _comparisons(results: pd.DataFrame, ours: str) -> Iterator[str]:
    """Yield one line for each other search: the same budget, then larger ones."""
    budgets = sorted(set(results["seconds"]))
    others = sorted(set(results["search"]) - {ours})
    for mine in budgets:
        for budget in [b for b in budgets if b >= mine]:
            for search in others:
                found = paired(
                    task_means(results, ours, mine),
                    task_means(results, search, budget),
                )
                if found["tasks"]:
                    yield (
                        f"| {mine:g} s | {search} {budget:g} s | {found['tasks']} | "
                        f"{found['ours']:.3f} | {found['theirs']:.3f} | "
                        f"{found['difference']:+.3f} [{found['low']:+.3f}, "
                        f"{found['high']:+.3f}] | {found['better']} / "
                        f"{found['worse']} |"
                    )


def markdown(results: pd.DataFrame, ours: str, level: int = 2) -> str:
    """Return the tables as Markdown, under headings of a level."""
    rows = table(results)
    heading = "#" * level
    lines = []
    for seconds, part in rows.groupby("seconds"):
        lines += [
            f"{heading} {seconds:g} seconds",
            "",
            _HEAD,
            "|---|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {row.search} | {row.mean:.3f} | {row.uncapped:.3f} | {row.median:.3f} "
            f"| {row.rank:.2f} | {row.refused} of {row.cells} | {row.tasks} "
            f"| {row.used:.0%} | {row.tried:.0f} |"
            for row in _records(part)
        ]
        lines.append("")
    if ours in set(results["search"]):
        lines += [
            f"{heading} {ours} against each other search, on the same tasks and seeds",
            "",
            _PAIRED_HEAD,
            "|---|---|---|---|---|---|---|",
            *_comparisons(results, ours),
            "",
            f"{heading} Mean regret of {ours} over that of others, same time",
            "",
            f"| seconds | search | ratio [95 %] | at most {MOST:g} [95 %] |",
            "|---|---|---|---|",
            *_ratios(results, ours),
            "",
        ]
    return "\n".join(lines)


def _records(rows: pd.DataFrame) -> Iterator[argparse.Namespace]:
    # Not itertuples: its rows have methods by the names of some columns.
    for record in rows.to_dict("records"):
        yield argparse.Namespace(**record)


def by_task(results: pd.DataFrame, level: int = 2) -> str:
    """Return the mean regrets by task as Markdown."""
    means = results.pivot_table(
        index="task", columns=["seconds", "search"], values="regret"
    )
    means.columns = [f"{search} {seconds:g} s" for seconds, search in means.columns]
    lines = [
        f"{'#' * level} By task",
        "",
        "| task | " + " | ".join(means.columns) + " |",
    ]
    lines.append("|---" * (means.shape[1] + 1) + "|")
    for task, row in means.iterrows():
        cells = ["" if np.isnan(value) else f"{value:.2f}" for value in row]
        lines.append(f"| {task} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument(
        "--split", choices=["dev", "held_out", "later", "all"], default="dev"
    )
    parser.add_argument("--ours", default="race", help="the search to compare")
    parser.add_argument("--by-task", action="store_true")
    parser.add_argument("--level", type=int, default=2, help="of the headings")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    results = regrets(read(options.results, options.split))
    text = markdown(results, options.ours, options.level)
    if options.by_task:
        text += "\n" + by_task(results, options.level)
    if options.out:
        options.out.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
