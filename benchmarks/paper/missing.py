"""Runs that are still missing, the most telling first, with what each part costs.

    python benchmarks/paper/missing.py
    python benchmarks/paper/missing.py --run --jobs 16 --seconds 500 \
        --machine sixteen-cores --output more

Which runs, and how many repetitions of each, was fixed before the first of them, but
for the speeds: three repetitions left seven rows open, so all rows have five. Parts
that go beyond the items (more repetitions, other problems) came later, when the rows
were known that they may decide. What is found belongs into the usual ``runs.csv``:
copy the lines there. Runs in ``--output`` and in the stored file are not run again,
whatever machine they are from; only speeds are those of one machine.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from statistics import median

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
if __name__ == "__main__":
    # One thread per process; this must be known before NumPy is loaded.
    os.environ.update(dict.fromkeys(THREADS, "1"))

from items import MORE_ROWS, OPTIONS, Fit, fits  # noqa: E402 - see above
from methods import TIMED_BY_CVST  # noqa: E402 - see above
from profiles import PROFILES  # noqa: E402 - see above
from runner import Place, Task, plan, run  # noqa: E402 - see above
from store import Key, Run, Store  # noqa: E402 - see above
from summary import (  # noqa: E402 - see above
    OTHERS,
    UNDECIDED,
    load_published,
    load_runs,
    table_rows,
)

STORED = Path(__file__).parents[1] / "results" / "paper" / "runs.csv"
PROFILE = PROFILES["laptop"]
# With twice the rows, ten folds of a kernel machine take about six times as long.
GROWTH = 2.5
# Races with the outlier variant take about twice as long as usual ones.
OUTLIERS_OVER_CVST = 2.0
GUESS = 30.0


@dataclass(frozen=True)
class Part:
    """Cells of the tables that are run together.

    Attributes
    ----------
    why : str
        What they decide.
    items : tuple of str
        Where they belong.
    methods : tuple of str
        The searches.
    repetitions : int
        At most so many of each.
    wanted : callable
        Whether a problem takes part.
    of_speeds : bool
        Whether seconds are compared, so that runs of other machines do not count.
    beyond : bool
        Whether more is asked for than the items have: these searches and as many
        repetitions on each of their problems.
    """

    why: str
    items: tuple[str, ...]
    methods: tuple[str, ...]
    repetitions: int
    wanted: Callable[[Fit], bool] = lambda _: True
    of_speeds: bool = False
    beyond: bool = False

    def fits(self) -> list[Fit]:
        """Return the problems with these searches alone."""
        chosen = [fit for fit in fits(list(self.items), PROFILE) if self.wanted(fit)]
        if self.beyond:
            chosen = [
                Fit(one.problem, self.methods, self.repetitions) for one in chosen
            ]
        return [
            replace(
                fit,
                methods=tuple(m for m in fit.methods if m in self.methods),
                repetitions=min(fit.repetitions, self.repetitions),
            )
            for fit in chosen
        ]


def is_klr(fit: Fit) -> bool:
    """Return whether it is kernel logistic regression."""
    return fit.problem.learner == "KLR"


def is_classification(fit: Fit) -> bool:
    """Return whether labels are predicted."""
    return fit.problem.task == "classification"


def has_more_rows(fit: Fit) -> bool:
    """Return whether it is an artificial set with 2,000 or 5,000 rows."""
    return fit.problem.n_train in MORE_ROWS


@cache
def undecided(part: str) -> set[tuple[str, str]]:
    """Return data and learner of the rows of a table that the runs leave open."""
    rows = table_rows(load_runs(STORED.parent, PROFILE.name), load_published(), part)
    return {(row.data, row.learner) for row in rows if row.verdict == UNDECIDED}


def is_undecided(part: str, fit: Fit) -> bool:
    """Return whether the row of a problem is one of them."""
    return (fit.problem.data, fit.problem.learner) in undecided(part)


# The item of each part of the tables.
TABLES = {
    "cross-validation": "table1",
    "unpaired": "table2-unpaired",
    "ten-percent": "table2-ten-percent",
    "random": "table2-random",
}

PARTS = {
    "outliers": Part(
        "three sentences on the outlier variant (15 repetitions; some had 1)",
        ("outliers-toy", "outliers-benchmark"),
        ("cvst", "outliers"),
        15,
    ),
    "speeds": Part(
        "speeds of Table 1 by today's solvers, on one day, without a card",
        ("table1",),
        ("cvst", "cv"),
        5,
        of_speeds=True,
    ),
    "plain-speeds": Part(
        "a plain grid and the default at the rows of today, on the same day",
        ("table1", "variants"),
        ("cvst", "plain_grid", "track_and_confirm"),
        3,
        of_speeds=True,
    ),
    "closed": Part(
        "the closed test on the benchmark sets (most had 1 repetition)",
        ("variants",),
        ("cvst", "closed"),
        15,
    ),
    "noisy-sine-speeds": Part(
        "the speed of kernel logistic regression on noisy sine (on the same day)",
        ("noisy-sine",),
        ("cvst", "cv"),
        5,
        is_klr,
        of_speeds=True,
    ),
    "today": Part(
        "halving search, and Optuna in the time of the race (half of the rows had 1 "
        "repetition, by old solvers, the others none)",
        ("today",),
        ("cvst", "halving", "optuna"),
        3,
    ),
    "literal": Part(
        "random search judged on the test rows (1 to 8 repetitions, by old solvers)",
        ("table2-random",),
        ("cvst", "random_on_test"),
        3,
    ),
    "more-data": Part(
        "2,000 and 5,000 rows with 15 repetitions (3 and 1 were planned)",
        ("more-data",),
        ("cvst", "cv"),
        15,
        has_more_rows,
        beyond=True,
    ),
    **{
        f"undecided-{part}": Part(
            f"rows that are undecided ({item}), with up to 50 repetitions",
            (item,),
            ("cvst", OTHERS[part]),
            50,
            partial(is_undecided, part),
            beyond=True,
        )
        for part, item in TABLES.items()
    },
    "options": Part(
        "options of the text on the classification sets (planned for regression alone)",
        ("table1",),
        OPTIONS,
        15,
        is_classification,
        beyond=True,
    ),
}


class Costs:
    """What searches took, and a guess for those that were not run."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._seen: dict[tuple[str, ...], list[tuple[int, float]]] = {}
        for one in runs:
            if one.device or not one.seconds:
                continue
            spent = float(one.seconds)
            if one.method == "plain_grid":
                spent *= int(one.n_looks) / int(one.n_configurations)
            # Other machines are slower, or were busy.
            spent /= 1.0 if one.machine == "sixteen-cores" else 1.4
            key = (one.data, one.learner, one.method)
            self._seen.setdefault(key, []).append((int(one.n_train), spent))

    def __call__(self, task: Task) -> float:
        """Return the processor seconds of a task of one search."""
        (method,) = task.methods
        found = self._at(task, method)
        if found is None and method == "outliers":
            found = OUTLIERS_OVER_CVST * (self._at(task, "cvst") or GUESS)
        if found is None:
            found = self._at(task, "cvst")
        return GUESS if found is None else found

    def _at(self, task: Task, method: str) -> float | None:
        problem = task.problem
        seen = self._seen.get((problem.data, problem.learner, method))
        if not seen:
            return None
        rows = problem.n_train
        return median(seconds * (rows / n) ** GROWTH for n, seconds in seen)


def tasks_of(name: str, known: Iterable[Key], place: Place, costs: Costs) -> list[Task]:
    """Return what is left of a part: a repetition at a time, its longest first."""
    known = set(known)
    done = known if PARTS[name].of_speeds else known | anywhere(known, place)
    planned = plan(PARTS[name].fits(), PROFILE, done, place)
    single = [
        task.only((method,)) for task in planned for method in needed(task, known)
    ]
    # Races come first: others take their time.
    return sorted(
        single,
        key=lambda task: (task.repetition, task.methods != ("cvst",), -costs(task)),
    )


def anywhere(known: Iterable[Key], place: Place) -> set[Key]:
    """Return searches that ran on any machine as if they had run at a place."""
    return {(*key[:-2], place.machine, place.device) for key in known}


def needed(task: Task, known: set[Key]) -> tuple[str, ...]:
    """Return the searches of a task, and the race if one takes its seconds here."""
    timed_by = set(task.methods) & set(TIMED_BY_CVST)
    if timed_by and task.key("cvst") not in known:
        return tuple(dict.fromkeys(("cvst", *task.methods)))
    return task.methods


def left(
    names: Sequence[str], known: dict[Key, Run], place: Place, costs: Costs
) -> dict[str, list[Task]]:
    """Return what is left of some parts, each search in the first that has it."""
    taken = set(known)
    found = {}
    for name in names:
        found[name] = tasks_of(name, taken, place, costs)
        taken |= {task.key(task.methods[0]) for task in found[name]}
    return found


def timed(task: Task, known: dict[Key, Run]) -> Task:
    """Return a task of one search with the seconds of the race that it may take."""
    race = known.get(task.key("cvst"))
    return task if race is None else replace(task, seconds=float(race.seconds))


def main() -> int:
    """List what is missing, or run it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--run", action="store_true", help="run, instead of a list")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, help="begin no search later than this")
    parser.add_argument("--machine", default="sixteen-cores")
    parser.add_argument("--output", type=Path, default=Path("more"))
    options = parser.parse_args()
    store = Store(options.output / "runs.csv")
    stored = Store(STORED).runs()
    known = stored | store.runs()
    costs = Costs(stored.values())
    missing = left(options.parts, known, Place(options.machine), costs)
    for name, tasks in missing.items():
        seconds = sum(map(costs, tasks))
        longest = max(map(costs, tasks), default=0.0)
        print(
            f"{name:<26} {len(tasks):>5} searches, {seconds:>7,.0f} processor seconds, "
            f"the longest {longest:.0f}: {PARTS[name].why}"
        )
    total = sum(costs(task) for tasks in missing.values() for task in tasks)
    n_all = sum(map(len, missing.values()))
    print(f"{'all':<26} {n_all:>5} searches, {total:>7,.0f} processor seconds")
    if not options.run:
        return 0
    options.output.mkdir(parents=True, exist_ok=True)
    everything = [timed(task, known) for tasks in missing.values() for task in tasks]
    failures = run(everything, store, options.jobs, options.seconds)
    for failure in dict.fromkeys(failures):
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
