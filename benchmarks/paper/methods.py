"""The searches that are compared, each as a function of a trial.

A search is timed without the final fit of its winner, in processor seconds of one
thread, so that other work on the machine counts as little as possible.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter, process_time
from typing import Any

import numpy as np
from grids import Grid, Learner, Shape, grid_for
from problems import Problem, Rows

# scikit-learn wants this import before it hands out its halving searches.
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - see above
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    StratifiedKFold,
)

from cvst import CVST, CrossValidation, RaceGridSearchCV
from cvst.race import TrackAndConfirm

__all__ = [
    "METHODS",
    "N_FOLDS",
    "ON_CARDS",
    "TIMED_BY_CVST",
    "Finding",
    "Trial",
    "quietly",
    "raced",
    "run_method",
    "searched",
]

N_FOLDS = 10
# Fewer configurations say too little about the time of a grid.
SMALLEST_SAMPLE = 3


@dataclass(frozen=True)
class Trial:
    """One problem in one repetition.

    Attributes
    ----------
    seconds : float
        Processor time that CVST took here, for the searches that may use as much.
    clock : callable
        Tells them the time.
    device : str
        A card for our searches; empty for none.
    """

    problem: Problem
    repetition: int
    shape: Shape = (61, 10)
    plain_share: float = 0.05
    seconds: float = np.inf
    clock: Callable[[], float] = process_time
    device: str = ""

    @cached_property
    def rows(self) -> Rows:
        """Rows to learn from and to test on."""
        return self.problem.rows(self.repetition)

    @property
    def grid(self) -> Grid:
        """The grid of the problem."""
        return grid_for(self.problem.data, self.problem.learner, self.shape)

    @property
    def learner(self) -> Learner:
        """The learner of the problem."""
        return self.grid.learner

    @property
    def seed(self) -> int:
        """Seeds the order of the rows, the folds and all draws, for every method."""
        return self.problem.seed(self.repetition) % 2**31

    def folds(self) -> Any:
        """Return ten random folds, with the classes in equal shares."""
        kind = StratifiedKFold if self.learner.task == "classification" else KFold
        return kind(N_FOLDS, shuffle=True, random_state=self.seed)

    def refitted_error(self, params: dict[str, Any]) -> float:
        """Fit a configuration on all rows, and return its error on the test rows."""
        model = self.learner.model(params).fit(self.rows.X_train, self.rows.y_train)
        return self.learner.error(model, self.rows.X_test, self.rows.y_test)


@dataclass
class Finding:
    """What a search found, and what it took.

    Attributes
    ----------
    params : dict or None
        The winner as it is on all training rows; None where nobody is chosen.
    n_looks : int
        Looks of a race, rounds of a halving search, configurations of the others.
    survivors : list of int
        Configurations left after each look.
    """

    params: dict[str, Any] | None = None
    seconds: float = np.nan
    wall_seconds: float = np.nan
    n_looks: int = 0
    stop_reason: str = ""
    survivors: list[int] = field(default_factory=list)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Measure what is inside."""
        wall, own = perf_counter(), process_time()
        yield
        self.wall_seconds, self.seconds = perf_counter() - wall, process_time() - own


Method = Callable[[Trial], Finding]


def race(strategy: Callable[[Learner], Any]) -> Method:
    """Race over the grid, with evaluators that share work between configurations."""

    def run(trial: Trial) -> Finding:
        levels = trial.grid.levels(len(trial.rows.y_train))
        by = strategy(trial.learner)
        cv = trial.folds() if isinstance(by, CrossValidation) else None
        search = raced(trial, trial.learner.model(), levels, by, cv)
        return searched(search, trial.rows.X_train, trial.rows.y_train)

    return run


def raced(
    trial: Trial, model: Any, levels: dict[str, list[float]], by: Any, cv: Any = None
) -> Any:
    return RaceGridSearchCV(
        model,
        levels,
        strategy=by,
        scoring=trial.learner.scoring,
        cv=cv,
        n_jobs=1,
        refit=False,
        random_state=trial.seed,
        device=trial.device or "cpu",
    )


def searched(search: Any, X: Any, y: Any) -> Finding:
    """Run one of our searches and say how it went."""
    finding = Finding()
    with finding.timed():
        search.fit(X, y)
    looks = search.race_.observations
    finding.params = dict(search.best_params_)
    finding.n_looks = search.n_looks_
    finding.stop_reason = search.stop_reason_
    finding.survivors = [
        len(set(seen.look.configurations.tolist()) - set(seen.drops)) for seen in looks
    ]
    return finding


def unpaired(learner: Learner) -> CVST:
    """Compare mean errors only: Wilson's test or that of Kruskal and Wallis."""
    is_class = learner.task == "classification"
    return CVST(similarity="wilson" if is_class else "kruskal_wallis")


def ten_percent(trial: Trial) -> Finding:
    """Cross-validate all configurations in ten folds of a tenth of the rows.

    The first rows are a random tenth, for their order is random. The winner's lambda,
    nu and C, in the sense of the R package, are then those of the model on all rows.
    """
    X, y = trial.rows.X_train, trial.rows.y_train
    n_all, n_tenth = len(y), len(y) // 10
    model = trial.learner.model(share=n_tenth / n_all)
    levels = trial.grid.levels(n_tenth)
    search = raced(trial, model, levels, CrossValidation(N_FOLDS))
    finding = searched(search, X[:n_tenth], y[:n_tenth])
    finding.params = trial.grid.moved(finding.params or {}, n_tenth, n_all)
    return finding


def random_search(trial: Trial, peek: bool = False) -> Finding:
    """Draw from the range of the grid until the time of CVST is over.

    The paper draws uniformly (the exponents of gamma and lambda, and nu), learns "a
    full-data model" each time and picks "the best model of the so far evaluated
    parameters"; on which rows they were evaluated it does not say. Here one model per
    draw learns from nine tenths of the training rows and is judged on the last tenth,
    which costs about one fit on all of them. With ``peek`` it learns from all of them
    and is judged on the test rows: what the words say if taken literally, and no fair
    comparison.

    The time is that of our CVST, whose evaluators share work between configurations
    as single draws cannot: there are fewer draws than the paper had.
    """
    X, y, X_test, y_test = trial.rows
    n_train = len(y) if peek else len(y) - len(y) // 10
    if not peek:
        X, y, X_test, y_test = X[:n_train], y[:n_train], X[n_train:], y[n_train:]
    rng = np.random.default_rng(trial.seed)
    finding = Finding(stop_reason="time")
    best = np.inf
    with finding.timed():
        start = trial.clock()
        while finding.params is None or trial.clock() - start < trial.seconds:
            params = trial.grid.draw(rng, len(trial.rows.y_train))
            error = one_error(trial, params, X, y, X_test, y_test)
            finding.n_looks += 1
            if error < best or finding.params is None:
                best, finding.params = error, params
    return finding


def one_error(
    trial: Trial, params: dict[str, Any], X: Any, y: Any, X_test: Any, y_test: Any
) -> float:
    """Fit on some rows and return the error on others; infinite if it cannot."""
    try:
        model = trial.learner.model(params).fit(X, y)
    except (ValueError, np.linalg.LinAlgError):
        # A nu that the classes do not allow, or a singular kernel.
        return float("inf")
    return trial.learner.error(model, X_test, y_test)


def optuna_search(trial: Trial) -> Finding:
    """Let Optuna's TPE choose until the time of CVST is over.

    Ten folds per configuration, in each of which Optuna's Wilcoxon pruner may give it
    up; as its manual says, one given up reports its mean so far. The last one is cut
    when the time is over, once there is one with all folds.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    X, y = trial.rows.X_train, trial.rows.y_train
    grid = trial.grid
    complete: dict[int, float] = {}
    finding = Finding(stop_reason="time")
    start = trial.clock()

    def is_over() -> bool:
        return bool(complete) and trial.clock() - start >= trial.seconds

    def objective(suggest: Any) -> float:
        params = grid.at(
            suggest.suggest_float("log_gamma", *grid.width_range),
            suggest.suggest_float("penalty", *grid.penalty_range),
            len(y),
        )
        suggest.set_user_attr("params", params)
        errors: list[float] = []
        for fold, (train, test) in enumerate(folds):
            error = one_error(trial, params, X[train], y[train], X[test], y[test])
            # TPE learns nothing from infinity; this is worse than any constant.
            errors.append(error if np.isfinite(error) else 1e6)
            suggest.report(errors[-1], fold)
            if fold < len(folds) - 1 and (is_over() or suggest.should_prune()):
                return float(np.mean(errors))
        complete[suggest.number] = float(np.mean(errors))
        return complete[suggest.number]

    with warnings.catch_warnings(), finding.timed():
        warnings.simplefilter("ignore")
        folds = list(trial.folds().split(X, y))
        study = optuna.create_study(
            sampler=optuna.samplers.TPESampler(seed=trial.seed),
            pruner=optuna.pruners.WilcoxonPruner(),
        )
        while not is_over():
            study.optimize(objective, n_trials=1)
        best = min(complete, key=complete.__getitem__)
        finding.params = study.trials[best].user_attrs["params"]
    finding.n_looks = len(study.trials)
    return finding


def halving(trial: Trial) -> Finding:
    """Run scikit-learn's successive halving over the grid, as it comes."""
    search = HalvingGridSearchCV(
        trial.learner.model(),
        trial.grid.levels(len(trial.rows.y_train)),
        scoring=trial.learner.scoring,
        refit=False,
        random_state=trial.seed,
        n_jobs=1,
    )
    finding = Finding()
    with finding.timed():
        search.fit(trial.rows.X_train, trial.rows.y_train)
    finding.params = dict(search.best_params_)
    finding.n_looks = len(search.n_candidates_)
    finding.survivors = [int(n) for n in search.n_candidates_]
    return finding


def plain_grid(trial: Trial) -> Finding:
    """Time scikit-learn's GridSearchCV on a part of the grid, scaled up to all."""
    part = sampled(trial)
    search = GridSearchCV(
        trial.learner.model(),
        [{name: [value] for name, value in params.items()} for params in part],
        scoring=trial.learner.scoring,
        cv=trial.folds(),
        n_jobs=1,
        refit=False,
    )
    finding = Finding(n_looks=len(part), stop_reason="scaled")
    with finding.timed():
        search.fit(trial.rows.X_train, trial.rows.y_train)
    factor = len(trial.grid) / len(part)
    finding.seconds *= factor
    finding.wall_seconds *= factor
    return finding


def sampled(trial: Trial) -> list[dict[str, float]]:
    """Return a random part of the grid that has all levels in equal shares."""
    rng = np.random.default_rng(trial.seed)
    grid = trial.grid
    n = min(len(grid), max(SMALLEST_SAMPLE, round(trial.plain_share * len(grid))))
    columns = []
    for levels in (grid.log_gammas, grid.penalties):
        places = ((np.arange(n) + rng.random()) / n * len(levels)).astype(int)
        columns.append([levels[place] for place in rng.permutation(places)])
    n_rows = len(trial.rows.y_train)
    widths, penalties = columns
    pairs = zip(widths, penalties, strict=True)
    return [grid.at(width, penalty, n_rows) for width, penalty in pairs]


METHODS: dict[str, Method] = {
    "cvst": race(lambda _: CVST()),
    "cv": race(lambda _: CrossValidation(N_FOLDS)),
    "ten_percent": ten_percent,
    "unpaired": race(unpaired),
    "outliers": race(lambda _: CVST(similarity="outliers")),
    "random": random_search,
    "random_on_test": lambda trial: random_search(trial, peek=True),
    "plain_grid": plain_grid,
    "closed": race(lambda _: CVST(elimination="closed")),
    "shuffled": race(lambda _: CVST(shuffle_each_step=True)),
    "twenty_steps": race(lambda _: CVST(max_steps=20)),
    "quick_losers": race(lambda _: CVST(loser_level=0.3)),
    "sure_differences": race(lambda _: CVST(similarity_level=0.01)),
    "track_and_confirm": race(lambda _: TrackAndConfirm()),
    "optuna": optuna_search,
    "halving": halving,
}
# Searches that take as long as CVST did.
TIMED_BY_CVST = ("random", "random_on_test", "optuna")
# Our own searches; the others have no card, or take as long as a race did without one.
ON_CARDS = tuple(
    name for name in METHODS if name not in (*TIMED_BY_CVST, "plain_grid", "halving")
)


def run_method(name: str, trial: Trial) -> tuple[Finding, float]:
    """Run a search; return what it found and its error, NaN if nobody is chosen."""
    with quietly():
        finding = METHODS[name](trial)
        if finding.params is None:
            return finding, float("nan")
        return finding, trial.refitted_error(finding.params)


@contextmanager
def quietly() -> Iterator[None]:
    """Ignore warnings: some fits of every such grid fail or do not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
