"""What the paper says of its benchmark sets in words, held against our runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from claims import (
    NO,
    PARTLY,
    YES,
    Claim,
    Evidence,
    interval,
    settings,
    share,
    too_few,
)
from summary import (
    FEWEST_REPETITIONS,
    UNDECIDED,
    Estimate,
    Row,
    estimate,
    of_one_size,
    pairs,
)

__all__ = ["benchmark_claims"]

# "Almost always around 1.0" when no standard error says otherwise.
AROUND_ONE = 0.02
# "Roughly by a factor of 2/3".
TWO_THIRDS = (0.5, 0.85)


def kernel_machines_gain_more(evidence: Evidence) -> Claim:
    claim = Claim(
        "benchmark", "KLR and KRR gain more speed than SVM and SVR, up to 120 times"
    )
    timed = [row for row in evidence.tables["cross-validation"] if row.speed.n]
    rows = [row for row in timed if row.speed.n >= FEWEST_REPETITIONS]
    few = not rows
    rows = rows or timed
    speed = {(row.data, row.learner): row.speed.mean for row in rows}
    partner = {"KLR": "SVM", "KRR": "SVR"}
    hits = [
        gain > speed[data, partner[learner]]
        for (data, learner), gain in speed.items()
        if learner in partner and (data, partner[learner]) in speed
    ]
    if not hits:
        return claim
    text = f"on {sum(hits)} of {len(hits)} sets; largest mean {max(speed.values()):.0f}"
    return Claim(claim.item, claim.words, text, UNDECIDED if few else share(hits))


def of_table_2(evidence: Evidence) -> list[Claim]:
    """Hold what is said of the three parts of Table 2 against our rows."""
    rows = {
        part: [row for row in rows if row.ours.n]
        for part, rows in evidence.tables.items()
    }
    return [
        counted(
            "unpaired tests: as good (around 1.0, its error taken into account)",
            [
                abs(r.ours.mean - 1) <= max(AROUND_ONE, r.ours.half_width)
                for r in decided(rows["unpaired"])
            ],
        ),
        counted(
            "unpaired tests: slower",
            [r.speed.mean > 1 for r in decided(rows["unpaired"])],
        ),
        counted(
            "10 % of the rows: always significantly worse than CVST",
            [bool(r.bold) for r in decided(rows["ten-percent"])],
        ),
        tested(
            "random search: worse than CVST in the majority of cases",
            [r.ours for r in decided(rows["random"])],
            above=True,
        ),
        tested(
            "random search: better than CVST for covtype, ringnorm and splice with SVM",
            [
                r.ours
                for r in decided(rows["random"])
                if r.learner == "SVM" and r.data in ("covtype", "ringnorm", "splice")
            ],
            above=False,
        ),
    ]


def decided(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with enough repetitions."""
    return [row for row in rows if row.ours.n >= FEWEST_REPETITIONS]


def counted(words: str, hits: Sequence[bool]) -> Claim:
    """Decide a claim on rows of Table 2 by counting."""
    if not hits:
        return Claim("competitors", words)
    found = f"{sum(hits)} of {len(hits)} rows"
    return Claim("competitors", words, found, share(hits))


def tested(words: str, ratios: Sequence[Estimate], *, above: bool) -> Claim:
    """Decide a claim on most rows of Table 2 by those that differ from 1 for sure."""
    if not ratios:
        return Claim("competitors", words)
    over = sum(one.mean - one.half_width > 1 for one in ratios)
    under = sum(one.mean + one.half_width < 1 for one in ratios)
    hits, misses = (over, under) if above else (under, over)
    half = len(ratios) / 2
    verdict = YES if hits > half else NO if misses >= half else UNDECIDED
    found = (
        f"surely in {hits} of {len(ratios)} rows, surely the other way in {misses}, "
        f"open in {len(ratios) - hits - misses}"
    )
    return Claim("competitors", words, found, verdict)


def outliers_toy(evidence: Evidence) -> list[Claim]:
    """Compare the outlier variant on the noisy sinc: safer and slower."""
    safer = Claim("outliers-toy", "the outlier variant loses less than CVST")
    slower = Claim("outliers-toy", "its speed gain is roughly two thirds of CVST's")
    both = pairs(evidence.runs, "cvst", "outliers")
    usual = both["n_train"] == evidence.profile.toy_rows
    both = both[(both["data"] == "noisy_sinc") & usual]
    if both.empty:
        return [safer, slower]
    found = list(settings(both, "difference").values())
    factor = float(both["speed"].median())
    verdict = YES if TWO_THIRDS[0] <= factor <= TWO_THIRDS[1] else NO
    return [
        on_average(safer, found, "settings", ("less", "more"), plain),
        Claim(
            slower.item,
            slower.words,
            f"median of {factor:.2f} times",
            UNDECIDED if too_few(found) else verdict,
        ),
    ]


def outliers_benchmark(evidence: Evidence) -> list[Claim]:
    """Compare the outlier variant on the regression sets: safer and slower."""
    item = "outliers-benchmark"
    safer = Claim(item, "better accuracy than with Friedman's test")
    slower = Claim(item, "less speed than with Friedman's test")
    both = pairs(evidence.runs, "cvst", "outliers")
    rows = [
        of_one_size(mine)
        for _, mine in both[both["d"].isna()].groupby(["data", "learner"])
    ]
    if not rows:
        return [safer, slower]
    errors = [estimate(-np.log(mine["ratio"])) for mine in rows]
    gains = [estimate(np.log(mine["speed"])) for mine in rows]
    return [
        on_average(safer, errors, "rows", ("better", "worse"), per_cent),
        on_average(slower, gains, "rows", ("slower", "faster"), per_cent),
    ]


def plain(difference: float) -> str:
    """Write a difference of errors."""
    return f"{difference:+.4f}"


def per_cent(logarithm: float) -> str:
    """Write the logarithm of a ratio."""
    return f"{np.expm1(logarithm):+.1%}"


def on_average(
    claim: Claim,
    found: Sequence[Estimate],
    cases: str,
    sides: tuple[str, str],
    shown: Callable[[float], str],
) -> Claim:
    """Decide whether differences are below zero: one by one, and on average.

    Yes if the interval of their mean is, and no difference is surely above; partly if
    the mean is and some are not.
    """
    intervals = [interval(one) for one in found]
    hits = sum(high < 0 for _, high in intervals)
    misses = sum(low > 0 for low, _ in intervals)
    mean = estimate([one.mean for one in found])
    low, high = interval(mean)
    text = (
        f"surely {sides[0]} in {hits} of {len(found)} {cases}, surely {sides[1]} in "
        f"{misses}, open in {len(found) - hits - misses}; on average "
        f"{shown(mean.mean)} ({shown(low)} to {shown(high)})"
    )
    verdict = UNDECIDED
    if not too_few(found):
        if high < 0:
            verdict = PARTLY if misses else YES
        elif low > 0:
            verdict = NO
    return Claim(claim.item, claim.words, text, verdict)


def benchmark_claims(evidence: Evidence) -> list[Claim]:
    """Return what is said about the benchmark sets and the variants."""
    return [
        kernel_machines_gain_more(evidence),
        *of_table_2(evidence),
        *outliers_toy(evidence),
        *outliers_benchmark(evidence),
    ]
