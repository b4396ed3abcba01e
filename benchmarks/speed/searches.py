"""The searches that the speed tables compare, each as one function of a trial.

A search times itself in processor seconds: other work on the machine does not count,
and with one thread they are what the wall clock shows on a machine of one's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import Any

import numpy as np
import optuna
from sklearn.base import clone

# scikit-learn wants this import before it hands out its halving searches.
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - see above
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    ParameterGrid,
    cross_val_score,
)
from tasks import ACCURACY, N_TEST, Task

from cvst import CrossValidation, RaceGridSearchCV, batch_evaluator_for
from cvst.evaluation import OneByOne
from cvst.evaluation.machinery import configured

__all__ = ["METHODS", "Method", "Result", "Trial"]

# Fewer configurations say too little about the time of a grid.
SMALLEST_SAMPLE = 12


@dataclass(frozen=True)
class Trial:
    """One search on one draw of the data of a task.

    Attributes
    ----------
    repetition : int
        Seeds the data and the search.
    fraction : float
        Share of the grid from which times are scaled up.
    seconds : float
        Our own time, for the searches that may use as much.
    """

    task: Task
    repetition: int
    fraction: float = 0.05
    seconds: float = np.inf

    def rows(self) -> tuple[Any, Any, Any, Any]:
        """Return training rows and targets, then fresh ones."""
        n = self.task.n_samples
        X, y = self.task.draw(n + N_TEST, self.repetition)
        return X[:n], y[:n], X[n:], y[n:]

    @property
    def grid(self) -> dict[str, Any]:
        """The grid, with its values as lists."""
        values = self.task.grid(self.task.n_samples)
        return {name: list(levels) for name, levels in values.items()}

    def sample(self) -> list[dict[str, Any]]:
        """Return a random part of the grid that has all levels in equal shares."""
        rng = np.random.default_rng(self.repetition)
        n_all = len(ParameterGrid(self.grid))
        size = min(n_all, max(SMALLEST_SAMPLE, round(self.fraction * n_all)))
        columns = {}
        for name, levels in self.grid.items():
            places = (np.arange(size) + rng.random()) / size * len(levels)
            columns[name] = [levels[int(place)] for place in rng.permutation(places)]
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]


@dataclass
class Result:
    """What a search took, and what it found."""

    model: Any = None
    params: dict[str, Any] = field(default_factory=dict)
    seconds: float = np.nan
    wall_seconds: float = np.nan
    note: str = ""

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Measure what is inside."""
        wall, own = perf_counter(), process_time()
        yield
        self.wall_seconds, self.seconds = perf_counter() - wall, process_time() - own


Method = Callable[[Trial, Any, Any], Result]


def one_fit(trial: Trial, X: Any, y: Any) -> Result:
    """Fit the sample of the grid on all rows: the mean time of one full fit."""
    models = [configured(trial.task.estimator, params) for params in trial.sample()]
    result = Result(note=f"mean of {len(models)} fits")
    with result.timed():
        for model in models:
            model.fit(X, y)
    result.seconds /= len(models)
    result.wall_seconds /= len(models)
    return result


def scaled_grid_search(cv: int) -> Method:
    """Search the sample of the grid, and scale the time up to all of it."""

    def run(trial: Trial, X: Any, y: Any) -> Result:
        sample = trial.sample()
        search = GridSearchCV(
            trial.task.estimator,
            [{name: [value] for name, value in params.items()} for params in sample],
            scoring=trial.task.scoring,
            cv=cv,
            n_jobs=1,
            refit=False,
        )
        result = Result(note=f"scaled up from {len(sample)} configurations")
        with result.timed():
            search.fit(X, y)
        factor = len(ParameterGrid(trial.grid)) / len(sample)
        result.seconds *= factor
        result.wall_seconds *= factor
        return result

    return run


def full_grid(cv: int) -> Method:
    """Find the winner of GridSearchCV on the full grid, by evaluators that share."""

    def run(trial: Trial, X: Any, y: Any) -> Result:
        return fitted(
            RaceGridSearchCV(
                trial.task.estimator,
                trial.grid,
                strategy=CrossValidation(cv),
                cv=cv,
                scoring=trial.task.scoring,
                n_jobs=1,
                random_state=trial.repetition,
            ),
            X,
            y,
        )

    return run


def halving(min_resources: Callable[[int], Any]) -> Method:
    """Run scikit-learn's successive halving over the grid."""

    def run(trial: Trial, X: Any, y: Any) -> Result:
        return fitted(
            HalvingGridSearchCV(
                trial.task.estimator,
                trial.grid,
                scoring=trial.task.scoring,
                min_resources=min_resources(len(X)),
                random_state=trial.repetition,
                n_jobs=1,
            ),
            X,
            y,
        )

    return run


def random_search(trial: Trial, X: Any, y: Any) -> Result:
    """Draw configurations, as RandomizedSearchCV does, until our time is over."""
    configurations = list(ParameterGrid(trial.grid))
    rng = np.random.default_rng(trial.repetition)
    order = rng.permutation(len(configurations)).tolist()
    scores: dict[int, float] = {}
    result = Result()
    with result.timed():
        start = process_time()
        while order and (not scores or process_time() - start < trial.seconds):
            index = order.pop()
            scores[index] = folds_score(trial, configurations[index], X, y)
        best = max(scores, key=lambda index: np.nan_to_num(scores[index], nan=-np.inf))
        result.params = configurations[best]
        result.model = configured(trial.task.estimator, result.params).fit(X, y)
    result.note = f"{len(scores)} configurations"
    return result


def tpe_search(trial: Trial, X: Any, y: Any) -> Result:
    """Let Optuna choose from the same grid until our time is over."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=trial.repetition)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    seen: dict[tuple[Any, ...], float] = {}

    def objective(suggest: optuna.Trial) -> float:
        params = {name: level(suggest, name, v) for name, v in trial.grid.items()}
        key = tuple(params.values())
        # A configuration proposed again costs nothing, as a careful user would have it.
        if key not in seen:
            seen[key] = folds_score(trial, params, X, y)
        suggest.set_user_attr("params", params)
        return seen[key]

    result = Result()
    with result.timed():
        start = process_time()

        def stop(study: optuna.Study, _: Any) -> None:
            if process_time() - start > trial.seconds:
                study.stop()

        study.optimize(objective, callbacks=[stop])
        finished = [t for t in study.trials if t.value is not None]
        best = max(finished, key=lambda t: t.value, default=study.trials[0])
        result.params = best.user_attrs["params"]
        result.model = configured(trial.task.estimator, result.params).fit(X, y)
    result.note = f"{len(seen)} configurations"
    return result


def level(trial: optuna.Trial, name: str, values: Sequence[Any]) -> Any:
    """Let Optuna choose a level; numbers keep their order."""
    if any(isinstance(value, str) or value is None for value in values):
        return values[trial.suggest_categorical(name, list(range(len(values))))]
    return values[trial.suggest_int(name, 0, len(values) - 1)]


def folds_score(trial: Trial, params: dict[str, Any], X: Any, y: Any) -> float:
    """Return the mean score of ten folds."""
    model = configured(trial.task.estimator, params)
    scoring = trial.task.scoring
    return float(cross_val_score(model, X, y, scoring=scoring, cv=10, n_jobs=1).mean())


def own_cv(trial: Trial, X: Any, y: Any) -> Result:
    """Run scikit-learn's estimator that searches its own penalty."""
    if trial.task.own_cv is None:
        raise LookupError("scikit-learn has no such estimator for this task")
    result = Result(model=trial.task.own_cv(trial.grid))
    with result.timed():
        result.model.fit(X, y)
    result.params = {"alpha": result.model.alpha_}
    return result


def race(strategy: str, share: bool) -> Method:
    """Run our search, with evaluators that share work or one fit at a time."""

    def run(trial: Trial, X: Any, y: Any) -> Result:
        search = RaceGridSearchCV(
            trial.task.estimator,
            trial.grid,
            strategy=strategy,
            scoring=trial.task.scoring,
            n_jobs=1,
            random_state=trial.repetition,
        )
        if share:
            return fitted(search, X, y)
        with one_by_one(trial.task.estimator):
            return fitted(search, X, y)

    return run


@contextmanager
def one_by_one(estimator: Any) -> Iterator[None]:
    """Give an estimator no evaluator of its own for a while."""
    estimator_class = type(estimator)
    usual = batch_evaluator_for.dispatch(estimator_class)
    batch_evaluator_for.register(estimator_class, lambda _: OneByOne())
    try:
        yield
    finally:
        batch_evaluator_for.register(estimator_class, usual)


def fitted(search: Any, X: Any, y: Any) -> Result:
    """Fit a search and take what it found."""
    search = clone(search)
    result = Result(model=search)
    with result.timed():
        search.fit(X, y)
    result.params = dict(search.best_params_)
    if isinstance(search, RaceGridSearchCV):
        result.note = f"{search.n_looks_} looks, {search.stop_reason_}"
    return result


def winner_error(task: Task, model: Any, X: Any, y: Any) -> float:
    """Return the share of wrong classes, or the mean loss."""
    score = float(get_scorer(task.scoring)(model, X, y))
    return 1 - score if task.scoring == ACCURACY else -score


METHODS: dict[str, Method] = {
    "one full fit": one_fit,
    "cvst": race("cvst", share=True),
    "track_and_confirm": race("track_and_confirm", share=True),
    "GridSearchCV cv=10": scaled_grid_search(10),
    "HalvingGridSearchCV": halving(lambda _: "exhaust"),
    "RandomizedSearchCV": random_search,
    "Optuna TPE": tpe_search,
    "cvst, no sharing": race("cvst", share=False),
    "GridSearchCV cv=5": scaled_grid_search(5),
    "HalvingGridSearchCV N//10": halving(lambda n: n // 10),
    "own CV": own_cv,
    "full cv=10": full_grid(10),
    "full cv=5": full_grid(5),
}
