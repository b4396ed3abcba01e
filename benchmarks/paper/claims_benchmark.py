"""What the paper says of its benchmark sets in words, held against our runs."""

from __future__ import annotations

from collections.abc import Sequence

from claims import NO, YES, Claim, Evidence, settings, share, too_few
from summary import (
    FEWEST_REPETITIONS,
    UNDECIDED,
    Estimate,
    Row,
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
    rows = [row for row in evidence.tables["cross-validation"] if row.speed.n]
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
    few = too_few([row.speed for row in rows])
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
    usual = settings(evidence.toys("noisy_sinc"), "difference")
    made = settings(evidence.toys("noisy_sinc", "outliers"), "difference")
    both = [(made[key], usual[key]) for key in made if key in usual]
    if not both:
        return [safer, slower]
    hits = [variant.mean <= ours.mean + 1e-12 for variant, ours in both]
    few = too_few([variant for variant, _ in both])
    text = f"no more than CVST in {sum(hits)} of {len(hits)} settings"
    times = pairs(evidence.runs, "cvst", "outliers")
    times = times[times["data"] == "noisy_sinc"]["speed"]
    factor = float(times.median())
    verdict = YES if TWO_THIRDS[0] <= factor <= TWO_THIRDS[1] else NO
    return [
        Claim(safer.item, safer.words, text, UNDECIDED if few else share(hits)),
        Claim(
            slower.item,
            slower.words,
            f"median of {factor:.2f} times",
            UNDECIDED if few else verdict,
        ),
    ]


def outliers_benchmark(evidence: Evidence) -> Claim:
    claim = Claim(
        "outliers-benchmark", "better accuracy than with Friedman's test, less speed"
    )
    both = pairs(evidence.runs, "cvst", "outliers")
    both = both[both["d"].isna()]
    if both.empty:
        return claim
    means = both.groupby(["data", "learner"])[["ratio", "speed"]].mean()
    hits = (means["ratio"] >= 1) & (means["speed"] < 1)
    text = (
        f"no worse on {int((means['ratio'] >= 1).sum())} and slower on "
        f"{int((means['speed'] < 1).sum())} of {len(means)} rows"
    )
    few = both.groupby(["data", "learner"]).size().min() < FEWEST_REPETITIONS
    return Claim(claim.item, claim.words, text, UNDECIDED if few else share(list(hits)))


def benchmark_claims(evidence: Evidence) -> list[Claim]:
    """Return what is said about the benchmark sets and the variants."""
    return [
        kernel_machines_gain_more(evidence),
        *of_table_2(evidence),
        *outliers_toy(evidence),
        outliers_benchmark(evidence),
    ]
