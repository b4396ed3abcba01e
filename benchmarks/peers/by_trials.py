"""Optuna, FLAML and SMAC3 on the work of ``searches.py``, each as its pages show it.

They may fit the folds of `GridSearchCV` as often as it does: 49 configurations, which
they propose within the ranges of its grid. Each is an object with ``fit``, ``predict``
and ``best_params_``.
"""

from __future__ import annotations

import logging
import math
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold

__all__ = ["Flaml", "Optuna", "OptunaPruned", "Smac"]


class ByTrials(ABC):
    """A search that asks for the loss of one configuration after the other."""

    def __init__(
        self, estimator: Any, grid: dict[str, list[float]], seed: int, scoring: str
    ) -> None:
        self.estimator = estimator
        self.ranges = {name: (min(one), max(one)) for name, one in grid.items()}
        self.n_trials = math.prod(map(len, grid.values()))
        self.seed = seed
        self.scorer = get_scorer(scoring)

    def fit(self, X: Any, y: Any) -> None:
        """Search, then fit the winner on all rows."""
        self.folds = list(StratifiedKFold(5).split(X, y))

        def fold_loss(params: dict[str, float], fold: int) -> float:
            train, test = self.folds[fold]
            model = clone(self.estimator).set_params(**params).fit(X[train], y[train])
            return 1.0 - float(self.scorer(model, X[test], y[test]))

        self.best_params_ = dict(self.found(fold_loss))
        self.final = clone(self.estimator).set_params(**self.best_params_).fit(X, y)

    @abstractmethod
    def found(self, fold_loss: Callable[[dict[str, float], int], float]) -> Any:
        """Return the parameters of the winner."""

    def predict(self, X: Any) -> Any:
        """Predict by the final fit."""
        return self.final.predict(X)


class Optuna(ByTrials):
    """Its default sampler, with or without the pruner that it has for folds."""

    prunes = False

    def found(self, fold_loss: Callable[[dict[str, float], int], float]) -> Any:
        """Ask for the mean over the folds, in random order if it may end early."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        rng = np.random.default_rng(self.seed)

        def objective(trial: Any) -> float:
            params = {
                name: trial.suggest_float(name, low, high, log=True)
                for name, (low, high) in self.ranges.items()
            }
            losses = []
            for fold in rng.permutation(len(self.folds)):
                losses.append(fold_loss(params, fold))
                trial.report(losses[-1], int(fold))
                if trial.should_prune():
                    break
            return float(np.mean(losses))

        pruner = optuna.pruners.WilcoxonPruner(p_threshold=0.1)
        study = optuna.create_study(
            sampler=optuna.samplers.TPESampler(seed=self.seed),
            pruner=pruner if self.prunes else optuna.pruners.NopPruner(),
        )
        study.optimize(objective, n_trials=self.n_trials)
        return study.best_params


class OptunaPruned(Optuna):
    """With the pruner."""

    prunes = True


class Flaml(ByTrials):
    """Its search over blends of local and global proposals."""

    def found(self, fold_loss: Callable[[dict[str, float], int], float]) -> Any:
        """Ask for the mean over the folds."""
        from flaml import tune

        def target(params: dict[str, float]) -> dict[str, float]:
            losses = [fold_loss(params, fold) for fold in range(len(self.folds))]
            return {"loss": float(np.mean(losses))}

        np.random.seed(self.seed)  # noqa: NPY002 - where its searches draw from
        done = tune.run(
            target,
            config={name: tune.loguniform(*ends) for name, ends in self.ranges.items()},
            metric="loss",
            mode="min",
            num_samples=self.n_trials,
            verbose=0,
        )
        return done.best_config


class Smac(ByTrials):
    """Its facade for hyper-parameters; the folds are its instances."""

    def found(self, fold_loss: Callable[[dict[str, float], int], float]) -> Any:
        """Ask for the loss of a fold at a time."""
        from ConfigSpace import ConfigurationSpace, Float
        from smac import HyperparameterOptimizationFacade, Scenario

        logging.disable(logging.CRITICAL)
        space = ConfigurationSpace(seed=self.seed)
        space.add([Float(name, ends, log=True) for name, ends in self.ranges.items()])
        names = [str(fold) for fold in range(len(self.folds))]

        def target(config: Any, instance: str, seed: int = 0) -> float:
            del seed
            return fold_loss(dict(config), int(instance))

        facade = HyperparameterOptimizationFacade
        with tempfile.TemporaryDirectory() as output:
            scenario = Scenario(
                space,
                output_directory=output,
                deterministic=True,
                n_trials=self.n_trials * len(names),
                instances=names,
                instance_features={name: [float(name)] for name in names},
                seed=self.seed,
            )
            search = facade(
                scenario,
                target,
                intensifier=facade.get_intensifier(
                    scenario, max_config_calls=len(names)
                ),
                overwrite=True,
                logging_level=False,
            )
            return dict(search.optimize())
