"""What ``cvst demo`` does: race 610 configurations, then check the winner."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ParameterGrid

from cvst import RaceGridSearchCV
from cvst._searched import FittedSearch
from cvst._text import about_seconds, about_times, seconds_text
from cvst._typing import Configuration, FloatArray
from cvst.cli.results import looks_table, plain, race_looks, stop_sentence
from cvst.cli.terminal import RaceView, live_view, shown_parameters
from cvst.datasets import make_noisy_sinc
from cvst.displays import TimeConsumptionDisplay
from cvst.evaluation import Task, batch_evaluator_for
from cvst.parallel import effective_n_jobs, in_chunks, one_blas_thread, run_chunks

__all__ = ["run_demo"]

HEADING = (
    "{n_configurations} configurations of kernel ridge regression race on noisy sinc, "
    "{n_rows:,} rows."
)

N_ROWS = 1000
GAMMAS = np.logspace(-3, 3, 61).tolist()
LAMBDAS = np.logspace(-7, 2, 10)
N_CONFIGURATIONS = len(GAMMAS) * len(LAMBDAS)
N_FRESH = 2_000
SCORE = "neg_mean_squared_error"

# All configurations are tested on this many fresh points. One that is this many
# standard errors behind the winner there can be neither the best nor ahead of it; the
# others are tested on all points.
N_FIRST = 1000
CLEARLY = 4.0

N_FOLDS = 10


@dataclass(frozen=True, slots=True)
class Check:
    """The winner beside the best of the grid, on fresh points.

    Attributes
    ----------
    n_finalists : int
        Configurations tested on all fresh points.
    winner_error, best_error : float
        Mean squared errors.
    winner_rank : int
        From 1, among all configurations.
    best : dict
        The best configuration.
    """

    n_finalists: int
    winner_error: float
    best_error: float
    winner_rank: int
    best: Configuration


def run_demo(options: Namespace) -> str:
    """Race, check, and return what happened."""
    seeds = np.random.SeedSequence(options.random_state)
    data_seed, fresh_seed = seeds.generate_state(2)
    X, y = make_noisy_sinc(N_ROWS, random_state=int(data_seed))
    fresh = make_noisy_sinc(N_FRESH, random_state=int(fresh_seed))
    # The paper's grid: lambda from 10^-7 to 10^2, which scikit-learn calls alpha / N.
    grid = {"gamma": GAMMAS, "alpha": (N_ROWS * LAMBDAS).tolist()}
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf"),
        grid,
        scoring=SCORE,
        strategy=options.strategy,
        random_state=options.random_state,
    )
    with live_view(None if options.json else _view()):
        start = perf_counter()
        # The final fit too, which would have all threads of BLAS: on a busy machine
        # they wait for each other, and the estimate of the plain search is made of it.
        with one_blas_thread():
            search.fit(X, y)
        seconds = perf_counter() - start
        check = _check(search, (X, y), fresh)
    if options.json:
        return _as_json(search, seconds, check)
    return _as_text(search, seconds, check)


def _view() -> RaceView:
    return RaceView(
        [HEADING.format(n_configurations=N_CONFIGURATIONS, n_rows=N_ROWS)],
        "",
        N_CONFIGURATIONS,
        afterwards="The winner is compared with the best of the grid",
    )


def _check(search: RaceGridSearchCV, train: Any, fresh: Any) -> Check:
    configurations = list(ParameterGrid(search.param_grid))
    first = (fresh[0][:N_FIRST], fresh[1][:N_FIRST])
    errors = _errors(search.estimator, configurations, train, first)
    behind = errors - errors[search.best_index_]
    allowed = CLEARLY * behind.std(axis=1) / np.sqrt(N_FIRST)
    finalists = np.flatnonzero(behind.mean(axis=1) <= allowed)
    chosen = [configurations[index] for index in finalists]
    means = _mean_errors(chosen, train, fresh)
    winner_error = float(means[finalists == search.best_index_][0])
    return Check(
        n_finalists=len(finalists),
        winner_error=winner_error,
        best_error=float(means.min()),
        winner_rank=int(np.sum(means < winner_error)) + 1,
        best=chosen[int(means.argmin())],
    )


def _errors(
    estimator: Any,
    configurations: list[Configuration],
    train: Any,
    test: Any,
) -> FloatArray:
    """Return squared errors of configurations fitted on all rows, by test point."""
    evaluator = batch_evaluator_for(estimator)
    task = Task(estimator, dict(enumerate(configurations)), train[0], train[1], test[0])

    def evaluate(groups: list[list[int]]) -> list[tuple[int, FloatArray]]:
        return [
            (outcome.configuration, (outcome.prediction - test[1]) ** 2)
            for group in groups
            for outcome in evaluator.evaluate(task.only(group))
        ]

    # The check is not part of what is timed, so it may use all cores.
    groups = evaluator.groups(estimator, dict(enumerate(configurations)))
    chunks = in_chunks(groups, effective_n_jobs(-1))
    errors = np.empty((len(configurations), len(test[1])))
    for results in run_chunks(evaluate, chunks, -1, "threads"):
        for index, error in results:
            errors[index] = error
    return errors


def _mean_errors(
    configurations: list[Configuration], train: Any, test: Any
) -> FloatArray:
    """Return mean squared errors on many points: one kernel for all its penalties.

    Fits as scikit-learn does, without a decomposition: it would not pay off for the
    few penalties of each width.
    """
    X, y = train
    means = np.empty(len(configurations))
    for gamma in dict.fromkeys(one["gamma"] for one in configurations):
        mine = [n for n, one in enumerate(configurations) if one["gamma"] == gamma]
        kernel = rbf_kernel(X, gamma=gamma)
        ridge = np.eye(len(X))
        factors = [
            cho_factor(kernel + configurations[n]["alpha"] * ridge) for n in mine
        ]
        coefficients = [cho_solve(factor, y) for factor in factors]
        predictions = rbf_kernel(test[0], X, gamma=gamma) @ np.transpose(coefficients)
        means[mine] = np.mean((predictions - test[1][:, None]) ** 2, axis=0)
    return means


def _plain_seconds(search: FittedSearch) -> float:
    """Estimate plain cross-validation as displays and reports do."""
    display = TimeConsumptionDisplay.from_search(search, n_folds=N_FOLDS)
    return display.cross_validation_seconds


def _as_text(search: FittedSearch, seconds: float, check: Check) -> str:
    n_configurations = len(search.cv_results_["params"])
    heading = HEADING.format(n_configurations=n_configurations, n_rows=N_ROWS)
    looks = [asdict(look) for look in race_looks(search)]
    n_fits = N_FOLDS * n_configurations
    full = _plain_seconds(search)
    excess = check.winner_error / check.best_error - 1
    verdict = f"{excess:.1%} above the best" if excess else "the best of all"
    return f"""\
{heading}

{looks_table(looks, "", SCORE)}

{stop_sentence(search)}
Winner: {shown_parameters(search.best_params_)}

Mean squared error on {N_FRESH:,} fresh points, after a fit on all {N_ROWS:,} rows:
  winner            {check.winner_error:.6f}  {verdict}, place {check.winner_rank} of \
{n_configurations}
  best of the grid  {check.best_error:.6f}  {shown_parameters(check.best)}
All were tested on {N_FIRST:,} of the points, and the {check.n_finalists} not \
clearly behind the winner there on all of them.

The race took {seconds_text(seconds)} on one thread, with the final fit.
Full {N_FOLDS}-fold cross-validation would take {about_seconds(full)}, \
{about_times(full / seconds)} times as long. This is an
estimate: {n_fits:,} fits and their predictions, from the times of the race and of the \
final fit."""


def _as_json(search: FittedSearch, seconds: float, check: Check) -> str:
    n_fits = N_FOLDS * len(search.cv_results_["params"])
    document = {
        "looks": [asdict(look) for look in race_looks(search)],
        "stop_reason": search.stop_reason_,
        "winner": search.best_params_,
        "check": asdict(check),
        "race_seconds": seconds,
        "cross_validation": {
            "n_folds": N_FOLDS,
            "n_fits": n_fits,
            "estimated_seconds": _plain_seconds(search),
        },
    }
    return json.dumps(plain(document), indent=2)
