"""What ``run.py`` measured, as the tables of ``docs/user_guide/estimate.md``.

    python benchmarks/estimate/summary.py           # the held-out problems
    python benchmarks/estimate/summary.py FILE
    python benchmarks/estimate/summary.py write     # put the table on the page

The files hold what each estimate was made from. Value and interval are made from it
here by the library itself, so that the tables are those of the rule as it is.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import stored
from families import FAMILIES, family_of

from cvst.search.estimate import Evidence, Growth

RESULTS = Path(__file__).parents[1] / "results"
PAGE = Path(__file__).parents[2] / "docs" / "user_guide" / "estimate.md"
MARKS = "<!-- begin of the table -->", "<!-- end of the table -->"
HELD_OUT = RESULTS / "estimate_held_out.jsonl.gz"

RACE, PLAIN = "track_and_confirm", "cross_validation"

# Parts of the draws whose slopes come from the others.
N_PARTS = 10

# One-sided 95 %.
SURE = 1.645

BIASES = "bias of the estimate", "bias of `GridSearchCV.best_score_`"


@dataclass(frozen=True)
class Draws:
    """All draws of one problem, errors in units of the score's standard error.

    ``told`` are the errors of the estimate, ``best`` those of the race's best score,
    ``plain`` those of the plain search's (NaN where it did not run).
    """

    name: str
    controls: Any
    told: Any
    best: Any
    plain: Any
    covered: Any

    @property
    def family(self) -> str:
        """The family of the models."""
        return family_of(self.name)

    @property
    def score(self) -> str:
        """The score of the races."""
        return self.name.split()[-1]


def read(path: Path) -> list[Draws]:
    """Return the draws of each problem."""
    by_problem: dict[str, list[dict[str, Any]]] = {}
    for record in stored.read(path):
        by_problem.setdefault(record["problem"], []).append(record)
    return [_draws(name, records) for name, records in by_problem.items()]


def _draws(name: str, records: list[dict[str, Any]]) -> Draws:
    records = sorted(records, key=lambda one: one["draw"])
    known = [_evidence(one[RACE]["evidence"]) for one in records]
    truth = np.array([one[RACE]["truth"] for one in records])
    unit = float(np.mean([one.error for one in known]))
    ends = np.array([one.ends for one in known])
    plain = [
        one[PLAIN]["best_score"] - one[PLAIN]["truth"] if PLAIN in one else np.nan
        for one in records
    ]
    return Draws(
        name,
        np.array([one["controls"] for one in records]),
        (np.array([one.value for one in known]) - truth) / unit,
        (np.array([one[RACE]["best_score"] for one in records]) - truth) / unit,
        np.array(plain) / unit,
        (ends[:, 0] <= truth) & (truth <= ends[:, 1]),
    )


def _evidence(made: dict[str, Any]) -> Evidence:
    """Return what an estimate is made from, as the library has it."""
    return Evidence(**{**made, "growth": Growth(**made["growth"])})


def freed(errors: Any, controls: Any) -> Any:
    """Return errors with the same mean and less noise: what controls explain is gone.

    The slopes for some draws come from the others, so that the mean of the controls,
    which is zero, stays zero whatever the slopes are.
    """
    known = np.flatnonzero(np.isfinite(errors))
    left = np.full(len(errors), np.nan)
    for part in range(N_PARTS):
        mine = known[part::N_PARTS]
        other = np.setdiff1d(known, mine)
        # Of too few draws come wild slopes.
        if len(other) < 3 * (controls.shape[1] + 1):
            left[mine] = errors[mine]
            continue
        table = np.column_stack([np.ones(len(other)), controls[other]])
        slopes = np.linalg.lstsq(table, errors[other], rcond=None)[0][1:]
        left[mine] = errors[mine] - controls[mine] @ slopes
    return left


def mean(parts: list[Any]) -> tuple[float, float]:
    """Return the mean over problems of means over draws, and its standard error."""
    parts = [part[np.isfinite(part)] for part in parts]
    errors = [np.var(part, ddof=1) / len(part) for part in parts]
    total = float(np.mean([part.mean() for part in parts]))
    return total, float(np.sqrt(np.sum(errors))) / len(parts)


def told_bias(problems: list[Draws]) -> tuple[float, float]:
    """Return the bias of the estimate."""
    return mean([freed(one.told, one.controls) for one in problems])


def plain_bias(problems: list[Draws]) -> tuple[float, float]:
    """Return the bias of ``GridSearchCV.best_score_``, which a part of the draws has.

    That of the race's own ``best_score_`` is known on all draws. Where both are, they
    mostly agree, so the difference is known well.
    """
    raced = mean([freed(one.best, one.controls) for one in problems])
    more = mean([one.plain - one.best for one in problems])
    return raced[0] + more[0], float(np.hypot(raced[1], more[1]))


def coverage(problems: list[Draws]) -> float:
    """Return the share of races whose interval holds the true score."""
    return float(np.mean(np.concatenate([one.covered for one in problems])))


def lines(problems: list[Draws]) -> list[str]:
    """Return the table of the page: all problems, by family, and by score."""
    parts = {
        family: [one for one in problems if family in ("all", one.family)]
        for family in ("all", *FAMILIES)
    }
    by_score = _by_score(problems)
    return _table(parts | {f"`{score}`": part for score, part in by_score.items()})


def _by_score(problems: list[Draws]) -> dict[str, list[Draws]]:
    parts: dict[str, list[Draws]] = {}
    for one in problems:
        parts.setdefault(one.score, []).append(one)
    return dict(sorted(parts.items(), key=lambda part: (-len(part[1]), part[0])))


def _table(parts: dict[str, list[Draws]]) -> list[str]:
    titles = "family or score", "problems", "races", "interval holds", *BIASES
    shown = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for name, part in parts.items():
        cells = (
            name,
            str(len(part)),
            f"{sum(len(one.told) for one in part):,}",
            f"{100 * coverage(part):.1f} %",
            _signed(*told_bias(part)),
            _signed(*plain_bias(part)),
        )
        shown.append(f"| {' | '.join(cells)} |")
    return shown


def _signed(value: float, error: float) -> str:
    return f"{value:+.3f} ± {error:.3f}"


def words(problems: list[Draws]) -> str:
    """Return the sentences below the table."""
    (told, error), (plain, noise) = told_bias(problems), plain_bias(problems)
    most = (abs(told) + SURE * error) / (plain - SURE * noise)
    each = [coverage([one]) for one in problems]
    n_races = sum(len(one.told) for one in problems)
    parts = {
        family: [one for one in problems if one.family == family] for family in FAMILIES
    }
    ratios = {
        family: abs(told_bias(part)[0] / plain_bias(part)[0])
        for family, part in parts.items()
        if part
    }
    by_family = ", ".join(f"{one:.2f} ({family})" for family, one in ratios.items())
    return (
        f"{100 * coverage(problems):.1f} % of {n_races:,} intervals contain the score; "
        f"in single problems {100 * min(each):.0f} to {100 * max(each):.0f} %. The "
        f"bias is {abs(told / plain):.2f} times that of `GridSearchCV.best_score_`, "
        f"and with noise on both sides at most {most:.2f} times. By family the "
        f"ratio is {by_family}."
    )


def words_by_score(problems: list[Draws]) -> str:
    """Return the sentences about single scores."""
    parts = _by_score(problems)
    biases = {score: told_bias(part)[0] for score, part in parts.items()}
    ordered = sorted(biases, key=biases.__getitem__)
    least, most = ordered[0], ordered[-1]
    within = [
        f"`{score}`"
        for score, part in parts.items()
        if abs(biases[score]) < abs(plain_bias(part)[0]) / 10
    ]
    verb = "has" if len(within) < 2 else "have"
    told, plain = (
        np.mean([abs(bias([one])[0]) for one in problems])
        for bias in (told_bias, plain_bias)
    )
    return (
        "Biases of single scores have both signs and partly cancel in the mean over "
        f"all problems: that of the estimate is {biases[most]:+.3f} for `{most}` (too "
        f"good) and {biases[least]:+.3f} for `{least}` (too bad). Without the signs, "
        f"the bias of a problem is {told:.2f} on average, against {plain:.2f} for "
        f"`GridSearchCV.best_score_`: {told / plain:.2f} times as much. Of the scores "
        f"alone, {' and '.join(within) or 'none'} {verb} less than a tenth of its bias."
    )


def write() -> None:
    """Put the table and the sentence on the page, between their marks."""
    problems = read(HELD_OUT)
    before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    told = *lines(problems), "", words(problems), "", words_by_score(problems)
    text = "\n".join(["", *told, ""])
    PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}", encoding="utf-8")


def main() -> None:
    """Print the table, and a row for each problem."""
    name = sys.argv[1] if len(sys.argv) > 1 else str(HELD_OUT)
    if name == "write":
        write()
        return
    problems = read(Path(name))
    print("\n".join(lines(problems)), "\n")
    print(words(problems), "\n")
    print(words_by_score(problems), "\n")
    for one in problems:
        told, best = (freed(part, one.controls) for part in (one.told, one.best))
        print(
            f"{one.name:<62} {one.covered.mean():.2f}  "
            f"told {np.mean(told):+.2f} (sd {one.told.std():.2f}, freed "
            f"{told.std():.2f})  best {np.mean(best):+.2f}"
        )


if __name__ == "__main__":
    main()
