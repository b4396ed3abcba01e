"""The searches, each as its documentation recommends, on one thread.

A search is a function of a ``Trial``. It reports the best parameters so far to
``trial.report``, and ends by itself or is stopped when its seconds are over; what was
reported last is its answer. The final fit on all rows is the judge's and in nobody's
time: searches of this library run with ``refit=False``. No search is given the default
parameters; those that try them do so on their own.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import math
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import ParameterSampler
from tasks import Task

from spaces import Dimension, dimensions, low_cost

__all__ = ["SEARCHES", "NotForThisError", "RefusedError", "Search", "Trial", "preload"]

N_FOLDS = 5

# The loss of a fit that fails or answers with no number.
FAILED = 100.0


class RefusedError(Exception):
    """The search could not do anything useful in the time."""


class NotForThisError(Exception):
    """The search is not made for tasks such as this one."""


@dataclass
class Trial:
    """A task, the seconds and the seed of a search, and its losses by folds.

    Attributes
    ----------
    send : callable
        Gets the best parameters and the number of configurations tried.
    send_members : callable
        Gets parameters and weights, from a search that makes an ensemble.
    """

    task: Task
    seconds: float
    seed: int
    send: Callable[[dict[str, Any] | None, int], None]
    send_members: Callable[[list[tuple[dict[str, Any], float]]], None]
    n_tried: int = 0
    best: float = math.inf
    start: float = field(init=False)

    def __post_init__(self) -> None:
        self.start = perf_counter()

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.seconds - (perf_counter() - self.start)

    @cached_property
    def dimensions(self) -> dict[str, Dimension]:
        """The dimensions of the space by name."""
        return dimensions(self.task.space)

    @cached_property
    def folds(self) -> list[Any]:
        """Five folds by the seed."""
        return self.task.folds(self.seed, N_FOLDS)

    def fold_loss(self, params: dict[str, Any], fold: int) -> float:
        """Return the mean loss on one fold."""
        X, y = self.task.rows[:2]
        train, test = self.folds[fold]
        take = X.iloc.__getitem__ if hasattr(X, "iloc") else X.__getitem__
        model = self.task.estimator.set_params(**clone(params, safe=False))
        try:
            model.fit(take(train), y[train])
            score = get_scorer(self.task.scoring)(model, take(test), y[test])
        except (ValueError, FloatingPointError, np.linalg.LinAlgError):
            return FAILED
        loss = self.task.loss(score)
        return float(loss) if math.isfinite(loss) else FAILED

    def loss(self, params: dict[str, Any]) -> float:
        """Return the mean over the five folds, and report it if it is the best."""
        loss = float(np.mean([self.fold_loss(params, i) for i in range(N_FOLDS)]))
        self.report(params, loss)
        return loss

    def report(self, params: dict[str, Any], loss: float) -> None:
        """Count a configuration; send it if it is the best so far."""
        self.n_tried += 1
        better = loss < self.best
        self.best = min(loss, self.best)
        self.send(params if better else None, self.n_tried)

    def values(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters that a peer's answers stand for."""
        return {name: self.dimensions[name].value(v) for name, v in given.items()}


def _optuna(trial: Trial, sampler: Any, pruner: Any, objective: Any) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=sampler, pruner=pruner)
    space = {name: d.optuna() for name, d in trial.dimensions.items()}
    while trial.left > 0:
        one = study.ask(space)
        study.tell(one, objective(one, trial.values(one.params)))


def optuna_tpe(trial: Trial) -> None:
    """Optuna's default sampler, mean of five folds."""
    import optuna

    sampler = optuna.samplers.TPESampler(seed=trial.seed)
    pruner = optuna.pruners.NopPruner()
    _optuna(trial, sampler, pruner, lambda _, params: trial.loss(params))


def optuna_gp(trial: Trial) -> None:
    """Optuna's Gaussian process, mean of five folds."""
    import optuna

    sampler = optuna.samplers.GPSampler(seed=trial.seed)
    pruner = optuna.pruners.NopPruner()
    _optuna(trial, sampler, pruner, lambda _, params: trial.loss(params))


def optuna_tpe_wilcoxon(trial: Trial) -> None:
    """Optuna's default sampler with the pruner it has for folds, as its page shows."""
    import optuna

    rng = np.random.default_rng(trial.seed)

    def objective(one: Any, params: dict[str, Any]) -> float:
        losses = []
        for fold in rng.permutation(N_FOLDS):
            losses.append(trial.fold_loss(params, fold))
            one.report(losses[-1], int(fold))
            if one.should_prune():
                break
        # As documented, a pruned trial returns its mean. It was worse than the best
        # on all folds it saw, yet by luck of the folds it may look better.
        mean = float(np.mean(losses))
        trial.report(params, mean)
        return mean

    sampler = optuna.samplers.TPESampler(seed=trial.seed)
    pruner = optuna.pruners.WilcoxonPruner(p_threshold=0.1)
    _optuna(trial, sampler, pruner, objective)


def flaml_tune(trial: Trial) -> None:
    """FLAML's BlendSearch from the cheapest point on, mean of five folds."""
    from flaml import tune
    from flaml.tune.searcher.blendsearch import BlendSearch

    known = trial.dimensions
    search = BlendSearch(
        metric="loss",
        mode="min",
        space={name: dimension.flaml() for name, dimension in known.items()},
        low_cost_partial_config=low_cost(known),
        time_budget_s=trial.seconds,
        seed=trial.seed + 20,
    )
    tune.run(
        lambda given: {"loss": trial.loss(trial.values(given))},
        search_alg=search,
        time_budget_s=trial.seconds,
        num_samples=-1,
        verbose=0,
    )


# FLAML's name of the learner by the name of the estimator.
LEARNERS = {
    "LGBM": "lgbm",
    "XGB": "xgboost",
    "RandomForest": "rf",
    "ExtraTrees": "extra_tree",
}
METRICS = {
    "neg_log_loss": "log_loss",
    "neg_mean_squared_error": "mse",
    "neg_mean_absolute_error": "mae",
}


def flaml_automl(trial: Trial) -> None:
    """FLAML's AutoML with this learner alone, its own space and its own validation."""
    from flaml import AutoML

    task = trial.task
    estimator = task.estimator
    name = type(estimator).__name__.removesuffix("Classifier").removesuffix("Regressor")
    if name not in LEARNERS:
        raise NotForThisError(f"FLAML has no learner for {name}.")
    X, y = task.rows[:2]
    automl = AutoML()
    automl.fit(
        X,
        y,
        task="classification" if task.classes else "regression",
        metric=METRICS[task.scoring],
        estimator_list=[LEARNERS[name]],
        time_budget=trial.seconds,
        seed=trial.seed,
        n_jobs=1,
        retrain_full=False,
        verbose=0,
        log_file_name="",
    )
    if automl.best_config is None:
        raise RefusedError("FLAML found no configuration in the time.")
    given = automl.best_model_for_estimator(LEARNERS[name]).estimator.get_params()
    settled = {"n_jobs", "random_state", "verbose", "verbosity", *task.settings}
    params = {
        name: value
        for name, value in given.items()
        if name in estimator.get_params() and name not in settled
    }
    trial.send(params, len(automl.config_history))


def smac(trial: Trial) -> None:
    """SMAC3's facade for hyper-parameters; the folds are its instances."""
    from ConfigSpace import ConfigurationSpace
    from smac import HyperparameterOptimizationFacade, Scenario

    logging.disable(logging.CRITICAL)
    space = ConfigurationSpace(seed=trial.seed)
    space.add([dimension.config_space() for dimension in trial.dimensions.values()])
    names = [str(fold) for fold in range(N_FOLDS)]
    losses: dict[Any, list[float]] = {}
    most = 0

    def target(config: Any, instance: str, seed: int = 0) -> float:
        nonlocal most
        del seed
        params = trial.values(dict(config))
        loss = trial.fold_loss(params, int(instance))
        there = losses.setdefault(config, [])
        there.append(loss)
        # The incumbent is the best of those with the most folds, as in SMAC.
        if len(there) > most:
            most, trial.best = len(there), math.inf
        if len(there) == most and np.mean(there) < trial.best:
            trial.best = float(np.mean(there))
            trial.send(params, len(losses))
        else:
            trial.send(None, len(losses))
        return loss

    with tempfile.TemporaryDirectory() as output:
        scenario = Scenario(
            space,
            output_directory=output,
            deterministic=True,
            walltime_limit=trial.seconds,
            n_trials=1_000_000,
            instances=names,
            instance_features={name: [float(name)] for name in names},
            seed=trial.seed,
        )
        facade = HyperparameterOptimizationFacade
        facade(
            scenario,
            target,
            intensifier=facade.get_intensifier(scenario, max_config_calls=N_FOLDS),
            # A quarter of the trials, by default, and there is no end of those here:
            # ten for each hyper-parameter as documented.
            initial_design=facade.get_initial_design(scenario),
            overwrite=True,
            logging_level=False,
        ).optimize()


def random(trial: Trial) -> None:
    """Random search over five folds until the time is up."""
    for params in ParameterSampler(
        trial.task.space, 1_000_000, random_state=trial.seed
    ):
        if trial.left <= 0:
            return
        trial.loss(params)


def _five_folds_seconds(trial: Trial, params: dict[str, Any], rows: int) -> float:
    """Return the seconds of five folds on so many rows, measured on one of them."""
    X, y = trial.task.rows[:2]
    rng = np.random.default_rng(trial.seed)
    chosen = rng.choice(len(y), min(rows, len(y)), replace=False)
    take = X.iloc.__getitem__ if hasattr(X, "iloc") else X.__getitem__
    model = trial.task.estimator.set_params(**clone(params, safe=False))
    start = perf_counter()
    try:
        n_train = int(0.8 * len(chosen))
        model.fit(take(chosen[:n_train]), y[chosen[:n_train]])
        model.predict(take(chosen[n_train:]))
    except ValueError:
        return 0.0
    return N_FOLDS * (perf_counter() - start)


def _halving_cost(
    n: int, sizes: list[float], seconds: list[float], n_rows: int
) -> float:
    """Return the seconds of successive halving among n configurations."""
    rounds = max(1, math.floor(math.log(n, 3)) + 1)
    total = 0.0
    for step in range(rounds):
        rows = n_rows / 3 ** (rounds - 1 - step)
        total += n / 3**step * float(np.interp(rows, sizes, seconds))
    return total


def halving(trial: Trial) -> None:
    """scikit-learn's halving with as many configurations as the time allows.

    Two drawn configurations are timed on a tenth and on all rows; the number of
    configurations is the largest whose expected time is 70 % of what is left.
    """
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - registers
    from sklearn.model_selection import HalvingRandomSearchCV

    task = trial.task
    X, y = task.rows[:2]
    n_rows = len(y)
    sampler = list(ParameterSampler(task.space, 4, random_state=trial.seed + 1))
    sizes = [n_rows / 10, n_rows]
    timed: list[list[float]] = []
    for params in sampler:
        if not timed or trial.left > 0.9 * trial.seconds:
            timed.append([_five_folds_seconds(trial, params, int(s)) for s in sizes])
    seconds = [float(value) for value in np.mean(timed, axis=0)]
    allowed = 0.7 * trial.left
    fitting = [
        n
        for n in range(2, 5_000)
        if _halving_cost(n, sizes, seconds, n_rows) <= allowed
    ]
    if not fitting:
        raise RefusedError("There is no time for two configurations.")
    search = HalvingRandomSearchCV(
        task.estimator,
        task.space,
        n_candidates=max(fitting),
        min_resources="exhaust",
        scoring=task.scoring,
        refit=False,
        cv=N_FOLDS,
        random_state=trial.seed,
    ).fit(X, y)
    trial.send(search.best_params_, int(max(search.n_candidates_)))


def _raced(trial: Trial, search_class: Any, **settings: Any) -> Any:
    """Fit a search of ours, report its winner, and return it."""
    from cvst.exceptions import BudgetTooSmallError

    task = trial.task
    if "refit" in inspect.signature(search_class).parameters:
        settings.setdefault("refit", False)
    search = search_class(
        task.estimator,
        task.space,
        time_budget=trial.seconds,
        scoring=task.scoring,
        random_state=trial.seed,
        **settings,
    )
    try:
        search.fit(*task.rows[:2])
    except BudgetTooSmallError as error:
        raise RefusedError(str(error)) from error
    trial.send(search.best_params_, len(search.cv_results_["params"]))
    return search


def race_random(trial: Trial) -> None:
    """Our race among a hundred configurations."""
    from cvst import RaceRandomSearchCV

    _raced(trial, RaceRandomSearchCV, n_iter=100)


def race(trial: Trial) -> None:
    """Our race with proposals."""
    import cvst

    _raced(trial, cvst.RaceSearchCV)


def race_ensemble(trial: Trial) -> None:
    """Our race with proposals, and the ensemble that it keeps: all in the time."""
    from cvst import RaceSearchCV

    task = trial.task
    # SVC has no probabilities to average.
    averages = not task.classes or hasattr(task.estimator, "predict_proba")
    search = _raced(trial, RaceSearchCV, refit=True, ensemble=averages)
    chosen = getattr(search, "ensemble_", None)
    if chosen is not None and chosen.kept:
        members = list(zip(chosen.params, chosen.weights.tolist(), strict=True))
        trial.send_members(members)


def default(trial: Trial) -> None:
    """No search: default parameters."""
    trial.send({}, 0)


@dataclass(frozen=True)
class Search:
    """A search and what it needs.

    Attributes
    ----------
    needs : tuple of str
        Modules to import before the clock starts.
    grace : float
        Part of the seconds after which it is stopped. A search that reports nothing
        before its end keeps its own time, and may be a little late.
    """

    run: Callable[[Trial], None]
    needs: tuple[str, ...] = ()
    grace: float = 1.0


_BLENDSEARCH = "flaml.tune.searcher.blendsearch"

SEARCHES = {
    "default": Search(default),
    "random": Search(random),
    "halving": Search(halving, ("sklearn.experimental",), 1.25),
    "optuna_tpe": Search(optuna_tpe, ("optuna",)),
    "optuna_tpe_wilcoxon": Search(optuna_tpe_wilcoxon, ("optuna", "scipy.stats")),
    "optuna_gp": Search(optuna_gp, ("optuna", "torch", "optuna._gp.gp")),
    "flaml_tune": Search(flaml_tune, ("flaml", _BLENDSEARCH)),
    "flaml_automl": Search(flaml_automl, ("flaml", "flaml.automl"), 1.25),
    "smac": Search(smac, ("smac",)),
    "race_random": Search(race_random, ("cvst",), 1.25),
    "race": Search(race, ("cvst",), 1.25),
    "race_ensemble": Search(race_ensemble, ("cvst",), 1.25),
}


def preload(names: list[str]) -> None:
    """Import what some searches need, so that it is in nobody's time."""
    warnings.simplefilter("ignore")
    for name in names:
        for module in SEARCHES[name].needs:
            # A search whose package is not there fails later, on its own.
            with suppress(ImportError):
                importlib.import_module(module)
