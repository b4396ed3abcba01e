"""The page "What reproduces and what does not", from the stored runs alone."""

from __future__ import annotations

from collections import Counter

from again import speed_bounds, too_low_by
from claims import NEGLIGIBLE, Claim, Evidence, toy_claims
from claims_benchmark import benchmark_claims
from claims_theory import theory_claims
from layout import (
    data_text,
    figure_texts,
    markdown_table,
    paper_ratio,
    ratio_text,
    rows_text,
    text,
    times,
)
from reasons import reason
from summary import (
    BETTER,
    FEWEST_REPETITIONS,
    MARGIN,
    NOT_RUN,
    SLOWER,
    SPEED_MARGIN,
    UNDECIDED,
    VERDICTS,
    WORSE,
    Row,
    difference_interval,
)
from sure import AS_SAID, above, bounds

__all__ = ["PARTS", "claims_of", "interval_text", "judgement_page"]

# Parts of the tables: the item that runs each, and a heading.
PARTS = {
    "cross-validation": ("table1", "Table 1: against full cross-validation"),
    "unpaired": ("table2-unpaired", "Table 2, upper part: against unpaired tests"),
    "ten-percent": (
        "table2-ten-percent",
        "Table 2, middle part: against cross-validation on 10 % of the rows",
    ),
    "random": ("table2-random", "Table 2, lower part: against random search"),
}
FIRST = next(iter(PARTS))


def claims_of(evidence: Evidence) -> list[Claim]:
    """Return all that the paper says in words, with our findings, by item."""
    claims = [
        *toy_claims(evidence),
        *benchmark_claims(evidence),
        *theory_claims(evidence),
    ]
    order = list(figure_texts())
    return sorted(claims, key=lambda one: order.index(one.item))


def judgement_page(evidence: Evidence, claims: list[Claim]) -> str:
    """Return the page as Markdown."""
    rows, judged = evidence.tables, evidence.judged
    parts = [
        "# What reproduces and what does not",
        introduction(evidence),
        "## At a glance",
        glance(judged),
        in_words(judged),
        *paper_size_words(evidence),
        text("rule.md").format(
            fewest=FEWEST_REPETITIONS,
            margin=100 * MARGIN,
            speed=100 * SPEED_MARGIN,
        ),
        *speed_words(rows[FIRST], too_low_by(evidence)),
        *(section(heading, listed(evidence, part)) for part, heading in headings()),
        words_section(claims),
    ]
    return "\n\n".join(parts) + "\n"


def introduction(evidence: Evidence) -> str:
    return (
        f"Row by row, from the runs of the profile `{evidence.profile.name}`; the "
        "numbers themselves, speeds and figures are on [their own page](index.md). "
        "This page is written by `python benchmarks/paper page`."
    )


def headings() -> list[tuple[str, str]]:
    return [(part, heading) for part, (_, heading) in PARTS.items()]


def listed(evidence: Evidence, part: str) -> list[Row]:
    """Return the lines of a part; a row of the paper's own size has a line more."""
    full = evidence.full if part == FIRST else {}
    lines = []
    for row in evidence.tables[part]:
        same = full.get((row.data, row.learner))
        lines += [row] if same is None else [row, same]
    return lines


def paper_size_words(evidence: Evidence) -> list[str]:
    """Say which rows are counted by runs of the paper's own size, and what differs."""
    full = evidence.full
    if not full:
        return []
    small = {(row.data, row.learner): row for row in evidence.tables[FIRST]}
    names = ", ".join(f"{data} {learner}" for data, learner in full)
    changed = [
        f"{data} {learner} ({row.verdict}; {small[data, learner].verdict} with "
        f"{small[data, learner].n_train:,})"
        for (data, learner), row in full.items()
        if row.verdict != small[data, learner].verdict
    ]
    words = (
        f"{len(full)} rows of Table 1 were also run with as many rows as the paper "
        "learned from. These runs are the ones counted above, and have a second line "
        f"below: {names}."
    )
    if changed:
        words += f" The number of rows changes the verdict of {', '.join(changed)}."
    return [words]


def glance(rows: dict[str, list[Row]]) -> str:
    """Count verdicts and how often the bold print agrees."""
    lines = []
    for part, (_, heading) in PARTS.items():
        counts = Counter(row.verdict for row in rows[part])
        known = [row for row in rows[part] if row.bold is not None]
        same = sum(row.bold == row.published_bold for row in known)
        lines.append(
            [
                heading,
                *(str(counts[verdict]) for verdict in VERDICTS),
                f"{same} of {len(known)}",
            ]
        )
    return markdown_table(["", *VERDICTS, "same bold print"], lines)


def in_words(rows: dict[str, list[Row]]) -> str:
    """Say the same in sentences, and name what was not run."""
    every = [row for part in rows.values() for row in part]
    counts = Counter(row.verdict for row in every)
    decided = len(every) - counts[UNDECIDED] - counts[NOT_RUN]
    words = (
        f"Of {len(every)} rows, {decided} can be decided, {counts[UNDECIDED]} cannot "
        f"yet and {counts[NOT_RUN]} were not run."
    )
    apart = counts[BETTER] + counts[WORSE]
    if decided:
        words += (
            f" {apart} of the decided ones differ from the paper "
            f"({counts[BETTER]} better, {counts[WORSE]} worse); chance alone would "
            f"give about {0.05 * decided:.0f}."
        )
    return words


def speed_words(rows: list[Row], factors: dict[tuple[str, str], float]) -> list[str]:
    """Say how the speeds of Table 1 stand to the printed ones, and why.

    The factors are those by which some speeds may be too low.
    """
    run = [row for row in rows if row.ours.n]
    if not run:
        return []
    verdicts: dict[str, list[str]] = {}
    for row in run:
        verdicts.setdefault(row.speed_verdict, []).append(f"{row.data} {row.learner}")
    whole = [row for row in run if row.n_train >= row.n_rows_paper]
    timed = [row for row in run if row.plain.n]
    sides = [above(bounds(row.plain), row.published_speed) for row in timed]
    repetitions = [row.plain.n for row in timed]
    return [
        text("speed.md").format(
            rows=len(run),
            slower=len(verdicts.get(SLOWER, [])),
            others="; ".join(
                f"{verdict}: {', '.join(names)}"
                for verdict, names in verdicts.items()
                if verdict != SLOWER
            ),
            mixed=_of_two_days(run, factors),
            whole=len(whole),
            slower_whole=sum(row.speed_verdict == SLOWER for row in whole),
            timed=len(timed),
            mean_above=sum(row.plain.mean > row.published_speed for row in timed),
            above=sides.count(AS_SAID),
            times=times(repetitions or [0]),
        )
    ]


def _of_two_days(run: list[Row], factors: dict[tuple[str, str], float]) -> str:
    """Say which speeds divide by races of an earlier day, if any do."""
    if not factors:
        return ""
    doubtful = [
        f"{row.data} {row.learner}"
        for row in run
        if row.speed_verdict == SLOWER
        and speed_bounds(row.speed, factors.get((row.data, row.learner), 1.0))[1]
        >= row.published_speed
    ]
    return (
        f" The speeds of {len(factors)} rows also divide by races of an earlier, "
        "slower day (*Run again* on [the page of numbers](index.md#how-to-read-"
        "the-tables)). If they were too low by the largest factor seen between the "
        "days, some of these rows would be undecided "
        f"({', '.join(doubtful) or 'none'}), and the others still slower."
    )


def interval_text(row: Row) -> str:
    """Return the difference of the means, with its interval if there is one."""
    shown = f"{row.ours.mean - row.published:+.3f}"
    if row.ours.n < FEWEST_REPETITIONS:
        return shown
    half_width = row.published_half_width
    low, high = difference_interval(row.ours, row.published, half_width)
    return f"{shown} ({low:+.3f} to {high:+.3f})"


def section(heading: str, rows: list[Row]) -> str:
    """Return one part of the tables, row by row."""
    header = [
        "data", "learner", "runs", "rows", "ours", "paper", "difference", "verdict",
        "speed", "bold: ours / paper", "likely reason",
    ]  # fmt: skip
    return f"## {heading}\n\n{markdown_table(header, (line(row) for row in rows))}"


def line(row: Row) -> list[str]:
    if row.verdict == NOT_RUN:
        blanks = ["-"] * 3
        return [row.data, row.learner, "0", *blanks[:2], paper_ratio(row), "-", NOT_RUN,
                "-", "-", ""]  # fmt: skip
    known = {None: "?", True: "yes", False: "no"}
    return [
        data_text(row.data, row.substitute),
        row.learner,
        str(row.ours.n),
        rows_text(row),
        ratio_text(row.ours, row.bold),
        paper_ratio(row),
        interval_text(row),
        row.verdict,
        row.speed_verdict.replace(NOT_RUN, "-"),
        f"{known[row.bold]} / {known[row.published_bold]}",
        reason(row),
    ]


def words_section(claims: list[Claim]) -> str:
    """Return the table of what the paper says in words."""
    table = markdown_table(
        ["item", "the paper says", "we find", "agrees"],
        ([one.item, one.words, one.found, one.verdict] for one in claims),
    )
    return (
        "## The text, in words\n\nThese are statements of the paper's text, "
        "about figures and tables. Differences are errors of the race minus "
        f"those of full cross-validation; one below {NEGLIGIBLE:g} counts as none. "
        "A statement about several rows or settings is judged by those that are sure "
        f"([the rule](#the-rule)).\n\n{table}"
    )
