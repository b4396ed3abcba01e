"""What the paper says of its benchmark sets in words, held against our runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
from again import gap_bounds, speed_bounds, too_low_by
from claims import Claim, Evidence, setting_name, settings, too_few
from summary import (
    MARGIN,
    UNDECIDED,
    Estimate,
    Row,
    estimate,
    load_published,
    of_one_size,
    pairs,
)
from sure import (
    NO,
    OTHERWISE,
    PARTLY,
    YES,
    above,
    around,
    below,
    bounds,
    everywhere,
    inside,
    interval,
    median_bounds,
    mostly,
    on_par,
    opposite,
    somewhere,
    sure_words,
)

__all__ = ["benchmark_claims"]

FIRST = "cross-validation"
# Rows of Table 1 that the text takes out.
HARD_CLASSES = {("covtype", "SVM"), ("ringnorm", "KLR")}
HARD_NUMBERS = {"blocks", "bumps", "doppler"}
# "Ranges around 99 %".
USUAL_LOSS, LOSS_MARGIN = 0.99, 0.02
# Table 2: where random search is said to be better.
LOST = {(data, "SVM") for data in ("covtype", "ringnorm", "splice")}
# "Roughly by a factor of 2/3".
TWO_THIRDS = (0.5, 0.85)


# Table 1 ----------------------------------------------------------------------------


def of_table_1(evidence: Evidence) -> list[Claim]:
    """Hold what is said of the errors of Table 1 against the rows that count."""
    rows = [row for row in evidence.judged[FIRST] if row.ours.n]
    par = {row: on_par(bounds(row.ours), 1, MARGIN) for row in rows}
    classes = {row: side for row, side in par.items() if row.learner in ("SVM", "KLR")}
    hard = {row for row in classes if (row.data, row.learner) in HARD_CLASSES}
    return [
        of_rows(
            "benchmark",
            "classification: on par with full cross-validation, but for covtype with "
            "SVM and ringnorm with KLR",
            {row: side for row, side in classes.items() if row not in hard},
        ),
        of_rows(
            "benchmark",
            "worse than full cross-validation for covtype with SVM and ringnorm with "
            "KLR",
            {row: opposite(classes[row]) for row in rows if row in hard},
        ),
        of_rows(
            "benchmark",
            "regression: around 99 %, but for blocks, bumps and doppler",
            {
                row: around(bounds(row.ours), USUAL_LOSS, LOSS_MARGIN)
                for row in rows
                if row not in classes and row.data not in HARD_NUMBERS
            },
        ),
    ]


def of_rows(
    item: str,
    words: str,
    sides: dict[Row, str],
    judge: Callable[[dict[str, str]], str] = everywhere,
) -> Claim:
    """Decide a claim on rows of the tables, by those that are sure."""
    cases = {f"{row.data} {row.learner}": side for row, side in sides.items()}
    if not cases:
        return Claim(item, words)
    return Claim(item, words, sure_words(cases, "rows"), judge(cases))


def kernel_machines_gain_more(evidence: Evidence) -> Claim:
    claim = Claim("benchmark", "KLR and KRR gain more speed than SVM and SVR")
    speed = {(row.data, row.learner): row.speed for row in evidence.tables[FIRST]}
    partner = {"KLR": "SVM", "KRR": "SVR"}
    factors = too_low_by(evidence)
    cases = {}
    for (data, learner), gain in speed.items():
        if learner not in partner:
            continue
        keys = (data, learner), (data, partner[learner])
        other = speed[keys[1]]
        if gain.n and other.n:
            ends = gap_bounds(gain, other, *(factors.get(key, 1.0) for key in keys))
            cases[data] = above(ends, 0)
    if not cases:
        return claim
    text = sure_words(cases, "sets", ("more", "less"))
    return Claim(claim.item, claim.words, text, everywhere(cases))


def largest_gain(evidence: Evidence) -> Claim:
    """Tell whether a mean speed of ours is as large as the largest of Table 1."""
    published = load_published()
    printed = published.loc[published["part"] == FIRST, "speed"].max()
    claim = Claim(
        "benchmark", f"speed gains reach up to 120 times (in print {printed:g})"
    )
    timed = [row for row in evidence.tables[FIRST] if row.speed.n]
    if not timed:
        return claim
    factors = too_low_by(evidence)
    ends = {
        row: speed_bounds(row.speed, factors.get((row.data, row.learner), 1.0))
        for row in timed
    }
    cases = {
        f"{row.data} {row.learner}": on_par(found, printed, 0)
        for row, found in ends.items()
    }
    less = {name: opposite(side) for name, side in cases.items()}
    most = max(timed, key=lambda row: row.speed.mean)
    low, high = ends[most]
    text = (
        f"the largest mean is {most.speed.mean:.0f} ({low:.0f} to {high:.0f}, "
        f"{most.data} {most.learner}); "
        f"{sure_words(less, 'rows', ('less', 'as much'))}"
    )
    return Claim(claim.item, claim.words, text, somewhere(cases))


# Table 2 ----------------------------------------------------------------------------


def of_table_2(evidence: Evidence) -> list[Claim]:
    """Hold what is said of the three parts of Table 2 against our rows."""
    ratios = {
        part: {row: bounds(row.ours) for row in rows if row.ours.n}
        for part, rows in evidence.tables.items()
    }
    unpaired, random = ratios["unpaired"], ratios["random"]
    better = {row: above(found, 1) for row, found in random.items()}
    return [
        competitors(
            "unpaired tests: as good (almost always around 1.0)",
            {row: around(found, 1, MARGIN) for row, found in unpaired.items()},
        ),
        competitors(
            "unpaired tests: slower",
            {row: above(bounds(row.speed), 1) for row in unpaired},
        ),
        competitors(
            "10 % of the rows: always significantly worse than CVST",
            {row: above(found, 1) for row, found in ratios["ten-percent"].items()},
        ),
        competitors(
            "random search: worse than CVST in the majority of cases", better, mostly
        ),
        competitors(
            "random search: worse especially in the regression sets",
            {
                row: side
                for row, side in better.items()
                if row.learner in ("KRR", "SVR")
            },
            mostly,
        ),
        competitors(
            "random search: better than CVST for covtype, ringnorm and splice with SVM",
            {
                row: below(found, 1)
                for row, found in random.items()
                if (row.data, row.learner) in LOST
            },
        ),
    ]


def competitors(
    words: str,
    sides: dict[Row, str],
    judge: Callable[[dict[str, str]], str] = everywhere,
) -> Claim:
    return of_rows("competitors", words, sides, judge)


# The outlier variant ----------------------------------------------------------------


def outliers_toy(evidence: Evidence) -> list[Claim]:
    """Compare the outlier variant on the noisy sinc: safer and slower."""
    safer = Claim("outliers-toy", "the outlier variant loses less than CVST")
    slower = Claim("outliers-toy", "its speed gain is roughly two thirds of CVST's")
    both = pairs(evidence.runs, "cvst", "outliers")
    usual = both["n_train"] == evidence.profile.toy_rows
    both = both[(both["data"] == "noisy_sinc") & usual]
    if both.empty:
        return [safer, slower]
    found = {
        setting_name(key): one for key, one in settings(both, "difference").items()
    }
    speeds = both["speed"].dropna()
    low, high = median_bounds(speeds)
    side = UNDECIDED
    if not too_few(list(found.values())):
        side = everywhere({"median": inside((low, high), *TWO_THIRDS)})
    text = f"median of {speeds.median():.2f} times ({low:.2f} to {high:.2f})"
    text += of_two_days(both)
    return [
        on_average(safer, found, "settings", ("less", "more"), plain),
        Claim(slower.item, slower.words, text, side),
    ]


def outliers_benchmark(evidence: Evidence) -> list[Claim]:
    """Compare the outlier variant on the regression sets: safer and slower."""
    item = "outliers-benchmark"
    safer = Claim(item, "better accuracy than with Friedman's test")
    slower = Claim(item, "less speed than with Friedman's test")
    both = pairs(evidence.runs, "cvst", "outliers")
    rows = {
        f"{data} {learner}": of_one_size(mine)
        for (data, learner), mine in both[both["d"].isna()].groupby(["data", "learner"])
    }
    if not rows:
        return [safer, slower]
    errors = {name: estimate(-np.log(mine["ratio"])) for name, mine in rows.items()}
    gains = {name: estimate(np.log(mine["speed"])) for name, mine in rows.items()}
    claim = on_average(slower, gains, "rows", ("slower", "faster"), per_cent)
    days = of_two_days(pd.concat(rows.values()))
    return [
        on_average(safer, errors, "rows", ("better", "worse"), per_cent),
        replace(claim, found=claim.found + days),
    ]


def of_two_days(both: pd.DataFrame) -> str:
    """Say how many speeds divide seconds of two days, which may not be alike."""
    timed = both[both["speed"].notna()]
    n_mixed = int((timed["day"] != timed["last"]).sum())
    if not n_mixed:
        return ""
    return f"; seconds of two days in {n_mixed} of {len(timed)} pairs"


def plain(difference: float) -> str:
    """Write a difference of errors."""
    return f"{difference:+.4f}"


def per_cent(logarithm: float) -> str:
    """Write the logarithm of a ratio."""
    return f"{np.expm1(logarithm):+.1%}"


def on_average(
    claim: Claim,
    found: dict[str, Estimate],
    cases: str,
    sides: tuple[str, str],
    shown: Callable[[float], str],
) -> Claim:
    """Decide whether differences are below zero: one by one, and on average.

    Yes if the interval of their mean is, and no difference is surely above; partly if
    the mean is and some are not.
    """
    sides_of = {name: below(bounds(one), 0) for name, one in found.items()}
    misses = OTHERWISE in sides_of.values()
    mean = estimate([one.mean for one in found.values()])
    low, high = interval(mean)
    text = (
        f"on average {shown(mean.mean)} ({shown(low)} to {shown(high)}); "
        f"{sure_words(sides_of, cases, sides)}"
    )
    verdict = UNDECIDED
    if not too_few(list(found.values())):
        if high < 0:
            verdict = PARTLY if misses else YES
        elif low > 0:
            verdict = NO
    return Claim(claim.item, claim.words, text, verdict)


def benchmark_claims(evidence: Evidence) -> list[Claim]:
    """Return what is said about the benchmark sets and the variants."""
    return [
        *of_table_1(evidence),
        kernel_machines_gain_more(evidence),
        largest_gain(evidence),
        *of_table_2(evidence),
        *outliers_toy(evidence),
        *outliers_benchmark(evidence),
    ]
