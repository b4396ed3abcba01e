"""What can be reproduced: each table and figure, with the searches that it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from problems import BENCHMARKS, TOYS, Problem
from profiles import Profile

__all__ = ["ITEMS", "Fit", "Item", "fits"]

PAIRS = {"classification": ("KLR", "SVM"), "regression": ("KRR", "SVR")}
SETTINGS = {
    "noisy_sine": [(d, noise) for noise in (0.25, 0.5) for d in (5, 50, 100)],
    "noisy_sinc": [(d, noise) for noise in (0.1, 0.2) for d in (2, 3, 4)],
}
MORE_ROWS = (2000, 5000)


@dataclass(frozen=True)
class Fit:
    """A problem, the searches wanted on it and how often."""

    problem: Problem
    methods: tuple[str, ...]
    repetitions: int


@dataclass(frozen=True)
class Item:
    """A table or figure.

    Attributes
    ----------
    title : str
        What it shows.
    fits : callable or None
        Called with a profile, yields the searches that it needs.
    has_curves : bool
        Whether it needs a small experiment that is not a search.
    has_figure : bool
        Whether it is drawn.
    """

    title: str
    fits: Callable[[Profile], Iterator[Fit]] | None = None
    has_curves: bool = False
    has_figure: bool = True


def benchmark(*methods: str, task: str | None = None) -> Callable[..., Iterator[Fit]]:
    """Return all benchmark problems, or those of one task, with some methods."""

    def of(profile: Profile) -> Iterator[Fit]:
        for name, source in BENCHMARKS.items():
            if task not in (None, source.task):
                continue
            if profile.data and name not in profile.data:
                continue
            for learner in PAIRS[source.task]:
                rows, repetitions = profile.size_of(source.n_train_here, learner)
                problem = Problem(
                    name,
                    learner,
                    rows,
                    n_test=profile.n_test,
                    generated=profile.generated and source.make is not None,
                )
                yield Fit(problem, methods, repetitions)

    return of


def toy(
    *methods: str, data: tuple[str, ...] = tuple(TOYS)
) -> Callable[..., Iterator[Fit]]:
    """Return the artificial problems with some methods."""

    def of(profile: Profile) -> Iterator[Fit]:
        for name in data:
            for learner in PAIRS[TOYS[name][0]]:
                for d, noise in SETTINGS[name][: profile.settings]:
                    problem = Problem(
                        name, learner, profile.toy_rows, d, noise, profile.n_test
                    )
                    repetitions = profile.toy_repetitions or profile.repetitions
                    yield Fit(problem, methods, repetitions)

    return of


def more_data(profile: Profile) -> Iterator[Fit]:
    """Yield the artificial problems with more rows; as in the paper, SVM and SVR."""
    for usual in toy("cvst", "cv")(profile):
        if usual.problem.learner not in ("SVM", "SVR"):
            continue
        yield usual
        sizes = zip(profile.more_rows, MORE_ROWS, profile.more_repetitions, strict=True)
        for rows, paper, repetitions in sizes:
            problem = Problem(
                usual.problem.data,
                usual.problem.learner,
                rows,
                usual.problem.d,
                usual.problem.noise,
                profile.n_test,
                toy_rows_paper=paper,
            )
            yield Fit(problem, usual.methods, repetitions)


def together(*parts: Callable[..., Iterator[Fit]]) -> Callable[..., Iterator[Fit]]:
    def of(profile: Profile) -> Iterator[Fit]:
        for part in parts:
            yield from part(profile)

    return of


def limited(
    repetitions: int, *parts: Callable[..., Iterator[Fit]]
) -> Callable[..., Iterator[Fit]]:
    """Return the searches of some parts with at most that many repetitions."""

    def of(profile: Profile) -> Iterator[Fit]:
        for fit in together(*parts)(profile):
            yield replace(fit, repetitions=min(fit.repetitions, repetitions))

    return of


TABLE1 = benchmark("cvst", "cv", "plain_grid")
UNPAIRED = benchmark("cvst", "unpaired")
TEN_PERCENT = benchmark("cvst", "ten_percent")
RANDOM = benchmark("cvst", "random", "random_on_test")
REGRESSION_VARIANT = ("cvst", "cv", "outliers")
OPTIONS = ("cvst", "shuffled", "twenty_steps", "quick_losers", "sure_differences")
OPTION_REPETITIONS = 15

ITEMS = {
    "table1": Item(
        "Table 1: CVST against ten-fold cross-validation on the benchmark sets",
        TABLE1,
        has_figure=False,
    ),
    "table2-unpaired": Item(
        "Table 2, upper part: against CVST with unpaired tests",
        UNPAIRED,
        has_figure=False,
    ),
    "table2-ten-percent": Item(
        "Table 2, middle part: against cross-validation on a tenth of the rows",
        TEN_PERCENT,
        has_figure=False,
    ),
    "table2-random": Item(
        "Table 2, lower part: against random search in the same time",
        RANDOM,
        has_figure=False,
    ),
    "width-curves": Item("Error over kernel width for growing n", has_curves=True),
    "trace-matrix": Item("One race: top and flop of all", has_curves=True),
    "example-data": Item("The two artificial data sets", has_curves=True),
    "noisy-sine": Item(
        "Noisy sine: differences and speed gains",
        toy("cvst", "cv", data=("noisy_sine",)),
    ),
    "noisy-sinc": Item(
        "Noisy sinc: differences and speed gains",
        toy("cvst", "cv", data=("noisy_sinc",)),
    ),
    "remaining": Item(
        "Remaining configurations after each step, all data",
        together(toy("cvst"), benchmark("cvst")),
    ),
    "more-data": Item("Differences with 2,000 and 5,000 rows", more_data),
    "benchmark": Item(
        "Benchmark sets: ratios and speed gains", benchmark("cvst", "cv")
    ),
    "competitors": Item(
        "Distributions of the ratios of Table 2",
        together(UNPAIRED, TEN_PERCENT, RANDOM),
    ),
    "outliers-toy": Item(
        "Outlier variant on noisy sinc",
        toy(*REGRESSION_VARIANT, data=("noisy_sinc",)),
    ),
    "outliers-benchmark": Item(
        "Outlier variant on the regression sets",
        benchmark(*REGRESSION_VARIANT, task="regression"),
    ),
    "false-negatives": Item(
        "False negatives of the open and the closed test", has_curves=True
    ),
    "error-bound": Item("Bound on the error of dropping a winner", has_curves=True),
    "speed-simulation": Item("Simulated speed gain", has_curves=True),
    "example-run": Item("The example run of Appendix B", has_curves=True),
    "today": Item(
        "Not in the paper: halving search, and Optuna in the same time",
        benchmark("cvst", "halving", "optuna"),
        has_figure=False,
    ),
    "variants": Item(
        "Not in the paper's tables: the closed test, and Track and confirm",
        benchmark("cvst", "cv", "closed", "track_and_confirm"),
        has_figure=False,
    ),
    "options": Item(
        "Of the text: a new shuffle in each step, twenty steps, other levels",
        limited(
            OPTION_REPETITIONS,
            toy(*OPTIONS, data=("noisy_sinc",)),
            benchmark(*OPTIONS, task="regression"),
        ),
        has_figure=False,
    ),
}


def fits(names: list[str], profile: Profile) -> list[Fit]:
    """Return the searches of some items, each problem once.

    Raises
    ------
    KeyError
        If there is no such item.
    """
    merged: dict[Problem, Fit] = {}
    for name in names:
        for fit in item_fits(name, profile):
            known = merged.get(fit.problem)
            methods = tuple(
                dict.fromkeys([*(known.methods if known else ()), *fit.methods])
            )
            repetitions = max(fit.repetitions, known.repetitions if known else 0)
            merged[fit.problem] = Fit(fit.problem, methods, repetitions)
    return list(merged.values())


def item_fits(name: str, profile: Profile) -> Iterator[Fit]:
    """Yield the searches of one item, none if it needs none."""
    of = ITEMS[name].fits
    return of(profile) if of is not None else iter(())
