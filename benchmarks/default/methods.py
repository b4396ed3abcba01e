"""The methods of the study; each gets the same configurations and returns its choice.

All that run through the race share work between configurations; halving and Optuna fit
one model at a time. Operations count every configuration for itself, whoever shared.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy.stats import chi2, rankdata, t
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - registers
from sklearn.metrics import get_scorer
from sklearn.model_selection import HalvingGridSearchCV, KFold, StratifiedKFold
from tasks import EXPONENTS, N_DRAWS, Task

from cvst.evaluation import batch_evaluator_for
from cvst.race import (
    CrossValidation,
    FoldRace,
    Look,
    LookLosses,
    Program,
    RaceState,
    Strategy,
    TrackAndConfirm,
    Verdict,
)
from cvst.search import RaceGridSearchCV, RaceRandomSearchCV

__all__ = ["METHODS", "Choice"]

# Scores of classes.
CLASS_SCORES = "accuracy", "neg_log_loss"

# Levels of irace and of Optuna's pruner, as documented by them.
FRIEDMAN_LEVEL, WILCOXON_LEVEL = 0.05, 0.1

# Folds of the Friedman race, and how many come before its first test, as in irace.
FRIEDMAN_FOLDS, FIRST_TEST = 10, 5


@dataclass(frozen=True)
class Choice:
    """What a method chose, and what it cost.

    Attributes
    ----------
    operations : float
        In fits on all training rows, without shared work.
    fits : int
        Fits that were made, with shared work.
    """

    params: dict[str, Any]
    operations: float
    fits: int


class FriedmanRace(CrossValidation):
    """A race in the manner of irace: Friedman's test, fold after fold.

    After five folds and each further one, configurations whose rank sum is
    significantly above the lowest are dropped, by Conover's test, if Friedman's test
    finds any difference.
    """

    def __init__(self, n_folds: int = FRIEDMAN_FOLDS) -> None:
        super().__init__(n_folds)

    def next_look(self, state: RaceState) -> Look:
        """Look at the next fold with those left."""
        train, test = state.problem.folds[self.n_folds][state.n_looks]
        left = np.flatnonzero(state.active)
        return Look(train, test, len(train), left, stage="folds", is_fold=True)

    def stop_reason(self, state: RaceState) -> str | None:
        """Stop when one is left, or after the last fold."""
        return "one is left" if state.active.sum() == 1 else super().stop_reason(state)

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Drop what is behind the best in rank sums over all folds."""
        before = state.mean_losses[look.configurations]
        table = np.column_stack([before, seen.mean_losses])
        worse = np.isnan(seen.mean_losses)
        if table.shape[1] >= FIRST_TEST:
            worse |= behind(np.where(np.isnan(table), np.inf, table))
        drops = dict.fromkeys(look.configurations[worse].tolist(), "Friedman race")
        return Verdict(~worse, np.full(len(worse), np.nan), drops)

    def ranking(self, state: RaceState) -> Any:
        """Order those left by the mean over folds."""
        left = np.flatnonzero(state.active)
        return left[np.argsort(state.mean_losses[left].mean(axis=1), kind="stable")]


def behind(losses: np.ndarray) -> np.ndarray:
    """Return who is behind the best by Conover's test after Friedman's.

    Rows are configurations and columns are folds, the blocks of the test.
    """
    k, n = losses.shape
    ranks = rankdata(losses, axis=0)
    sums, squares = ranks.sum(axis=1), np.sum(ranks**2)
    spread = squares - n * k * (k + 1) ** 2 / 4
    none = np.zeros(k, dtype=bool)
    if spread <= 0 or k < 2:
        return none
    statistic = (k - 1) * np.sum((sums - n * (k + 1) / 2) ** 2) / spread
    if chi2.sf(statistic, k - 1) > FRIEDMAN_LEVEL:
        return none
    left = 2 * (n * squares - np.sum(sums**2)) / ((n - 1) * (k - 1))
    quantile = t.ppf(1 - FRIEDMAN_LEVEL / 2, (n - 1) * (k - 1))
    return sums - sums.min() > quantile * sqrt(max(left, 0.0))


def _raced(strategy: Strategy) -> Callable[[Task, Any, int], Choice]:
    def run(task: Task, rows: Any, seed: int) -> Choice:
        X, y = rows
        model, space = task.model()
        common = {
            "strategy": strategy,
            "scoring": task.scoring,
            "refit": False,
            "random_state": seed,
            "n_jobs": 1,
        }
        if task.space == "random":
            search = RaceRandomSearchCV(model, space, n_iter=N_DRAWS, **common)
        else:
            search = RaceGridSearchCV(model, space, **common)
        search.fit(X, y)
        exponent = EXPONENTS[task.family]
        evaluator = batch_evaluator_for(model)
        params = search.cv_results_["params"]
        operations, fits = 0.0, 0
        for seen in search.race_.observations:
            there = {
                index: params[index] for index in seen.look.configurations.tolist()
            }
            operations += len(there) * (seen.look.n_train / len(y)) ** exponent
            fits += len(evaluator.groups(model, there))
        return Choice(search.best_params_, operations, fits)

    return run


def _halving(task: Task, rows: Any, seed: int) -> Choice:
    """Halve by thirds, from a ninth of the rows on, but no fewer than 30 a class."""
    X, y = rows
    model, _ = task.model()
    known = task.configurations(seed)
    n_classes = len(np.unique(y)) if task.scoring in CLASS_SCORES else 1
    smallest = min(len(y), max(len(y) // 9, 30 * n_classes, 100))
    search = HalvingGridSearchCV(
        model,
        [{name: [value] for name, value in one.items()} for one in known],
        min_resources=smallest,
        max_resources=len(y),
        factor=3,
        scoring=task.scoring,
        refit=False,
        cv=5,
        random_state=seed,
        error_score=np.nan,
    ).fit(X, y)
    exponent = EXPONENTS[task.family]
    stages = list(zip(search.n_candidates_, search.n_resources_, strict=True))
    operations = sum(5 * n * (0.8 * r / len(y)) ** exponent for n, r in stages)
    return Choice(search.best_params_, operations, 5 * sum(search.n_candidates_))


def _optuna(task: Task, rows: Any, seed: int) -> Choice:
    """TPE with the pruner for folds, as many trials as there are configurations."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    X, y = rows
    model, space = task.model()
    n_trials = len(task.configurations(seed))
    kind = StratifiedKFold if task.scoring in CLASS_SCORES else KFold
    folds = list(kind(5, shuffle=True, random_state=seed).split(X, y))
    rng = np.random.default_rng(seed)
    scorer = get_scorer(task.scoring)
    sampler = optuna.samplers.TPESampler(seed=seed)
    pruner = optuna.pruners.WilcoxonPruner(p_threshold=WILCOXON_LEVEL)
    study = optuna.create_study(sampler=sampler, pruner=pruner)
    n_fits, best, chosen = 0, np.inf, {}
    for _ in range(n_trials):
        trial = study.ask()
        params = {name: _suggested(trial, name, space[name]) for name in space}
        losses: list[float] = []
        for number in rng.permutation(len(folds)):
            train, test = folds[number]
            fitted = clone(model).set_params(**clone(params, safe=False))
            losses.append(-scorer(fitted.fit(X[train], y[train]), X[test], y[test]))
            n_fits += 1
            trial.report(losses[-1], int(number))
            if trial.should_prune():
                break
        mean = float(np.mean(losses))
        study.tell(trial, mean)
        # A trial that was cut short is worse than the best on all folds it saw.
        if len(losses) == len(folds) and mean < best:
            best, chosen = mean, params
    operations = n_fits * 0.8 ** EXPONENTS[task.family]
    return Choice(chosen, operations, n_fits)


def _suggested(trial: Any, name: str, values: Any) -> Any:
    if isinstance(values, list):
        numbers = all(isinstance(one, int | float) for one in values)
        if numbers and values == sorted(values):  # levels in order
            return values[trial.suggest_int(name, 0, len(values) - 1)]
        place = trial.suggest_categorical(name, list(range(len(values))))
        return values[place]
    low, high = (float(end) for end in values.support())
    if values.dist.name == "randint":
        return trial.suggest_int(name, int(low), int(high))
    return trial.suggest_float(name, low, high, log=values.dist.name == "loguniform")


# The reference first.
METHODS: dict[str, Callable[[Task, Any, int], Choice]] = {
    "full 5-fold": _raced(CrossValidation(5)),
    "track_and_confirm": _raced(TrackAndConfirm()),
    "raced 5-fold": _raced(Program([FoldRace(n_folds=5)])),
    "halving": _halving,
    "Optuna": _optuna,
    "Friedman race": _raced(FriedmanRace()),
}

warnings.simplefilter("ignore")
