"""From single searches to the rows of the paper's tables, and a verdict on each.

Every search of the race has partners: other searches on the same rows and the same
grid. Ratios and speeds are formed within such pairs and then averaged, as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student
from store import COLUMNS

__all__ = [
    "AGREES",
    "BETTER",
    "FASTER",
    "MARGIN",
    "NOT_RUN",
    "OTHERS",
    "SLOWER",
    "UNDECIDED",
    "VERDICTS",
    "WORSE",
    "Estimate",
    "Row",
    "difference_interval",
    "each_once",
    "estimate",
    "load_published",
    "load_runs",
    "of_one_size",
    "pairs",
    "speed_verdict",
    "table_rows",
    "verdict",
]

HERE = Path(__file__).parent

# Searches with the same values here saw the same rows and the same grid.
PROBLEM = ["data", "d", "noise", "learner", "n_train", "n_configurations"]
PAIR = [*PROBLEM, "repetition"]
PLACE = ["machine", "device"]
NUMBERS = ["d", "noise", "n_train", "n_rows_paper", "n_test", "n_configurations"]

# Part of a table of the paper: the search that the race is compared with there.
OTHERS = {
    "cross-validation": "cv",
    "unpaired": "unpaired",
    "ten-percent": "ten_percent",
    "random": "random",
}

AGREES, BETTER, WORSE = "agrees", "better", "worse"
UNDECIDED, NOT_RUN = "undecided", "not run"
VERDICTS = (AGREES, BETTER, WORSE, UNDECIDED, NOT_RUN)
FASTER, SLOWER = "faster", "slower"

PUBLISHED_REPETITIONS = 50
# Two repetitions have a standard error in name only.
FEWEST_REPETITIONS = 3
# Printed to three digits: a half width of 0.000 still leaves this much open.
ROUNDING = 0.0005
# No difference is shown if the interval of it lies within this share of the paper's
# number, or within twice the half width that the paper itself prints.
MARGIN = 0.05
# A mean speed is the printed one if its interval holds that and is no wider than this
# share of it.
SPEED_MARGIN = 0.25


@dataclass(frozen=True)
class Estimate:
    """A mean over repetitions; half widths are 1.96 standard errors as in the paper."""

    mean: float = nan
    standard_error: float = nan
    n: int = 0

    @property
    def half_width(self) -> float:
        """Half the width of the interval, NaN for fewer than two repetitions."""
        return 1.96 * self.standard_error


@dataclass(frozen=True)
class Row:
    """One line of a table: what we found and what the paper printed.

    ``plain`` is the speed over scikit-learn's own ``GridSearchCV``, ``speed`` that over
    a search with the same evaluator on both sides.
    """

    table: str
    part: str
    data: str
    learner: str
    published: float
    published_half_width: float
    published_speed: float
    published_bold: bool
    ours: Estimate = Estimate()
    speed: Estimate = Estimate()
    plain: Estimate = Estimate()
    substitute: str = ""
    n_train: int = 0
    n_rows_paper: int = 0
    n_configurations: int = 0

    @property
    def verdict(self) -> str:
        """How our ratio stands to the paper's."""
        return verdict(self.ours, self.published, self.published_half_width)

    @property
    def speed_verdict(self) -> str:
        """How our speed, with the same evaluator on both sides, stands to theirs."""
        if self.part == "random":  # it gets the time of the race
            return "by design"
        return speed_verdict(self.speed, self.published_speed)

    @property
    def bold(self) -> bool | None:
        """Whether the paper's rule would print ours in bold; None if not known."""
        if isnan(self.ours.half_width):
            return None
        sign = 1 if self.table == "1" else -1
        return bool(self.ours.mean + sign * self.ours.half_width > 1)


def estimate(values: Any) -> Estimate:
    """Return the mean of the finite values and its standard error."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    if not len(values):
        return Estimate()
    spread = float(values.std(ddof=1)) if len(values) > 1 else nan
    return Estimate(float(values.mean()), spread / sqrt(len(values)), len(values))


def difference_interval(
    ours: Estimate, published: float, published_half_width: float, spread: float = 0.0
) -> tuple[float, float]:
    """Return Welch's 95 % interval of our mean minus the paper's.

    Parameters
    ----------
    ours : Estimate
        Our mean, of two repetitions or more.
    published, published_half_width : float
        The paper's mean of 50 repetitions and its 1.96 standard errors.
    spread : float
        Least standard deviation of a repetition of ours.
    """
    theirs = max(published_half_width, ROUNDING) / 1.96
    own = max(ours.standard_error, spread / sqrt(ours.n))
    error = sqrt(own**2 + theirs**2)
    n_free = error**4 / (
        own**4 / (ours.n - 1) + theirs**4 / (PUBLISHED_REPETITIONS - 1)
    )
    width = float(student.ppf(0.975, n_free)) * error
    difference = ours.mean - published
    return difference - width, difference + width


def verdict(ours: Estimate, published: float, published_half_width: float) -> str:
    """Compare our mean with the paper's, given the uncertainty of both.

    - *not run*: no repetitions;
    - *better*, *worse*: the interval of the difference leaves out zero: the race does
      better (worse) against its competitor than in the paper;
    - *agrees*: it holds zero and nothing that matters. Repetitions that agree by luck
      do not count: each is taken to vary as much as the paper's at least;
    - *undecided*: neither, or fewer than three repetitions.
    """
    if not ours.n:
        return NOT_RUN
    if ours.n < FEWEST_REPETITIONS:
        return UNDECIDED
    theirs = max(published_half_width, ROUNDING)
    low, high = difference_interval(ours, published, theirs)
    if low > 0 or high < 0:
        return BETTER if low > 0 else WORSE
    spread = theirs / 1.96 * sqrt(PUBLISHED_REPETITIONS)
    low, high = difference_interval(ours, published, theirs, spread)
    margin = max(MARGIN * published, 2 * theirs)
    return AGREES if -margin <= low and high <= margin else UNDECIDED


def speed_verdict(speed: Estimate, published: float) -> str:
    """Compare our mean speed with the printed one, which has no interval."""
    if not speed.n:
        return NOT_RUN
    if speed.n < FEWEST_REPETITIONS:
        return UNDECIDED
    width = float(student.ppf(0.975, speed.n - 1)) * speed.standard_error
    if abs(speed.mean - published) > width:
        return FASTER if speed.mean > published else SLOWER
    return AGREES if width <= SPEED_MARGIN * published else UNDECIDED


def load_published() -> pd.DataFrame:
    """Return the numbers that the paper prints."""
    return pd.read_csv(HERE / "published.csv", dtype={"table": str})


def load_runs(output_dir: Path, profile: str, name: str = "runs.csv") -> pd.DataFrame:
    """Return the searches of a profile; an empty frame if there are none."""
    path = Path(output_dir) / name
    if not path.exists():
        return pd.DataFrame(columns=list(COLUMNS))
    texts = dict.fromkeys(["substitute", "survivors", *PLACE, "day"], str)
    runs = pd.read_csv(path, dtype=texts)
    runs = runs[runs["profile"] == profile]
    runs = runs.assign(substitute=runs["substitute"].fillna(""))
    for name in [*NUMBERS, "error", "seconds", "wall_seconds"]:
        runs[name] = pd.to_numeric(runs[name])
    runs = runs.assign(**{name: runs[name].fillna("") for name in [*PLACE, "day"]})
    return newest(runs, [*PAIR, "method", *PLACE])


def each_once(runs: pd.DataFrame) -> pd.DataFrame:
    """Return one line of each search, the newest, wherever it ran."""
    return newest(runs, [*PAIR, "method"])


def newest(runs: pd.DataFrame, same: list[str]) -> pd.DataFrame:
    """Return one line of those with the same values: that of the last day."""
    by_day = runs.sort_values("day", kind="stable")
    left = by_day.drop_duplicates(same, keep="last")
    return left.sort_index().reset_index(drop=True)


def pairs(runs: pd.DataFrame, other: str, ours: str = "cvst") -> pd.DataFrame:
    """Match each race with another search on the same rows.

    ``ratio`` is the other's error over ours (values over 1 favour the race),
    ``difference`` is ours minus the other's, ``speed`` the other's seconds over ours.
    Where a search ran at several places, two of the same machine are taken, for only
    they have a speed; one on a card has none. All speeds of a problem are those of one
    machine (see ``timed_machines``).
    """
    mine = runs[runs["method"] == ours]
    columns = [*PAIR, *PLACE, "error", "seconds", "day"]
    theirs = runs.loc[runs["method"] == other, columns]
    both = mine.merge(theirs, on=PAIR, suffixes=("", "_other"))
    # A pair is as old as the older of its two searches.
    both["last"] = both[["day", "day_other"]].max(axis=1)
    both["day"] = both[["day", "day_other"]].min(axis=1)
    both["timed"] = (
        (both["machine"] == both["machine_other"])
        & (both["device"] == "")
        & (both["device_other"] == "")
    )
    machines = timed_machines(both[both["timed"]])
    counts = both[PROBLEM].merge(machines, on=PROBLEM, how="left")["machine"]
    both["timed"] &= both["machine"] == counts
    both = both.sort_values(["timed", "day"], kind="stable")
    both = both.drop_duplicates(PAIR, keep="last").sort_index().reset_index(drop=True)
    error, error_other = both["error"], both["error_other"]
    ratio = error_other / error.where(error > 0)
    both["ratio"] = ratio.mask((error == 0) & (error_other == 0), 1.0)
    both["difference"] = error - error_other
    own = both["seconds"].where(both["timed"] & (both["seconds"] > 0))
    both["speed"] = both["seconds_other"] / own
    return both


def timed_machines(timed: pd.DataFrame) -> pd.DataFrame:
    """Return each problem with the machine whose seconds count.

    It is the one that was timed last, of those with repetitions enough for a verdict.
    If none has enough, it is the one with most. A machine is as old as its oldest
    search; of two as old, the one whose newest search is newer was timed last.
    """
    found = timed.groupby([*PROBLEM, "machine"], dropna=False, as_index=False).agg(
        n=("repetition", "nunique"), day=("day", "min"), last=("last", "max")
    )
    found["enough"] = found["n"].clip(upper=FEWEST_REPETITIONS)
    found = found.sort_values(["enough", "day", "last", "n"], kind="stable")
    return found.drop_duplicates(PROBLEM, keep="last")[[*PROBLEM, "machine"]]


def of_one_size(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of one training size and grid: the one repeated most, or larger."""
    if frame.empty:
        return frame
    sizes = ["n_train", "n_configurations"]
    counts = frame.groupby(sizes)["repetition"].nunique().reset_index()
    best = counts.sort_values(["repetition", *sizes]).iloc[-1]
    same = (frame["n_train"] == best["n_train"]) & (
        frame["n_configurations"] == best["n_configurations"]
    )
    return frame[same]


def table_rows(runs: pd.DataFrame, published: pd.DataFrame, part: str) -> Iterator[Row]:
    """Yield the rows of a part of the tables, run or not, in the paper's order."""
    found = pairs(runs, OTHERS[part])
    races = dict(list(found.groupby(["data", "learner"])))
    timed = pairs(runs, "plain_grid")
    for line in published[published["part"] == part].itertuples():
        mine = of_one_size(races.get((line.data, line.learner), found.iloc[:0]))
        plain = timed[(timed["data"] == line.data) & (timed["learner"] == line.learner)]
        row = {
            "table": line.table,
            "part": part,
            "data": line.data,
            "learner": line.learner,
            "published": line.ratio,
            "published_half_width": line.half_width,
            "published_speed": line.speed,
            "published_bold": bool(line.bold),
        }
        yield Row(**row, **_ours(mine, plain))


def _ours(mine: pd.DataFrame, plain: pd.DataFrame) -> dict[str, Any]:
    if mine.empty:
        return {}
    first = mine.iloc[0]
    size = plain["n_train"] == first["n_train"]
    grid = plain["n_configurations"] == first["n_configurations"]
    return {
        "ours": estimate(mine["ratio"]),
        "speed": estimate(mine["speed"]),
        "plain": estimate(plain.loc[size & grid, "speed"]),
        "substitute": str(first["substitute"]),
        "n_train": int(first["n_train"]),
        "n_rows_paper": int(first["n_rows_paper"]),
        "n_configurations": int(first["n_configurations"]),
    }
