"""The rendered pages: our numbers and figures beside the paper's.

``render`` draws every figure again and writes ``index.md`` and ``what_reproduces.md``,
from what is stored; nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import figures
import pandas as pd
from again import again_words, extra_words
from claims import Claim, Evidence
from items import ITEMS, fits
from judgement import PARTS, claims_of, interval_text, judgement_page
from layout import (
    data_text,
    figure_texts,
    markdown_table,
    paper_ratio,
    ratio_text,
    rows_text,
    speed_text,
    text,
    times,
)
from profiles import PROFILES, Profile
from summary import (
    Row,
    estimate,
    load_published,
    of_one_size,
    pairs,
)

__all__ = ["render"]

EXTRAS = {
    "halving": ("today", "`HalvingGridSearchCV`"),
    "optuna": ("today", "Optuna (TPE, Wilcoxon pruner) in the time of CVST"),
    "random_on_test": (
        "table2-random",
        "random search judged on the test rows (literal, and no fair comparison)",
    ),
    "closed": ("variants", "CVST with the closed sequential test"),
    "track_and_confirm": ("variants", '`strategy="track_and_confirm"`'),
    "shuffled": ("options", "CVST with a new shuffle of the rows in each step"),
    "twenty_steps": ("options", "CVST with twenty steps"),
    "quick_losers": ("options", "CVST with a loser level of .3 instead of .1"),
    "sure_differences": ("options", "CVST with a similarity level of .01, not .05"),
}
# How many times as long other searches take, where users may want to know.
OVER = {
    "track_and_confirm": {
        "over 10-fold, same evaluator": "cv",
        "over GridSearchCV": "plain_grid",
    },
}
# How the sentence on repetitions names them.
FEW_TITLES = {
    "halving": "halving",
    "optuna": "Optuna",
    "random_on_test": "random search judged on the test rows",
    "closed": "the closed test",
    "track_and_confirm": "Track and confirm",
    "shuffled": "each option of the text",
}
FULL = PROFILES["full"]


def render(output_dir: Path, profile: Profile) -> list[Path]:
    """Draw all figures and write both pages; return the pages."""
    output_dir = Path(output_dir)
    folder = figures.folder_of_pages(output_dir, profile)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {item: figures.draw(item, output_dir, profile) for item in figures.FIGURES}
    evidence = Evidence(output_dir, profile)
    claims = claims_of(evidence)
    written = {
        "index.md": index_page(evidence, claims, drawn),
        "what_reproduces.md": judgement_page(evidence, claims),
    }
    for name, page in written.items():
        (folder / name).write_text(page, encoding="utf-8")
    return [folder / name for name in written]


def index_page(
    evidence: Evidence, claims: list[Claim], drawn: dict[str, list[Path]]
) -> str:
    """Return the page with all tables and figures."""
    parts = [
        "# The paper, repeated",
        introduction(evidence),
        text("reading.md").format(
            timed=timed_words(evidence), again=again_words(evidence)
        ),
        *(table_section(part, evidence.tables[part]) for part in PARTS),
        *paper_sizes_section(evidence),
        *(figure_section(item, drawn[item], claims) for item in figure_texts()),
        "## Not in the paper",
        *filter(None, [extra_words(evidence, FEW_TITLES)]),
        *extra_sections(evidence.runs),
        text("how_to_run.md"),
    ]
    return "\n\n".join(parts) + "\n"


def introduction(evidence: Evidence) -> str:
    """Say what the page rests on."""
    runs, profile = evidence.runs, evidence.profile
    caps = sorted(set(profile.caps.values()))
    limits = f" at most {caps[-1]:,} rows to learn from," if caps else ""
    small = ""
    if profile.small_rows:
        small = (
            f"Sets from which the paper learns {profile.small_rows:,} rows or fewer "
            f"have them all, and {profile.small_repetitions} repetitions wanted. "
        )
    words = (
        "Every table and figure of *Fast Cross-Validation via Sequential Testing* "
        "(Krueger, Panknin and Braun, 2015), computed again with "
        '`strategy="cvst"`, our numbers beside the printed ones. Is it the same? See '
        "[What reproduces and what does not](what_reproduces.md).\n\n"
        f"Profile `{profile.name}`:{limits} up to {profile.repetitions} repetitions "
        f"wanted where the paper has 50. {small}Each table says how many were run. "
    )
    if runs.empty:
        return words + "No search has been run yet."
    versions = ", ".join(sorted({str(v) for v in runs["version"]}))
    return words + (
        f"So far {len(runs):,} searches, on a machine with a load of "
        f"{runs['load'].min():.1f} to {runs['load'].max():.1f} ({versions}); seconds "
        "are of processor time in one thread. Written by "
        "`python benchmarks/paper page`."
    )


def timed_words(evidence: Evidence) -> str:
    """Say how often searches were timed beside the race, at least and at most."""
    rows = [row for row in evidence.tables["cross-validation"] if row.ours.n]
    parts = [
        f"{learner} {times([row.speed.n for row in rows if row.learner == learner])}"
        for learner in dict.fromkeys(row.learner for row in rows)
    ]
    if not parts:
        return "Nothing was timed yet."
    words = (
        f"For Table 1 full cross-validation was timed beside the race {listed(parts)} "
        f"for each set, and plain search {times([row.plain.n for row in rows])}."
    )
    toys = [evidence.toys(name) for name in ("noisy_sine", "noisy_sinc")]
    counts = pd.concat(toys).groupby(["data", "learner", "d", "noise"])["speed"].count()
    parts = [
        f"{name.replace('_', ' ')} with {learner} {times(own)}"
        for (name, learner), own in counts.groupby(["data", "learner"], sort=False)
    ]
    if parts:
        words += f" For each setting of the artificial sets it was: {listed(parts)}."
    return words


def listed(parts: Sequence[str]) -> str:
    """Join parts of a sentence."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def table_section(part: str, rows: list[Row]) -> str:
    """Return a part of the tables: all rows of the paper, run or not."""
    item, heading = PARTS[part]
    first = part == "cross-validation"
    header = [
        "data", "learner", "rows", "runs", "error ratio, ours", "paper",
        "speed, same evaluator", "paper",
        "speed verdict",
        *(["over GridSearchCV"] if first else []),
        "verdict",
    ]  # fmt: skip
    missing = [f"{row.data} {row.learner}" for row in rows if not row.ours.n]
    words = f"## {heading}\n\n`python benchmarks/paper {item}`\n\n"
    words += markdown_table(header, (table_line(row, first) for row in rows))
    if missing:
        words += f"\n\nNot run ({len(missing)} of {len(rows)}): {', '.join(missing)}."
    return words


def paper_sizes_section(evidence: Evidence) -> Iterator[str]:
    """Yield what was run of Table 1 with as many rows as the paper had."""
    lines = [
        [*first_cells(row), interval_text(row), row.verdict]
        for row in evidence.paper_sizes
    ]
    if not lines:
        return
    header = ["data", "learner", "rows", "runs", "error ratio, ours", "paper"]
    table = markdown_table([*header, "difference", "verdict"], lines)
    yield f"## Table 1 with the paper's rows\n\n{text('paper_sizes.md')}\n\n{table}"


def first_cells(row: Row) -> list[str]:
    """Return what a row is about, and the error ratios of both sides."""
    return [
        data_text(row.data, row.substitute),
        row.learner,
        rows_text(row),
        str(row.ours.n),
        ratio_text(row.ours, row.bold),
        paper_ratio(row),
    ]


def table_line(row: Row, first: bool) -> list[str]:
    return [
        *first_cells(row),
        speed_text(row.speed),
        f"{row.published_speed:.1f}",
        row.speed_verdict if row.ours.n else "-",
        *([speed_text(row.plain)] if first else []),
        row.verdict,
    ]


def figure_section(item: str, paths: list[Path], claims: list[Claim]) -> str:
    """Return a figure with what the paper says about it."""
    title = ITEMS[item].title
    words = (
        f"## {title}\n\n`python benchmarks/paper {item}`\n\n{figure_texts()[item]}\n\n"
    )
    if paths:
        words += "\n\n".join(f"![{title}](figures/{path.name})" for path in paths)
    else:
        words += "**Not run.**"
    mine = [one for one in claims if one.item == item]
    if mine:
        words += "\n\n" + markdown_table(
            ["the paper says", "we find", "agrees"],
            ([one.words, one.found, one.verdict] for one in mine),
        )
    return words


def extra_sections(runs: pd.DataFrame) -> Iterator[str]:
    """Yield a table for each search that the paper's tables do not have."""
    header = [
        "data", "learner", "rows", "runs", "error ratio", "speed of CVST over it"
    ]  # fmt: skip
    for method, (item, title) in EXTRAS.items():
        found = pairs(runs, method)
        over = OVER.get(method, {})
        others = [pairs(runs, other, method) for other in over.values()]
        heading = f"### {title}\n\n`python benchmarks/paper {item}`\n\n"
        if found.empty:
            yield f"{heading}Not run."
            continue
        lines = [*extra_lines(found, item, others), *toy_lines(found)]
        yield heading + markdown_table([*header, *over], lines)


def extra_lines(
    found: pd.DataFrame, item: str, others: Sequence[pd.DataFrame] = ()
) -> Iterator[list[str]]:
    """Yield the rows of such a table in the paper's order, with speeds over others."""
    wanted = {fit.problem.learner for fit in fits([item], FULL)}
    published = load_published()
    for line in published[published["part"] == "cross-validation"].itertuples():
        if line.learner not in wanted:
            continue
        same = (found["data"] == line.data) & (found["learner"] == line.learner)
        mine = of_one_size(found[same & found["d"].isna()])
        if mine.empty:
            blanks = ["-"] * len(others)
            yield [line.data, line.learner, "-", "0", "not run", "-", *blanks]
            continue
        name = data_text(line.data, str(mine.iloc[0]["substitute"]))
        speeds = [speed_over(mine, other) for other in others]
        yield [*extra_line(name, line.learner, mine), *speeds]


def speed_over(mine: pd.DataFrame, other: pd.DataFrame) -> str:
    """Return the mean speed over another search on the same rows and grid."""
    same = ["data", "learner", "n_train", "n_configurations"]
    wanted = mine[same].drop_duplicates()
    return speed_text(estimate(wanted.merge(other, on=same)["speed"]))


def toy_lines(found: pd.DataFrame) -> Iterator[list[str]]:
    """Yield a row for each setting of the artificial sets that was run."""
    for (data, learner, d, noise), mine in found[found["d"].notna()].groupby(
        ["data", "learner", "d", "noise"]
    ):
        name = f"{data.replace('_', ' ')}, d = {d:.0f}, noise {noise:g}"
        yield extra_line(name, learner, of_one_size(mine))


def extra_line(name: str, learner: str, mine: pd.DataFrame) -> list[str]:
    return [
        name,
        learner,
        f"{int(mine.iloc[0]['n_train']):,}",
        str(len(mine)),
        ratio_text(estimate(mine["ratio"])),
        speed_text(estimate(mine["speed"])),
    ]
