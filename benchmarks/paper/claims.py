"""What the paper says of its artificial data in words, held against our runs.

A claim is *yes*, *partly* or *no* by what is sure (see ``sure``), else *undecided* or
*not run*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from figures.survivors import counts
from profiles import PROFILES, Profile
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
from sure import (
    AS_SAID,
    NO,
    OPEN,
    OTHERWISE,
    PARTLY,
    YES,
    above,
    around,
    below,
    bounds,
    difference_bounds,
    everywhere,
    inside,
    median_bounds,
    share_bounds,
    sure_words,
)

__all__ = [
    "Claim",
    "Evidence",
    "setting_name",
    "settings",
    "share",
    "too_few",
    "toy_claims",
]

# A difference in the error below this is one that nobody would mind.
NEGLIGIBLE = 0.005
# A speed "ranges between" two numbers if this share of the races does.
NEARLY_ALL = 0.9
# "Far more": this many times as many.
FAR_MORE = 2


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

    @cached_property
    def full(self) -> dict[tuple[str, str], Row]:
        """Return the rows of Table 1 that can be judged at the size of the paper."""
        return {
            (row.data, row.learner): row
            for row in self.paper_sizes
            if row.n_train >= row.n_rows_paper and row.ours.n >= FEWEST_REPETITIONS
        }

    @cached_property
    def judged(self) -> dict[str, list[Row]]:
        """Return the rows that count, those of the paper's size where they exist."""
        first = "cross-validation"
        rows = [
            self.full.get((row.data, row.learner), row) for row in self.tables[first]
        ]
        return {**self.tables, first: rows}

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


Key = tuple[str, float, float]


def setting_name(key: Key) -> str:
    """Return how a learner, a noise and a d are called."""
    learner, noise, d = key
    return f"{learner}, noise {noise:g}, d = {d:g}"


def listed(found: dict[tuple[str, float, float], Estimate]) -> str:
    """Write differences with what they belong to."""
    lines: dict[str, list[str]] = {}
    for (learner, noise, d), one in found.items():
        name = f"{learner}, noise {noise:g}"
        lines.setdefault(name, []).append(f"{one.mean:+.3f} (d = {d:g})")
    return "; ".join(f"{name}: {', '.join(line)}" for name, line in lines.items())


def judged(claim: Claim, found: dict[Key, Estimate], sides: dict[Key, str]) -> Claim:
    """Decide a claim that holds for each of some settings."""
    if not found:
        return claim
    cases = {setting_name(key): side for key, side in sides.items()}
    text = f"{listed(found)}; {sure_words(cases, 'settings')}"
    return Claim(claim.item, claim.words, text, everywhere(cases))


def same_at_low_noise(evidence: Evidence) -> Claim:
    claim = Claim(
        "noisy-sine",
        "noise 0.25: CVST finds the same optimum as cross-validation up to d = 50",
    )
    found = settings(evidence.toys("noisy_sine"), "difference")
    low = {key: one for key, one in found.items() if key[1] == 0.25 and key[2] <= 50}
    sides = {key: around(bounds(one), 0, NEGLIGIBLE) for key, one in low.items()}
    return judged(claim, low, sides)


def stuck_at_100(evidence: Evidence) -> Claim:
    claim = Claim(
        "noisy-sine", "d = 100: CVST gets stuck in a suboptimal configuration"
    )
    found = settings(evidence.toys("noisy_sine"), "difference")
    last = {key: one for key, one in found.items() if key[2] == 100}
    return judged(claim, last, {key: worse(bounds(one)) for key, one in last.items()})


def worse(found: tuple[float, float]) -> str:
    """Tell whether an error is larger, by more than nobody would mind."""
    low, high = found
    return OTHERWISE if high <= NEGLIGIBLE else AS_SAID if low > 0 else OPEN


def grows_with_d(evidence: Evidence) -> Claim:
    claim = Claim(
        "noisy-sinc",
        "excellent at d = 2, on the verge of a bad choice at d = 3, worse beyond",
    )
    found = settings(evidence.toys("noisy_sinc"), "difference")
    if not found:
        return claim
    cases = {}
    for learner, noise in dict.fromkeys(key[:2] for key in found):
        line = {
            key[2]: one for key, one in found.items() if key[:2] == (learner, noise)
        }
        first, *later = sorted(line)
        name = f"{learner}, noise {noise:g}"
        cases[f"{name}: at most {NEGLIGIBLE:g} at d = {first:g}"] = below(
            bounds(line[first]), NEGLIGIBLE
        )
        for before, d in zip([first, *later], later, strict=False):
            rise = difference_bounds(line[d], line[before])
            cases[f"{name}: d = {d:g} above d = {before:g}"] = above(rise, 0)
    text = f"{listed(found)}; {sure_words(cases, 'comparisons')}"
    return Claim(claim.item, claim.words, text, everywhere(cases))


def svr_below_krr(evidence: Evidence) -> Claim:
    claim = Claim("noisy-sinc", "the difference is always smaller for SVR than for KRR")
    found = evidence.toys("noisy_sinc")
    place = ["d", "noise", "repetition"]  # both learners meet the same rows there
    svr, krr = (found[found["learner"] == name] for name in ("SVR", "KRR"))
    both = svr.merge(krr, on=place, suffixes=("", "_krr"))
    if both.empty:
        return claim
    both["gap"] = both["difference"] - both["difference_krr"]
    cases = {
        f"noise {noise:g}, d = {d:g}": below(bounds(estimate(gaps)), 0)
        for (noise, d), gaps in both.groupby(["noise", "d"])["gap"]
    }
    text = sure_words(cases, "settings", ("smaller", "larger"))
    return Claim(claim.item, claim.words, text, everywhere(cases))


def speeds(evidence: Evidence) -> list[Claim]:
    """Hold the ranges of speed gains that the text names against our races.

    *Yes* if surely nearly all races are in the range; *no* if the median is surely
    outside; *partly* if it is surely inside, and surely not nearly all races are.
    """
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
        few = timed.groupby(["noise", "d"]).size().min() < FEWEST_REPETITIONS
        text, verdict = ranged(gains, low, high)
        made.append(Claim(item, words, text, UNDECIDED if few else verdict))
    return made


def ranged(gains: pd.Series, low: float, high: float) -> tuple[str, str]:
    """Tell whether speed gains lie in a range: in words, and the verdict."""
    middle, ends = float(gains.median()), median_bounds(gains)
    n_inside = int(gains.between(low, high).sum())
    shown = f"median {middle:.1f} ({ends[0]:.1f} to {ends[1]:.1f}), "
    text = f"{shown}{n_inside / len(gains):.0%} of {len(gains)} races in the range"
    side = inside(ends, low, high)
    if side == OTHERWISE:
        return text, f"{NO}, " + ("faster" if middle > high else "slower")
    most = above(share_bounds(n_inside, len(gains)), NEARLY_ALL)
    if most == AS_SAID:
        return text, YES
    return text, PARTLY if side == AS_SAID and most == OTHERWISE else UNDECIDED


def drops_more_in_regression(evidence: Evidence) -> Claim:
    claim = Claim("remaining", "regression drops far more than classification")
    races = each_once(evidence.runs)
    races = races[(races["method"] == "cvst") & races["survivors"].notna()]
    if races["task"].nunique() < 2:
        return claim
    ends = [row[np.isfinite(row)][-1] for row in counts(races)]
    left = np.array(ends) / races["n_configurations"].to_numpy()
    problem = ["data", "d", "noise", "learner"]
    grouped = races.assign(left=np.log(left)).groupby(["task", *problem], dropna=False)
    means = grouped["left"].mean()
    classes, numbers = (
        estimate(means.loc[task]) for task in ("classification", "regression")
    )
    low, high = difference_bounds(numbers, classes)
    text = (
        f"left at the end (geometric mean over {classes.n} and {numbers.n} problems): "
        f"{np.exp(classes.mean):.0%} of the grid in classification, "
        f"{np.exp(numbers.mean):.1%} in regression, {np.exp(low):.2f} to "
        f"{np.exp(high):.2f} times as much"
    )
    side = below((low, high), -float(np.log(FAR_MORE)))
    return Claim(claim.item, claim.words, text, everywhere({text: side}))


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
    enough = [rows for rows in sizes if not too_few(list(by_size[rows].values()))]
    verdict = UNDECIDED
    if len(enough) > 1:
        verdict = everywhere(negligible(by_size[max(enough)]))
    text = f"difference of the errors at most {NEGLIGIBLE:g}; " + "; ".join(
        f"{rows:,} rows ({repetitions(by_size[rows])}): "
        f"{sure_words(negligible(by_size[rows]), 'settings')}, "
        f"{mean_difference(by_size[rows]):+.4f} on average"
        for rows in sizes
    )
    return Claim(claim.item, claim.words, text, verdict)


def repetitions(made: dict[Key, Estimate]) -> str:
    """Return how many repetitions each setting has, at least."""
    fewest = min(one.n for one in made.values())
    words = "1 repetition" if fewest == 1 else f"{fewest} repetitions"
    return words if fewest >= FEWEST_REPETITIONS else f"{words}, too few for a verdict"


def negligible(made: dict[Key, Estimate]) -> dict[str, str]:
    """Return for each setting whether its difference is one nobody would mind."""
    return {
        setting_name(key): below(bounds(one), NEGLIGIBLE) for key, one in made.items()
    }


def mean_difference(made: dict[Key, Estimate]) -> float:
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
