"""What the paper says of its artificial data in words, held against our runs.

A claim is *yes*, *partly* or *no* where there are enough repetitions, else *undecided*
or *not run*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from figures.survivors import counts
from profiles import PROFILES, Profile
from scipy.stats import t as student
from summary import (
    FEWEST_REPETITIONS,
    NOT_RUN,
    OTHERS,
    UNDECIDED,
    Estimate,
    Row,
    each_once,
    estimate,
    load_published,
    load_runs,
    pairs,
    table_rows,
)

__all__ = [
    "NO",
    "PARTLY",
    "YES",
    "Claim",
    "Evidence",
    "interval",
    "settings",
    "share",
    "too_few",
    "toy_claims",
]

YES, PARTLY, NO = "yes", "partly", "no"
# A difference in the error below this is one that nobody would mind.
NEGLIGIBLE = 0.005


@dataclass(frozen=True)
class Claim:
    """Words of the paper on an item, what we find, and whether that agrees."""

    item: str
    words: str
    found: str = "-"
    verdict: str = NOT_RUN


@dataclass(frozen=True)
class Evidence:
    """All searches of a profile, and the folder that also has the small experiments."""

    output_dir: Path
    profile: Profile

    @cached_property
    def runs(self) -> pd.DataFrame:
        """All searches."""
        return load_runs(self.output_dir, self.profile.name)

    @cached_property
    def tables(self) -> dict[str, list[Row]]:
        """The rows of each part of the paper's tables, run or not."""
        published = load_published()
        return {part: list(table_rows(self.runs, published, part)) for part in OTHERS}

    @cached_property
    def paper_sizes(self) -> list[Row]:
        """Rows of Table 1 that were run with as many rows as the paper had."""
        full = PROFILES["full"]
        if self.profile == full:
            return []
        runs = load_runs(self.output_dir, full.name)
        rows = table_rows(runs, load_published(), "cross-validation")
        return [row for row in rows if row.ours.n]

    def toys(self, data: str, ours: str = "cvst") -> pd.DataFrame:
        """Races on an artificial set of the usual size against cross-validation."""
        found = pairs(self.runs, "cv", ours)
        usual = found["n_train"] == self.profile.toy_rows
        return found[(found["data"] == data) & usual]


def share(hits: Sequence[bool]) -> str:
    """Return yes if all agree, no if none does."""
    if not len(hits):
        return NOT_RUN
    return YES if all(hits) else PARTLY if any(hits) else NO


def settings(
    frame: pd.DataFrame, column: str
) -> dict[tuple[str, float, float], Estimate]:
    """Return the mean of a column for each learner, noise and d."""
    groups = frame.groupby(["learner", "noise", "d"])[column]
    return {key: estimate(values) for key, values in groups}


def too_few(found: Sequence[Estimate]) -> bool:
    return any(one.n < FEWEST_REPETITIONS for one in found)


def interval(one: Estimate) -> tuple[float, float]:
    """Return the 95 % interval of a mean, by Student; NaN for one repetition."""
    half = float(student.ppf(0.975, max(one.n - 1, 1))) * one.standard_error
    return one.mean - half, one.mean + half


def is_zero(one: Estimate) -> bool:
    """Whether a difference is negligible, or not told from none."""
    low, high = interval(one)
    return abs(one.mean) <= NEGLIGIBLE or low <= 0 <= high


def listed(found: dict[tuple[str, float, float], Estimate]) -> str:
    """Write differences with what they belong to."""
    lines: dict[str, list[str]] = {}
    for (learner, noise, d), one in found.items():
        name = f"{learner}, noise {noise:g}"
        lines.setdefault(name, []).append(f"{one.mean:+.3f} (d = {d:g})")
    return "; ".join(f"{name}: {', '.join(line)}" for name, line in lines.items())


def judged(
    claim: Claim,
    found: dict[tuple[str, float, float], Estimate],
    agrees: Callable[[Estimate], bool],
) -> Claim:
    """Decide a claim that holds for each of some settings."""
    if not found:
        return claim
    values = list(found.values())
    verdict = UNDECIDED if too_few(values) else share([agrees(one) for one in values])
    return Claim(claim.item, claim.words, listed(found), verdict)


def same_at_low_noise(evidence: Evidence) -> Claim:
    claim = Claim(
        "noisy-sine",
        "noise 0.25: CVST finds the same optimum as cross-validation up to d = 50",
    )
    found = settings(evidence.toys("noisy_sine"), "difference")
    low = {key: one for key, one in found.items() if key[1] == 0.25 and key[2] <= 50}
    return judged(claim, low, is_zero)


def stuck_at_100(evidence: Evidence) -> Claim:
    claim = Claim(
        "noisy-sine", "d = 100: CVST gets stuck in a suboptimal configuration"
    )
    found = settings(evidence.toys("noisy_sine"), "difference")
    last = {key: one for key, one in found.items() if key[2] == 100}
    return judged(claim, last, lambda one: one.mean > 0 and not is_zero(one))


def grows_with_d(evidence: Evidence) -> Claim:
    claim = Claim(
        "noisy-sinc",
        "excellent at d = 2, on the verge of a bad choice at d = 3, worse beyond",
    )
    found = settings(evidence.toys("noisy_sinc"), "difference")
    if not found:
        return claim
    hits = []
    for learner, noise in dict.fromkeys(key[:2] for key in found):
        line = [one.mean for key, one in found.items() if key[:2] == (learner, noise)]
        hits.append(bool(line == sorted(line) and line[-1] > NEGLIGIBLE))
    few = too_few(list(found.values()))
    verdict = UNDECIDED if few else share(hits)
    return Claim(claim.item, claim.words, listed(found), verdict)


def svr_below_krr(evidence: Evidence) -> Claim:
    claim = Claim("noisy-sinc", "the difference is always smaller for SVR than for KRR")
    found = settings(evidence.toys("noisy_sinc"), "difference")
    both = [
        (found["SVR", noise, d], one)
        for (learner, noise, d), one in found.items()
        if learner == "KRR" and ("SVR", noise, d) in found
    ]
    if not both:
        return claim
    hits = [svr.mean <= krr.mean for svr, krr in both]
    few = too_few([one for pair in both for one in pair])
    text = f"smaller in {sum(hits)} of {len(hits)} settings"
    return Claim(claim.item, claim.words, text, UNDECIDED if few else share(hits))


def speeds(evidence: Evidence) -> list[Claim]:
    """Hold the speed gains that the text names against the median of ours."""
    published = load_published()
    made = []
    for line in published[published["part"] == "speed"].itertuples():
        item = line.data.replace("_", "-")
        low, high = line.speed_low, line.speed_high
        words = f"{line.learner}: speed gain between {low:g} and {high:g}"
        frame = evidence.toys(line.data)
        timed = frame[(frame["learner"] == line.learner) & frame["speed"].notna()]
        gains = timed["speed"]
        if gains.empty:
            made.append(Claim(item, words))
            continue
        middle = float(gains.median())
        inside = float(gains.between(low, high).mean())
        text = f"median {middle:.1f}, {inside:.0%} of {len(gains)} races in the range"
        few = timed.groupby(["noise", "d"]).size().min() < FEWEST_REPETITIONS
        side = (
            YES
            if low <= middle <= high
            else f"{NO}, " + ("faster" if middle > high else "slower")
        )
        made.append(Claim(item, words, text, UNDECIDED if few else side))
    return made


def drops_more_in_regression(evidence: Evidence) -> Claim:
    claim = Claim("remaining", "regression drops far more than classification")
    races = each_once(evidence.runs)
    races = races[(races["method"] == "cvst") & races["survivors"].notna()]
    if races["task"].nunique() < 2:
        return claim
    left = {}
    for task, frame in races.groupby("task"):
        table = counts(frame)
        ends = [row[np.isfinite(row)][-1] for row in table]
        left[task] = float(np.median(ends / frame["n_configurations"].to_numpy()))
    text = (
        f"left at the end (median): {left['classification']:.0%} of the grid in "
        f"classification, {left['regression']:.1%} in regression"
    )
    verdict = YES if left["regression"] < left["classification"] / 2 else NO
    return Claim(claim.item, claim.words, text, verdict)


def more_data_helps(evidence: Evidence) -> Claim:
    claim = Claim(
        "more-data", "with enough rows the right configuration is found in all settings"
    )
    found = pairs(evidence.runs, "cv")
    found = found[found["learner"].isin(["SVM", "SVR"]) & found["d"].notna()]
    by_size = {
        int(rows): settings(part, "difference")
        for rows, part in found.groupby("n_train")
    }
    sizes = [
        rows
        for rows, made in by_size.items()
        if len(made) == len(by_size[min(by_size)])
    ]
    if len(sizes) < 2:
        return claim
    parts = [
        f"{rows:,} rows ({repetitions(by_size[rows])}): at most {NEGLIGIBLE:g} in "
        f"{sum(negligible(by_size[rows]))} of {len(by_size[rows])} settings, "
        f"{mean_difference(by_size[rows]):+.4f} on average"
        for rows in sizes
    ]
    enough = [rows for rows in sizes if not too_few(list(by_size[rows].values()))]
    verdict = share(negligible(by_size[max(enough)])) if len(enough) > 1 else UNDECIDED
    text = "difference of the errors, " + "; ".join(parts)
    return Claim(claim.item, claim.words, text, verdict)


def repetitions(made: dict[tuple[str, float, float], Estimate]) -> str:
    """Return how many repetitions each setting has, at least."""
    fewest = min(one.n for one in made.values())
    words = "1 repetition" if fewest == 1 else f"{fewest} repetitions"
    return words if fewest >= FEWEST_REPETITIONS else f"{words}, too few for a verdict"


def negligible(made: dict[tuple[str, float, float], Estimate]) -> list[bool]:
    """Return for each setting whether its mean difference is one nobody would mind."""
    return [one.mean <= NEGLIGIBLE for one in made.values()]


def mean_difference(made: dict[tuple[str, float, float], Estimate]) -> float:
    return float(np.mean([one.mean for one in made.values()]))


def toy_claims(evidence: Evidence) -> list[Claim]:
    """Return what is said about the artificial sets."""
    return [
        same_at_low_noise(evidence),
        stuck_at_100(evidence),
        grows_with_d(evidence),
        svr_below_krr(evidence),
        *speeds(evidence),
        drops_more_in_regression(evidence),
        more_data_helps(evidence),
    ]
