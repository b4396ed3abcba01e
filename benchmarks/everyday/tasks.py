"""Everyday tasks: a data set, a model, a space, a score, and fresh rows to judge.

    python benchmarks/everyday/tasks.py            # list
    python benchmarks/everyday/tasks.py --check    # fit each once with its defaults

Texts become codes for trees, with the codes of the training rows, and one-hot columns
in a pipeline for the others. Numbers to predict are standardised by the training rows,
so that a squared error of 1 is that of the mean.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from data_sets import DATA_SETS, SPLITS, load
from models import OWN_PREPARATION, Space, model
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import OrdinalEncoder

from cvst.learners import WeightedEnsembleClassifier, WeightedEnsembleRegressor

__all__ = ["TASKS", "Task", "chosen_tasks"]

LOG_LOSS, ACCURACY = "neg_log_loss", "accuracy"
SQUARED, ABSOLUTE = "neg_mean_squared_error", "neg_mean_absolute_error"

# More fresh rows than this add little.
MOST_TEST_ROWS = 50_000


@dataclass(frozen=True)
class Task:
    """A model to tune on a data set.

    Attributes
    ----------
    most_rows : int
        Train on at most so many rows, for models whose cost grows fast.
    scoring : str
        What the search maximises and the fresh rows judge.
    settings : dict
        Settings of the estimator that are not tuned.
    """

    data_set: str
    kind: str
    scoring: str
    most_rows: int = 1_000_000
    settings: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """Data set and kind of model."""
        return f"{self.data_set}-{self.kind}"

    @property
    def classes(self) -> bool:
        """Whether the target is a class."""
        return DATA_SETS[self.data_set].classes

    @property
    def split(self) -> str:
        """Whether rules may be chosen on the task, or when it was kept apart."""
        return DATA_SETS[self.data_set].split

    @cached_property
    def rows(self) -> tuple[Any, np.ndarray, Any, np.ndarray]:
        """Training inputs and targets, then fresh ones.

        Three fifths of the rows, or four if there are many, are for training.
        """
        X, y = load(self.data_set)
        n_train = int(len(y) * (0.6 if len(y) < 100_000 else 0.8))
        test = slice(n_train, n_train + MOST_TEST_ROWS)
        train = slice(0, min(n_train, self.most_rows))
        X_train, X_test = self._inputs(X.iloc[train], X.iloc[test])
        y_train, y_test = y[train], y[test]
        if not self.classes:
            center, scale = y_train.mean(), y_train.std()
            y_train, y_test = (y_train - center) / scale, (y_test - center) / scale
        return X_train, y_train, X_test, y_test

    def _inputs(self, X_train: pd.DataFrame, X_test: pd.DataFrame) -> tuple[Any, Any]:
        texts = X_train.select_dtypes(exclude="number").columns
        if len(texts) and self.kind in OWN_PREPARATION:
            codes = OrdinalEncoder(
                handle_unknown="use_encoded_value", unknown_value=np.nan
            ).fit(X_train[texts])
            X_train = X_train.assign(**_coded(codes, X_train[texts]))
            X_test = X_test.assign(**_coded(codes, X_test[texts]))
        elif len(texts):
            # A text that is missing is a level of its own.
            X_train, X_test = (
                X.assign(**X[texts].fillna("missing")) for X in (X_train, X_test)
            )
            return X_train.reset_index(drop=True), X_test.reset_index(drop=True)
        return X_train.to_numpy(dtype=float), X_test.to_numpy(dtype=float)

    @cached_property
    def _model(self) -> tuple[Any, Space]:
        return model(self.kind, self.classes, self.rows[0], **self.settings)

    @property
    def estimator(self) -> Any:
        """A fresh estimator with default parameters."""
        return clone(self._model[0])

    @property
    def space(self) -> Space:
        """Distributions and lists by the name of the parameter."""
        return dict(self._model[1])

    def folds(self, seed: int, n_splits: int = 5) -> list[Any]:
        """Return the folds that all peers use with this seed."""
        X, y = self.rows[:2]
        folds = StratifiedKFold if self.classes else KFold
        return list(folds(n_splits, shuffle=True, random_state=seed).split(X, y))

    def loss(self, score: float) -> float:
        """Return the loss, smaller is better, that belongs to a score."""
        return 1 - score if self.scoring == ACCURACY else -score

    def judged(self, params: dict[str, Any]) -> float:
        """Return the loss on fresh rows after a fit on all training rows."""
        X, y, X_test, y_test = self.rows
        fitted = self.estimator.set_params(**params).fit(X, y)
        return self.loss(get_scorer(self.scoring)(fitted, X_test, y_test))

    def judged_together(self, members: list[tuple[dict[str, Any], float]]) -> float:
        """Return the loss of a weighted mean of models on fresh rows, likewise."""
        X, y, X_test, y_test = self.rows
        kind = WeightedEnsembleClassifier if self.classes else WeightedEnsembleRegressor
        models = [self.estimator.set_params(**params) for params, _ in members]
        fitted = kind(models, [weight for _, weight in members]).fit(X, y)
        return self.loss(get_scorer(self.scoring)(fitted, X_test, y_test))


def _coded(codes: OrdinalEncoder, X: pd.DataFrame) -> dict[str, np.ndarray]:
    return dict(zip(X.columns, codes.transform(X).T, strict=True))


# SVM and k-NN on classes have no probabilities worth the name: accuracy.
_ALL = (
    # lightgbm
    Task("churn", "lightgbm", LOG_LOSS),
    Task("nlswork", "lightgbm", SQUARED),
    Task("fertility", "lightgbm", LOG_LOSS),
    Task("flights", "lightgbm", LOG_LOSS),
    Task("wages", "lightgbm", ABSOLUTE, settings={"objective": "regression_l1"}),
    # xgboost
    Task("spambase", "xgboost", LOG_LOSS),
    Task("movies", "xgboost", SQUARED),
    Task("hotel_rates", "xgboost", SQUARED),
    Task("loans", "xgboost", SQUARED),
    Task("hpc", "xgboost", LOG_LOSS),
    # hist
    Task("marketing", "hist", LOG_LOSS),
    Task("visits", "hist", ABSOLUTE, settings={"loss": "absolute_error"}),
    Task("diamonds", "hist", SQUARED),
    Task("deliveries", "hist", SQUARED),
    # forest
    Task("page_blocks", "forest", LOG_LOSS),
    Task("cells", "forest", LOG_LOSS, settings={"extra": True}),
    Task("ames", "forest", SQUARED),
    Task("satimage", "forest", LOG_LOSS, settings={"extra": True}),
    # svm
    Task("texture", "svm", ACCURACY),
    Task("optdigits", "svm", ACCURACY),
    Task("concrete", "svm", SQUARED),
    Task("penbased", "svm", ACCURACY),
    # mlp
    Task("optdigits", "mlp", LOG_LOSS),
    Task("credit", "mlp", LOG_LOSS),
    Task("movies", "mlp", SQUARED, most_rows=8_000),
    Task("leaf", "mlp", LOG_LOSS),
    # linear
    Task("marketing", "linear", LOG_LOSS),
    Task("spambase", "linear", LOG_LOSS),
    Task("ames", "linear", SQUARED),
    Task("loans", "linear", SQUARED),
    Task("leaf", "linear", LOG_LOSS),
    # neighbours and kernels
    Task("texture", "neighbours", ACCURACY),
    Task("visits", "neighbours", SQUARED, most_rows=8_000),
    Task("concrete", "kernel_ridge", SQUARED),
    Task("penbased", "neighbours", ACCURACY),
    Task("deliveries", "kernel_ridge", SQUARED, most_rows=3_000),
    # later: two of each kind
    Task("magic", "lightgbm", LOG_LOSS),
    Task("check_times", "lightgbm", SQUARED),
    Task("accidents", "xgboost", LOG_LOSS),
    Task("houses", "xgboost", SQUARED),
    Task("votes", "hist", LOG_LOSS),
    Task("weather", "hist", SQUARED),
    Task("rodents", "forest", LOG_LOSS),
    Task("baseball", "forest", SQUARED),
    Task("letter", "svm", ACCURACY, most_rows=5_000),
    Task("emissions", "svm", SQUARED),
    Task("letter", "mlp", LOG_LOSS, most_rows=8_000),
    Task("weights", "mlp", SQUARED),
    Task("subscribers", "linear", LOG_LOSS),
    Task("pupils", "linear", SQUARED),
    Task("magic", "neighbours", ACCURACY, most_rows=6_000),
    Task("weather", "kernel_ridge", SQUARED, most_rows=3_000),
)

TASKS = {task.name: task for task in _ALL}


def chosen_tasks(split: str = "all", names: Iterable[str] = ()) -> list[Task]:
    """Return the tasks of a split, or those of them that are named."""
    unknown = set(names) - set(TASKS)
    if unknown:
        raise SystemExit(f"Unknown tasks {sorted(unknown)}. Known: {', '.join(TASKS)}.")
    return [
        task
        for task in TASKS.values()
        if split in ("all", task.split) and (not names or task.name in names)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--split", choices=[*SPLITS, "all"], default="all")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    for task in chosen_tasks(options.split):
        X, _, X_test, _ = task.rows
        line = f"{task.name:<23} {task.split:<8} "
        line += f"{len(X):7,} rows, {len(X_test):6,} fresh, {X.shape[1]:2} columns, "
        line += f"{len(task.space)} parameters, {task.scoring}"
        if options.check:
            start = perf_counter()
            loss = task.judged({})
            line += f": default {loss:.4f} in {perf_counter() - start:.2f} s"
        print(line, flush=True)


if __name__ == "__main__":
    main()
